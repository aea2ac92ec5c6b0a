// Token buckets: so much at once, and more with time. The time is given, never read.

export interface Rate {
  /** What a full bucket holds. */
  burst: number;
  /** What comes back each millisecond. */
  perMs: number;
}

export interface Bucket {
  left: number;
  /** When `left` was counted, milliseconds. */
  at: number;
}

export function rate(burst: number, perSecond: number): Rate {
  return { burst, perMs: perSecond / 1000 };
}

/**
 * Milliseconds between two looks at a clock; 0 when it was set back meanwhile, as a bucket must not be emptied by that.
 */
export function elapsed(from: number, to: number): number {
  return Math.max(0, to - from);
}

/** What `left` has become after `ms`. For those that keep bare numbers, several to one clock. */
export function refill(left: number, r: Rate, ms: number): number {
  return Math.min(r.burst, left + ms * r.perMs);
}

/** A full bucket. @param now milliseconds, of the clock that `take` is given */
export function openBucket(r: Rate, now: number): Bucket {
  return { left: r.burst, at: now };
}

/** Takes `cost` if that much is there; else takes nothing and gives false. */
export function take(b: Bucket, r: Rate, now: number, cost = 1): boolean {
  b.left = refill(b.left, r, elapsed(b.at, now));
  b.at = now;
  if (b.left < cost) return false;
  b.left -= cost;
  return true;
}
