// What was set in one browser, over the state that its documents make. Pure.
import type { Path } from './tree.ts';

/** Places that may be set; the oldest goes. */
const MAX_PLACES = 200;
const MAX_DEPTH = 32;
/** Values of one place that are known as this browser's own when they come back. */
const MAX_SAID = 20;

type Steps = readonly (string | number)[];

const own = (at: unknown, step: string | number): unknown =>
  at !== null && typeof at === 'object' && Object.hasOwn(at, step)
    ? (at as Record<string | number, unknown>)[step]
    : undefined;

const isThere = (list: readonly unknown[], step: string | number): step is number =>
  typeof step === 'number' && Number.isInteger(step) && step >= 0 && step < list.length;

/** The state with a value at a place. Objects are made where there are none; an array keeps its length. */
function placed(at: unknown, steps: Steps, value: unknown, i = 0): unknown {
  if (i === steps.length) return value;
  const step = steps[i]!;
  if (Array.isArray(at)) return isThere(at, step) ? at.with(step, placed(at[step], steps, value, i + 1)) : at;
  const base: Record<string, unknown> = at !== null && typeof at === 'object' ? { ...at } : {};
  base[step] = placed(own(at, step), steps, value, i + 1);
  return base;
}

export interface Own {
  /**
   * Sets a value.
   * @param state what documents make of the state now
   * @returns false where nothing can be set: outside of the state, at every item of an array, or at none
   */
  set(at: Path, value: unknown, state: unknown): boolean;
  /** The state with all that was set. A value goes when its document says something else than what was set here. */
  over(state: unknown): unknown;
}

export function openOwn(): Own {
  const places = new Map<string, { steps: Steps; value: unknown; under: string; said: string[] }>();
  const textAt = (state: unknown, steps: Steps) => JSON.stringify(steps.reduce(own, state)) ?? '';
  return {
    set({ path: [root, ...steps] }, value, state) {
      const isPlace = (s: string | number | null): s is string | number => s !== null && s !== '__proto__';
      if (root !== 'state' || steps.length === 0 || steps.length > MAX_DEPTH || !steps.every(isPlace))
        return false;
      const parent = steps.slice(0, -1).reduce(own, state);
      if (Array.isArray(parent) && !isThere(parent, steps.at(-1)!)) return false;
      const key = JSON.stringify(steps);
      const said = [...(places.get(key)?.said ?? []), JSON.stringify(value) ?? ''].slice(-MAX_SAID);
      // What was set last lies on top.
      places.delete(key);
      places.set(key, { steps, value, under: textAt(state, steps), said });
      if (places.size > MAX_PLACES) places.delete(places.keys().next().value!);
      return true;
    },
    over(state) {
      let made = state;
      for (const [key, place] of places) {
        const now = textAt(state, place.steps);
        // Its own value on the way back may be an older one than what stands here by now.
        if (now !== place.under && !place.said.includes(now)) places.delete(key);
        else {
          place.under = now;
          made = placed(made, place.steps, place.value);
        }
      }
      return made;
    },
  };
}
