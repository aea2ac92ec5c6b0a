// A real root process, hubs and browsers for the tests of root and for its benches.
import type { ChildProcess } from 'node:child_process';
import { createPrivateKey, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SignJWT } from 'jose';
import { io, type Socket } from 'socket.io-client';
import type { TSchema } from 'typebox';
import { fromBase64url } from '../../firmware/protocol/bytes.ts';
import { faultsOf } from '../../firmware/protocol/endpoint/check.ts';
import type { Endpoint } from '../../firmware/protocol/endpoint/endpoint.ts';
import { router } from '../../firmware/protocol/endpoint/router.ts';
import { heedRoot } from '../../firmware/protocol/heed.ts';
import { challengeOf, type ToSign } from '../../firmware/protocol/pairing/assertion.ts';
import { commandContext } from '../../firmware/protocol/pairing/command.ts';
import type { ProofPurpose, RouteStatus } from '../../firmware/protocol/wire.ts';
import { rootApi } from '../../root/endpoints.ts';
import { migrations } from '../../root/records/sql/schema.ts';
import { openSqliteStore } from '../../root/records/sqlite.ts';
import { freePort } from '../../services/cli/house/runtime.ts';
import { authenticator } from '../lab/authenticator.ts';
import { ended as end, child as tether } from '../lab/child.ts';
import { programOf } from '../lab/program.ts';
import { until, within } from '../lab/wait.ts';

export { until };

/** The sockets of hubs and tabs that were opened. */
const sockets = new Set<Socket>();

/** What Node is told where root is installed (root/ops/ingle-root.service). */
export const nodeFlags = /^ExecStart=\S+ (--.*) \S+$/m
  .exec(readFileSync('root/ops/ingle-root.service', 'utf8'))![1]!
  .split(' ');

export type RootProcess = Awaited<ReturnType<typeof startRoot>>;

/**
 * Starts root as a process of its own, on a free port and in a folder of its own unless `env` names them; `kill` is
 * kill -9, `again` starts it on the same data and port, or another version of it.
 * @param command words before it, which become it
 */
export async function startRoot(env: Record<string, string> = {}, command: string[] = []) {
  const port = Number(env['INGLE_ROOT_PORT']) || (await freePort('127.0.0.1'));
  const frontPort = await freePort('127.0.0.1');
  const url = `http://${env['INGLE_ROOT_HOST'] ?? '127.0.0.1'}:${port}`;
  const data = env['INGLE_ROOT_DATA'] ?? mkdtempSync(join(tmpdir(), 'ingle-root-'));
  const origin = env['INGLE_ROOT_ORIGIN'] ?? `http://localhost:${port}`;
  const api = env['INGLE_ROOT_API'] ?? origin;
  let child: ChildProcess;
  let log = '';
  async function launch(program = programOf('root/main.ts')) {
    const line = [...command, process.execPath, ...nodeFlags, ...program];
    child = tether(line[0]!, line.slice(1), {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: {
        ...process.env,
        INGLE_ROOT_PORT: String(port),
        INGLE_ROOT_DATA: data,
        INGLE_ROOT_PROXIES: '1',
        // Reached by other addresses than root calls itself, as behind a proxy.
        INGLE_ROOT_AUDIENCE: `${url},http://127.0.0.1:${frontPort}`,
        ...env,
      },
    });
    child.stderr!.on('data', (d: Buffer) => {
      log += d.toString();
    });
    await until(async () => {
      if (child.exitCode !== null) throw new Error(`root ended: ${log}`);
      return fetch(`${url}/health/ready`).then(
        (r) => r.ok,
        () => false,
      );
    }, 'root to be ready');
  }
  const ended = (signal: NodeJS.Signals) => end(child, signal, 'root');
  const stop = async () => {
    await ended('SIGKILL');
    rmSync(data, { recursive: true, force: true });
  };
  await launch().catch(async (e) => {
    await stop();
    throw e;
  });
  return {
    port,
    /** Where a test may put something in front of root; root knows hubs by it. */
    frontPort,
    origin,
    api,
    data,
    url,
    pid: () => child.pid!,
    log: () => log,
    alive: () => child.exitCode === null && child.signalCode === null,
    again: launch,
    kill: () => ended('SIGKILL'),
    terminate: () => ended('SIGTERM'),
    async stop() {
      // Also those of a test that failed before it closed them: they would keep the file from ending.
      for (const s of sockets) s.disconnect();
      sockets.clear();
      await stop();
    },
  };
}

export interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked at field by field in assertions
  body: any;
}

