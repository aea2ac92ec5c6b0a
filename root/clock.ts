// Root's clock as its records and tokens count time.

/** Unix seconds. */
export function seconds(): number {
  return Math.floor(Date.now() / 1000);
}
