// What a package is, before it is installed: whose, and what it may do. An unknown publisher can be trusted here.
import { html } from 'htm/preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { type Abilities, mayDo } from '../firmware/text/may-do.ts';
import { glyph } from './glyphs.ts';
import type { Installed, Kept } from './manage-hub.ts';
import { say } from './manage-text.ts';
import { app } from './store.ts';
import { titleOf } from './text.ts';

export interface ReviewOf {
  skill: Installed;
  kept: Kept;
  /** Nothing can be asked of the hub now. */
  still: boolean;
  install(): void;
  trust(key: string, name: string): void;
  discard(): void;
  close(): void;
}

function Whose({ kept }: { kept: Kept }) {
  const { publisher, trust } = kept;
  if (trust === 'trusted')
    return html`<p>${say('by', { name: publisher?.name ?? '', id: publisher?.id ?? '' })}</p>`;
  const words = trust === 'unknown' ? 'by_unknown' : trust === 'unsigned' ? 'by_nobody' : 'by_refused';
  return html`<div class="note ${trust === 'unknown' ? 'warn' : 'bad'}">${glyph('alarm')}<span>${say(words)}</span></div>`;
}

function Trust({ kept, still, trust }: ReviewOf) {
  const [name, setName] = useState('');
  const { id, key } = kept.publisher!;
  const send = (e: Event) => {
    e.preventDefault();
    if (name.trim()) trust(key, name.trim());
  };
  return html`<form class="v-stack" onSubmit=${send}>
    <div><h4>${say('key_id')}</h4><p><code data-key-id>${id}</code></p></div>
    <p>${say('trust_warn')}</p>
    <div class="field">
      <label for="publisher-name">${say('trust_name')}</label>
      <input class="input" id="publisher-name" maxlength="80" required autocomplete="off" value=${name}
        onInput=${(e: Event) => setName((e.target as HTMLInputElement).value)} />
    </div>
    <button type="submit" class="button second" disabled=${still || !name.trim()}>${glyph('check')}${say('trust_do')}</button>
  </form>`;
}

export function Review(o: ReviewOf) {
  const { skill, kept, still } = o;
  const heading = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => heading.current?.focus(), [kept.version]);
  const title = titleOf(skill);
  const from = skill.version;
  const mayInstall = kept.trust === 'trusted' || kept.trust === 'unsigned';
  return html`<section class="v-card" aria-labelledby="review-title" data-review=${kept.version}>
    <h3 id="review-title" tabindex="-1" ref=${heading}>${say(from ? 'review_update' : 'review', { title })}</h3>
    <p class="soft">${from ? say('version_change', { from, to: kept.version }) : say('version', { version: kept.version })}</p>
    <div class="v-stack tight"><h4>${say('publisher')}</h4><${Whose} kept=${kept} /></div>
    <div><h4>${say('may')}</h4><ul class="plain">${mayDo(kept.manifest as Abilities, app().language).map((line) => html`<li>${line}</li>`)}</ul></div>
    ${kept.trust === 'unknown' && html`<${Trust} ...${o} />`}
    <div class="v-row">
      ${mayInstall && html`<button type="button" class="button" disabled=${still} onClick=${o.install}>${say(from ? 'update' : 'install')}</button>`}
      <button type="button" class="button second" onClick=${o.close}>${say('later')}</button>
      <button type="button" class="button quiet" disabled=${still} onClick=${o.discard}>${say('discard')}</button>
    </div>
  </section>`;
}
