// ingle-wizard: the setup pages and their API on the access point's address.
import { existsSync, mkdirSync, readdirSync, readFileSync, watch } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { dirname, join } from 'node:path';
import { encode } from 'uqr';
import { audio1 } from '../../firmware/audio/contract.ts';
import { IngleError, toIngleError } from '../../firmware/protocol/errors.ts';
import { parseObject } from '../../firmware/protocol/json.ts';
import { MAX_BODY } from '../../firmware/protocol/limits.ts';
import { setup1 } from '../../firmware/setup/contract.ts';
import { dress } from '../../firmware/setup/dress.ts';
import { answer } from '../../firmware/setup/portal.ts';
import { findRoute, wizardRoutes } from '../../firmware/setup/wizard-api.ts';
import { connect } from '../../firmware/system/bus.ts';
import { readConfig } from '../../firmware/system/config.ts';
import { fromVariant } from '../../firmware/system/contract.ts';
import { must } from '../../firmware/system/exec.ts';
import { logger } from '../../firmware/system/log.ts';
import { ready, stopping } from '../../firmware/system/notify.ts';

const log = logger('wizard');
const config = readConfig();
const env = process.env;
// ingle-setup writes where the access point is and takes the file away with it; tests pass an address.
const accessPointFile = join(config.runtime, 'setup', 'access-point.json');
const host = env['INGLE_WIZARD_HOST'] ?? accessPoint();

function accessPoint(): string {
  // The access point may have gone while this program was starting.
  if (!existsSync(accessPointFile)) process.exit(0);
  return (JSON.parse(readFileSync(accessPointFile, 'utf8')) as { address: string }).address;
}
const ports = {
  http: Number(env['INGLE_WIZARD_PORT'] ?? 80),
  https: Number(env['INGLE_WIZARD_TLS_PORT'] ?? 443),
};
const pages = env['INGLE_WIZARD_PAGES'] ?? '/usr/lib/ingle/web-wizard';
const own = [host, 'ingle.setup', 'localhost'];

const bus = await connect();
const setup = bus.client(setup1);
const files = new Map<string, { type: string; data: Buffer }>();
const types: Record<string, string> = {
  html: 'text/html',
  js: 'text/javascript',
  css: 'text/css',
  svg: 'image/svg+xml',
};
for (const name of readdirSync(pages, { recursive: true }) as string[]) {
  const type = types[name.split('.').pop() ?? ''];
  if (!type) continue;
  const data = dress(name, readFileSync(join(pages, name)), config.brand);
  files.set(`/${name}`, { type: `${type}; charset=utf-8`, data });
}
const progress = new Map<string, Record<string, unknown>>();
await bus.onSignal(setup1, 'Progress', ({ step, state, text, detail }) => {
  progress.set(step, { step, state, text, detail: fromVariant(detail) });
});
let level: { value: number; at: number } | null = null;
await bus.onSignal(audio1, 'Level', ({ rms_db }) => {
  // -60 dB of full scale is a silent room; the meter shows what is above it.
  level = { value: Math.min(1, Math.max(0, (rms_db + 60) / 60)), at: Date.now() };
});

const routes = wizardRoutes({
  setup,
  level: () => (level && Date.now() - level.at < 2000 ? level.value : null),
  progress: () => [...progress.values()],
  qr(text) {
    const { size, data } = encode(text, { border: 2 });
    let path = '';
    for (let y = 0; y < size; y++)
      for (let x = 0; x < size; x++) if (data[y]?.[x]) path += `M${x} ${y}h1v1h-1z`;
    return { size, path };
  },
});

const serve: RequestListener = (request, response) => {
  handle(request, response).catch((cause) => {
    const e = toIngleError(cause);
    if (!(cause instanceof IngleError)) log.error('a request failed', { error: cause as Error });
    json(response, e.status, e.body());
  });
};

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://wizard');
  const what = answer(request.headers.host, url.pathname, own);
  if (what.kind === 'redirect') {
    response.writeHead(302, { location: what.to, 'cache-control': 'no-store' }).end();
    return;
  }
  if (what.kind === 'refuse') throw new IngleError('forbidden', 'Open the setup page of the hub itself.');
  if (what.kind === 'page') {
    const file = files.get(url.pathname) ?? files.get('/index.html');
    if (!file) throw new IngleError('not_found', 'The setup pages are missing in this build.');
    response.writeHead(200, { ...pageHeaders, 'content-type': file.type }).end(file.data);
    return;
  }
  const route = findRoute(routes, request.method ?? 'GET', url.pathname);
  let body: unknown = {};
  if (request.method === 'POST') {
    // Pages of other origins cannot send this type without asking first (Fetch standard, CORS-safelisted types).
    if (!/^application\/json\b/.test(request.headers['content-type'] ?? ''))
      throw new IngleError('invalid_request', 'Send JSON (content-type: application/json).', { pointer: '' });
    body = parseObject(await read(request));
  }
  json(response, 200, await route(body, url.searchParams));
}

const pageHeaders = {
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

function json(response: ServerResponse, status: number, body: unknown): void {
  if (response.headersSent) return void response.end();
  response
    .writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
    .end(JSON.stringify(body));
}

async function read(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > MAX_BODY) throw new IngleError('too_large', `A body may have at most ${MAX_BODY} bytes.`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** A certificate of this boot. Phones warn of it; it only serves those who typed https. */
async function selfSigned(): Promise<{ key: Buffer; cert: Buffer }> {
  const dir = join(config.runtime, 'wizard');
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const [key, cert] = [join(dir, 'key.pem'), join(dir, 'cert.pem')];
  await must('openssl', [
    ...'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 30 -subj /CN=ingle.setup'.split(
      ' ',
    ),
    '-addext',
    `subjectAltName=DNS:ingle.setup,IP:${host}`,
    '-keyout',
    key,
    '-out',
    cert,
  ]);
  return { key: readFileSync(key), cert: readFileSync(cert) };
}

const limits = {
  maxHeaderSize: 8192,
  requestTimeout: 20_000,
  headersTimeout: 10_000,
  keepAliveTimeout: 5_000,
};
const http = createServer(limits, serve).listen(ports.http, host);
http.maxConnections = 64;
http.on('error', fail);
selfSigned().then(
  (tls) => {
    const https = createTlsServer({ ...limits, ...tls }, serve).listen(ports.https, host);
    https.maxConnections = 64;
    https.on('error', (e) => log.warn('no https', { error: e }));
  },
  (e) => log.warn('no https', { error: e as Error }),
);
http.on('listening', () => {
  log.info('the setup pages are open', { host, port: ports.http });
  ready();
});

function fail(e: Error): void {
  log.error('the setup pages cannot be served', { error: e });
  process.exit(1);
}

// Gone with the access point, or begun anew where it has moved to.
if (!env['INGLE_WIZARD_HOST'])
  watch(dirname(accessPointFile), () => existsSync(accessPointFile) || process.exit(0));
bus.closed.then(() => process.exit(1));
for (const signal of ['SIGTERM', 'SIGINT'] as const)
  process.on(signal, () => {
    stopping();
    process.exit(0);
  });
