// Who goes on next: runs that could, by priority and by how long they wait, within the limits. Pure.

import type { ScenarioLimits } from '../system/config.ts';

export type Priority = 'LOW' | 'NORM' | 'HIGH';

export interface Waiting {
  run_id: string;
  scenario_id: string;
  priority: Priority;
  /** Since when, milliseconds of a clock that is never set. */
  since: number;
}

/** Runs that sleep or wait for something take no place. */
export type Limits = ScenarioLimits;

const rank: Record<Priority, number> = { LOW: 0, NORM: 1, HIGH: 2 };
/** After so long a run counts as one priority higher, and again, so that nobody waits for good. */
export const AGEING_MS = 30_000;

const weight = (w: Waiting, now: number): number =>
  rank[w.priority] + Math.floor(Math.max(0, now - w.since) / AGEING_MS);

/**
 * The run that goes on next, of those whose limits have room; the one that waits longest among equals.
 * @param going scenario ids of the runs that go on
 */
export function nextOf(
  waiting: Iterable<Waiting>,
  going: readonly string[],
  limits: Limits,
  now: number,
): string | undefined {
  if (going.length >= Math.min(limits.max_concurrent_total, limits.max_concurrent_per_node)) return undefined;
  let best: Waiting | undefined;
  for (const w of waiting) {
    if (going.filter((id) => id === w.scenario_id).length >= limits.max_concurrent_per_scenario) continue;
    if (!best) best = w;
    else {
      const by = weight(w, now) - weight(best, now);
      if (by > 0 || (by === 0 && w.since < best.since)) best = w;
    }
  }
  return best?.run_id;
}
