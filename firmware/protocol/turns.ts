// Work of many sources, a little of each in turn, and never so long that the event loop waits: who sends much waits for
// himself and for nobody else.

/** Who sends. `waiting` is null while nothing waits. */
export interface Source<T> {
  waiting: T[] | null;
}

export interface TurnsOptions<T, S extends Source<T>> {
  work(source: S, item: T): void;
  /** Items of one source before the next one's turn. */
  quantum(source: S): number;
  /** Longest time at the work before the event loop gets its turn, milliseconds. */
  slice: number;
  /** How long a turn of the event loop has been going on before what still comes in it had better wait, milliseconds. */
  atOnce: number;
}

export interface Turns<T, S extends Source<T>> {
  /** Whether nothing waits and there is time to do an item as it comes. */
  readonly free: boolean;
  /** Puts an item behind those of its source. */
  push(source: S, item: T): void;
  /** Drops what waits of a source. */
  forget(source: S): void;
  /** Those with something waiting, in the order of their turns. */
  sources(): Iterable<S>;
}

export function openTurns<T, S extends Source<T>>(o: TurnsOptions<T, S>): Turns<T, S> {
  const ring = new Set<S>();
  let scheduled = false;
  let ticking = false;
  let began = 0;
  const endTick = () => {
    ticking = false;
  };

  function turn(): void {
    scheduled = false;
    next(performance.now() + o.slice);
  }
  function next(end: number): void {
    for (const source of ring) {
      ring.delete(source);
      const items = source.waiting!.splice(0, o.quantum(source));
      if (source.waiting!.length > 0) ring.add(source);
      else source.waiting = null;
      for (const item of items) o.work(source, item);
      break;
    }
    if (ring.size === 0) return;
    // The work may go on in microtasks and next ticks: they are part of the slice.
    if (performance.now() < end) process.nextTick(next, end);
    else schedule();
  }
  function schedule(): void {
    if (scheduled) return;
    scheduled = true;
    setImmediate(turn);
  }
  return {
    get free() {
      if (ring.size > 0) return false;
      const now = performance.now();
      if (ticking) return now - began < o.atOnce;
      ticking = true;
      began = now;
      setImmediate(endTick);
      return true;
    },
    push(source, item) {
      if (source.waiting) source.waiting.push(item);
      else {
        source.waiting = [item];
        ring.add(source);
      }
      schedule();
    },
    forget(source) {
      ring.delete(source);
      source.waiting = null;
    },
    sources: () => ring,
  };
}