/** One call; `body` is JSON unless it is text already. */
export async function call(
  root: { url: string },
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const asked = fetch(root.url + path, {
    method,
    headers: {
      // A kept connection may just be closed by the other side, or belong to a root that was killed meanwhile.
      connection: 'close',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    body: body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body),
  });
  const r = await within(asked, `the answer to ${method} ${path}`);
  const text = await within(r.text(), `the body of the answer to ${method} ${path}`);
  let parsed: unknown = text;
  try {
    parsed = JSON.parse(text);
  } catch {}
  if (r.status === 200 && method !== 'HEAD') fits(method, path, parsed);
  return { status: r.status, headers: r.headers, body: parsed };
}

const declared = router(
  Object.entries<Endpoint>(rootApi).map(([name, endpoint]) => ({ name, endpoint, answer: () => {} })),
);
/** What root answers is what it declares, whoever asks in whatever test. */
function fits(method: string, path: string, said: unknown): void {
  let answer: TSchema | undefined;
  try {
    ({ answer } = declared.find(method, path.split('?')[0]!).bound.endpoint);
  } catch {}
  const faults = answer ? faultsOf(answer, said) : [];
  if (faults.length > 0)
    throw new Error(`${method} ${path}: ${JSON.stringify(faults)} in ${JSON.stringify(said)}`);
}

/** Root, or what stands before it, answered something else than 200. */
export class Refused extends Error {
  /** Nothing was decided: a process or its database was away, or late. Whoever begins again may be served. */
  readonly isPassing: boolean;
  constructor({ status, body }: Answer) {
    super(JSON.stringify(body));
    this.isPassing = status >= 502 && status <= 504;
  }
}

/** @throws Refused unless it is 200 */
export function granted(r: Answer): Answer {
  if (r.status !== 200) throw new Refused(r);
  return r;
}

/** A browser's address, a new one in a network of its own each time, so that limits count each test by itself. */
let address = 0;
export function newAddress(): string {
  address++;
  return `10.${(address >> 8) & 255}.${address & 255}.1`;
}

/** The query of a client that takes hints, and brings this one. */
const hints = ({ at }: { at?: string }) => (at === undefined ? {} : { query: { at } });

/** A client that was refused for now asks again, as ours do. */
function comesBack(s: Socket): void {
  s.on('connect_error', (e: Error & { data?: { error: string } }) => {
    if (!s.active && e.data?.error === 'unavailable') setTimeout(() => s.connect(), 200);
  });
}

export type Hub = Awaited<ReturnType<typeof newHub>>;

/** A hub with its own keys, enrolled. */
export async function newHub(root: { url: string; origin: string; api?: string }) {
  let sign = generateKeyPairSync('ed25519').privateKey;
  const e2e = () => generateKeyPairSync('x25519').publicKey.export({ format: 'jwk' }).x as string;
  const from = { 'x-forwarded-for': newAddress() };
  const identity = { owner_id: '', subnet_id: '', hub_id: '', app_url: '', certificate: '', expires_at: 0 };
  const hub = {
    ...identity,
    e2e,
    from,
    key: () => sign,
    setKey(k: KeyObject) {
      sign = k;
    },
    pub: (k: KeyObject = sign) =>
      createPrivateKey(k.export({ format: 'pem', type: 'pkcs8' })).export({ format: 'jwk' }).x as string,
    /** A proof; `claims` may spoil it. */
    proof(purpose: ProofPurpose, claims: Record<string, unknown> = {}, key = sign): Promise<string> {
      const now = Math.floor(Date.now() / 1000);
      return new SignJWT({
        purpose,
        aud: root.api ?? root.origin,
        iat: now,
        exp: now + 60,
        jti: randomBytes(16).toString('base64url'),
        ...claims,
      })
        .setProtectedHeader({ alg: 'EdDSA' })
        .sign(key);
    },
    async headers(purpose: ProofPurpose, claims: Record<string, unknown> = {}) {
      return {
        ...from,
        authorization: `Bearer ${await hub.proof(purpose, claims)}`,
        'x-ingle-certificate': hub.certificate,
      };
    },
    async enrol() {
      const body = { sign_pub: hub.pub(), e2e_pub: e2e(), proof: await hub.proof('enrol') };
      const r = await call(root, 'POST', '/v1/hub/enrol', body, from);
      if (r.status === 200) Object.assign(hub, r.body);
      return r;
    },
    async code(claims: Record<string, unknown> = {}): Promise<string> {
      const headers = await hub.headers('device-code', claims);
      return granted(await call(root, 'POST', '/v1/owner/login/device-code', {}, headers)).body.device_code;
    },
    /** The socket, unconnected; a new proof for each attempt. */
    socket(o: { accept?: boolean; at?: string; url?: string } = {}): Socket {
      const s = io(`${o.url ?? root.url}/hub`, {
        transports: ['websocket'],
        forceNew: true,
        reconnectionDelay: 50,
        reconnectionDelayMax: 200,
        ...hints(o),
        extraHeaders: { 'x-forwarded-for': from['x-forwarded-for'] },
        auth: (cb) =>
          hub
            .proof('socket')
            .then((proof) => cb({ hub_id: hub.hub_id, certificate: hub.certificate, proof })),
      });
      sockets.add(s);
      if (o.at !== undefined) heedRoot(s);
      comesBack(s);
      s.on('status', (_, ack) => ack?.());
      if (o.accept !== false) {
        s.on('connect', () => s.emit('hub.online', hub.online()));
        s.on('pairing.request', (m: { sid: string }) => s.emit('pairing.accept', { sid: m.sid }, () => {}));
      }
      return s;
    },
    /** The socket by which it leads to the hub of its subnet. */
    way(): Socket & { last?: RouteStatus } {
      const s: Socket & { last?: RouteStatus } = io(`${root.url}/owner`, {
        transports: ['websocket'],
        forceNew: true,
        reconnection: false,
        extraHeaders: { 'x-forwarded-for': from['x-forwarded-for'] },
        auth: (cb) => hub.proof('subnet-route').then((proof) => cb({ certificate: hub.certificate, proof })),
      });
      sockets.add(s);
      s.on('status', (m: RouteStatus, ack?: () => void) => {
        s.last = m;
        ack?.();
      });
      return s;
    },
    /** Asks root for something of subnets. */
    async subnet(what: 'join' | 'admit' | 'part', body: object) {
      return call(root, 'POST', `/v1/hub/subnet/${what}`, body, await hub.headers(`subnet-${what}`));
    },
    online: () => ({
      hub_id: hub.hub_id,
      subnet_id: hub.subnet_id,
      caps: { version: '0', e2e: ['noise-ik'], ui: ['ui/v0'], features: [] },
    }),
  };
  granted(await hub.enrol());
  return hub;
}

