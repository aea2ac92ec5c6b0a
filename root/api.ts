// Root's HTTP API: each endpoint, what its body looks like, and who may call it.
import { IngleError } from '../firmware/protocol/errors.ts';
import { parseObject, shape } from '../firmware/protocol/json.ts';
import { BROWSER_HEADER } from '../firmware/protocol/page.ts';
import { POW_HEADER } from '../firmware/protocol/pow.ts';
import { isTicket } from '../firmware/protocol/ticket.ts';
import type { ProofPurpose } from '../firmware/protocol/wire.ts';
import { issueCode, verifyCode, wishOf } from './codes.ts';
import { crossOrigin, fromApplication, isPreflight, preflight } from './cors.ts';
import { failure, json, type Reply, type Request } from './http.ts';
import { authenticateHub, enrol, rotate } from './hubs.ts';
import { clientKey } from './limit.ts';
import { accept, offer } from './pairing.ts';
import type { Limits, Root } from './root.ts';
import { authenticate, browserOf, logout, openSession, revoke, sessionOf } from './session.ts';
import {
  listCredentials,
  loginChallenge,
  loginFinish,
  registrationChallenge,
  registrationFinish,
} from './webauthn.ts';

type Body = Record<string, unknown>;
type Endpoint = (root: Root, req: Request, body: Body, id: string) => Promise<Reply | object>;

const cookieOf = (root: Root, req: Request) =>
  browserOf(root, req.header('cookie'), req.header(BROWSER_HEADER));
const bearer = (req: Request) => /^Bearer ([\w.-]+)$/i.exec(req.header('authorization'))?.[1];
/** A hub's certificate and proof (D11). */
const hubOf = (root: Root, req: Request, purpose: ProofPurpose) =>
  authenticateHub(root, req.header('x-ingle-certificate'), bearer(req), purpose);
/** The session of the bearer's token, from the browser it was issued to. */
const ownerOf = (root: Root, req: Request) => authenticate(root, bearer(req), cookieOf(root, req));

const withSid =
  (work: (root: Root, session: Awaited<ReturnType<typeof sessionOf>>) => Promise<object>): Endpoint =>
  async (root, req, body) => {
    const { sid } = shape(body, { sid: 'string' });
    return work(root, await sessionOf(root, sid, cookieOf(root, req)));
  };
const withCredential =
  (
    work: (root: Root, session: Awaited<ReturnType<typeof sessionOf>>, credential: Body) => Promise<object>,
  ): Endpoint =>
  async (root, req, body) => {
    const { sid, credential } = shape(body, { sid: 'string', credential: 'object' });
    return work(root, await sessionOf(root, sid, cookieOf(root, req)), credential);
  };

/** Path -> method -> [which limit counts it, what it does]. `{id}` takes one segment. */
export const endpoints: Record<string, Record<string, [keyof Limits | null, Endpoint]>> = {
  '/v1/session': {
    POST: [
      'session',
      async (root, req, body) => {
        const { sid } = shape(body, { sid: 'string?' });
        const opened = await openSession(root, cookieOf(root, req), sid);
        return json(opened.body, 200, opened.cookie ? { 'set-cookie': opened.cookie } : {});
      },
    ],
  },
  '/v1/owner/login/device-code': {
    POST: [
      'hub',
      async (root, req, body) => {
        shape(body, {});
        const { hub, claims } = await hubOf(root, req, 'device-code');
        return issueCode(root, hub, wishOf(claims, req.ip));
      },
    ],
  },
  '/v1/owner/login/verify': {
    POST: [
      'verify',
      async (root, req, body) => {
        const b = shape(body, { device_code: 'string?', code: 'string?', ticket: 'string?', sid: 'string' });
        const code = b.device_code ?? b.code;
        if (code === undefined || (b.device_code !== undefined && b.code !== undefined))
          throw new IngleError('invalid_request', 'Give "device_code".', { pointer: '/device_code' });
        if (code.length > 64)
          throw new IngleError('invalid_request', '"device_code" is too long.', { pointer: '/device_code' });
        await sessionOf(root, b.sid, cookieOf(root, req));
        if (b.ticket !== undefined && !isTicket(b.ticket))
          throw new IngleError('invalid_request', '"ticket" is not one.', { pointer: '/ticket' });
        const pow = req.header(POW_HEADER);
        return verifyCode(root, b.sid, { code: code.trim(), ip: req.ip, ticket: b.ticket ?? '', pow });
      },
    ],
  },
  '/v1/owner/webauthn/registration/challenge': { POST: ['webauthn', withSid(registrationChallenge)] },
  '/v1/owner/webauthn/registration/finish': { POST: ['webauthn', withCredential(registrationFinish)] },
  '/v1/owner/webauthn/login/challenge': { POST: ['webauthn', withSid(loginChallenge)] },
  '/v1/owner/webauthn/login/finish': { POST: ['webauthn', withCredential(loginFinish)] },
  '/v1/owner/logout': {
    POST: [
      'session',
      async (root, req, body) => {
        const { sid } = shape(body, { sid: 'string?' });
        const session = await ownerOf(root, req);
        if (sid !== undefined && sid !== session.sid)
          throw new IngleError('forbidden', 'The token is of another session.');
        await logout(root, session.sid);
        return { ok: true };
      },
    ],
  },
  '/v1/owner/credentials': {
    GET: ['session', async (root, req) => listCredentials(root, await ownerOf(root, req))],
  },
  '/v1/owner/credentials/{id}': {
    DELETE: [
      'session',
      async (root, req, _, id) => {
        const session = await ownerOf(root, req);
        return { ok: true, ...(await revoke(root, session.owner_id!, id)) };
      },
    ],
  },
  '/v1/browser/pairing/offer': {
    POST: [
      'session',
      async (root, req, body) => {
        const { sid, e2e_pubkey } = shape(body, { sid: 'string', e2e_pubkey: 'string?' });
        const session = await ownerOf(root, req);
        if (session.sid !== sid) throw new IngleError('forbidden', 'The token is of another session.');
        return offer(root, session, e2e_pubkey);
      },
    ],
  },
  '/v1/hub/pairing/accept': {
    POST: [
      'hub',
      async (root, req, body) => {
        const b = shape(body, { sid: 'string', hub_id: 'string', hub_e2e_pubkey: 'string?' });
        const { hub } = await hubOf(root, req, 'pairing-accept');
        if (hub.hub_id !== b.hub_id) throw new IngleError('forbidden', 'The certificate is of another hub.');
        await accept(root, hub.hub_id, b.sid, b.hub_e2e_pubkey);
        return { ok: true };
      },
    ],
  },
  '/v1/hub/enrol': {
    POST: [
      'enrol',
      async (root, req, body) => {
        const b = shape(body, { sign_pub: 'string', e2e_pub: 'string', proof: 'string' });
        return enrol(root, b.sign_pub, b.e2e_pub, b.proof, req.header(POW_HEADER));
      },
    ],
  },
  '/v1/hub/renew': {
    POST: [
      'hub',
      async (root, req, body) => {
        shape(body, {});
        const { hub } = await hubOf(root, req, 'renew');
        return { hub_id: hub.hub_id, ...(await root.tokens.issueCertificate(hub)) };
      },
    ],
  },
  '/v1/hub/rotate': {
    POST: [
      'hub',
      async (root, req, body) => {
        const b = shape(body, { e2e_pub: 'string', sign_pub: 'string?', signature: 'string' });
        const { hub } = await hubOf(root, req, 'rotate');
        return rotate(root, hub, b.e2e_pub, b.sign_pub ?? hub.sign_pub, b.signature);
      },
    ],
  },
  '/.well-known/jwks.json': {
    GET: [null, async (root) => json(root.tokens.jwks(), 200, { 'cache-control': 'public, max-age=300' })],
  },
  '/health/live': { GET: [null, async () => ({ ok: true })] },
  '/health/ready': {
    GET: [
      null,
      async (root) => {
        await root.store.get('SELECT 1');
        return { ok: true };
      },
    ],
  },
};

