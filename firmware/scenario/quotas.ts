// Quotas: what a node, a person and a scenario may take of a thing in a day and in a week. Pure but for the records.
import { IngleError } from '../protocol/errors.ts';
import type { QuotaKind } from './action.ts';
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
