// Whether the clock of a machine runs, held against one that is never set.

export interface Clocks {
  /** The time of day, Unix milliseconds. */
  wall(): number;
  /** Milliseconds of a clock that is never set. */
  steady(): number;
  wait(ms: number): Promise<void>;
}

const real: Clocks = {
  wall: Date.now,
  steady: () => performance.now(),
  wait: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
};

/** Between two readings, milliseconds; how much they may differ; and how often it is tried. */
const SPAN = 1100;
const MOST = 500;
const TRIES = 3;

/** How far one clock is ahead of the other, and how far that may be wrong, as a busy machine stops in between. */
function ahead(c: Clocks): { by: number; within: number } {
  let best = { by: 0, within: Number.POSITIVE_INFINITY };
  for (let i = 0; i < 5; i++) {
    const before = c.steady();
    const wall = c.wall();
    const after = c.steady();
    if (after - before < best.within) best = { by: wall - before, within: after - before };
  }
  return best;
}

/** Whether the clock runs as fast as the steady one. One that is set meanwhile, as by the network, is looked at again. */
export async function clockRuns(c: Clocks = real): Promise<boolean> {
  for (let i = 0; i < TRIES; i++) {
    const first = ahead(c);
    await c.wait(SPAN);
    const second = ahead(c);
    if (Math.abs(second.by - first.by) <= MOST + first.within + second.within) return true;
  }
  return false;
}
