// State machines: a union of names, one transition table, one function that writes the state.
import type { Log } from './log.ts';

/** For each state, where each event leads. An event without an entry is refused. */
export type Table<S extends string, E extends string> = Record<S, Partial<Record<E, S>>>;

export interface Machine<S extends string, E extends string> {
  readonly state: S;
  /** Moves by an event; false (and a debug line) when this state does not take it. */
  fire(event: E): boolean;
  /** Fires `event` after `ms`, unless the state has been left by then. */
  after(ms: number, event: E): void;
  can(event: E): boolean;
  /** Stops all timers. */
  stop(): void;
}

/**
 * A machine over `table`.
 * @param onEnter runs after each move (not for the initial state); it starts what the new state needs.
 */
export function machine<S extends string, E extends string>(options: {
  name: string;
  table: Table<S, E>;
  initial: S;
  log: Log;
  onEnter?: (state: S, old: S, event: E) => void;
}): Machine<S, E> {
  let state = options.initial;
  // Each entry into a state is a generation; a timer carries the generation it was set in.
  let generation = 0;
  const timers = new Set<NodeJS.Timeout>();

  function enter(next: S, event: E): void {
    const old = state;
    state = next;
    generation++;
    for (const t of timers) clearTimeout(t);
    timers.clear();
    options.log.info(`${options.name} ${old} -> ${next}`, { event });
    options.onEnter?.(next, old, event);
  }
  const m: Machine<S, E> = {
    get state() {
      return state;
    },
    can: (event) => options.table[state][event] !== undefined,
    fire(event) {
      const next = options.table[state][event];
      if (next === undefined) {
        options.log.debug(`${options.name} ${state} ignores ${event}`);
        return false;
      }
      enter(next, event);
      return true;
    },
    after(ms, event) {
      const mine = generation;
      const timer = setTimeout(() => {
        timers.delete(timer);
        if (mine === generation) m.fire(event);
      }, ms);
      timers.add(timer);
    },
    stop() {
      generation++;
      for (const t of timers) clearTimeout(t);
      timers.clear();
    },
  };
  return m;
}
