// Root's HTTP API (root/endpoints.ts), answered.
import { inputOf } from '../firmware/protocol/endpoint/input.ts';
import { bind, type Handlers, router } from '../firmware/protocol/endpoint/router.ts';
import { IngleError, toIngleError } from '../firmware/protocol/errors.ts';
import { BROWSER_HEADER, SKILL_UI } from '../firmware/protocol/page.ts';
import { POW_HEADER } from '../firmware/protocol/pairing/pow.ts';
import { isTicket } from '../firmware/protocol/pairing/ticket.ts';
import type { ProofPurpose } from '../firmware/protocol/wire.ts';
import { issueCode, joinSubnet, takeHub, verifyCode, wishOf } from './codes.ts';
import {
  allow,
  askIn,
  authenticateCommand,
  deny,
  findAsking,
  isCommandToken,
  pollIn,
} from './command-lines.ts';
import { crossOrigin, fromApplication, isPreflight, preflight } from './cors.ts';
import { type RootWho, rootApi } from './endpoints.ts';
import {
  endSession,
  exportAudit,
  listHubs,
  listSessions,
  offerHub,
  readAudit,
  removeHub,
  renameHub,
  renamePasskey,
  renameSession,
} from './estate.ts';
import { failure, json, type Reply, type Request } from './http.ts';
import { authenticateHub, certify, enrol, rotate } from './hubs.ts';
import { placeOf } from './limit.ts';
import { admit, part } from './members.ts';
import type { Answered } from './observe.ts';
import { accept, offer } from './pairing.ts';
import type { Session } from './records/records.ts';
import { bySession } from './records/rules.ts';
import type { Root } from './root.ts';
import { authenticate, browserOf, logout, openSession, revoke, sessionOf } from './session.ts';
import { enterPage, openPage, pageFile } from './skill-ui.ts';
import {
  listCredentials,
  loginChallenge,
  loginFinish,
  ownedBy,
  registrationChallenge,
  registrationFinish,
} from './webauthn.ts';

interface Asked {
  root: Root;
  /** Who may call, as the endpoint declares it. */
  who: RootWho;
  req: Request;
}
type Answers = Handlers<typeof rootApi, Asked, Reply>;

const cookieOf = ({ root, req }: Pick<Asked, 'root' | 'req'>) =>
  browserOf(root, req.header('cookie'), req.header(BROWSER_HEADER));
const bearer = (req: Request) => /^Bearer ([\w.-]+)$/i.exec(req.header('authorization'))?.[1];
/** A hub's certificate and proof (D11). */
const hubOf = ({ root, req }: Asked, purpose: ProofPurpose) =>
  authenticateHub(root, req.header('x-ingle-certificate'), bearer(req), purpose);
/** Counts for a sid that was shown to be the caller's, whatever addresses it calls from. */
async function counted({ root }: Asked, found: Promise<Session>): Promise<Session> {
  const session = await found;
  root.limits.sid.take(session.sid);
  return session;
}
/** The session of the bearer's token: from the browser it was issued to, or of a command line where one may call. */
async function ownerOf(a: Asked): Promise<Session> {
  const token = bearer(a.req);
  if (!isCommandToken(token)) return counted(a, authenticate(a.root, token, cookieOf(a)));
  const session = await counted(a, authenticateCommand(a.root, token));
  if (a.who !== 'account')
    throw new IngleError('forbidden', 'A command line may not do this. Use the page of access in a browser.');
  return session;
}
/** The session of a sid, from the browser it belongs to. */
const browserSession = (a: Asked & { body: { sid: string } }) =>
  counted(a, sessionOf(a.root, a.body.sid, cookieOf(a)));

/** HEAD would spend a ticket, and ask a hub, for nothing. */
function getOnly(req: Request): void {
  if (req.method !== 'GET') throw new IngleError('method_not_allowed', 'Use GET here.', { allow: 'GET' });
}

/** A code as it was typed, with what came along. */
function typedIn(req: Request, code: string, ticket = '', field = 'device_code') {
  if (code.length > 64)
    throw new IngleError('invalid_request', `"${field}" is too long.`, { pointer: `/${field}` });
  if (ticket !== '' && !isTicket(ticket))
    throw new IngleError('invalid_request', '"ticket" is not one.', { pointer: '/ticket' });
  return { code: code.trim(), ip: req.ip, ticket, pow: req.header(POW_HEADER) };
}

