// ULM, level 1: a text as a page. Pure.
import { draft } from '../draft.ts';
import type { FrontEnd, Value } from '../tree.ts';
import { markdown } from './markdown.ts';

const isObject = (v: unknown): v is Record<string, unknown> =>
  v !== null && typeof v === 'object' && !Array.isArray(v);

/**
 * Compiles ULM: CommonMark without HTML and images, with `:::card`, `:::form`, `:::table`, action links and bindings.
 * @param source the text, or a document `{ ulm: <text>, meta?: { title } }`. Pointers of problems are `/line/column`.
 */
export const ulm: FrontEnd = (source) => {
  const it = draft();
  const text = typeof source === 'string' ? source : isObject(source) ? source['ulm'] : undefined;
  const meta = isObject(source) && isObject(source['meta']) ? source['meta'] : undefined;
  const title = meta?.['title'];
  const main =
    typeof text === 'string'
      ? markdown(text, { draft: it, names: { root: ['state'] } })
      : [it.note('invalid', '', 'A document of ULM is a text.')];
  return it.finish('ulm', {
    ...(typeof title === 'string' ? { title: it.text(title, '/meta/title') as Value } : {}),
    ...(meta ? { meta } : {}),
    main,
  });
};
