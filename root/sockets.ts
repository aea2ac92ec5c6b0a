// The namespaces /hub and /owner: who may connect, and what each event does.
import type { Server, Socket } from 'socket.io';
import * as T from 'typebox';
import { checked } from '../firmware/protocol/endpoint/check.ts';
import { type ErrorBody, IngleError, toIngleError } from '../firmware/protocol/errors.ts';
import { memberSid } from '../firmware/protocol/subnet.ts';
import { seconds } from './clock.ts';
import type { Gate } from './gate.ts';
import { authenticateHub, authenticateTls } from './hubs.ts';
import { clientKey, tooMany } from './limit.ts';
import type { HubLine, Link } from './links.ts';
import { log, short } from './log.ts';
import { accept } from './pairing.ts';
import type { Root } from './root.ts';
import { authenticate, browserOf } from './session.ts';

/** What hangs on a socket. `link` and `line` come with owner.online and hub.online's connection. */
interface OwnerData {
  sid: string;
  cookie: string;
  busy: boolean;
  link: Link | null;
  /** A hub: where it leads. */
  member?: { hub_id: string; owner_id: string; subnet_id: string };
}
interface HubData {
  hub_id: string;
  subnet_id: string;
  line: HubLine;
  waiting: number;
}
/** What is said in the handshakes and events. */
const text = T.String();
const maybe = T.Optional(text);
const list = T.Array(T.Unknown());
const only = { additionalProperties: false };
const said = {
  hub: T.Object({ hub_id: text, certificate: text, proof: maybe }, only),
  member: T.Object({ certificate: text, proof: text }, only),
  owner: T.Object({ session_jwt: maybe, token: maybe, sid: maybe, browser: maybe }, only),
  hubOnline: T.Object(
    {
      hub_id: text,
      subnet_id: text,
      caps: T.Object({ version: text, e2e: list, ui: list, features: list }, only),
    },
    only,
  ),
  accept: T.Object({ sid: text, hub_e2e_pub: maybe, sealed_secret: maybe }, only),
  ownerOnline: T.Object({ sid: text, session_jwt: text, browser_key_id: text }, only),
};
type Ack = (answer: object) => void;
type Event = (socket: Socket, message: unknown) => unknown;

/** Accepts a hub may have under way at once. */
const MAX_WAITING_ACCEPTS = 4096;

/** Handshake data after the handshake: the token and headers of 5,000 browsers are not worth keeping. */
const forgotten = Object.freeze({}) as Socket['handshake'];

