// Frames of 1 KiB through whatever serves a side, half of them in each direction: how many a second, and how late they come.
import { type Line, message } from './_line.ts';
import { cpuMs, quantile } from './_sides.ts';

const SECONDS = 2;
/** Frames under way a sid and direction while throughput is measured. */
const WINDOW = 8;
/** Frames a second, both directions together, while latency is measured. */
const PACE = 2000;
export const SIZE = 1024;

/** The connections of a side, and the processes that serve them. */
export interface Ends {
  pids: readonly number[];
  hubs: Line[];
  browsers: { sid: string; hub: number; line: Line }[];
}

/** One direction of one sid: packets ready but for the counter, which has eight digits. */
function stream(side: Ends, i: number, up: boolean) {
  const b = side.browsers[i]!;
  const [namespace, event] = up ? ['/owner', 'relay.to_hub'] : ['/hub', 'relay.to_browser'];
  const text = `451-${namespace},["${event}",{"sid":"${b.sid}","frame":{"_placeholder":true,"num":0},"ctr":00000000}]`;
  const head = message(false, Buffer.from(text));
  const body = message(true, Buffer.alloc(SIZE, 3));
  const packet = Buffer.concat([head, body]);
  const tcp = (up ? b.line : side.hubs[b.hub]!).tcp;
  let ctr = 10_000_000;
  return {
    /** Writes `n` packets; each carries the time in its frame. */
    send(n: number) {
      const out = Buffer.allocUnsafe(n * packet.length);
      for (let k = 0; k < n; k++) {
        packet.copy(out, k * packet.length);
        out.write(String(++ctr), k * packet.length + head.length - 10, 'latin1');
        out.writeDoubleBE(performance.now(), (k + 1) * packet.length - SIZE);
      }
      tcp.write(out);
    },
  };
}

const spentBy = ({ pids }: Ends) => pids.reduce((sum, pid) => sum + cpuMs(pid), 0);

export function load(side: Ends) {
  const ups = side.browsers.map((_, i) => stream(side, i, true));
  const downs = side.browsers.map((_, i) => stream(side, i, false));
  const index = new Map(side.browsers.map((b, i) => [b.sid, i]));
  let arrived = 0;
  let refill = false;
  let latencies: number[] | null = null;
  const onFrame = (again: { send(n: number): void }, frame: Buffer) => {
    arrived++;
    latencies?.push(performance.now() - frame.readDoubleBE(0));
    if (refill) again.send(1);
  };
  side.browsers.forEach((b, i) => {
    const before = b.line.onMessage;
    b.line.onMessage = (binary, m) =>
      binary ? onFrame(downs[i]!, m) : m[1] === 0x35 ? undefined : before(binary, m);
  });
  for (const hub of side.hubs) {
    let at = 0;
    hub.onMessage = (binary, m) => {
      if (binary) onFrame(ups[at]!, m);
      else if (m[1] === 0x35) {
        const from = m.indexOf('"sid":"') + 7;
        at = index.get(m.toString('latin1', from, m.indexOf(0x22, from)))!;
      } else {
        const id = /^42\/hub,(\d+)\["status"/.exec(m.toString())?.[1];
        if (id) hub.text(`43/hub,${id}[]`);
      }
    };
  }
  const wait = (ms: number) => new Promise((r) => setTimeout(r, ms));
  return {
    async throughput() {
      refill = true;
      for (const s of [...ups, ...downs]) s.send(WINDOW);
      await wait(300);
      const [began, cpu, first] = [performance.now(), spentBy(side), arrived];
      await wait(SECONDS * 1000);
      const frames = arrived - first;
      const rate = frames / ((performance.now() - began) / 1000);
      const spent = ((spentBy(side) - cpu) * 1000) / frames;
      refill = false;
      await wait(300);
      return { rate, cpu: spent };
    },
    async latency() {
      const all: number[] = [];
      latencies = all;
      const end = performance.now() + SECONDS * 1000;
      for (let i = 0; performance.now() < end; i++) {
        (i % 2 ? ups : downs)[(i >> 1) % ups.length]!.send(1);
        if (i % (PACE / 500) === 0) await wait(2);
      }
      await wait(300);
      latencies = null;
      return { p50: quantile(all, 0.5), p99: quantile(all, 0.99) };
    },
  };
}
