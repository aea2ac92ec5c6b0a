// What skills have told this person, the newest first. Looking at it is reading it, on all their devices.
import { html } from 'htm/preact';
import { useEffect, useState } from 'preact/hooks';
import { inLanguage } from '../firmware/text/i18n.ts';
import { currentLink } from './current.ts';
import { useFocusInside } from './focus.ts';
import { face, glyph } from './glyphs.ts';
import { openSkill } from './open.ts';
import { sheet } from './owner.css';
import { say } from './settings-text.ts';
import { app, set, useApp } from './store.ts';
import { ago, t, titleOf } from './text.ts';

const words = (of: unknown): string =>
  typeof of === 'string' ? of : (inLanguage({ i18n: of }, app().language) ?? '');

/** When the day of a time begins here, in milliseconds as the time is. */
const dayOf = (at: number): number => new Date(at).setHours(0, 0, 0, 0);

function dayName(day: number): string {
  const today = dayOf(Date.now());
  if (day === today) return say('today');
  if (day === dayOf(today - 1)) return say('yesterday');
  return new Intl.DateTimeFormat(app().language, { dateStyle: 'long' }).format(day);
}

export function Notices() {
  const { said, icons, language } = useApp();
  // What was unread when the page was opened is marked while it is looked at.
  const [before] = useState(app().readTo);
  const [, draw] = useState(false);
  const box = useFocusInside();
  const lines = said.filter((l) => l.topic === 'ui.notify').sort((a, b) => b.at - a.at);
  const newest = lines[0]?.at ?? 0;
  useEffect(() => void sheet.then(() => draw(true)), []);
  useEffect(() => {
    if (newest <= app().readTo) return;
    set({ readTo: newest });
    // What the hub does not hear now it hears with the next look.
    currentLink()
      ?.request('POST', '/v1/notices/read', { to: newest })
      .catch(() => {});
  }, [newest]);
  if (lines.length === 0)
    return html`<div class="v-empty" ref=${box}><div class="face">${glyph('bell')}</div><h3>${say('no_news')}</h3><p>${say('no_news_lead')}</p></div>`;
  const row = (l: (typeof lines)[number]) => {
    const icon = icons?.find((i) => i.skill_id === l.skill_id);
    const body = words(l.payload['body']);
    return html`<li key=${l.id} class="notice" data-fresh=${l.at > before}>
      <span class="face">${face(icon?.icon ?? (l.skill_id === 'scenario' ? 'play' : 'app'))}</span>
      <span><b>${words(l.payload['title'])}</b>${body && html`<span>${body}</span>`}
        <span class="soft small">${icon ? titleOf(icon) : l.skill_id === 'scenario' ? t('scenarios') : l.skill_id} · ${ago(l.at)}${l.at > before && ` · ${say('fresh')}`}</span></span>
      ${
        icon &&
        html`<button type="button" class="icon-button" aria-label=${say('open', { title: titleOf(icon) })} onClick=${() => openSkill(icon)}>${glyph('right')}</button>`
      }</li>`;
  };
  const days = [...new Set(lines.map((l) => dayOf(l.at)))];
  return html`<div class="v-stack manage" ref=${box} lang=${language}>${days.map(
    (
      day,
    ) => html`<section key=${day} aria-labelledby=${`day-${day}`}><h3 id=${`day-${day}`}>${dayName(day)}</h3>
      <ul class="rows">${lines.filter((l) => dayOf(l.at) === day).map(row)}</ul></section>`,
  )}</div>`;
}
