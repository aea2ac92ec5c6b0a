// A hub's session and a browser in this process, with two ways between them: root's, which is a queue that may be slow or
// cut, and a real data channel.
import { PeerConnection } from 'node-datachannel';
import { toBase64url } from '../../firmware/protocol/bytes.ts';
import {
  checkedDescription,
  readDescription,
  writeDescription,
} from '../../firmware/protocol/direct/description.ts';
import { openSwitch, type Transport } from '../../firmware/protocol/direct/switch.ts';
import { decodeControl, encodeControl } from '../../firmware/protocol/noise/control.ts';
import { initiator } from '../../firmware/protocol/noise/initiator.ts';
import { generate } from '../../firmware/protocol/noise/x25519.ts';
import { tunnelClient } from '../../firmware/protocol/tunnel/client.ts';
import type { Control } from '../../firmware/protocol/wire.ts';
import type { Log } from '../../firmware/system/log.ts';
import { openDirect } from '../../firmware/uplink/direct.ts';
import { session } from '../../firmware/uplink/peer.ts';
import { until } from '../lab/wait.ts';
import type { localApi } from './kit.ts';

const silent = Object.fromEntries(
  ['debug', 'info', 'notice', 'warn', 'error'].map((k) => [k, () => {}]),
) as unknown as Log;
const opened = new Set<{ close(): void }>();
const doors = new Set<{ close(): void }>();

/** Ends all that was made here. */
export function endAll(): void {
  for (const o of opened) o.close();
  for (const d of doors) d.close();
}

type Numbers = { next: number };
const counting = (n: Numbers) => ({
  async reserve(count: number) {
    n.next += count;
    return n.next - count;
  },
});

/**
 * A hub that has pinned the browser, and the browser.
 * @param o.delay milliseconds a frame takes through root, each way; 0: a turn of the event loop
 */
