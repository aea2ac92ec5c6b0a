// Pages of rows of one app: asked of the hub, and those of an earlier time where it is not reached.
import { toIngleError } from '../firmware/protocol/errors.ts';
import { currentLink } from './current.ts';
import type { Asked, Rows } from './drawing.ts';

export type Page = Awaited<ReturnType<Rows['page']>>;

/** Pages of rows that are kept. */
const ROWS = 40;
/** Rows that were asked for when a page opened are as good as new for its table, milliseconds. */
const FRESH = 3000;

/**
 * A cache of pages; those used last stay.
 * @param ask asks the hub
 * @param changed is told of each page that came
 */
export function openRows(ask: Rows['page'], changed: () => void) {
  const known = new Map<string, { page: Page; at: number }>();
  const nameOf = ({ query, target, params, page, pageSize, sort, search }: Asked) =>
    JSON.stringify([query, target, params ?? {}, page, pageSize, sort ?? null, search ?? '']);
  return {
    /** What is known now, to be kept. */
    entries: (): [string, Page][] => [...known].map(([name, { page }]) => [name, page]),
    /** Takes what an earlier visit kept; what is known already is newer. */
    fill(rows: readonly [string, Page][]) {
      for (const [name, page] of rows) if (!known.has(name)) known.set(name, { page, at: 0 });
    },
    async page(asked: Asked, stop: AbortSignal): Promise<Page> {
      const name = nameOf(asked);
      const kept = known.get(name);
      if (kept && (Date.now() - kept.at < FRESH || !currentLink()?.up)) return kept.page;
      try {
        const page = await ask(asked, stop);
        known.delete(name);
        known.set(name, { page, at: Date.now() });
        if (known.size > ROWS) known.delete(known.keys().next().value!);
        changed();
        return page;
      } catch (e) {
        // A hub that has just gone is as one that is not there; what a skill refuses is told.
        if (kept && ['unavailable', 'timeout', 'hub_offline'].includes(toIngleError(e).code))
          return kept.page;
        throw e;
      }
    },
  };
}