type Tab = Awaited<ReturnType<typeof newTab>>;

/** A browser tab with a sid; `cookie` of another tab makes it the same browser. What binds the two is what root gave. */
export async function newTab(
  root: { url: string; origin: string },
  o: { cookie?: string; keys?: ReturnType<typeof authenticator> } = {},
) {
  const from = { 'x-forwarded-for': newAddress() };
  const opened = await call(
    root,
    'POST',
    '/v1/session',
    {},
    { ...from, origin: root.origin, ...(o.cookie ? { cookie: o.cookie } : {}) },
  );
  granted(opened);
  const cookie = o.cookie ?? opened.headers.get('set-cookie')?.split(';')[0] ?? '';
  const browser = opened.body.browser as string | undefined;
  const bound: Record<string, string> = browser ? { 'x-ingle-browser': browser } : { cookie };
  const keys = o.keys ?? authenticator(root.origin);
  const tab = {
    sid: opened.body.sid as string,
    cookie,
    browser,
    keys,
    from,
    token: '',
    browser_key_id: '',
    post: (path: string, body: unknown, headers: Record<string, string> = {}) =>
      call(root, 'POST', path, body, { ...from, ...bound, origin: root.origin, ...headers }),
    bearer: (): Record<string, string> => ({ ...from, ...bound, authorization: `Bearer ${tab.token}` }),
    /** Root's options with what this browser has signed in the place of root's challenge. */
    signing: async <O extends { challenge: string }>(
      purpose: ToSign['purpose'],
      options: O,
      context?: string,
    ): Promise<O> => ({
      ...options,
      challenge: await challengeOf({
        purpose,
        context: context ?? tab.sid,
        bytes: fromBase64url(options.challenge),
      }),
    }),
    verify: (code: string) => tab.post('/v1/owner/login/verify', { device_code: code, sid: tab.sid }),
    async register() {
      const c = await tab.post('/v1/owner/webauthn/registration/challenge', { sid: tab.sid });
      if (c.status !== 200) return c;
      const credential = keys.create(
        await tab.signing('registration', c.body.publicKeyCredentialCreationOptions),
      );
      return tab.post('/v1/owner/webauthn/registration/finish', { sid: tab.sid, credential });
    },
    async login() {
      const c = await tab.post('/v1/owner/webauthn/login/challenge', { sid: tab.sid });
      if (c.status !== 200) return c;
      const credential = keys.get(await tab.signing('login', c.body.publicKeyCredentialRequestOptions));
      const r = await tab.post('/v1/owner/webauthn/login/finish', { sid: tab.sid, credential });
      if (r.status === 200) {
        tab.token = r.body.session_jwt;
        tab.browser_key_id = r.body.browser_key_id;
      }
      return r;
    },
    offer: (body: Record<string, unknown> = {}) =>
      tab.post(
        '/v1/browser/pairing/offer',
        { sid: tab.sid, ...body },
        { authorization: `Bearer ${tab.token}` },
      ),
    async stage(): Promise<string> {
      return (await tab.post('/v1/session', { sid: tab.sid })).body.stage;
    },
    socket(o: { announce?: boolean; at?: string; first?: object } = {}): Socket & { last?: RouteStatus } {
      const s = io(`${root.url}/owner`, {
        transports: ['websocket'],
        forceNew: true,
        reconnectionDelay: 50,
        reconnectionDelayMax: 200,
        ...hints(o),
        extraHeaders: { ...(cookie ? { cookie } : {}), 'x-forwarded-for': from['x-forwarded-for'] },
        auth: (cb) => cb({ token: tab.token, sid: tab.sid, browser, first: o.first }),
      }) as Socket & { last?: RouteStatus };
      sockets.add(s);
      s.on('status', (m: RouteStatus, ack?: () => void) => {
        s.last = m;
        ack?.();
      });
      if (o.at !== undefined) heedRoot(s);
      comesBack(s);
      if (o.announce !== false) s.on('connect', () => s.emit('owner.online', tab.online(), () => {}));
      return s;
    },
    online: () => ({ sid: tab.sid, session_jwt: tab.token, browser_key_id: tab.browser_key_id }),
  };
  return tab;
}

