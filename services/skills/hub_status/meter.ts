// The machine's meter: uptime, load and memory as /proc tells them, and the samples of the chart.
import { readFileSync } from 'node:fs';
import { type Sample, sampled } from './health.ts';
import { type CpuTimes, cpuPercent, parseMeminfo, parseStat, parseUptime } from './proc.ts';

export interface Reading {
  /** Since boot, seconds. */
  uptime: number;
  /** The load since the reading before, percent. */
  cpu: number;
  memory: { percent: number; used_kib: number; total_kib: number };
  /** This reading and those before, oldest first. */
  samples: readonly Sample[];
}

/** Between readings that count as samples at least, milliseconds: read again at once, there is no span to measure over. */
const SPAN_MS = 500;

const proc = (name: string) => readFileSync(`/proc/${name}`, 'utf8');

export function openMeter() {
  let samples: readonly Sample[] = [];
  let times: CpuTimes = parseStat(proc('stat'));
  let cpu = 0;
  return {
    /** What was measured before the last sleep is the chart's beginning, where nothing was measured since. */
    resume(before: readonly Sample[]): void {
      if (samples.length === 0) samples = before;
    },
    read(): Reading {
      const at = Date.now();
      const isFresh = at - (samples.at(-1)?.at ?? 0) >= SPAN_MS;
      if (isFresh) {
        const now = parseStat(proc('stat'));
        cpu = cpuPercent(times, now) ?? cpu;
        times = now;
      }
      const { total_kib, used_kib } = parseMeminfo(proc('meminfo'));
      const percent = Math.round((1000 * used_kib) / total_kib) / 10;
      const uptime = parseUptime(proc('uptime'));
      if (isFresh) samples = sampled(samples, { at, cpu, memory: percent });
      return { uptime, cpu, memory: { percent, used_kib, total_kib }, samples };
    },
  };
}
