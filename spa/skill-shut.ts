// Why a skill's screen is not shown: it is not for this person, its time is over, or its view is not the hub's.
import { html } from 'htm/preact';
import type { ComponentChildren } from 'preact';
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
  return html`<${Message} glyph=${glyphs[why]} title=${say(`${why}_title`, { title })} lead=${say(why)} />`;
}

/** What stands in place of a screen: what it is, what it means, and a way on where there is one. */
export function Message(o: { glyph: Glyph; title: string; lead: string; children?: ComponentChildren }) {
  return html`<div class="gate"><div class="hero">${glyph(o.glyph)}</div><h3>${o.title}</h3><p class="soft">${o.lead}</p>${o.children}</div>`;
}
