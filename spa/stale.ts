// What is said where a page may be old: why, how old it is, and what waits to be sent.
import { html } from 'htm/preact';
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { glyph } from './glyphs.ts';
import { useApp } from './store.ts';
import { ago, t } from './text.ts';

/** The age of what is shown, counted on. Not for screen readers' ears each second: the notice around it is. */
function Age({ at }: { at: number }) {
  const [, draw] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => draw((n) => n + 1), 1000);
    return () => clearInterval(timer);
  }, []);
  return html`<span data-age>${t('as_of', { age: ago(at) })}</span>`;
}

interface StaleOptions {
  /** When what is shown was last true, milliseconds. */
  at: number | null;
  /** What to say where the link is up. */
  why?: string | false;
  children?: ComponentChildren;
}

/** The last of a page, at the foot of what is in sight: what comes and goes here moves nothing else. */
export function Stale({ at, why, children }: StaleOptions) {
  const { link, pending } = useApp();
  const waits = pending > 0 ? t('pending', { n: pending }) : '';
  const said = link === 'up' ? why : link !== 'connecting' && t(`${link}_banner`);
  return html`<div class="foot">${children}${
    said &&
    html`<div class="note warn banner">${glyph(link === 'up' ? 'info' : 'offline')}<span>
    <span role="status">${said}</span> ${at ? html`<${Age} at=${at} />` : ''} ${waits}
  </span></div>`
  }</div>`;
}