const answers: Answers = {
  async openSession(a) {
    const opened = await openSession(a.root, cookieOf(a), a.body.sid);
    return json(opened.body, 200, opened.cookie ? { 'set-cookie': opened.cookie } : {});
  },
  async issueCode(a) {
    const { hub, claims } = await hubOf(a, 'device-code');
    return issueCode(a.root, hub, wishOf(claims, a.req.ip));
  },
  async verify(a) {
    const { root, req, body: b } = a;
    const code = b.device_code ?? b.code;
    if (code === undefined || (b.device_code !== undefined && b.code !== undefined))
      throw new IngleError('invalid_request', 'Give "device_code".', { pointer: '/device_code' });
    await browserSession(a);
    return verifyCode(root, b.sid, typedIn(req, code, b.ticket));
  },
  registrationChallenge: async (a) => registrationChallenge(a.root, await browserSession(a)),
  registrationFinish: async (a) => registrationFinish(a.root, await browserSession(a), a.body.credential),
  loginChallenge: async (a) => loginChallenge(a.root, await browserSession(a)),
  loginFinish: async (a) =>
    loginFinish(a.root, await browserSession(a), a.body.credential, placeOf(a.req.ip)),
  async logout(a) {
    const { sid } = a.body;
    const session = await ownerOf(a);
    if (sid !== undefined && sid !== session.sid)
      throw new IngleError('forbidden', 'The token is of another session.');
    await logout(a.root, session);
    return { ok: true };
  },
  credentials: async (a) => listCredentials(a.root, await ownerOf(a)),
  async revoke(a) {
    const session = await ownerOf(a);
    await ownedBy(a.root, session);
    const { id } = a.params as { id: string };
    return { ok: true, ...(await revoke(a.root, session.owner_id!, id, bySession(session))) };
  },
  renamePasskey: async (a) => renamePasskey(a.root, await ownerOf(a), a.params.id, a.body.name),
  sessions: async (a) => listSessions(a.root, await ownerOf(a)),
  renameSession: async (a) => renameSession(a.root, await ownerOf(a), a.params.id, a.body.name),
  endSession: async (a) => endSession(a.root, await ownerOf(a), a.params.id),
  hubs: async (a) => listHubs(a.root, await ownerOf(a)),
  renameHub: async (a) => renameHub(a.root, await ownerOf(a), a.params.hub_id, a.body.name),
  removeHub: async (a) => removeHub(a.root, await ownerOf(a), a.params.hub_id),
  offerHub: async (a) => offerHub(a.root, await ownerOf(a), a.params.hub_id, true),
  keepHub: async (a) => offerHub(a.root, await ownerOf(a), a.params.hub_id, false),
  async takeHub(a) {
    const session = await ownerOf(a);
    await ownedBy(a.root, session);
    return takeHub(a.root, session, typedIn(a.req, a.body.device_code, a.body.ticket));
  },
  audit: async (a) => readAudit(a.root, await ownerOf(a), a.query.before),
  exportAudit: async (a) => exportAudit(a.root, await ownerOf(a)),
  askIn: ({ root, req, body }) => askIn(root, body.name, req.ip),
  pollIn: ({ root, req, body }) => pollIn(root, body.device_code, req.ip),
  async findAsking(a) {
    const session = await ownerOf(a);
    return findAsking(a.root, session, typedIn(a.req, a.body.user_code, '', 'user_code'));
  },
  allow: async (a) => allow(a.root, await ownerOf(a), a.params.id, a.body.credential),
  deny: async (a) => deny(a.root, await ownerOf(a), a.params.id),
  async openPage(a) {
    return openPage(a.root, await ownerOf(a), a.body);
  },
  page: ({ root, req, params, query }) => {
    getOnly(req);
    return enterPage(root, { ...params, ticket: query.ticket ?? '' });
  },
  pageFile: ({ root, req, params }) => {
    getOnly(req);
    return pageFile(root, params);
  },
  async offer(a) {
    const { sid, e2e_pubkey, hub_id } = a.body;
    const session = await ownerOf(a);
    if (session.sid !== sid) throw new IngleError('forbidden', 'The token is of another session.');
    return offer(a.root, session, e2e_pubkey, hub_id);
  },
  async accept(a) {
    const { sid, hub_id, hub_e2e_pubkey } = a.body;
    const { hub } = await hubOf(a, 'pairing-accept');
    if (hub.hub_id !== hub_id) throw new IngleError('forbidden', 'The certificate is of another hub.');
    await accept(a.root, hub.hub_id, sid, hub_e2e_pubkey);
    return { ok: true };
  },
  enrol: ({ root, req, body: b }) => enrol(root, b.sign_pub, b.e2e_pub, b.proof, req.header(POW_HEADER)),
  async renew(a) {
    const { hub } = await hubOf(a, 'renew');
    return { hub_id: hub.hub_id, ...(await certify(a.root, hub)) };
  },
  async rotate(a) {
    const { e2e_pub, sign_pub, signature } = a.body;
    const { hub } = await hubOf(a, 'rotate');
    return rotate(a.root, hub, e2e_pub, sign_pub ?? hub.sign_pub, signature);
  },
  async joinSubnet(a) {
    const { device_code, ticket } = a.body;
    const { hub } = await hubOf(a, 'subnet-join');
    return joinSubnet(a.root, hub, typedIn(a.req, device_code, ticket));
  },
  async admitMember(a) {
    const { hub } = await hubOf(a, 'subnet-admit');
    return admit(a.root, hub, a.body.hub_id, a.body.sign_pub);
  },
  async partMember(a) {
    const { hub } = await hubOf(a, 'subnet-part');
    return part(a.root, hub, a.body.hub_id ?? null, a.body.note ?? '');
  },
  keys: ({ root }) => json(root.tokens.jwks(), 200, { 'cache-control': 'public, max-age=300' }),
  live: () => ({ ok: true }),
  serving({ root }) {
    if (!root.health.isServing())
      throw new IngleError('unavailable', 'This process of root is cut off from the others.');
    return { ok: true };
  },
  async ready({ root }) {
    const not_ready = await root.health.notReady();
    if (not_ready.length === 0) return json({ ok: true, ready: true, not_ready });
    const error = new IngleError('unavailable', `Root is not ready: ${not_ready.join(', ')}.`);
    return json({ ready: false, not_ready, ...error.body() }, error.status);
  },
};
const { find, methodsAt } = router(bind<typeof rootApi, Asked, Reply>(rootApi, answers));

