// A page of rows, straight from the skill: nothing is kept of the question.
import { IngleError, toIngleError } from '../firmware/protocol/errors.ts';
import { reached } from './current.ts';
import type { Asked, Rows } from './drawing.ts';
import type { Icon } from './store.ts';
import { context, isAbsent, pathOf } from './topic.ts';

/** Until the rows are there, milliseconds. */
const WAIT = 20_000;

/** @throws IngleError `not_supported` where the skill answers no queries, else what the hub said */
export async function pageOf(
  icon: Icon,
  { target, ...asked }: Asked,
  stop: AbortSignal,
): ReturnType<Rows['page']> {
  const ended = new AbortController();
  const end = () => ended.abort();
  const timer = setTimeout(end, WAIT);
  stop.addEventListener('abort', end);
  try {
    const body = { ...asked, context: context(icon) };
    const page = await reached().request('POST', pathOf(icon, 'query', target), body, {}, ended.signal);
    return readPage(page);
  } catch (e) {
    throw isAbsent(e) ? new IngleError('not_supported', 'The skill answers no queries.') : toIngleError(e);
  } finally {
    clearTimeout(timer);
    stop.removeEventListener('abort', end);
  }
}

/** @throws IngleError `internal` for what is no page of rows */
function readPage(page: unknown): Awaited<ReturnType<Rows['page']>> {
  const { rows, total } = Object(page) as { rows?: unknown; total?: unknown };
  if (!Array.isArray(rows)) throw new IngleError('internal', 'The answer is no page of rows.');
  return { rows, total: typeof total === 'number' && total >= 0 ? total : rows.length };
}
