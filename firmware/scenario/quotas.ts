// Quotas: what a node, a person and a scenario may take of a thing in a day and in a week. Pure but for the records.
import * as T from 'typebox';
import { checked } from '../protocol/endpoint/check.ts';
import { IngleError } from '../protocol/errors.ts';
import { type QuotaKind, quotaKinds } from './action.ts';
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

/**
 * Takes from every quota that is kept, as ops to write with the step.
 * @throws IngleError `rate_limited` that says which quota is used up
 */
export async function takeOf(
  quotas: Quotas,
  records: Pick<Records, 'used'>,
  row: RunRow,
  { kind, amount }: { kind: QuotaKind; amount: number },
  at: number,
): Promise<Op[]> {
  const ops: Op[] = [];
  for (const scope of scopes)
    for (const period of periods) {
      const most = quotas[kind]?.[scope]?.[period];
      if (most === undefined) continue;
      const [name, when] = [nameOf(scope, row), periodOf(period, at)];
      if ((await records.used(kind, name, when)) + amount > most)
        throw new IngleError(
          'rate_limited',
          `The quota of ${kind} for this ${scope} and ${period} is used up.`,
          {
            quota: { kind, scope, period, most },
          },
        );
      ops.push({ op: 'use', kind, scope: name, period: when, amount });
    }
  return ops;
}
