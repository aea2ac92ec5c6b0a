// A2UI (v0.8, v0.9, 1.0): what agents and other tools emit, as a page. Pure.
import { type Draft, draft } from '../draft.ts';
import type { Names } from '../expression.ts';
import type { Node, Problem, Tree } from '../tree.ts';
import { type Drawing, drawn } from './components.ts';
import { surfacesOf } from './messages.ts';

export interface A2uiTools {
  markdown?: (text: string, ink: { draft: Draft; names: Names }, pointer: string) => readonly Node[];
}

/**
 * Compiles the messages of A2UI: an array, a text of lines, or a document `{ a2ui: <either> }`. Each surface has its data
 * model at `state.<surfaceId>`. Pointers of problems begin at the message.
 */
export function a2ui(
  source: unknown,
  tools: A2uiTools = {},
): { tree: Tree; problems: readonly Problem[]; wants: readonly 'markdown'[] } {
  const it = draft();
  const { surfaces, version } = surfacesOf(it, source);
  const told = new Set<string>();
  let wants = false;
  const modals: Node[] = [];
  const main: Node[] = [];
  for (const [id, surface] of surfaces) {
    const root = ['state', id] as const;
    const d: Drawing = {
      draft: it,
      surface,
      where: {
        root,
        inRow: false,
        unknown(name, pointer) {
          if (told.has(name) || told.size > 50) return;
          told.add(name);
          it.problem(
            'unsupported_function',
            pointer,
            `"${name.slice(0, 64)}" is not known here: its value is shown as it is.`,
          );
        },
      },
      open: new Set(),
      modals,
      markup(text, pointer) {
        if (tools.markdown) return tools.markdown(text, { draft: it, names: { root } }, pointer);
        wants = true;
        return [{ is: 'text', of: [text] }];
      },
    };
    main.push(...drawn(d, surface.root, `/${id.slice(0, 80)}`));
  }
  if (surfaces.size === 0)
    main.push(
      it.note('invalid', '', 'There is no surface: A2UI begins with createSurface or surfaceUpdate.'),
    );
  const state = Object.fromEntries([...surfaces].map(([id, s]) => [id, s.data]));
  return {
    ...it.finish(`a2ui/${version}`, { state, main, ...(modals.length > 0 ? { modal: modals } : {}) }),
    wants: wants ? ['markdown'] : [],
  };
}
