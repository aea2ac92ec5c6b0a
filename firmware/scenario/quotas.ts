// Quotas: what a node, a person and a scenario may take of a thing in a day and in a week. Pure but for the records.
import * as T from 'typebox';
import { checked } from '../protocol/endpoint/check.ts';
import { IngleError } from '../protocol/errors.ts';
import { type QuotaKind, quotaKinds, type Taken } from './action.ts';
import type { Op, Records, RunRow } from './records.ts';

export const scopes = ['node', 'user', 'scenario'] as const;
export const periods = ['day', 'week'] as const;

/** The most of each: `{ tts: { user: { day: 600 } } }`. What is not named is not bounded. */
export type Quotas = Partial<
  Record<
    QuotaKind,
    Partial<Record<(typeof scopes)[number], Partial<Record<(typeof periods)[number], number>>>>
  >
>;

const strict = { additionalProperties: false };
const each = <S extends T.TSchema>(names: readonly string[], of: S) =>
  T.Object(Object.fromEntries(names.map((name) => [name, T.Optional(of)])), strict);
const quotasSchema = each(quotaKinds, each(scopes, each(periods, T.Number({ minimum: 0 }))));

/**
 * Quotas as a hub's config.json has them. A name that is wrong would bound nothing.
 * @throws IngleError `invalid_request` that names what is wrong
 */
export function quotasFrom(given: unknown): Quotas {
  try {
    return checked(quotasSchema, given) as Quotas;
  } catch (e) {
    throw new IngleError('invalid_request', `scenario.quotas in config.json: ${(e as Error).message}`);
  }
}

/** The name of the day or ISO week a time is in (UTC). @param at Unix milliseconds */
export function periodOf(period: (typeof periods)[number], at: number): string {
  const day = new Date(at);
  if (period === 'day') return day.toISOString().slice(0, 10);
  // The week of a day is that of its Thursday (ISO 8601).
  const thursday = new Date(at);
  thursday.setUTCDate(day.getUTCDate() + 4 - (day.getUTCDay() || 7));
  const first = Date.UTC(thursday.getUTCFullYear(), 0, 1);
  const week = Math.ceil(
    ((Math.floor(thursday.getTime() / 86_400_000) * 86_400_000 - first) / 86_400_000 + 1) / 7,
  );
  return `${thursday.getUTCFullYear()}-W${String(week).padStart(2, '0')}`;
}

const nameOf = (scope: (typeof scopes)[number], row: RunRow): string =>
  scope === 'node' ? 'node' : `${scope}:${scope === 'user' ? row.user : row.scenario_id}`;

/** What one action takes, as ops to write with what came of it. */
export interface Share {
  ops: Op[];
  /** It was not used after all. */
  back(): void;
}

export interface Meter {
  /**
   * Takes from every quota that is kept.
   * @throws IngleError `rate_limited` that says which quota is used up; then nothing is taken
   */
  take(row: RunRow, taken: readonly Taken[], at: number): Promise<Share>;
}

/** Counts in memory what is on the disk and what is under way: several actions take at one time, and each is written at its end. */
export function openMeter(quotas: Quotas, records: Pick<Records, 'used'>): Meter {
  const counts = new Map<string, { when: string; amount: number }>();
  async function load(kind: QuotaKind, scope: string, period: string, when: string): Promise<void> {
    const key = `${kind} ${scope} ${period}`;
    if (counts.get(key)?.when === when) return;
    const amount = await records.used(kind, scope, when);
    // Somebody may have taken of it meanwhile.
    if (counts.get(key)?.when !== when) counts.set(key, { when, amount });
  }
  return {
    async take(row, taken, at) {
      const bounds = taken.flatMap(({ kind, amount }) =>
        scopes.flatMap((scope) =>
          periods.flatMap((period) => {
            const most = quotas[kind]?.[scope]?.[period];
            const of = { kind, amount, scope, period, name: nameOf(scope, row), when: periodOf(period, at) };
            return most === undefined ? [] : [{ ...of, most }];
          }),
        ),
      );
      for (const { kind, name, period, when } of bounds) await load(kind, name, period, when);
      // Nobody comes between from here on.
      const counted = bounds.map((b) => ({ ...b, count: counts.get(`${b.kind} ${b.name} ${b.period}`)! }));
      for (const { kind, scope, period, amount, most, count } of counted)
        if (count.amount + amount > most)
          throw new IngleError(
            'rate_limited',
            `The quota of ${kind} for this ${scope} and ${period} is used up.`,
            { quota: { kind, scope, period, most } },
          );
      for (const { count, amount } of counted) count.amount += amount;
      return {
        ops: bounds.map(
          ({ kind, name, when, amount }): Op => ({ op: 'use', kind, scope: name, period: when, amount }),
        ),
        back() {
          for (const { count, amount } of counted) count.amount -= amount;
        },
      };
    },
  };
}
