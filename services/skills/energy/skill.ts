// energy: what the home uses, by hour and day. Without a meter it is made up, and every page says so.
import { IngleError } from '../../../firmware/protocol/errors.ts';
import type {
  Json,
  JsonObject,
  Skill,
  SkillContext,
  SkillDefinition,
  UiQuery,
} from '../../../firmware/skills/sdk/skill.ts';
import { dayOf, daysBefore, hoursOf, lastDay, sum } from './simulate.ts';

/** While somebody looks the hour under way is shown anew so often, milliseconds. */
const EVERY = 60_000;

function stateAt(now: Date): JsonObject {
  const hours = hoursOf(dayOf(now)).slice(0, now.getHours() + 1);
  const days = daysBefore(now);
  const average = Math.round((sum(days) / days.length) * 10) / 10;
  const today = sum(hours);
  return {
    simulated: true,
    hours: lastDay(now) as unknown as Json,
    today,
    figures: [{ today, average }],
    share: Math.round((today / average) * 100),
  };
}

function rowsOf({ query, params }: UiQuery): Json[] {
  if (query === 'energy.days') return daysBefore(new Date()) as unknown as Json[];
  const { date } = params;
  if (query !== 'energy.hours' || typeof date !== 'string')
    throw new IngleError('not_found', 'There are energy.days, and energy.hours of a "date".');
  const known = [dayOf(new Date()), ...daysBefore(new Date()).map((d) => d.date)];
  return known.includes(date) ? (hoursOf(date) as unknown as Json[]) : [];
}

function start(ctx: SkillContext): Skill {
  let timer: ReturnType<typeof setInterval> | undefined;
  const look = () => {
    for (const owner_id of ctx.owners()) ctx.setState(owner_id, stateAt(new Date()));
  };
  return {
    attached: (owner_id) => ctx.setState(owner_id, stateAt(new Date())),
    watched() {
      clearInterval(timer);
      timer = undefined;
      if (ctx.viewers() === 0) return;
      look();
      timer = setInterval(look, EVERY);
    },
    stop: () => clearInterval(timer),
    query(asked) {
      const { page, pageSize, sort, search } = asked;
      const rows = rowsOf(asked).filter((r) => JSON.stringify(r).includes(search));
      const by = sort?.key;
      if (by)
        rows.sort((a, b) => {
          const [x, y] = [a, b].map((r) => String((r as JsonObject)[by])) as [string, string];
          return x.localeCompare(y, 'en', { numeric: true }) * (sort.descending ? -1 : 1);
        });
      return { rows: rows.slice(page * pageSize, (page + 1) * pageSize), total: rows.length };
    },
    endpoints: [{ method: 'GET', path: '/v1/state', answer: () => ({ body: stateAt(new Date()) }) }],
  };
}

export const skill: SkillDefinition = { start };
