// The socket to root, and the route through it to the hub: offered, bound, bound anew when either end comes back.
import { io, type Socket, WebSocket as WebSocketTransport } from 'socket.io-client';
import { toIngleError } from '../firmware/protocol/errors.ts';
import { heedRoot } from '../firmware/protocol/heed.ts';
import { EMPTY_FRAME } from '../firmware/protocol/limits.ts';
import {
  type BrowserToRoot,
  frameKind,
  type RootToBrowser,
  type RouteStatus,
} from '../firmware/protocol/wire.ts';
import { openGreeting } from './greeting.ts';
import { post } from './rest.ts';
import { root } from './root.ts';
import { session } from './sid.ts';

/** A hub that is there answers an offer sooner, milliseconds. */
const UNANSWERED = 3000;
/** Root says sooner by itself how the route is, unless it is older, milliseconds. */
const UNSAID = 1000;

export interface RouteEvents {
  /** The socket or the status changed. */
  changed(): void;
  /** A connection is being made. @returns whether a handshake begins, whose first frame goes along (D172) */
  opening(): boolean;
  /** The route is bound, or bound anew: whoever was there before holds no keys any more. Not where the first frame has gone along. */
  bound(sealedSecret: string | undefined): void;
  frame(frame: Uint8Array, ctr: number): void;
  /** Root no longer knows the session. */
  signedOut(): void;
  /** The same session is open elsewhere. */
  elsewhere(): void;
}

export interface Route {
  readonly connected: boolean;
  readonly status: RouteStatus;
  /** When root last acknowledged a sign of life on its way to the hub (performance.now()). */
  readonly acknowledged: number;
  /** Root may be away: a lost frame shows as a gap, and the handshake begins anew. */
  send(frame: Uint8Array, ctr: number): void;
  /** Begins with a new socket, as nothing comes over this one any more. */
  renew(): void;
  close(): void;
}

/** What root is told of this browser. */
export interface RouteOptions {
  sid: string;
  session_jwt: string;
  browser_key_id: string;
  /** The browser's static key, base64url. */
  e2e_pubkey: string;
  /** INSECURE: whether the hub's sealed secret is still to come with the route. */
  wantsSecret(): boolean;
}

/** Root no longer takes the session. */
const isOut = (code?: string) => code === 'unauthenticated' || code === 'forbidden';

/** Asks root for the route. */
function openOffers(
  { sid, e2e_pubkey, session_jwt }: RouteOptions,
  signedOut: () => void,
  isClosed: () => boolean,
) {
  const ask = () => post('/v1/browser/pairing/offer', { sid, e2e_pubkey }, session_jwt);
  /** Until root has answered. */
  async function put(): Promise<void> {
    try {
      await ask();
    } catch (e) {
      const error = toIngleError(e);
      if (isOut(error.code)) signedOut();
      else if (!isClosed()) setTimeout(put, 1000);
    }
  }
  return { ask, put };
}

/** A hub that had too many to answer at once dropped the question: it is put again, for as long as it `waits`. */
function patience(ask: () => Promise<void>): (waits: boolean) => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  return (waits) => {
    if (waits)
      timer ??= setTimeout(() => {
        timer = undefined;
        void ask();
      }, UNANSWERED);
    else {
      clearTimeout(timer);
      timer = undefined;
    }
  };
}

/** Before another try, milliseconds; not all browsers at once. */
const pause = () => 500 + 1500 * Math.random();

/** A phone that wakes up or finds its network again does not wait for the next try. @returns what ends that */
function wakes(socket: Socket, renew: () => void): () => void {
  const wake = () => !socket.connected && !document.hidden && renew();
  addEventListener('online', wake);
  document.addEventListener('visibilitychange', wake);
  return () => {
    removeEventListener('online', wake);
    document.removeEventListener('visibilitychange', wake);
  };
}

/** Takes up the socket that the page has asked for already (early.ts), where it is this session's. */
class Early extends WebSocketTransport {
  override createSocket(uri: string, ...rest: [string | string[] | undefined, Record<string, unknown>]) {
    const early = globalThis.ingleEarly;
    globalThis.ingleEarly = undefined;
    const ws = early?.ws;
    if (!ws || early.session_jwt !== session()?.session_jwt || ws.readyState > 1) {
      ws?.close();
      return super.createSocket(uri, ...rest);
    }
    // Once the transport listens; where it is still to open, nothing has come over it.
    if (ws.readyState === 1)
      queueMicrotask(() => {
        ws.onopen?.(new Event('open'));
        for (const e of early.got) ws.onmessage?.(e);
      });
    return ws;
  }
}

