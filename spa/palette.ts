// Search over skills, pages and commands: typed, chosen with the arrows, done with Enter (WAI-ARIA, combobox).
import { html } from 'htm/preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { languages } from '../firmware/text/i18n.ts';
import { inOrder } from '../firmware/ui/arranged.ts';
import { paintBrand } from './brand.ts';
import { openDialog } from './dialog.ts';
import { failed } from './entrance.ts';
import { type Glyph, glyph } from './glyphs.ts';
import { leave } from './leave.ts';
import { openManager, openSkill } from './open.ts';
import { type Entry, ranked } from './rank.ts';
import { say } from './settings-text.ts';
import { app, type Managing } from './store.ts';
import { chooseLanguage, t, titleOf } from './text.ts';
import { chooseTheme, themes } from './theme.ts';

interface Way extends Entry {
  id: string;
  kind: 'skill' | 'page' | 'do';
  icon: Glyph;
  go(): void;
}

const ownerPages: readonly Managing[] = ['manage', 'people', 'hubs', 'account'];
const icons: Record<Managing, Glyph> = {
  ...{ manage: 'app', people: 'people', hubs: 'hub', settings: 'gear', notices: 'bell' },
  ...{ scenarios: 'play', account: 'key' },
};

/** Everything that can be found by this person. */
function ways(): Way[] {
  const { role, link, before } = app();
  const isOwner = role === null || role === 'owner';
  const skills = inOrder(app().icons ?? [], titleOf).map(
    (i): Way => ({
      ...{ id: `skill-${i.skill_id}`, kind: 'skill', icon: 'app', title: titleOf(i) },
      also: [i.title, i.skill_id, ...Object.values(i.titles ?? {}), i.group ?? ''],
      go: () => openSkill(i, undefined, link === 'up'),
    }),
  );
  const pages = [...(['scenarios', 'settings', 'notices'] as const), ...(isOwner ? ownerPages : [])].map(
    (page): Way => ({
      ...{ id: `page-${page}`, kind: 'page', icon: icons[page], title: t(page), also: [page] },
      go: () => openManager(page),
    }),
  );
  const act = (id: string, icon: Glyph, title: string, go: () => void, also: string[] = []): Way => ({
    ...{ id: `do-${id}`, kind: 'do', icon, title, also, go },
  });
  const colours = (theme: (typeof themes)[number]) => () => {
    chooseTheme({ theme });
    paintBrand();
  };
  const undo = () => void import('./rearrange.ts').then((m) => m.undo()).catch(failed);
  return [
    ...skills,
    ...pages,
    ...(isOwner ? [act('add', 'phone', say('add'), () => openManager('settings'), ['qr'])] : []),
    ...(before ? [act('undo', 'left', t('undo'), undo)] : []),
    ...themes.map((theme) => act(theme, 'gear', say(`do_${theme}`), colours(theme), ['theme', theme])),
    ...languages.map((l) =>
      act(l, 'gear', say(`do_${l}`), () => chooseLanguage(l, true), [t('language'), 'language']),
    ),
    act('out', 'out', t('sign_out'), () => void leave(), ['logout']),
  ];
}

function Palette({ close }: { close(way?: Way): void }) {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const [all] = useState(ways);
  const list = useRef<HTMLUListElement>(null);
  const found = ranked(all, text);
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [at, text]);
  const onKeyDown = (e: KeyboardEvent) => {
    const to = { ArrowDown: at + 1, ArrowUp: at - 1 }[e.key];
    const way = found[at];
    if (to !== undefined && found.length > 0) setAt((to + found.length) % found.length);
    else if (e.key === 'Enter' && way && !e.isComposing) close(way);
    else return;
    e.preventDefault();
  };
  const now = found[at];
  return html`<div class="palette-box">
    <div class="search">${glyph('search')}<input class="input" role="combobox" autofocus autocomplete="off" spellcheck=${false}
      aria-label=${say('find')} placeholder=${say('find')} aria-expanded="true" aria-controls="found" aria-autocomplete="list"
      aria-activedescendant=${now ? now.id : undefined} value=${text} onKeyDown=${onKeyDown}
      onInput=${(e: Event) => {
        setText((e.target as HTMLInputElement).value);
        setAt(0);
      }} />
      <button type="button" class="icon-button" aria-label=${t('close')} onClick=${() => close()}>${glyph('close')}</button></div>
    <p class="sr" role="status">${found.length > 0 ? say('found', { n: found.length }) : say('none')}</p>
    <ul id="found" role="listbox" aria-label=${say('find')} tabindex="-1" ref=${list}>${found.map(
      (w, i) => html`<li key=${w.id} id=${w.id} role="option" aria-selected=${i === at ? 'true' : 'false'}
        onClick=${() => close(w)} onPointerMove=${() => setAt(i)}>${glyph(w.icon)}<span>${w.title}</span>
        <span class="soft small">${say(`kind_${w.kind}`)}</span></li>`,
    )}</ul>
    ${found.length === 0 && html`<p class="soft none" aria-hidden="true">${say('none')}</p>`}
  </div>`;
}

/** Opens the search; what is chosen happens once it is closed and the focus is back. */
export async function openPalette(): Promise<void> {
  const way = await openDialog<Way>(
    { class: 'palette', 'aria-label': say('find') },
    (close) => html`<${Palette} close=${close} />`,
  );
  way?.go();
}
