// What the kernel says in /proc (proc(5)). Pure parsers; meter.ts reads the files.

export interface CpuTimes {
  /** Jiffies not idle, and all of them. */
  busy: number;
  total: number;
}

/** The first line of /proc/stat. Guest time is part of user time already. */
export function parseStat(text: string): CpuTimes {
  const [user = 0, nice = 0, system = 0, idle = 0, iowait = 0, irq = 0, softirq = 0, steal = 0] = (
    /^cpu +(.*)$/m.exec(text)?.[1] ?? ''
  )
    .split(' ')
    .map(Number);
  const busy = user + nice + system + irq + softirq + steal;
  return { busy, total: busy + idle + iowait };
}

/** Share of busy time between two readings, percent with one decimal; null when no time has passed. */
export function cpuPercent(before: CpuTimes, after: CpuTimes): number | null {
  const total = after.total - before.total;
  return total > 0 ? Math.round((1000 * (after.busy - before.busy)) / total) / 10 : null;
}

/** KiB of memory in all and in use; what could be given back at once (MemAvailable) is not in use. */
export function parseMeminfo(text: string): { total_kib: number; used_kib: number } {
  const field = (name: string) => Number(new RegExp(`^${name}: +(\\d+) kB$`, 'm').exec(text)?.[1] ?? 0);
  const total_kib = field('MemTotal');
  return { total_kib, used_kib: total_kib - field('MemAvailable') };
}

/** Seconds since boot. */
export function parseUptime(text: string): number {
  return Math.floor(Number(text.split(' ')[0]));
}
