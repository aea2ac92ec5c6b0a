// The paths every skill with a ui/v0 screen has: what a window needs to know, and the screen as a page. Its host answers.
import { type Language, pickLanguage } from '../text/i18n.ts';
import { compile } from '../ui/compile.ts';
import type { Manifest } from './manifest.ts';
import { panelPage } from './panel.ts';
import type { JsonObject, SkillEndpoint, SkillRequest } from './sdk/skill.ts';

const nothingYet = { schema: 'ui/v0', layout: { type: 'empty', text: '…' } };

export function uiPaths(
  { capabilities: { ui } }: Manifest,
  o: {
    /** The hub's own language; a reader may ask for another by `?lang`. */
    language: Language;
    title(language: Language): string;
    view(owner_id: string): JsonObject;
    state(owner_id: string): Readonly<JsonObject>;
  },
): SkillEndpoint[] {
  if (ui?.schema !== 'ui/v0') return [];
  const languageOf = ({ query }: SkillRequest) => pickLanguage([query.get('lang') ?? o.language]);
  return [
    {
      method: 'GET',
      path: '/v1/ui/manifest',
      answer: (r) => ({
        body: {
          title: o.title(languageOf(r)),
          icon: ui.icon ?? 'app',
          modes: [...ui.modes],
          sizeHints: ui.sizeHints ?? null,
        },
      }),
    },
    {
      method: 'GET',
      path: '/v1/ui/panel',
      async answer(r) {
        const view = o.view(r.owner_id);
        const { tree } = await compile(Object.keys(view).length === 0 ? nothingYet : view);
        return { type: 'text/html', text: panelPage(tree, o.state(r.owner_id), languageOf(r)) };
      },
    },
  ];
}