/** The endpoint at a path, with the segment that stands for `{id}`. */
function find(path: string) {
  if (Object.hasOwn(endpoints, path)) return { methods: endpoints[path]!, id: '' };
  const cut = path.lastIndexOf('/');
  const pattern = `${path.slice(0, cut)}/{id}`;
  if (cut < 0 || !Object.hasOwn(endpoints, pattern)) return undefined;
  return { methods: endpoints[pattern]!, id: path.slice(cut + 1) };
}

/** Whether a path belongs to the API, known or not. */
export function isApi(path: string): boolean {
  return (
    path === '/v1' ||
    path.startsWith('/v1/') ||
    path.startsWith('/health/') ||
    path.startsWith('/.well-known/')
  );
}

/** Answers one API request, for the application's own pages wherever they lie; never throws. */
export async function answer(root: Root, req: Request): Promise<Reply> {
  const reply = await answered(root, req);
  return { ...reply, headers: { ...reply.headers, ...crossOrigin(root.config, req) } };
}

async function answered(root: Root, req: Request): Promise<Reply> {
  try {
    const found = find(req.path);
    if (!found) throw new IngleError('not_found', 'There is nothing at this address.');
    if (isPreflight(root.config, req)) return preflight(Object.keys(found.methods));
    const method = req.method === 'HEAD' ? 'GET' : req.method;
    const endpoint = Object.hasOwn(found.methods, method) ? found.methods[method] : undefined;
    if (!endpoint) {
      const allow = Object.keys(found.methods).join(', ');
      throw new IngleError('method_not_allowed', `Use ${allow} here.`, { allow });
    }
    const [limited, work] = endpoint;
    let body: Body = {};
    if (method !== 'GET') {
      sameOrigin(root, req);
      const raw = await req.body();
      if (raw.length > 0 && !/^application\/json\s*(;|$)/i.test(req.header('content-type')))
        throw new IngleError('invalid_request', 'Send JSON, with content-type application/json.', {
          pointer: '',
        });
      body = parseObject(raw);
    }
    if (limited) root.limits[limited].take(clientKey(req.ip));
    const result = await work(root, req, body, found.id);
    return isReply(result) ? result : json(result);
  } catch (e) {
    return failure(e);
  }
}

/** A browser says where a request comes from; only our own pages may call. Programs say nothing. */
function sameOrigin(root: Root, req: Request): void {
  const origin = req.header('origin');
  const site = req.header('sec-fetch-site');
  const foreign = (site === 'cross-site' || site === 'same-site') && !fromApplication(root.config, req);
  if ((origin !== '' && origin !== root.config.origin) || foreign)
    throw new IngleError('forbidden', `Open this application at ${root.config.origin}.`);
}

function isReply(x: object): x is Reply {
  return 'status' in x && 'headers' in x && 'body' in x;
}
