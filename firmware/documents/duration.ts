// Durations as documents write them: `30s`, `5m`, `8h`, `7d`, and `200ms` where so short a time makes sense. Pure.

const unit: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const longest = 366 * 86_400_000;

/** Milliseconds of a duration string; undefined when it is none. At most a year. */
export function parseMilliseconds(text: unknown): number | undefined {
  const m = typeof text === 'string' ? /^(\d{1,9})(ms|s|m|h|d)$/.exec(text) : null;
  if (!m) return undefined;
  const ms = Number(m[1]) * unit[m[2]!]!;
  return ms > 0 && ms <= longest ? ms : undefined;
}

/** Seconds of a duration string; undefined when it is none, or shorter than a second. At most a year. */
export function parseDuration(text: unknown): number | undefined {
  const ms = parseMilliseconds(text);
  return ms === undefined || String(text).endsWith('ms') ? undefined : ms / 1000;
}
