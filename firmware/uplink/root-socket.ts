// The socket to root's namespace /hub (socket.io-client, WebSocket only): kept up, proven anew at each connect.
import { io, type Socket } from 'socket.io-client';
import { fromBody, IngleError } from '../protocol/errors.ts';
import { heedRoot } from '../protocol/heed.ts';
import { MAX_FRAME } from '../protocol/limits.ts';
import type { Ack, HubCaps, HubToRoot, RelayMessage, RootToHub } from '../protocol/wire.ts';
import type { Log } from '../system/log.ts';
import { comeback } from './comeback.ts';
import type { SkillPages } from './skill-pages.ts';

/** First pause before a further try, milliseconds; doubles, with jitter. */
const PAUSE = 400;
/** Longest pause while root may be just restarting, and when it has been away for long. */
const PAUSE_MAX = 2000;
const PAUSE_MAX_LATER = 5000;
const SOON_TRIES = 60;
const ACK_TIMEOUT = 5000;

export interface LinkOptions {
  root_url: string;
  hub_id: string;
  subnet_id: string;
  caps: HubCaps;
  log: Log;
  /** The handshake's credentials, asked for at each connect: the proof lives a minute. */
  auth(): Promise<{ hub_id: string; certificate: string; proof: string }>;
  /** Root refused the credentials. */
  refused(error: IngleError): void;
  connected(up: boolean): void;
  /** A browser asks to come in. Null keeps it out; else its frames pass, and what is given goes into `pairing.accept`. */
  request(m: {
    sid: string;
    owner_id: string;
    subnet_id: string;
    browser_pub?: string;
  }): Promise<{ sealed_secret?: string } | null>;
  frame(m: RelayMessage): void;
  /** A session is over. */
  over(sid: string): void;
  /** Files of skills' own pages that go through root. */
  pages: SkillPages;
  /** The hub's static key, for root's records alone. */
  e2ePub(): string;
}

export function link(o: LinkOptions) {
  const socket: Socket<RootToHub, HubToRoot> = io(`${o.root_url}/hub`, {
    transports: ['websocket'],
    query: { at: '' },
    auth: (give) =>
      void o.auth().then(give, (e) => {
        o.log.warn('no credentials for root', { error: e });
        give({});
      }),
    reconnectionDelay: PAUSE,
    reconnectionDelayMax: PAUSE_MAX,
    randomizationFactor: 0.5,
    timeout: 10_000,
    // Nothing root has to say is longer than a frame with what is around it.
    ...{ maxPayload: 4 * MAX_FRAME },
    // Frames are ciphertext; nothing is gained by trying to shrink them.
    perMessageDeflate: { threshold: Number.MAX_SAFE_INTEGER },
  });
  socket.io.on('reconnect_attempt', (n) =>
    socket.io.reconnectionDelayMax(n > SOON_TRIES ? PAUSE_MAX_LATER : PAUSE_MAX),
  );
  let up = false;
  const back = comeback(socket, PAUSE, PAUSE_MAX_LATER);
  const forget = heedRoot(socket);

  function set(state: boolean): void {
    if (up === state) return;
    up = state;
    if (!up) o.pages.stopAll();
    o.connected(state);
  }

  socket.on('connect', () => {
    const { hub_id, subnet_id, caps } = o;
    socket
      .timeout(ACK_TIMEOUT)
      .emit('hub.online', { hub_id, subnet_id, caps }, (late: unknown, ack?: Ack) => {
        if (!late && ack?.ok) {
          back.taken();
          set(true);
          return;
        }
        if (ack && !ack.ok) o.refused(new IngleError('unauthenticated', ack.message));
        socket.disconnect();
        back.again();
      });
  });
  socket.on('connect_error', (e) => {
    set(false);
    o.log.debug('root does not answer', { error: e });
    if (socket.active) return;
    const why = fromBody((e as Error & { data?: unknown }).data, 401);
    // Root cannot tell just now, as while its database is away; its word on our papers is still to come.
    if (why.code !== 'unavailable') o.refused(why);
    back.again();
  });
  socket.on('disconnect', (why) => {
    set(false);
    if (why === 'io server disconnect') back.again();
  });
  socket.on('pairing.request', (m) => {
    if (!isText(m?.sid) || !isText(m.owner_id) || !isText(m.subnet_id)) return;
    const { sid, owner_id, subnet_id } = m;
    const browser_pub = isText(m.browser_pub) ? m.browser_pub : undefined;
    void o.request({ sid, owner_id, subnet_id, browser_pub }).then((accepted) => {
      if (accepted) socket.emit('pairing.accept', { sid, hub_e2e_pub: o.e2ePub(), ...accepted });
    });
  });
  socket.on('relay.to_hub', (m) => {
    if (!isText(m?.sid) || !Number.isSafeInteger(m.ctr) || m.ctr < 0) return;
    if (!(m.frame instanceof Uint8Array) || m.frame.length === 0 || m.frame.length > MAX_FRAME) return;
    o.frame({ sid: m.sid, frame: m.frame, ctr: m.ctr });
  });
  for (const [event, answer] of [
    ['page.get', o.pages.get],
    ['page.next', o.pages.next],
  ] as const)
    socket.on(event, (m: unknown, ack: unknown) => {
      if (typeof ack === 'function') void answer(m).then((piece) => ack(piece));
    });
  socket.on('page.stop', (m) => o.pages.stop(m));
  socket.on('session.over', (m) => {
    if (isText(m?.sid)) o.over(m.sid);
  });
  socket.on('status', (_m, ack) => {
    if (typeof ack === 'function') ack();
  });

  return {
    get connected(): boolean {
      return up;
    },
    /** Frames for a root that is away are dropped: the browser shakes hands anew when it is back. */
    relay(m: RelayMessage): void {
      if (socket.connected) socket.emit('relay.to_browser', { ...m, frame: Buffer.from(m.frame) });
    },
    /** Shows root new credentials. */
    reconnect(): void {
      socket.disconnect();
      socket.connect();
    },
    close(): void {
      back.stop();
      forget();
      socket.disconnect();
      set(false);
    },
  };
}

export type Link = ReturnType<typeof link>;

function isText(v: unknown): v is string {
  return typeof v === 'string' && v.length > 0 && v.length <= 128;
}
