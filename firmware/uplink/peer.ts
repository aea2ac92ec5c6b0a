// One web session at the hub: its channel, who is behind it, and the tunnel into the local API.
import { toBase64url } from '../protocol/bytes.ts';
import type { Way } from '../protocol/direct/ways.ts';
import { IngleError } from '../protocol/errors.ts';
import type { Alarm, Counters, Lost, Mode, Timing } from '../protocol/noise/channel.ts';
import { decodeControl, encodeControl } from '../protocol/noise/control.ts';
import { responder } from '../protocol/noise/responder.ts';
import type { KeyPair } from '../protocol/noise/x25519.ts';
import type { PairingWindow } from '../protocol/pairing/pairing.ts';
import { tunnelServer } from '../protocol/tunnel/server.ts';
import type { Control } from '../protocol/wire.ts';
import { type Admission, type AdmissionOptions, admission } from './admission.ts';
import type { Direct } from './direct.ts';
import { errorAnswer, forward, type LocalApi } from './forward.ts';
import { type MemberAdmission, type MemberAdmissionOptions, memberAdmission } from './member-admission.ts';
import { sessionWays } from './session-ways.ts';
import { forwardSocket } from './websocket.ts';

/** Hubs among those who come; the others are browsers. */
export type MemberOptions = Omit<MemberAdmissionOptions, 'send' | 'entered'>;

export interface SessionOptions extends Omit<AdmissionOptions, 'send' | 'failed'> {
  members: MemberOptions;
  api: LocalApi;
  /** Whether the local API answers just now. */
  serving(): Promise<boolean>;
  counters: Counters;
  /** Static keys, newest first. */
  keys(): readonly KeyPair[];
  /** The window now open, as this session meets it. */
  window(): PairingWindow | null;
  /** INSECURE: the window of the secret sealed for this session; absent unless the debug mode is on. */
  sealed?(): PairingWindow | null;
  /** Gives a frame to root. */
  relay(frame: Uint8Array, ctr: number): void;
  /** The hub's data channels; `came` takes what comes by this session's, to be given to `straight` in its turn. */
  direct?: Direct & { came(message: Uint8Array): void };
  /** A statement about the newest static key, for a browser that may not have it yet. */
  rotation(): (Control & { t: 'rotate' }) | undefined;
  event(
    e:
      | { t: 'open'; mode: Mode; browser: string }
      | { t: 'lost'; why: Lost }
      | { t: 'way'; way: Way; why: string }
      | { t: 'alarm'; alarm: Alarm }
      | { t: 'refused'; error: IngleError; left: number },
  ): void;
  timing?: Partial<Timing>;
}

/** Starts the hub's end for `sid`; it waits for the browser's handshake. */
export function session(sid: string, o: SessionOptions) {
  const { nodes } = o.members;
  const isHub = (id: string) => nodes.known(id) !== undefined || nodes.isProven(id);
  const ways = sessionWays({
    ...{ direct: o.direct, relay: o.relay },
    receive: (frame, ctr) => channel.receive(frame, ctr),
    say: (c) => say(c),
    changed: (way, why = '') => o.event({ t: 'way', way, why }),
  });
  const channel = responder({
    sid,
    hubId: o.hub.hub_id,
    counters: o.counters,
    send: ways.send,
    keys: o.keys,
    policy: {
      knows(remoteStatic) {
        const id = toBase64url(remoteStatic);
        return o.pins.browser(id) !== undefined || o.pins.proven(id) !== undefined || isHub(id);
      },
      window: o.window,
      ...(o.sealed ? { sealed: o.sealed } : {}),
    },
    ...(o.timing ? { timing: o.timing } : {}),
  });
  const say = (c: Control) => void channel.send(encodeControl(c)).catch(() => {});
  const browsers = admission({
    ...o,
    send(c) {
      say(c);
      if (c.t === 'admitted' || (c.t === 'welcome' && c.admitted)) ways.admitted();
    },
    failed(error, left) {
      o.event({ t: 'refused', error, left });
      // Out of tries: its keys are of no more use here.
      if (left === 0) setImmediate(() => channel.restart());
    },
  });
  const hubs = memberAdmission({ ...o.members, send: say, entered: () => rotate() });
  let who: Admission | MemberAdmission = browsers;
  const tunnel = tunnelServer(
    channel,
    {
      async request(head, body, signal) {
        try {
          return await forward(o.api, head, body, who.principal(), signal);
        } catch (e) {
          return errorAnswer(e);
        }
      },
      websocket: (head, socket) => forwardSocket(o.api, head, socket, who.principal()),
    },
    () => who.admitted(),
  );

  /** What this browser believes of the local API; each of its channels begins with yes. */
  let told = true;

  channel.on('open', (at) => {
    told = told || at.first;
    o.event({ t: 'open', mode: at.mode, browser: toBase64url(at.remoteStatic) });
    who = isHub(toBase64url(at.remoteStatic)) ? hubs : browsers;
    who.opened(at);
    rotate();
  });
  channel.on('message', (m) => {
    try {
      const c = decodeControl(m);
      if (c?.t === 'offer') void (who === browsers && who.admitted() ? ways.offered(c) : undefined);
      else if (c) void who.control(c);
    } catch (e) {
      if (e instanceof IngleError) say({ t: 'refused', error: e.code, message: e.message });
    }
  });
  channel.on('beat', async () => {
    const ok = await o.serving();
    if (ok === told || !who.admitted()) return;
    told = ok;
    say({ t: 'serving', ok });
  });
  channel.on('lost', (why) => {
    ways.anew();
    o.event({ t: 'lost', why });
  });
  channel.on('alarm', (alarm) => o.event({ t: 'alarm', alarm }));

  function rotate(): void {
    const statement = who.admitted() ? o.rotation() : undefined;
    if (statement) say(statement);
  }

  return {
    receive: ways.fromRelay,
    /** A message of its data channel. */
    straight: ways.straight,
    /** Tells the browser of the newest static key. */
    rotate,
    nudge(): void {
      if (who.admitted()) say({ t: 'work' });
    },
    get open(): boolean {
      return channel.state === 'open';
    },
    get browser(): string {
      return who.browser;
    },
    /** Drops the keys and says so: the browser has to shake hands anew. */
    restart: () => channel.restart(),
    close(): void {
      tunnel.close();
      channel.close();
      ways.close();
    },
  };
}

export type Session = ReturnType<typeof session>;
