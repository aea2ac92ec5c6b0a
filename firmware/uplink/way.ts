// The way of a member to the hub that leads its subnet: a socket to root, the end-to-end channel, the tunnel in it. The
// member is the initiator, as a browser is.
import { io, type Socket } from 'socket.io-client';
import { fromUtf8, toBase64url, utf8 } from '../protocol/bytes.ts';
import { fromBody, IngleError } from '../protocol/errors.ts';
import { heedRoot } from '../protocol/heed.ts';
import { MAX_FRAME } from '../protocol/limits.ts';
import type { Access, Channel, Counters, Lost, Opened, Timing } from '../protocol/noise/channel.ts';
import { decodeControl, encodeControl } from '../protocol/noise/control.ts';
import { initiator } from '../protocol/noise/initiator.ts';
import type { KeyPair } from '../protocol/noise/x25519.ts';
import { openQueue } from '../protocol/queue.ts';
import { tunnelClient } from '../protocol/tunnel/client.ts';
import type { TunnelClient } from '../protocol/tunnel/tunnel.ts';
import type { Control, RelayMessage, RouteStatus } from '../protocol/wire.ts';
import type { Papers } from '../subnet/papers.ts';
import { comeback } from './comeback.ts';

/** Pauses between tries to connect, milliseconds. */
const PAUSE = 400;
const PAUSE_MAX = 5000;
/** Longest pause after root said no, milliseconds. */
const PAUSE_REFUSED = 60_000;
/** A hub that is there answers root's question sooner, milliseconds. */
const UNANSWERED = 5000;
/** Until a request is answered, milliseconds. */
const ANSWER = 20_000;

export interface WayOptions {
  root_url: string;
  /** The sid root gives this hub's way. */
  sid: string;
  /** The hub that leads. */
  hubId: string;
  key: KeyPair;
  access: Access;
  counters: Counters;
  /** Root's credentials, asked for at each connect. */
  auth(): Promise<{ certificate: string; proof: string }>;
  /** Checks what the other hub shows in this handshake, and gives what is shown to it. @throws IngleError: it is not the one */
  shown(papers: Papers, at: Opened): Promise<Papers>;
  /** The other hub has let this one in. */
  admitted(): void;
  /** The other hub, or what stands between, says no: nothing is tried again in this handshake. */
  refused(e: IngleError): void;
  lost(why: Lost): void;
  /** The other hub has something for this one to do. */
  work(): void;
  /** The other hub shows another static key. @throws IngleError unless its identity signed it */
  rotated(m: Control & { t: 'rotate' }): Promise<Uint8Array | undefined>;
  timing?: Partial<Timing>;
}

export type Way = ReturnType<typeof openWay>;

