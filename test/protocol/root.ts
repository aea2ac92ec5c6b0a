// Two ends of a channel with a root between them that does what a test tells it.

import type { IngleError } from '../../firmware/protocol/errors.ts';
import type {
  Access,
  Alarm,
  Channel,
  Counters,
  Lost,
  Opened,
  Timing,
} from '../../firmware/protocol/noise/channel.ts';
import { initiator } from '../../firmware/protocol/noise/initiator.ts';
import { responder } from '../../firmware/protocol/noise/responder.ts';
import { generate, type KeyPair } from '../../firmware/protocol/noise/x25519.ts';
import { type PairingWindow, pairingWindow } from '../../firmware/protocol/pairing/pairing.ts';
import { until } from '../lab/wait.ts';

export interface Frame {
  to: 'hub' | 'browser';
  frame: Uint8Array;
  ctr: number;
}
/** What root hands on instead of a frame. */
export type Root = (f: Frame) => Frame[];
export const honest: Root = (f) => [f];

/** Answers are awaited for long, as a loaded machine may stand still: a test that loses frames shortens it. */
export const quick: Partial<Timing> = {
  handshake: 5000,
  backoff: 1,
  backoffMax: 20,
  keepalive: 60_000,
  refill: 0.001,
};

export function counters(): Counters {
  let high = 1;
  return {
    async reserve(count) {
      const first = high;
      high += count;
      return first;
    },
  };
}

export interface Heard {
  opened: Opened[];
  messages: Uint8Array[];
  lost: Lost[];
  alarms: Alarm[];
  failed: IngleError[];
}
export function listen(c: Channel): Heard {
  const h: Heard = { opened: [], messages: [], lost: [], alarms: [], failed: [] };
  c.on('open', (o) => h.opened.push(o));
  c.on('message', (m) => h.messages.push(m));
  c.on('lost', (r) => h.lost.push(r));
  c.on('alarm', (a) => h.alarms.push(a));
  c.on('failed', (e) => h.failed.push(e));
  return h;
}

export interface World {
  hubKeys: KeyPair[];
  browserKey: KeyPair;
  known: Set<string>;
  window: PairingWindow | null;
  /** Everything that passed through root, in order, as root got it. */
  seen: Frame[];
  root: Root;
  browser: Channel;
  hub: Channel;
  atBrowser: Heard;
  atHub: Heard;
  windowFailures: number[];
  /** Root delivers a frame of its own. */
  inject(f: Frame): void;
  /** kill -9 of one end: nothing of it survives but keys and counters. */
  restartHub(): void;
  restartBrowser(access?: Access): void;
  close(): void;
}

export const psk = new Uint8Array(32).fill(5);

/** @param access from the hub's public key. */
export async function world(
  access: (hub: Uint8Array) => Access,
  o: { root?: Root; timing?: Partial<Timing>; paired?: boolean; noWindow?: boolean; secret?: string } = {},
): Promise<World> {
  const id = (key: Uint8Array) => key.join();
  const timing = { ...quick, ...o.timing };
  const [up, down] = [counters(), counters()];
  const w = {
    hubKeys: [await generate()],
    browserKey: await generate(),
    known: new Set<string>(),
    seen: [],
    windowFailures: [],
  } as unknown as World;
  w.root = o.root ?? honest;
  if (o.paired) w.known.add(id(w.browserKey.publicKey));
  w.window = o.noWindow
    ? null
    : pairingWindow({
        psk,
        secret: o.secret ?? '507226',
        expiresAt: Date.now() + 600_000,
        onFailed: (left) => w.windowFailures.push(left),
        onProven: (key) => w.known.add(id(key)),
      });
  w.inject = (f) => (f.to === 'hub' ? w.hub : w.browser).receive(f.frame.slice(), f.ctr);
  const pass = (f: Frame) => {
    w.seen.push(f);
    const out = w.root({ ...f, frame: f.frame.slice() });
    // As on a socket: later, in order.
    setImmediate(() => out.forEach(w.inject));
  };
  const ids = { sid: 'sid-1', hubId: 'hub-1' };
  w.restartHub = () => {
    w.hub?.close();
    w.hub = responder({
      ...ids,
      counters: down,
      timing,
      keys: () => w.hubKeys,
      policy: { knows: (key) => w.known.has(id(key)), window: () => w.window },
      send: (frame, ctr) => pass({ to: 'browser', frame, ctr }),
    });
    w.atHub = listen(w.hub);
  };
  w.restartBrowser = (again) => {
    w.browser?.close();
    w.browser = initiator({
      ...ids,
      counters: up,
      timing,
      key: w.browserKey,
      access: again ?? access(w.hubKeys[0]!.publicKey),
      send: (frame, ctr) => pass({ to: 'hub', frame, ctr }),
    });
    w.atBrowser = listen(w.browser);
  };
  w.close = () => {
    w.browser.close();
    w.hub.close();
  };
  w.restartHub();
  w.restartBrowser();
  return w;
}

export { until };

export const bothOpen = (w: World) =>
  until(() => w.browser.state === 'open' && w.hub.state === 'open', 'both open');

export const known = (hubStatic: Uint8Array): Access => ({ mode: 'known', hubStatic });
export const link = (hubStatic: Uint8Array): Access => ({ mode: 'link', hubStatic, psk });
export const typed =
  (secret = '507226') =>
  (): Access => ({ mode: 'typed', secret });