/** Whether a path belongs to the API, known or not. */
export function isApi(path: string): boolean {
  return (
    path === '/v1' ||
    path.startsWith('/v1/') ||
    path.startsWith(`${SKILL_UI}/`) ||
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
  if (isPreflight(root.config, req)) return preflight(methodsAt(req.path));
  let found: ReturnType<typeof find> | IngleError;
  try {
    found = find(req.method, req.path);
  } catch (e) {
    found = toIngleError(e);
  }
  const asked = {
    endpoint: found instanceof IngleError ? 'none' : found.bound.name,
    method: req.method,
    traceparent: req.header('traceparent'),
  };
  return (await root.observer.request(asked, () => carriedOut(root, req, found))).reply;
}

async function carriedOut(
  root: Root,
  req: Request,
  found: ReturnType<typeof find> | IngleError,
): Promise<Answered> {
  try {
    if (found instanceof IngleError) throw found;
    const { bound, method, params } = found;
    const endpoint = bound.endpoint as (typeof rootApi)[keyof typeof rootApi];
    let body: Uint8Array = new Uint8Array();
    if (method !== 'GET') {
      sameOrigin(root, req);
      body = await req.body();
      if (body.length > 0 && !/^application\/json\s*(;|$)/i.test(req.header('content-type')))
        throw new IngleError('invalid_request', 'Send JSON, with content-type application/json.', {
          pointer: '',
        });
    }
    // What is not JSON at all counts as well: reading it was work.
    if (endpoint.limit) root.limits[endpoint.limit].take(req.ip);
    const input = inputOf(endpoint)(params, new URLSearchParams(req.query), body);
    const result = await bound.answer({ root, req, who: endpoint.who, ...input });
    const reply = 'answer' in endpoint ? json(result as object) : (result as Reply);
    return { reply, error: null };
  } catch (e) {
    return { reply: failure(e), error: toIngleError(e).code };
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
