// HTTP of the setup pages: what each request gets, and the listeners on the access point's address.
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { join } from 'node:path';
import { IngleError, toIngleError } from '../../firmware/protocol/errors.ts';
import { MAX_BODY } from '../../firmware/protocol/limits.ts';
import { dress } from '../../firmware/setup/dress.ts';
import { answer } from '../../firmware/setup/portal.ts';
import type { wizardApi } from '../../firmware/setup/wizard-api.ts';
import { must } from '../../firmware/system/exec.ts';
import type { Log } from '../../firmware/system/log.ts';
import type { Brand } from '../../firmware/text/brand.ts';

type Files = ReadonlyMap<string, { type: string; data: Buffer }>;

const types: Record<string, string> = {
  html: 'text/html',
  js: 'text/javascript',
  css: 'text/css',
  svg: 'image/svg+xml',
};

/** The pages in a folder by their path, dressed by the maker. */
export function readPages(folder: string, brand: Brand): Files {
  const files = new Map<string, { type: string; data: Buffer }>();
  for (const name of readdirSync(folder, { recursive: true }) as string[]) {
    const type = types[name.split('.').pop() ?? ''];
    if (!type) continue;
    const data = dress(name, readFileSync(join(folder, name)), brand);
    files.set(`/${name}`, { type: `${type}; charset=utf-8`, data });
  }
  return files;
}

/** Answers requests. @param o.own names of this server; requests for others are a phone's search for a portal */
export function wizardListener(o: {
  find: ReturnType<typeof wizardApi>;
  files: Files;
  own: string[];
  log: Log;
}): RequestListener {
  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://wizard');
    const what = answer(request.headers.host, url.pathname, o.own);
    if (what.kind === 'redirect') {
      response.writeHead(302, { location: what.to, 'cache-control': 'no-store' }).end();
      return;
    }
    if (what.kind === 'refuse') throw new IngleError('forbidden', 'Open the setup page of the hub itself.');
    if (what.kind === 'page') {
      const file = o.files.get(url.pathname) ?? o.files.get('/index.html');
      if (!file) throw new IngleError('not_found', 'The setup pages are missing in this build.');
      response.writeHead(200, { ...pageHeaders, 'content-type': file.type }).end(file.data);
      return;
    }
    const answerTo = o.find(request.method ?? 'GET', url.pathname);
    let body: Uint8Array | string = '';
    if (request.method === 'POST') {
      // Pages of other origins cannot send this type without asking first (Fetch standard, CORS-safelisted types).
      if (!/^application\/json\b/.test(request.headers['content-type'] ?? ''))
        throw new IngleError('invalid_request', 'Send JSON (content-type: application/json).', {
          pointer: '',
        });
      body = await read(request);
    }
    json(response, 200, await answerTo(url.searchParams, body));
  }

  return (request, response) => {
    handle(request, response).catch((cause) => {
      const e = toIngleError(cause);
      if (!(cause instanceof IngleError)) o.log.error('a request failed', { error: cause as Error });
      const allow = e.details?.['allow'];
      json(response, e.status, e.body(), typeof allow === 'string' ? { allow } : {});
    });
  };
}

const pageHeaders = {
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

function json(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  if (response.headersSent) return void response.end();
  response
    .writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers })
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
async function selfSigned(dir: string, host: string): Promise<{ key: Buffer; cert: Buffer }> {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const [key, cert] = [join(dir, 'key.pem'), join(dir, 'cert.pem')];
  const words = [
    ...'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 30 -subj /CN=ingle.setup'.split(
      ' ',
    ),
    '-addext',
    `subjectAltName=DNS:ingle.setup,IP:${host}`,
    '-keyout',
    key,
    '-out',
    cert,
  ];
  // Nobody waits for it, and it begins while a hub starts all else.
  await must('openssl', words, { timeoutMs: 300_000 });
  return { key: readFileSync(key), cert: readFileSync(cert) };
}

const limits = {
  maxHeaderSize: 8192,
  requestTimeout: 20_000,
  headersTimeout: 10_000,
  keepAliveTimeout: 5_000,
};

/**
 * Listens with http, and with https once there is a certificate; without one the pages are there all the same.
 * @param o.dir folder for the certificate of this boot
 * @throws IngleError `unavailable` when http cannot be served
 */
export async function listen(
  serve: RequestListener,
  o: { host: string; ports: { http: number; https: number }; dir: string; log: Log },
): Promise<void> {
  const http = createServer(limits, serve).listen(o.ports.http, o.host);
  http.maxConnections = 64;
  selfSigned(o.dir, o.host).then(
    (tls) => {
      const https = createTlsServer({ ...limits, ...tls }, serve).listen(o.ports.https, o.host);
      https.maxConnections = 64;
      https.on('error', (e) => o.log.warn('no https', { error: e }));
    },
    (e) => o.log.warn('no https', { error: e as Error }),
  );
  await once(http, 'listening').catch((e: Error) => {
    throw new IngleError('unavailable', `The setup pages cannot be served: ${e.message}`);
  });
}
