// How long something keeps the processor busy. The clock on the wall would count what else the machine does as well.

/** @returns processor time of a piece of work, milliseconds, with what the work gave */
export function busyFor<T>(work: () => T): { ms: number; gave: T } {
  const before = process.cpuUsage();
  const gave = work();
  const { user, system } = process.cpuUsage(before);
  return { ms: (user + system) / 1000, gave };
}