/** A command line that asks root to be let in, or is. */
export async function newCommandLine(root: { url: string }, name = 'shell') {
  const from = { 'x-forwarded-for': newAddress() };
  const asked = granted(await call(root, 'POST', '/v1/command-line', { name }, from)).body;
  const line = {
    from,
    ...(asked as { device_code: string; user_code: string; interval: number; verification_uri: string }),
    token: '',
    /** Asks what became of its wish, and keeps the token. */
    async poll(): Promise<Answer> {
      const body = { device_code: line.device_code };
      const r = await call(root, 'POST', '/v1/command-line/token', body, from);
      if (r.body.token) line.token = r.body.token;
      return r;
    },
    bearer: () => ({ ...from, authorization: `Bearer ${line.token}` }),
    /** A tab types its code. */
    find: (tab: Tab, code?: string): Promise<Answer> =>
      tab.post('/v1/owner/command-lines', { user_code: code ?? line.user_code }, tab.bearer()),
    /** And allows what it found, or another one. */
    async allow(tab: Tab, found: Answer, id: string = found.body.id): Promise<Answer> {
      const options = found.body.publicKeyCredentialRequestOptions;
      const credential = tab.keys.get(await tab.signing('login', options, commandContext(tab.sid, id)));
      return tab.post(`/v1/owner/command-lines/${id}`, { credential }, tab.bearer());
    },
    /** All of it. */
    async comesIn(tab: Tab) {
      granted(await line.allow(tab, granted(await line.find(tab))));
      granted(await line.poll());
    },
  };
  return line;
}

/** A hub, and a tab that is signed in to it with a passkey; `seat`: where the tab comes to root, if not where the hub does. */
export async function signedIn(
  root: Parameters<typeof newHub>[0],
  seat: Parameters<typeof newTab>[0] = root,
) {
  const hub = await newHub(root);
  const tab = await newTab(seat);
  for (const step of [async () => tab.verify(await hub.code()), tab.register, tab.login])
    granted(await step());
  return { hub, tab };
}

/** The same with the sockets of both, and the route between them bound. */
export async function bound(root: Parameters<typeof signedIn>[0]) {
  const { hub, tab } = await signedIn(root);
  const line = hub.socket();
  const owner = tab.socket();
  await tab.offer();
  await until(() => owner.last?.route === 'bound', 'a bound route');
  return { hub, tab, line, owner };
}

/** The first event of that name, as its arguments. */
export function heard(s: Socket, event: string): Promise<unknown[]> {
  const first = new Promise<unknown[]>((resolve) => s.once(event, (...args: unknown[]) => resolve(args)));
  const waited = within(first, `the event ${event}`);
  // A test that fails before it looks is told of its own failure, not of this.
  waited.catch(() => {});
  return waited;
}

/** Whether root let a socket in: nothing, or the error it was refused with. */
export function refusal(s: Socket): Promise<(Error & { data?: { error: string } }) | undefined> {
  const came = new Promise<undefined>((resolve) => s.once('connect', () => resolve(undefined)));
  const refused = new Promise<Error>((resolve) => s.once('connect_error', resolve));
  return within(Promise.race([came, refused]), 'root to let a socket in or to refuse it');
}

/** Emits and gives the acknowledgement. */
// biome-ignore lint/suspicious/noExplicitAny: looked at field by field in assertions
export function ask(s: Socket, event: string, ...args: unknown[]): Promise<any> {
  return within(s.emitWithAck(event, ...args), `the acknowledgement of ${event}`);
}

/** Root's own database, for what time alone would bring about. */
export function openDatabase(root: { data: string }) {
  return openSqliteStore(join(root.data, 'root.sqlite'), migrations);
}