const connecting = {
  transports: [Early],
  query: { at: '' },
  reconnectionDelay: 200,
  reconnectionDelayMax: 1000,
  randomizationFactor: 0.3,
  timeout: 5000,
};

/** Opens the route of a signed-in session and keeps it open until `close`. */
export function openRoute(o: RouteOptions, on: RouteEvents): Route {
  const { sid, session_jwt, browser_key_id } = o;
  let generation = -1;
  /** Root has said on this socket how the route is: with its answer to owner.online, or before that (D172). */
  let greeted = false;
  let asked = false;
  let closed = false;
  let acknowledged = 0;
  let status: RouteStatus = { route: 'none', hub_online: false, lag_ms: null, generation: 0 };

  const greeting = openGreeting(() => ({ session_jwt, browser: session()?.browser }), on.opening);
  const socket: Socket<RootToBrowser, BrowserToRoot> = io(`${root}/owner`, {
    ...connecting,
    auth: greeting.auth,
  });
  const forget = heedRoot(socket);
  // While the socket is on its way.
  greeting.prepare();
  const offers = openOffers(o, on.signedOut, () => closed);
  /** Where it was refused for now, as by a root whose database is away: Socket.IO would not ask again by itself. */
  const again = () => setTimeout(() => closed || socket.active || socket.connect(), pause());

  async function whyEnded(): Promise<void> {
    const then = await offers.ask().then(
      () => on.elsewhere,
      (e) => (toIngleError(e).code === 'unavailable' ? () => socket.connect() : on.signedOut),
    );
    // The page may have left by itself meanwhile.
    if (!closed) then();
  }

  const unanswered = patience(offers.put);
  const isWhole = (s: Partial<RouteStatus>) => s.route === 'bound' && !(o.wantsSecret() && !s.sealed_secret);
  function routed(next: RouteStatus): void {
    status = next;
    const isBegun = greeting.heard();
    if (greeted && next.route === 'bound' && next.hub_online && next.generation !== generation) {
      generation = next.generation;
      if (!isBegun) on.bound(next.sealed_secret);
    }
    unanswered(greeted && next.route === 'waiting' && next.hub_online);
    on.changed();
  }

  /** Asks root how the route is, once a connection, where it has not said that by itself. */
  function ask(): void {
    if (greeted || asked || !socket.connected) return;
    asked = true;
    socket.emit('owner.online', { sid, session_jwt, browser_key_id }, (ack) => {
      if (!ack.ok) {
        if (isOut(ack.error)) return on.signedOut();
        socket.disconnect();
        return void again();
      }
      if (greeted) return;
      greeted = true;
      // A route that is bound already stays: asking again would bind it anew and break the handshake under way.
      if (isWhole(ack)) routed({ ...status, ...ack });
      else void offers.put();
    });
  }
  socket.on('connect', () => {
    generation = -1;
    greeted = asked = false;
    setTimeout(ask, UNSAID);
  });
  socket.on('connect_error', (e: Error & { data?: { error?: string } }) => {
    const error = e.data?.error;
    if (error === 'invalid_request') greeting.refused();
    if (isOut(error)) on.signedOut();
    else if (!socket.active) again();
    on.changed();
  });
  socket.on('disconnect', (reason) => {
    on.changed();
    // Root ends a socket by itself for two reasons: a newer one of this session, or the session's end.
    if (reason === 'io server disconnect' && !closed) void whyEnded();
  });
  socket.on('status', (next, ack) => {
    ack?.();
    greeted ||= isWhole(next);
    ask();
    routed(next);
  });
  socket.on('relay.to_browser', (m) => {
    if (m.sid === sid) on.frame(new Uint8Array(m.frame), m.ctr);
  });

  const renew = () => socket.disconnect().connect();
  const sleepOn = wakes(socket, renew);

  return {
    get connected() {
      return socket.connected;
    },
    get status() {
      return status;
    },
    get acknowledged() {
      return acknowledged;
    },
    send(frame, ctr) {
      if (!socket.connected && frame[0] === frameKind.ik1) return greeting.take(frame, ctr);
      const m = { sid, frame, ctr };
      if (frame.length !== EMPTY_FRAME) socket.emit('relay.to_hub', m);
      else
        socket.emit('relay.to_hub', m, () => {
          acknowledged = performance.now();
          on.changed();
        });
    },
    renew,
    close() {
      closed = true;
      forget();
      unanswered(false);
      sleepOn();
      socket.disconnect();
    },
  };
}
