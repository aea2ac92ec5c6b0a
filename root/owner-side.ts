// The namespace /owner: browsers with a session, and hubs that lead to the hub of their subnet.
import type { Socket } from 'socket.io';
import * as T from 'typebox';
import { fromBase64url } from '../firmware/protocol/bytes.ts';
import { checked } from '../firmware/protocol/endpoint/check.ts';
import { IngleError } from '../firmware/protocol/errors.ts';
import { memberSid } from '../firmware/protocol/subnet.ts';
import type { RouteStatus } from '../firmware/protocol/wire.ts';
import { seconds } from './clock.ts';
import type { Event, Side } from './events.ts';
import type { Gate } from './gate.ts';
import { authenticateHub } from './hubs.ts';
import { tooMany } from './limit.ts';
import { log, short } from './log.ts';
import type { Session } from './records/records.ts';
import type { Root } from './root.ts';
import { authenticate, browserOf } from './session.ts';
import { steer } from './steer.ts';
import { statusNow, type Way } from './ways.ts';

/** What hangs on a socket. */
interface OwnerData {
  sid: string;
  cookie: string;
  busy: boolean;
  way: Way | null;
  /** A browser's session, and the frame that begins its handshake, until its way is looked for. */
  session: Session | null;
  first: { frame: Uint8Array; ctr: number } | null;
  /** How the route was when the way was there. */
  online: Promise<RouteStatus> | null;
  /** A hub: where it leads. */
  member?: { hub_id: string; owner_id: string; subnet_id: string };
}

const fresh = { busy: false, way: null, session: null, first: null, online: null };

/** What is said in the handshakes and events. */
const text = T.String();
const maybe = T.Optional(text);
const only = { additionalProperties: false };
const said = {
  member: T.Object({ certificate: text, proof: text }, only),
  owner: T.Object(
    {
      ...{ session_jwt: maybe, token: maybe, sid: maybe, browser: maybe },
      first: T.Optional(T.Object({ frame: text, ctr: T.Number() }, only)),
    },
    only,
  ),
  online: T.Object({ sid: text, session_jwt: text, browser_key_id: text }, only),
};

/** @throws IngleError `invalid_request` */
function bytesOf(frame: string): Uint8Array {
  try {
    return fromBase64url(frame);
  } catch {
    throw new IngleError('invalid_request', 'The first frame is not base64url.');
  }
}

export function ownerSide(root: Root, gate: Gate): Side {
  const { ways } = root;

  /** A hub that leads to the hub of its subnet, or asks to be let in there. */
  async function memberComes(socket: Socket): Promise<void> {
    const { certificate, proof } = checked(said.member, socket.handshake.auth);
    const { hub } = await authenticateHub(root, certificate, proof, 'subnet-route');
    const found = await root.records.members.find(hub.hub_id, seconds());
    if (!found) throw new IngleError('not_found', 'This hub is in no subnet.');
    await steer(root, socket, found.via.hub_id, 'browser');
    const sid = memberSid(hub.hub_id);
    const away = gate.away(sid);
    if (away > 0) throw tooMany(away);
    const { hub_id, owner_id, subnet_id } = found.via;
    const member = { hub_id, owner_id, subnet_id };
    socket.data = { ...fresh, sid, cookie: sid, member } satisfies OwnerData;
    gate.admit(socket.conn, 'browser', owner_id, sid);
  }

  async function browserComes(socket: Socket, header: (name: string) => string): Promise<void> {
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
    const first = auth.first ? { ...auth.first, frame: bytesOf(auth.first.frame) } : null;
    if (session.hub_id !== null) await steer(root, socket, session.hub_id, 'browser');
    socket.data = { ...fresh, sid, cookie, session, first } satisfies OwnerData;
    gate.admit(socket.conn, 'browser', cookie, cookie);
  }

  /** Looks for the way of a browser's session, says how its route is, and passes its first frame on. */
  async function browserUp(socket: Socket, data: OwnerData, session: Session): Promise<RouteStatus> {
    const { first } = data;
    data.first = null;
    try {
      const { way, status } = await ways.browserUp(session, socket);
      data.way = way;
      // It went while its hub's home was looked for.
      if (!socket.connected) ways.browserDown(way, socket);
      else {
        gate.owns(socket.conn, session.owner_id!);
        // Only where the browser has just been told that the route is bound: else it begins anew once that is so (D172).
        if (first && status.route === 'bound') ways.toHub(way, socket, { sid: data.sid, ...first });
      }
      return status;
    } catch (e) {
      // Its hub's home is not found just now: it comes back, and may come to another node.
      if (e instanceof IngleError && e.code === 'unavailable') setTimeout(() => socket.conn.close(), 1000);
      throw e;
    }
  }

  const online: Event = async (socket, m) => {
    const data = socket.data as OwnerData;
    const { sid, session_jwt, browser_key_id } = checked(said.online, m);
    if (sid !== data.sid) throw new IngleError('forbidden', 'This connection is of another session.');
    if (data.busy) throw new IngleError('rate_limited', 'One at a time.', { retry_after: 1 });
    data.busy = true;
    try {
      const session = await authenticate(root, session_jwt, data.cookie);
      if (session.sid !== sid || session.browser_key_id !== browser_key_id)
        throw new IngleError('forbidden', 'The token is of another session.');
      if (!socket.connected) return undefined;
      // It may have changed since it was told first.
      const first = await data.online;
      const now = data.way ? statusNow(data.way) : undefined;
      // What it was told first is kept no longer than it is needed.
      if (now) data.online = null;
      return now ?? first;
    } finally {
      data.busy = false;
    }
  };

  async function memberUp(socket: Socket, data: OwnerData, member: NonNullable<OwnerData['member']>) {
    try {
      data.way = await ways.memberUp({ sid: data.sid, ...member }, socket);
      if (!socket.connected) ways.browserDown(data.way, socket);
    } catch {
      // Its hub cannot be reached just now: it comes back, and may find it.
      socket.conn.close();
    }
  }

  return {
    admit: (socket, header) =>
      'certificate' in socket.handshake.auth ? memberComes(socket) : browserComes(socket, header),
    events: {
      'relay.to_hub': (socket, m) => {
        const { way } = socket.data as OwnerData;
        if (!way) throw new IngleError('conflict', 'The route is not known yet. Wait for `status`.');
        return ways.toHub(way, socket, m);
      },
      'owner.online': online,
    },
    came(socket) {
      const data = socket.data as OwnerData;
      if (data.member) void memberUp(socket, data, data.member);
      else if (data.session) {
        // At once, as a browser then hears of its route a round trip before its owner.online is answered (D172).
        data.online = browserUp(socket, data, data.session);
        data.online.catch(() => {});
        data.session = null;
      }
      log('debug', 'browser connected', { session: short(data.sid) });
    },
    gone(this: Socket) {
      const { way } = this.data as OwnerData;
      if (way) ways.browserDown(way, this);
      this.conn.close();
    },
  };
}