export function openSockets(
  io: Server,
  root: Root,
  gate: Gate,
  ipOf: (header: (n: string) => string, peer: string) => string,
) {
  const { relay } = root;
  const names = root.config.mtlsHeader;
  // The default namespace is open to everybody in Socket.IO; nobody has business there.
  io.use((_, go) => go(refusal(new IngleError('forbidden', 'Connect to /hub or /owner.'))));

  io.of('/hub').use(async (socket, go) => {
    try {
      const header = headerOf(socket);
      root.limits.socket.take(clientKey(ipOf(header, socket.handshake.address)));
      const { hub_id, certificate, proof } = checked(said.hub, socket.handshake.auth);
      const tls = names !== '' && proof === undefined ? header(names) : '';
      const hub = tls
        ? await authenticateTls(root, certificate, tls)
        : (await authenticateHub(root, certificate, proof, 'socket')).hub;
      if (hub.hub_id !== hub_id)
        throw new IngleError('unauthenticated', 'The certificate is of another hub.');
      const away = gate.away(hub_id);
      if (away > 0) throw tooMany(away);
      socket.data = { hub_id, subnet_id: hub.subnet_id, waiting: 0 };
      gate.admit(socket.conn, 'hub', hub.owner_id, hub_id);
      go();
    } catch (e) {
      go(refusal(e));
    }
  });
  io.of('/owner').use(async (socket, go) => {
    try {
      const header = headerOf(socket);
      root.limits.socket.take(clientKey(ipOf(header, socket.handshake.address)));
      if ('certificate' in socket.handshake.auth) {
        await memberComes(socket);
        return go();
      }
      const auth = checked(said.owner, socket.handshake.auth);
      const token = auth.session_jwt ?? auth.token;
      const cookie = browserOf(root, header('cookie'), auth.browser ?? '');
      // The gate knows a cookie before the handshake; a secret comes with it.
      const away = gate.away(cookie);
      if (away > 0) throw tooMany(away);
      const session = await authenticate(root, token, cookie);
      const { sid } = session;
      if (auth.sid !== undefined && auth.sid !== sid)
        throw new IngleError('unauthenticated', 'The token is of another session.');
      socket.data = { sid, cookie, busy: false, link: null } satisfies OwnerData;
      gate.admit(socket.conn, 'browser', cookie, cookie);
      go();
    } catch (e) {
      go(refusal(e));
    }
  });

  /** A hub that leads to the hub of its subnet, or asks to be let in there. */
  async function memberComes(socket: Socket): Promise<void> {
    const { certificate, proof } = checked(said.member, socket.handshake.auth);
    const { hub } = await authenticateHub(root, certificate, proof, 'subnet-route');
    const found = await root.records.members.find(hub.hub_id, seconds());
    if (!found) throw new IngleError('not_found', 'This hub is in no subnet.');
    const sid = memberSid(hub.hub_id);
    const away = gate.away(sid);
    if (away > 0) throw tooMany(away);
    const { hub_id, owner_id, subnet_id } = found.via;
    const member = { hub_id, owner_id, subnet_id };
    socket.data = { sid, cookie: sid, busy: false, link: null, member } satisfies OwnerData;
    gate.admit(socket.conn, 'browser', owner_id, sid);
  }

  const hubEvents: Record<string, Event> = {
    'relay.to_browser': (socket, m) => relay.toBrowser((socket.data as HubData).line, socket, m),
    'hub.online': (socket, m) => {
      const data = socket.data as HubData;
      const { hub_id, subnet_id } = checked(said.hubOnline, m);
      if (hub_id !== data.hub_id || subnet_id !== data.subnet_id)
        throw new IngleError('forbidden', 'This connection is of another hub.');
      if (data.line.socket !== socket) throw new IngleError('conflict', 'A newer connection took over.');
      relay.hubOnline(data.line);
      void root.records.hubs
        .seen(hub_id, seconds())
        .catch((e) => log('error', 'a hub was not noted', { cause: e }));
      log('info', 'hub online', { hub_id });
    },
    'pairing.accept': async (socket, m) => {
      const data = socket.data as HubData;
      const { sid, hub_e2e_pub, sealed_secret } = checked(said.accept, m);
      if (data.waiting >= MAX_WAITING_ACCEPTS)
        throw new IngleError('rate_limited', 'Too many pairings at once.', { retry_after: 1 });
      data.waiting++;
      try {
        await accept(root, data.hub_id, sid, hub_e2e_pub, sealed_secret);
      } finally {
        data.waiting--;
      }
    },
  };
  const ownerEvents: Record<string, Event> = {
    'relay.to_hub': (socket, m) => {
      const { link } = socket.data as OwnerData;
      if (!link) throw new IngleError('conflict', 'Say owner.online first.');
      return relay.toHub(link, socket, m);
    },
    'owner.online': async (socket, m) => {
      const data = socket.data as OwnerData;
      const { sid, session_jwt, browser_key_id } = checked(said.ownerOnline, m);
      if (sid !== data.sid) throw new IngleError('forbidden', 'This connection is of another session.');
      if (data.busy) throw new IngleError('rate_limited', 'One at a time.', { retry_after: 1 });
      data.busy = true;
      try {
        const session = await authenticate(root, session_jwt, data.cookie);
        if (session.sid !== sid || session.browser_key_id !== browser_key_id)
          throw new IngleError('forbidden', 'The token is of another session.');
        if (!socket.connected) return undefined;
        const { link, status } = relay.browserUp(session, socket);
        data.link = link;
        gate.owns(socket.conn, link.owner_id);
        return status;
      } finally {
        data.busy = false;
      }
    },
  };

  function hubGone(this: Socket) {
    const { line, hub_id } = this.data as HubData;
    relay.hubDown(line, this);
    this.conn.close();
    log('info', 'hub offline', { hub_id });
  }
  function ownerGone(this: Socket) {
    const { link } = this.data as OwnerData;
    if (link) relay.browserDown(link, this);
    this.conn.close();
  }
  const dispatchHub = dispatcher(hubEvents, () => relay.unknown(), gate.wrote);
  const dispatchOwner = dispatcher(ownerEvents, () => relay.unknown(), gate.wrote);

  io.of('/hub').on('connection', (socket) => {
    slim(socket, dispatchHub);
    const data = socket.data as HubData;
    data.line = relay.hubUp(data.hub_id, socket);
    socket.on('disconnect', hubGone);
  });
  io.of('/owner').on('connection', (socket) => {
    slim(socket, dispatchOwner);
    const data = socket.data as OwnerData;
    if (data.member) data.link = relay.memberUp({ sid: data.sid, ...data.member }, socket);
    socket.on('disconnect', ownerGone);
    log('debug', 'browser connected', { session: short(data.sid) });
  });
}

