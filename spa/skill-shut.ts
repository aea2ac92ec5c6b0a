// Why a skill's screen is not shown: it is not for this person, its time is over, or its view is not the hub's.
import { html } from 'htm/preact';
import { translator } from '../firmware/text/i18n.ts';
import { spaShutTexts } from '../firmware/text/spa-shut.ts';
import { type Glyph, glyph } from './glyphs.ts';
import { app } from './store.ts';

const glyphs = {
  forbidden: 'lock',
  over: 'info',
  forged: 'lock',
  missing: 'pulse',
} as const satisfies Record<string, Glyph>;
export type Why = keyof typeof glyphs;

export function Shut({ why, title }: { why: Why; title: string }) {
  const say = translator(spaShutTexts, app().language);
  return html`<div class="gate"><div class="hero">${glyph(glyphs[why])}</div>
    <h3>${say(`${why}_title`, { title })}</h3><p class="soft">${say(why)}</p></div>`;
}
