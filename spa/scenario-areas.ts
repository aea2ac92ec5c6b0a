// The work areas of an app beside its main one: a panel at its side, and a dialog over it.
import { html } from 'htm/preact';
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { keepInside } from './focus.ts';
import { glyph } from './glyphs.ts';

interface Area {
  label: string;
  close: string;
  onClose(): void;
  children?: ComponentChildren;
}

const inside = (o: Area) =>
  html`<div class="v-stack">
    <div class="v-row between"><h2>${o.label}</h2><button type="button" class="icon-button" aria-label=${o.close} onClick=${o.onClose}>${glyph('close')}</button></div>
    ${o.children}
  </div>`;

export function Side(o: Area) {
  return html`<aside class="app-area" aria-label=${o.label}>${inside(o)}</aside>`;
}

export function Over(o: Area) {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const it = dialog.current!;
    it.showModal();
    // Closing gives the focus back to where it was.
    return () => it.close();
  }, []);
  const onKeyDown = (e: KeyboardEvent) => {
    if (e.key === 'Tab') keepInside(e, dialog.current!);
  };
  const onCancel = (e: Event) => {
    e.preventDefault();
    o.onClose();
  };
  return html`<dialog class="v-modal" aria-label=${o.label} ref=${dialog} onKeyDown=${onKeyDown} onCancel=${onCancel}>${inside(o)}</dialog>`;
}