/**
 * One function a namespace instead of listeners a socket: it costs no memory a socket, sees unknown events too, and
 * runs while the frame's buffer is valid (uWebSockets.js takes it back after the tick).
 */
function dispatcher(events: Record<string, Event>, unknown: () => void, wrote: (conn: object) => void) {
  const table = new Map(Object.entries(events));
  return function dispatch(this: Socket, args: unknown[]): void {
    const last = args[args.length - 1];
    const reply = typeof last === 'function' ? (last as Ack) : undefined;
    const ack =
      reply &&
      ((answer: object) => {
        reply(answer);
        wrote(this.conn);
      });
    try {
      const event = table.get(args[0] as string);
      if (!event) {
        unknown();
        throw new IngleError('invalid_request', 'This event is not known here.');
      }
      const result = event(this, args[1] === reply ? undefined : args[1]);
      if (result instanceof Promise)
        result.then(
          (value) => ack?.({ ok: true, ...(value as object | undefined) }),
          (e) => ack?.(failure(e)),
        );
      else if (ack)
        ack(
          result === false
            ? failure(new IngleError('invalid_request', 'The frame was dropped.'))
            : { ok: true },
        );
    } catch (e) {
      ack?.(failure(e));
    }
  };
}

function failure(e: unknown): { ok: false } & ErrorBody {
  if (!(e instanceof IngleError)) log('error', 'an event failed', { cause: e });
  return { ok: false, ...toIngleError(e).body() };
}

/** What a refused handshake says: the one error shape, in `err.data`. */
function refusal(e: unknown): Error & { data: ErrorBody } {
  if (!(e instanceof IngleError)) log('error', 'a handshake failed', { cause: e });
  const error = toIngleError(e);
  return Object.assign(new Error(error.code), { data: error.body() });
}

function headerOf(socket: Socket): (name: string) => string {
  return (name) => {
    const v = socket.handshake.headers[name];
    return typeof v === 'string' ? v : '';
  };
}

/** Lets go of what a socket keeps only for its handshake, and routes its events through `dispatch`. */
export function slim(socket: Socket, dispatch: (this: Socket, args: unknown[]) => void): void {
  const inner = socket as unknown as { handshake: unknown; dispatch: unknown; conn: { request: unknown } };
  inner.handshake = forgotten;
  inner.conn.request = undefined;
  inner.dispatch = dispatch;
}
