// What the methods of io.ingle.Scenario1 share: what they work on, and records as the bus has them.

import type { Family } from '../observe/exposition.ts';
import type { Queue } from '../protocol/queue.ts';
import { fromVariant, type Implementation as Serves, toDict, type Variant } from '../system/contract.ts';
import type { Log } from '../system/log.ts';
import type { Store } from '../system/store.ts';
import type { Vault } from '../system/vault.ts';
import type { Attention, Wanted } from './attention.ts';
import type { Ways } from './builtin.ts';
import type { Clock } from './clock.ts';
import type { scenario1 } from './contract.ts';
import type { Runs } from './engine.ts';
import type { ErrandsTaken } from './errands-taken.ts';
import type { Value } from './expression.ts';
import type { Asker, Asking, Household } from './household.ts';
import type { Library } from './library.ts';
import type { Tell, Topics } from './live.ts';
import type { Metrics } from './metrics.ts';
import type { Limits } from './places.ts';
import type { Quotas } from './quotas.ts';
import type { Readme } from './readme.ts';
import type { Records } from './records.ts';
import type { Sayable } from './sayable.ts';
import type { Schedule } from './schedule.ts';
import type { Prototype } from './schema.ts';
import type { openScenarioSubnet } from './subnet.ts';
import type { Ear, Voice } from './voice.ts';

export interface ServeOptions {
  store: Store;
  vault: Vault;
  clock: Clock;
  log: Log;
  limits: Limits;
  quotas: Quotas;
  builtin: readonly { id: string; version: string; prototype: Prototype; readme: Readme }[];
  zone: string;
  locale: string;
  ways(schedule: () => Schedule): Omit<Ways, 'end'>;
  ear: Ear;
  askerOf(user: string): Promise<Asker | undefined>;
  someone(): Promise<Asker>;
  /** Whether the hub wakes at a phrase, and which. */
  waking: { on: boolean; wanted(): Wanted };
  /** What this hub has, as has:mic; constraints name it. */
  has: readonly string[];
  /** Hears every event as well, and what it counts of its own. */
  traces?: { tell: Tell; families(): Family[] };
  /** Called whenever something is done: what the process is needed for may be over then. */
  touch(): void;
}

export interface Parts {
  o: ServeOptions;
  records: Records;
  library: Library;
  runs: Runs;
  schedule: Schedule;
  household: Household;
  metrics: Metrics;
  tell: Tell;
  topics: Topics;
  subnet: ReturnType<typeof openScenarioSubnet>;
  taken: ErrandsTaken;
  voice: Voice;
  attention: Attention;
  sayable: Sayable;
  /** Changes of rules and of phrases that nothing understood, one after the other. */
  teaching: Queue;
  changed(what: string): void;
}

export const json = (dict: Record<string, Variant>): Record<string, Value> =>
  fromVariant(dict) as Record<string, Value>;
export const dict = <V extends object>(value: V): Record<string, Variant> =>
  toDict(JSON.parse(JSON.stringify(value)) as Record<string, unknown>);
export const askerFrom = ({
  user,
  role,
  name,
  locale,
}: {
  user: string;
  role: string;
  name: string;
  locale: string;
}): Asker => ({
  ...{ user, role },
  ...(name ? { name } : {}),
  ...(locale ? { locale } : {}),
});
export const askingFrom = (given: Record<string, Value>): Asking & { run_id?: string } =>
  ({ ...given, origin: 'person' }) as never;

export type Methods = Serves<typeof scenario1>;
