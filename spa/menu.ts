// A button with a menu (a disclosure, WAI-ARIA practices): arrows move, Escape closes, focus comes back.
import { html } from 'htm/preact';
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { type Glyph, glyph } from './glyphs.ts';

export function Menu(o: { label: string; icon: Glyph; children?: ComponentChildren }) {
  const [open, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const items = () => [
    ...(box.current?.querySelectorAll<HTMLButtonElement>('.menu button:not([disabled])') ?? []),
  ];
  // With the drawing: an effect after the paint would take the focus back from who is quicker than it.
  useLayoutEffect(() => {
    if (!open) return;
    const menu = box.current?.querySelector<HTMLElement>('.menu');
    // It opens to the left of its button; where there is no room, to the right.
    if (menu && menu.getBoundingClientRect().left < 0) menu.classList.add('right');
    items()[0]?.focus();
  }, [open]);
  useEffect(() => {
    if (!open) return;
    const away = (e: Event) => {
      if (!box.current?.contains(e.target as Node)) setOpen(false);
    };
    document.addEventListener('pointerdown', away);
    return () => document.removeEventListener('pointerdown', away);
  }, [open]);
  const close = () => {
    setOpen(false);
    button.current?.focus();
  };
  const onKeyDown = (e: KeyboardEvent) => {
    if (!open) return;
    const list = items();
    const at = list.indexOf(document.activeElement as HTMLButtonElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: list.length - 1 }[e.key];
    if (e.key === 'Escape') close();
    else if (e.key === 'Tab') setOpen(false);
    else if (to !== undefined) list[(to + list.length) % list.length]?.focus();
    else return;
    if (e.key !== 'Tab') e.preventDefault();
    e.stopPropagation();
  };
  const isItem = (e: Event) => (e.target as Element).closest('.item') !== null;
  // Before the item does its work: what that opens takes the focus from here.
  const onChoosing = (e: Event) => {
    if (isItem(e)) button.current?.focus();
  };
  const onChosen = (e: Event) => {
    if (isItem(e)) setOpen(false);
  };
  return html`<div ref=${box} onKeyDown=${onKeyDown}>
    <button type="button" class="icon-button" ref=${button} aria-label=${o.label} aria-haspopup="true"
      aria-expanded=${open ? 'true' : 'false'} onClick=${() => setOpen(!open)}>${glyph(o.icon)}</button>
    ${open && html`<div class="menu" role="group" aria-label=${o.label} onClickCapture=${onChoosing} onClick=${onChosen}>${o.children}</div>`}
  </div>`;
}
