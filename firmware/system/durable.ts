// State machines that outlive their process: a move is stored, then made, then acted on; a start goes on from what was
// stored. One table of a store holds the rows of one kind of machine, each under its key.
import { openQueue } from '../protocol/queue.ts';
import type { Log } from './log.ts';
import { type Machine, machine, type Table } from './machine.ts';
import type { Store } from './store.ts';

/** The statement of a migration that makes the table of a kind of machine. */
export const durableSchema = (name: string) =>
  `CREATE TABLE ${name} (key TEXT PRIMARY KEY, state TEXT NOT NULL, since INTEGER NOT NULL, memory TEXT NOT NULL)`;

/** What a state works with while it lasts. */
export interface Here<S extends string, E extends string, M extends object> {
  readonly state: S;
  /** The move that led here; undefined when a start goes on with a stored state. */
  readonly by: { readonly old: S; readonly event: E } | undefined;
  /** Aborted when the state is left or the machine is stopped. */
  readonly signal: AbortSignal;
  /** As the machine's own `move`, and does nothing once this state has been left. */
  move(event: E, patch?: Partial<M>): Promise<Here<S, E, M> | undefined>;
  /**
   * Moves by `event` so many milliseconds after the state was entered, also over a restart: the time away counts. A
   * clock that was set back meanwhile costs at most the whole time once more. `patch` is asked at the move.
   */
  after(ms: number, event: E, patch?: () => Partial<M>): void;
}

export interface Durable<S extends string, E extends string, M extends object> {
  readonly key: string;
  readonly state: S;
  /** As it was stored last. */
  readonly memory: Readonly<M>;
  can(event: E): boolean;
  /**
   * Stores the new state with what the patch changes of the memory, then moves, then acts.
   * @returns the state it led to; undefined when this state does not take the event
   * @throws what the store throws; then nothing has moved
   */
  move(event: E, patch?: Partial<M>): Promise<Here<S, E, M> | undefined>;
  /** Stores a change of the memory. @throws what the store throws; then nothing has changed */
  remember(patch: Partial<M>): Promise<void>;
  /** Acts on the stored state, after a start. */
  resume(): void;
  /** Settles when what the present state does has come to its end. */
  acted(): Promise<void>;
  /** Ends what the state does, and all timers; a move that is being stored is stored and not acted on, and no later one is taken. */
  stop(): Promise<void>;
}

export interface DurableOptions<S extends string, E extends string, M extends object> {
  /** Of the machine in the log, and of its table in the store. */
  name: string;
  store: Pick<Store, 'run' | 'all'>;
  table: Table<S, E>;
  initial: S;
  /** The memory of a new row; what a stored one lacks comes from here. */
  memory: M;
  log: Log;
  /** Every process begins at `initial`; what was stored is `stored`. */
  anew?: boolean;
  /** What the move to a state adds to the memory. */
  entering?(next: S, memory: Readonly<M>): Partial<M>;
  /** Told of each move, before it is acted on. */
  onMove?(row: Durable<S, E, M>, old: S, event: E): void;
  /** What a state is there for, at the move as after a start. */
  act(row: Durable<S, E, M>, here: Here<S, E, M>): void | Promise<void>;
  /** An act that failed while its state lasted; without it the failure is logged. */
  onError?(row: Durable<S, E, M>, error: Error): void;
  /** Where it matters more to go on than to remember: a row that cannot be stored moves all the same. */
  volatile?: boolean;
  /** Unix milliseconds. */
  now?: () => number;
}

export interface DurableRows<S extends string, E extends string, M extends object> {
  /** The row under a key, a new one at `initial` where none was stored. */
  row(key: string): Durable<S, E, M>;
  /** State under a key as the last process left it. */
  stored(key: string): S | undefined;
  keys(): string[];
  /** Stops a row and forgets it. */
  drop(key: string): Promise<void>;
  stop(): Promise<void>;
}

/** setTimeout takes no more, milliseconds. */
const LONGEST = 2 ** 31 - 1;

interface Stored<S, M> {
  state: S;
  since: number;
  memory: M;
}

