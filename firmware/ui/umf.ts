// UMF, level 3: a page of the skill itself in a frame, with what it says in words instead. Pure.
import { draft } from './draft.ts';
import { frameOf } from './frame.ts';
import type { FrontEnd } from './tree.ts';
import { markdown } from './ulm/markdown.ts';

/**
 * Compiles `{ umf: <page below /v1/ui/>, title?, w?, h?, ulm?: <text> }`. Every skill speaks level 1: `ulm` is what a
 * renderer without frames shows.
 */
export const umf: FrontEnd = (source) => {
  const it = draft();
  const of = source !== null && typeof source === 'object' ? (source as Record<string, unknown>) : {};
  const title = typeof of['title'] === 'string' ? it.text(of['title'], '/title') : '';
  const text = of['ulm'];
  if (typeof text !== 'string')
    it.problem('missing', '/ulm', 'A page has a text for who cannot show it: "ulm".');
  const children =
    typeof text === 'string' ? markdown(text, { draft: it, names: { root: ['state'] } }, '/ulm') : undefined;
  const instead = children && ({ is: 'stack', children } as const);
  const frame = frameOf({ page: of['umf'], w: of['w'], h: of['h'] }, title, instead);
  return it.finish('umf', {
    ...(title ? { title } : {}),
    main: [frame ?? it.note('bad_page', '/umf', 'A page lies below /v1/ui/: "chart" or "chart/index.html".')],
  });
};
