// Durations: as people write them in requests ("5m"), and as ISO 8601 has them. Pure.

export const durationForm = '^[1-9][0-9]{0,5}[smhd]$';
const units: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds of "30s", "5m", "8h" or "1d", whose form was checked. */
export function msOf(duration: string): number {
  return Number(duration.slice(0, -1)) * units[duration.slice(-1)]!;
}

/** ISO 8601 duration of milliseconds, in whole seconds, rounded up: "PT5M", "PT1H0M30S" without what is zero. */
export function isoDuration(ms: number): string {
  const s = Math.max(0, Math.ceil(ms / 1000));
  const parts = [`${Math.floor(s / 3600)}H`, `${Math.floor(s / 60) % 60}M`, `${s % 60}S`];
  const some = parts.filter((p) => !/^0/.test(p));
  return `PT${some.length > 0 ? some.join('') : '0S'}`;
}
