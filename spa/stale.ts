// What is said where a page may be old: why, how old it is, and what waits to be sent.
import { html } from 'htm/preact';
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

/** @param at when what is shown was last true, milliseconds; @param why what to say instead of the link's state. */
export function Stale({ at, why }: { at: number | null; why?: string | false }) {
  const { link, pending } = useApp();
  const waits = pending > 0 ? t('pending', { n: pending }) : '';
  const said = link === 'up' ? why : link === 'connecting' ? t('connecting') : t(`${link}_banner`);
  if (!said) return null;
  return html`<div class="note warn banner">${glyph(link === 'up' ? 'info' : 'offline')}<span>
    <span role="status">${said}</span> ${at ? html`<${Age} at=${at} />` : ''} ${waits}
  </span></div>`;
}
