// Tabs of a tree: one of its parts at a time, moved between by arrow keys (WAI-ARIA's pattern for tabs).
import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { type Drawing, draw, type Of, say } from './render.ts';

let ids = 0;

export function Tabs({ n, d }: { n: Of<'tabs'>; d: Drawing }) {
  const [id] = useState(() => `tabs-${++ids}`);
  const [chosen, choose] = useState(0);
  const at = Math.min(chosen, n.tabs.length - 1);
  const onKeyDown = (e: KeyboardEvent & { currentTarget: HTMLElement }) => {
    const last = n.tabs.length - 1;
    const rtl = getComputedStyle(e.currentTarget).direction === 'rtl';
    const [on, back] = rtl ? ['ArrowLeft', 'ArrowRight'] : ['ArrowRight', 'ArrowLeft'];
    const to = { [on!]: at === last ? 0 : at + 1, [back!]: at === 0 ? last : at - 1, Home: 0, End: last }[
      e.key
    ];
    if (to === undefined) return;
    e.preventDefault();
    choose(to);
    (e.currentTarget.children[to] as HTMLElement).focus();
  };
  return html`<div class="v-tabs v-stack">
    <div role="tablist" onKeyDown=${onKeyDown}>${n.tabs.map(
      (tab, i) =>
        html`<button type="button" role="tab" id=${`${id}-${i}`} aria-selected=${i === at ? 'true' : 'false'} aria-controls=${`${id}-p`}
          tabindex=${i === at ? 0 : -1} onClick=${() => choose(i)}>${say(tab.label, d)}</button>`,
    )}</div>
    <div role="tabpanel" id=${`${id}-p`} class="v-stack" aria-labelledby=${`${id}-${at}`} key=${at}>${n.tabs[at]?.children.map((c) => draw(c, d))}</div>
  </div>`;
}