/** Opens the way and keeps it open until `close`. */
export function openWay(o: WayOptions) {
  let generation = -1;
  let closed = false;
  let channel: Channel | undefined;
  let tunnel: TunnelClient | undefined;
  let at: Opened | undefined;
  let unanswered: NodeJS.Timeout | undefined;
  const turn = openQueue();

  const socket: Socket = io(`${o.root_url}/owner`, {
    transports: ['websocket'],
    query: { at: '' },
    forceNew: true,
    auth: (give) => void o.auth().then(give, () => give({})),
    ...{ reconnectionDelay: PAUSE, reconnectionDelayMax: PAUSE_MAX, randomizationFactor: 0.5 },
    timeout: 10_000,
    ...{ maxPayload: 4 * MAX_FRAME },
    perMessageDeflate: { threshold: Number.MAX_SAFE_INTEGER },
  });
  const back = comeback(socket, PAUSE, PAUSE_REFUSED);
  const forget = heedRoot(socket);

  function shake(): void {
    if (channel) {
      channel.restart();
      return;
    }
    channel = initiator({
      ...{ sid: o.sid, hubId: o.hubId, key: o.key, access: o.access, counters: o.counters },
      timing: { handshake: 10_000, backoff: 500, backoffMax: 10_000, ...o.timing },
      send: (frame, ctr) => void socket.emit('relay.to_hub', { sid: o.sid, frame: Buffer.from(frame), ctr }),
    });
    tunnel = tunnelClient(channel);
    channel.on('open', (opened) => {
      if (opened.first) at = opened;
    });
    channel.on('lost', (why) => {
      at = undefined;
      o.lost(why);
    });
    channel.on('failed', o.refused);
    channel.on('message', (m) => void turn.add(() => heard(m)).catch(() => {}));
  }

  async function heard(plaintext: Uint8Array): Promise<void> {
    let said: Control | null = null;
    try {
      said = decodeControl(plaintext);
    } catch {}
    const mine = at;
    if (!said || !mine || closed) return;
    if (said.t === 'refused') o.refused(fromBody(said, 403));
    else if (said.t === 'admitted') o.admitted();
    else if (said.t === 'work') o.work();
    else if (said.t === 'rotate') {
      const next = await o.rotated(said);
      if (next && mine === at) channel?.rekey(next);
    } else if (said.t === 'member') {
      let answer: Papers;
      try {
        answer = await o.shown(said, mine);
      } catch (e) {
        o.refused(e as IngleError);
        return;
      }
      if (mine === at) await channel?.send(encodeControl({ t: 'member', ...answer }));
    }
  }

  socket.on('connect', () => {
    generation = -1;
    back.taken();
  });
  socket.on('connect_error', () => {
    if (!socket.active) back.again();
  });
  socket.on('disconnect', (why) => {
    clearTimeout(unanswered);
    unanswered = undefined;
    if (why === 'io server disconnect') back.again();
  });
  socket.on('status', (m: RouteStatus, ack?: unknown) => {
    if (typeof ack === 'function') ack();
    if (m?.route === 'bound' && m.hub_online && m.generation !== generation) {
      generation = m.generation;
      shake();
    }
    // A hub that had too many to answer at once dropped the question: it is put again.
    if (m?.route !== 'waiting' || !m.hub_online) {
      clearTimeout(unanswered);
      unanswered = undefined;
    } else unanswered ??= setTimeout(() => void socket.disconnect().connect(), UNANSWERED);
  });
  socket.on('relay.to_browser', (m: RelayMessage) => {
    if (m?.sid !== o.sid || !Number.isSafeInteger(m.ctr) || m.ctr < 0) return;
    if (!(m.frame instanceof Uint8Array) || m.frame.length === 0 || m.frame.length > MAX_FRAME) return;
    channel?.receive(new Uint8Array(m.frame), m.ctr);
  });

  return {
    /** The present channel's handshake, base64url; '' when none is open. */
    get handshake(): string {
      return at ? toBase64url(at.hash) : '';
    },
    /** Asks the hub that leads. @throws IngleError what it answered, `unavailable` when it is not reached */
    async ask(method: 'GET' | 'POST', path: string, body?: object): Promise<unknown> {
      if (!tunnel) throw new IngleError('unavailable', 'The hub that leads the subnet is not reached.');
      return askThrough(tunnel, method, path, body);
    },
    /** A new handshake. */
    restart: () => channel?.restart(),
    close(): void {
      closed = true;
      back.stop();
      forget();
      clearTimeout(unanswered);
      tunnel?.close();
      channel?.close();
      socket.disconnect();
    },
  };
}

async function askThrough(
  tunnel: TunnelClient,
  method: string,
  path: string,
  body?: object,
): Promise<unknown> {
  const r = await tunnel.request({
    ...{ method, path, signal: AbortSignal.timeout(ANSWER) },
    ...(body ? { headers: { 'content-type': 'application/json' }, body: utf8(JSON.stringify(body)) } : {}),
  });
  let json: unknown = null;
  try {
    json = JSON.parse(fromUtf8(await r.body()));
  } catch {}
  if (r.status >= 400) throw fromBody(json, r.status);
  return json;
}