export async function pair(
  api: Pick<Awaited<ReturnType<typeof localApi>>, 'port' | 'token'>,
  o: { on?: boolean; delay?: number } = {},
) {
  const direct = openDirect({ direct: { on: o.on ?? true, stun: [], ports: [50_400, 50_431] } }, silent);
  doors.add(direct);
  const [key, hubKey] = [await generate(), await generate()];
  const pinned = { id: toBase64url(key.publicKey), label: 'Phone', elevated_until: 0 };
  const nobody = () => undefined;
  const root = { up: true, toHub: 0, toBrowser: 0, largest: 0 };
  const pass = (where: 'toHub' | 'toBrowser', frame: Uint8Array, to: () => void) => {
    root[where]++;
    root.largest = Math.max(root.largest, frame.length);
    if (!root.up) return;
    if (o.delay) setTimeout(to, o.delay);
    else setImmediate(to);
  };
  const heard: Control[] = [];
  const lost: string[] = [];
  const ways: string[] = [];
  const hub = session('sid', {
    pins: {
      ...{ browser: (id: string) => (id === pinned.id ? pinned : undefined), proven: nobody, saw() {} },
      ...{ browsers: () => [pinned], passkeys: () => [], hasPasskey: true },
    } as never,
    people: { welcome: nobody },
    members: { nodes: { known: nobody, isProven: () => false } } as never,
    hub: { hub_id: 'hub', owner_id: 'own', hub_name: 'Hub', version: '1', sign_pub: 'x' },
    party: { origin: 'http://localhost', id: 'localhost' },
    now: () => Math.floor(Date.now() / 1000),
    api: { host: '127.0.0.1', port: api.port, token: { get: () => api.token, stale: () => false } },
    serving: async () => true,
    counters: counting({ next: 50_000 }),
    keys: () => [hubKey],
    window: () => null,
    relay: (frame, ctr) => pass('toBrowser', frame, () => browser.fromRelay(frame, ctr)),
    direct: { ...direct, came: (m) => hub.straight(m) },
    rotation: nobody,
    paired() {},
    event(e) {
      if (e.t === 'lost') lost.push(`hub ${e.why}`);
      if (e.t === 'way') ways.push(`hub ${e.way} ${e.why}`);
    },
  });
  const browser = openSwitch({
    relay: (frame, ctr) => pass('toHub', frame, () => hub.receive(frame, ctr)),
    receive: (frame, ctr) => channel.receive(frame, ctr),
    changed: (way, why) => void ways.push(`browser ${way} ${why ?? ''}`),
  });
  const channel = initiator({
    ...{ sid: 'sid', hubId: 'hub', key, access: { mode: 'known', hubStatic: hubKey.publicKey } },
    counters: counting({ next: 1 }),
    timing: { handshake: 3000, backoff: 50, backoffMax: 200 },
    send: browser.send,
  });
  const tunnel = tunnelClient(channel);
  channel.on('message', (m) => {
    const c = decodeControl(m);
    if (c) heard.push(c);
  });
  channel.on('lost', (why) => {
    browser.anew();
    lost.push(`browser ${why}`);
  });
  const say = (c: Control) => channel.send(encodeControl(c));
  let tries = 0;
  const p = {
    ...{ hub, browser, channel, root, heard, lost, ways, say },
    /** What goes between them directly, for a test that interferes. */
    line: undefined as Transport | undefined,
    mute: false,
    /** Asks for a data channel, as spa/direct.ts does. */
    async connect() {
      await until(() => heard.some((c) => c.t === 'direct'), 'the hub to say that there is a direct way');
      const id = ++tries;
      const events = browser.next();
      const peer = new PeerConnection('browser', { iceServers: [], disableAutoNegotiation: true });
      opened.add(peer);
      const ready = new Promise<void>((resolve) =>
        peer.onGatheringStateChange((s) => s === 'complete' && resolve()),
      );
      const dc = peer.createDataChannel('ingle', { negotiated: true, id: 0 });
      p.line = {
        send(m) {
          if (p.mute) return true;
          try {
            dc.sendMessageBinary(m);
            return true;
          } catch {
            return false;
          }
        },
        close: () => void setImmediate(() => peer.close()),
      };
      dc.onOpen(() => events.open(p.line!));
      dc.onMessage((m) => !p.mute && events.message(new Uint8Array(m as ArrayBuffer)));
      dc.onClosed(events.closed);
      peer.setLocalDescription('offer');
      await ready;
      const end = readDescription(peer.localDescription()!.sdp)!;
      await say({ t: 'offer', id, end: { ...end, candidates: [] } });
      const answer = () => heard.find((c): c is Control & { t: 'answer' } => c.t === 'answer' && c.id === id);
      await until(() => answer() !== undefined, 'an answer');
      const theirs = checkedDescription(answer()!.end);
      if (!theirs) return false;
      peer.setRemoteDescription(writeDescription(theirs, 'answer'), 'answer');
      await until(() => browser.way === 'direct', 'the data channel to open');
      // The page asks for a sign of life all the time.
      channel.beat();
      await until(() => browser.settled, 'the direct way to stand in both directions');
      return true;
    },
    async get(path = '/') {
      const r = await tunnel.request({ method: 'GET', path });
      return { status: r.status, bytes: await r.body() };
    },
    async post(bytes: number) {
      const r = await tunnel.request({ method: 'POST', path: '/', body: new Uint8Array(bytes) });
      return new TextDecoder().decode(await r.body());
    },
    /** What the hub's `/big` answers; `at` is called with what has come so far, and the newest piece. */
    async download(at: (bytes: number, piece: Uint8Array) => void | Promise<void> = () => {}) {
      const r = await tunnel.request({ method: 'GET', path: '/big' });
      let got = 0;
      for await (const piece of r.stream) {
        got += piece.length;
        await at(got, piece);
      }
      return got;
    },
    close() {
      tunnel.close();
      channel.close();
      hub.close();
      p.line?.close();
    },
  };
  opened.add(p);
  await until(() => heard.some((c) => c.t === 'welcome'), 'the channel');
  return p;
}
