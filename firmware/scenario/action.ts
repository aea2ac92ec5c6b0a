// What steps may do. An action is given everything it may see, and nothing else of a run.
import type { Value } from './expression.ts';

/** What a person has asked for, and how they may be reached. */
export interface RunContext {
  user: string;
  role: string;
  locale: string;
  io: { in: string[]; out: string[]; fallback: string[] };
}

export interface Asked {
  run_id: string;
  scenario_id: string;
  /** `<run_id>/<step>/<seq>`: the same for the same effect, also when it is asked for again after a crash. */
  key: string;
  args: Readonly<Record<string, Value>>;
  ctx: RunContext;
  /** The skill bound to the step's slot. */
  skill?: string;
  /** Aborted when the step is stopped or takes too long. */
  signal: AbortSignal;
}

export interface Action {
  doc: string;
  /**
   * What a crash in the middle makes of it. `again`: whoever does it knows the key, so it is asked for once more.
   * `pass`: it is not done again, and the run goes on. `fail`: it is not done again, and counts as failed.
   */
  interrupted: 'again' | 'pass' | 'fail';
  /**
   * What it takes of a quota: `http` in requests, `tts` and `stt` in seconds, `llm` in calls, as a skill declares them.
   * It is not asked where there are no quotas.
   */
  takes?(asked: Asked): Taken | Taken[] | undefined | Promise<Taken | undefined>;
  perform(asked: Asked): Promise<Value>;
}

export interface Taken {
  kind: QuotaKind;
  amount: number;
}

export const quotaKinds = ['http', 'tts', 'stt', 'llm'] as const;
export type QuotaKind = (typeof quotaKinds)[number];

/** Actions by name; `find` may make one for a name, as `<skill>.<action>`. */
export interface Actions {
  find(name: string): Action | undefined;
}
