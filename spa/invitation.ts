// A code that was just made: it takes the focus, can be copied, and is put away again.
import { html } from 'htm/preact';
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { failed } from './entrance.ts';
import { app, toast } from './store.ts';

/** Unix seconds as the time of the day. */
export const clock = (seconds: number): string =>
  new Intl.DateTimeFormat(app().language, { timeStyle: 'short' }).format(seconds * 1000);

/** @param o.copies what the button copies; a new one takes the focus again */
export function Invited(o: {
  id: string;
  title: string;
  copies: string;
  words: { copy: string; copied: string; done: string };
  close(): void;
  children?: ComponentChildren;
}) {
  const heading = useRef<HTMLHeadingElement>(null);
  // With the drawing, before anything else can be pressed.
  useLayoutEffect(() => heading.current?.focus(), [o.copies]);
  const copy = () =>
    void navigator.clipboard
      .writeText(o.copies)
      .then(() => toast(o.words.copied))
      .catch(failed);
  return html`<section class="v-card" data-invitation=${o.id} aria-labelledby="code-title">
    <h3 id="code-title" tabindex="-1" ref=${heading}>${o.title}</h3>
    ${o.children}
    <div class="v-row"><button class="button second" type="button" onClick=${copy}>${o.words.copy}</button>
      <button class="button quiet" type="button" onClick=${o.close}>${o.words.done}</button></div>
  </section>`;
}
