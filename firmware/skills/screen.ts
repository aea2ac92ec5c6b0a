// What the screens of the image's skills have in common: a stack of parts under a title, and their texts. Pure.
import { type Localized, localizer, type Texts } from '../text/i18n.ts';
import type { View, ViewNode } from '../ui/schema.ts';

/** Binds a text of the table, which is then in `meta.texts` for every reader. */
export type Ref<K extends string> = (key: K) => string;

/**
 * A ui/v0 view: the texts it binds are in its meta in every language, all that moves is bound to the state.
 * @param draw the parts, one below the other
 */
export function screen<K extends string>(
  table: Texts<K | 'title'>,
  draw: (t: Ref<K | 'title'>) => ViewNode[],
): View {
  const say = localizer(table);
  const used: Record<string, Localized> = {};
  const t = (key: K | 'title') => {
    used[key] = say(key);
    return `{{meta.texts.${key}}}`;
  };
  const title = t('title');
  const children = draw(t);
  return {
    schema: 'ui/v0',
    meta: { title, texts: used },
    layout: { type: 'stack', gap: 12, children },
  };
}

export const row = (children: ViewNode[], more: Partial<ViewNode> = {}): ViewNode => ({
  type: 'row',
  gap: 8,
  ...more,
  children,
});

/** A button that posts to a path. */
export const press = (
  label: string,
  path: string,
  more: { icon?: string; body?: Record<string, unknown> } = {},
): ViewNode => ({
  type: 'button',
  label,
  ...(more.icon ? { icon: more.icon } : {}),
  action: { type: 'http.post', path, body: more.body ?? {} },
});