/** Opens the rows of one kind of machine. A row whose state the table does not know begins anew, and is logged. */
export async function openDurable<S extends string, E extends string, M extends object>(
  o: DurableOptions<S, E, M>,
): Promise<DurableRows<S, E, M>> {
  const now = o.now ?? Date.now;
  const found = new Map<string, Stored<S, M>>();
  const rows = new Map<string, Durable<S, E, M>>();
  for (const r of await o.store.all<{ key: string; state: S; since: number; memory: string }>(
    `SELECT key, state, since, memory FROM ${o.name}`,
  ))
    if (Object.hasOwn(o.table, r.state))
      found.set(r.key, { ...r, memory: { ...o.memory, ...(JSON.parse(r.memory) as Partial<M>) } });
    else o.log.warn(`${o.name} does not know a stored state`, { row: r.key, state: r.state });
  return {
    row(key) {
      const old = found.get(key) ?? { state: o.initial, since: now(), memory: { ...o.memory } };
      const row = rows.get(key) ?? openRow(o, now, key, old);
      rows.set(key, row);
      return row;
    },
    stored: (key) => found.get(key)?.state,
    keys: () => [...new Set([...found.keys(), ...rows.keys()])],
    async drop(key) {
      await rows.get(key)?.stop();
      rows.delete(key);
      found.delete(key);
      await o.store.run(`DELETE FROM ${o.name} WHERE key = ?`, key);
    },
    async stop() {
      await Promise.all([...rows.values()].map((row) => row.stop()));
    },
  };
}

function openRow<S extends string, E extends string, M extends object>(
  o: DurableOptions<S, E, M>,
  now: () => number,
  key: string,
  from: Stored<S, M>,
): Durable<S, E, M> {
  let { since, memory } = from;
  const m: Machine<S, E> = machine({
    name: key === o.name ? key : `${o.name} ${key}`,
    table: o.table,
    initial: o.anew ? o.initial : from.state,
    log: o.log,
  });
  const queue = openQueue();
  let work = new AbortController();
  let acting: Promise<void> = Promise.resolve();
  let stopped = false;

  async function store(state: S, at: number, next: M): Promise<void> {
    try {
      await o.store.run(
        `INSERT INTO ${o.name} (key, state, since, memory) VALUES (?, ?, ?, ?) ON CONFLICT (key)
         DO UPDATE SET state = excluded.state, since = excluded.since, memory = excluded.memory`,
        key,
        state,
        at,
        JSON.stringify(next),
      );
    } catch (e) {
      if (!o.volatile) throw e;
      o.log.error(`${o.name} could not be stored`, { error: e as Error });
    }
    [since, memory] = [at, next];
  }

  const move = (event: E, patch: Partial<M> = {}, signal?: AbortSignal) =>
    queue.add(async () => {
      const next = o.table[m.state][event];
      if (next === undefined) m.fire(event);
      if (next === undefined || signal?.aborted || stopped) return;
      const changed = { ...memory, ...patch };
      await store(next, now(), { ...changed, ...o.entering?.(next, changed) });
      const old = m.state;
      work.abort();
      m.fire(event);
      o.onMove?.(row, old, event);
      return stopped ? undefined : act({ old, event });
    });

  function act(by: { old: S; event: E } | undefined): Here<S, E, M> {
    work = new AbortController();
    const { signal } = work;
    const here: Here<S, E, M> = {
      state: m.state,
      by,
      signal,
      move: (event, patch) => move(event, patch, signal),
      after(ms, event, patch) {
        const fire = () =>
          void here
            .move(event, patch?.())
            .catch((e) => o.log.error(`${o.name}: a timer did not move`, { error: e as Error }));
        wait(signal, Math.min(ms, Math.max(0, since + ms - now())), fire);
      },
    };
    acting = (async () => o.act(row, here))().catch((e: Error) => {
      if (signal.aborted) return;
      if (o.onError) o.onError(row, e);
      else o.log.warn(`${o.name}: what ${here.state} does failed`, { error: e });
    });
    return here;
  }

  const row: Durable<S, E, M> = {
    key,
    get state() {
      return m.state;
    },
    get memory() {
      return memory;
    },
    can: (event) => m.can(event),
    move: (event, patch) => move(event, patch),
    remember: (patch) => queue.add(() => store(m.state, since, { ...memory, ...patch })),
    resume: () => void act(undefined),
    acted: () => acting,
    async stop() {
      stopped = true;
      work.abort();
      m.stop();
      await queue.idle();
    },
  };
  return row;
}

/** Calls `f` after `ms`, however long that is, unless the signal aborts before. */
function wait(signal: AbortSignal, ms: number, f: () => void): void {
  const end = performance.now() + ms;
  const drop = () => clearTimeout(timer);
  const due = () => {
    signal.removeEventListener('abort', drop);
    if (signal.aborted) return;
    const left = end - performance.now();
    if (left > 0) wait(signal, left, f);
    else f();
  };
  const timer = setTimeout(due, Math.min(ms, LONGEST));
  signal.addEventListener('abort', drop);
}
