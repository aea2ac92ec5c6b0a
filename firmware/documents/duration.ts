// Durations as documents write them: `30s`, `5m`, `8h`, `7d`. Pure.

const unit: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400 };

/** Seconds of a duration string; undefined when it is none. At most a year. */
export function parseDuration(text: unknown): number | undefined {
  const m = typeof text === 'string' ? /^(\d{1,8})(s|m|h|d)$/.exec(text) : null;
  if (!m) return undefined;
  const seconds = Number(m[1]) * unit[m[2]!]!;
  return seconds > 0 && seconds <= 366 * 86_400 ? seconds : undefined;
}
