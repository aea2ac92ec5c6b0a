// An engine for tests: a store in memory or a file, a clock that is moved by hand, actions that write down what they did.
import type { Action, Asked } from '../../firmware/scenario/action.ts';
import type { Clock } from '../../firmware/scenario/clock.ts';
import { openEngine, type Runs, type Start } from '../../firmware/scenario/engine.ts';
import type { Value } from '../../firmware/scenario/expression.ts';
import type { EngineOptions } from '../../firmware/scenario/live.ts';
import type { Limits } from '../../firmware/scenario/places.ts';
import { planOf } from '../../firmware/scenario/plan.ts';
import type { Quotas } from '../../firmware/scenario/quotas.ts';
import { openRecords, type Records, scenarioSchema } from '../../firmware/scenario/records.ts';
import type { Prototype } from '../../firmware/scenario/schema.ts';
import type { Log } from '../../firmware/system/log.ts';
import { openStore, type Store } from '../../firmware/system/store.ts';

export const quiet: Log = Object.fromEntries(
  ['error', 'warn', 'notice', 'info', 'debug'].map((l) => [l, () => {}]),
) as never;

export interface HandClock extends Clock {
  /** Goes on by so many milliseconds, firing what is due on the way, and lets it be worked off. */
  pass(ms: number): Promise<void>;
  /** Sets the wall clock. */
  set(wall: number): void;
  /** The machine starts anew: `up` begins at 0. */
  restart(awayMs: number): HandClock;
  /** Timers that are set. */
  readonly pending: number;
}

/** Calls of records that have not been answered. */
let asked = 0;
/** Lets everything that needs no time go on until nothing moves. */
export async function settle(): Promise<void> {
  for (let still = 0; still < 10; still = asked > 0 ? 0 : still + 1)
    await new Promise<void>((done) => setImmediate(done));
}
const counted = (r: Records): Records =>
  Object.fromEntries(
    Object.entries(r).map(([name, f]) => [
      name,
      async (...a: unknown[]) => {
        asked++;
        try {
          return await (f as (...a: unknown[]) => Promise<unknown>)(...a);
        } finally {
          asked--;
        }
      },
    ]),
  ) as never;

export function handClock(wall = Date.UTC(2026, 10, 25, 12), boot = 'boot-1'): HandClock {
  let [now, up, n] = [wall, 0, 0];
  const timers = new Map<number, { at: number; work: () => void }>();
  const clock: HandClock = {
    boot,
    wall: () => now,
    up: () => up,
    after(ms, work) {
      const id = n++;
      timers.set(id, { at: up + Math.max(0, ms), work });
      return () => timers.delete(id);
    },
    async pass(ms) {
      const end = up + ms;
      await settle();
      for (;;) {
        const next = [...timers].sort(([, a], [, b]) => a.at - b.at)[0];
        if (!next || next[1].at > end) break;
        now += next[1].at - up;
        up = next[1].at;
        timers.delete(next[0]);
        next[1].work();
        await settle();
      }
      now += end - up;
      up = end;
      await settle();
    },
    set: (to) => {
      now = to;
    },
    restart: (away) => handClock(now + away, `boot-${Number(boot.slice(5)) + 1}`),
    get pending() {
      return timers.size;
    },
  };
  return clock;
}

/** Something an action did. */
export interface Effect {
  action: string;
  key: string;
  args: Readonly<Record<string, Value>>;
}

export interface Lab {
  runs: Runs;
  records: Records;
  store: Store;
  clock: HandClock;
  effects: Effect[];
  told: { event: string; properties: Record<string, unknown> }[];
  published: { topic: string; payload: unknown }[];
  /** Says something on a topic. */
  say(topic: string, payload: Value): Promise<void>;
  start(steps: unknown[], more?: Partial<Prototype>, start?: Partial<Start>): ReturnType<Runs['start']>;
  /** What was done, in order: `action(text)`. */
  did(): string[];
}

export interface LabOptions {
  clock?: HandClock;
  store?: Store;
  effects?: Effect[];
  limits?: Partial<Limits>;
  quotas?: Quotas;
  actions?: Record<string, Partial<Action> & Pick<Action, 'perform'>>;
  records?: (r: Records) => Records;
  point?: EngineOptions['point'];
  /** Other hubs of the subnet. */
  subnet?: Pick<EngineOptions, 'place' | 'nudge' | 'wrote'>;
  slots?: Record<string, string>;
}

export const scenario = (steps: unknown[], more: Partial<Prototype> = {}): Prototype =>
  ({ id: 'test', version: '1.0.0', dslVersion: '1', name: 'Test', steps, ...more }) as Prototype;

export async function openLab(o: LabOptions = {}): Promise<Lab> {
  const clock = o.clock ?? handClock();
  const store = o.store ?? (await openStore(':memory:', scenarioSchema));
  const plain = counted(openRecords(store));
  const records = o.records?.(plain) ?? plain;
  const effects = o.effects ?? [];
  const [told, published]: [Lab['told'], Lab['published']] = [[], []];
  const hears = new Map<string, Set<(payload: Value) => void>>();
  const does = (name: string, of: Partial<Action> & Pick<Action, 'perform'>): Action => ({
    doc: '',
    interrupted: 'again',
    ...of,
    perform(asked: Asked) {
      effects.push({ action: name, key: asked.key, args: asked.args });
      return of.perform(asked);
    },
  });
  const known: LabOptions['actions'] = {
    'test.do': { perform: async ({ args }) => (args as Record<string, Value>)['text'] ?? null },
    'test.undo': { perform: async () => null },
    'io.say': { interrupted: 'pass', perform: async () => null },
    'slot.call': { perform: async ({ skill, args }) => ({ skill: skill ?? null, ...args }) },
    ...o.actions,
  };
  const runs = openEngine({
    ...{ records, clock, log: quiet, quotas: o.quotas ?? {} },
    actions: { find: (name) => (Object.hasOwn(known, name) ? does(name, known[name]!) : undefined) },
    topics: {
      async subscribe(topic, f) {
        const set = hears.get(topic) ?? new Set();
        hears.set(topic, set.add(f));
        return () => set.delete(f);
      },
      publish: (topic, payload) => published.push({ topic, payload }),
    },
    limits: {
      max_concurrent_total: 4,
      max_concurrent_per_scenario: 4,
      max_concurrent_per_node: 4,
      ...o.limits,
    },
    tell: (event, properties) => told.push({ event, properties }),
    compile: (source) => planOf(JSON.parse(source) as Prototype, Object.keys(o.slots ?? {})),
    boundTo: async (_, slot) => o.slots?.[slot],
    random: () => 0.5,
    ...(o.point ? { point: o.point } : {}),
    ...o.subnet,
  });
  return {
    ...{ runs, records, store, clock, effects, told, published },
    async say(topic, payload) {
      for (const f of hears.get(topic) ?? []) f(payload);
      await settle();
    },
    start(steps, more = {}, start = {}) {
      const p = scenario(steps, more);
      const { priority, policy } = p;
      return runs.start({
        ...{
          scenario_id: p.id,
          version: p.version,
          source: JSON.stringify(p),
          user: 'owner',
          ctx: {},
          origin: 'test',
        },
        ...(priority ? { priority } : {}),
        ...(policy ? { policy } : {}),
        ...start,
      });
    },
    did: () => effects.map(({ action, args }) => `${action}(${String(args['text'] ?? '')})`),
  };
}
