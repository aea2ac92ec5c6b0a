// Which pair to test first: weights, bonuses and penalties.
import type { Device, Devices, Sink } from './device.ts';

/** Pairs that are tested at most. */
export const TOP_PAIRS = 4;

const output = { builtin: 80, bluetooth: 70, usb: 60, virtual: 40, hdmi: 10, loopback: 5 } as const;
const input = { builtin: 80, bluetooth: 70, usb: 65, virtual: 40, hdmi: 10, loopback: 5 } as const;

/** Score of a sink. `cached`: a kept profile says it works. */
export function scoreSink(d: Device, cached: boolean): number {
  return output[d.type] + adjust(d, cached);
}

/** Score of a source. */
export function scoreSource(d: Device, cached: boolean): number {
  return input[d.type] + adjust(d, cached);
}

function adjust(d: Device, cached: boolean): number {
  return (
    (!d.muted && d.volume > 0.3 ? 15 : 0) + (cached ? 20 : 0) - (d.connected ? 0 : 40) - (d.monitor ? 60 : 0)
  );
}

export interface Scored<D extends Device> {
  device: D;
  score: number;
  /** May be tested at all. */
  usable: boolean;
}

export interface Ranking {
  sinks: Scored<Sink>[];
  sources: Scored<Device>[];
}

export interface Pair {
  sink: Sink;
  source: Device;
  score: number;
}

/** Sinks and sources, best first; `cached` are pairs of kept profiles. */
export function rank(d: Devices, cached: readonly { sink_id: string; source_id: string }[]): Ranking {
  const best = <D extends Device>(list: D[], score: (d: D) => number): Scored<D>[] =>
    list
      .map((device) => ({ device, score: score(device), usable: device.connected && !device.monitor }))
      .sort((a, b) => b.score - a.score || (a.device.id < b.device.id ? -1 : 1));
  return {
    sinks: best(d.sinks, (s) =>
      scoreSink(
        s,
        cached.some((c) => c.sink_id === s.id),
      ),
    ),
    sources: best(d.sources, (s) =>
      scoreSource(
        s,
        cached.some((c) => c.source_id === s.id),
      ),
    ),
  };
}

/** The top pairs of usable devices by the sum of their scores; a kept pair before others of its score. */
export function pairs(
  r: Ranking,
  cached: readonly { sink_id: string; source_id: string }[],
  count = TOP_PAIRS,
): Pair[] {
  const kept = (p: Pair) => cached.some((c) => c.sink_id === p.sink.id && c.source_id === p.source.id);
  return r.sinks
    .filter((s) => s.usable)
    .flatMap((s) =>
      r.sources
        .filter((x) => x.usable)
        .map((x): Pair => ({ sink: s.device, source: x.device, score: s.score + x.score })),
    )
    .sort(
      (a, b) =>
        b.score - a.score ||
        Number(kept(b)) - Number(kept(a)) ||
        (a.sink.id + a.source.id < b.sink.id + b.source.id ? -1 : 1),
    )
    .slice(0, count);
}
