// The page of the code, and the field that a group or both are typed into.
import { html } from 'htm/preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { groupCode, readCode, readPasted } from './code.ts';
import { backToHub, openPairing } from './flow.ts';
import { Command, Frame, Notices } from './frame.ts';
import { verify } from './signin.ts';
import { app, type Page, show } from './store.ts';
import { t } from './text.ts';

export function CodeField(o: {
  id: string;
  max: 6 | 12;
  label: string;
  hint: string;
  invalid: boolean;
  value: string;
  onValue: (v: string) => void;
}) {
  const input = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    if (matchMedia('(hover: hover)').matches) input.current?.focus();
  }, []);
  const onInput = (e: InputEvent & { currentTarget: HTMLInputElement }) => {
    const field = e.currentTarget;
    const link = readPasted(field.value);
    if (link) return void openPairing(link);
    // Digits before the caret stay before it while separators come and go.
    const before = field.value.slice(0, field.selectionStart ?? 0).replace(/\D/g, '').length;
    const grouped = groupCode(field.value, o.max);
    field.value = grouped;
    let at = 0;
    for (let n = 0; at < grouped.length && n < before; at++) if (/\d/.test(grouped[at]!)) n++;
    field.setSelectionRange(at, at);
    o.onValue(grouped);
  };
  return html`<div class="field">
    <label for=${o.id}>${o.label}</label>
    <input
      id=${o.id}
      ref=${input}
      class="input code"
      name="one-time-code"
      inputmode="numeric"
      autocomplete="one-time-code"
      enterkeyhint="go"
      spellcheck=${false}
      maxlength="400"
      aria-describedby=${`${o.id}-hint`}
      aria-invalid=${o.invalid ? 'true' : 'false'}
      value=${o.value}
      onInput=${onInput}
    />
    <span class="soft small" id=${`${o.id}-hint`}>${o.hint}</span>
  </div>`;
}

export function Entry({ page }: { page: Extract<Page, { at: 'entry' }> }) {
  const [value, setValue] = useState('');
  const submit = (e: Event) => {
    e.preventDefault();
    if (page.busy) return;
    const read = readCode(value);
    if (read) void verify(read.code, read.secret);
    else show({ at: 'entry', notice: { text: 'entry_short' } });
  };
  return html`<${Frame} id="entry" icon="hub" title=${t('entry_title')} lead=${t('entry_lead')} keepFocus>
    <form class="actions" onSubmit=${submit} novalidate>
      <${CodeField} id="code" max=${12} label=${t('entry_label')} hint=${t('entry_hint')} value=${value} onValue=${setValue}
        invalid=${Boolean(page.notice)} />
      <${Notices} notice=${page.notice} busy=${page.busy} />
      <button class="button wide" type="submit" disabled=${Boolean(page.busy)}>${t('continue')}</button>
      ${app().paired && html`<button class="button quiet" type="button" onClick=${backToHub}>${t('back_to_hub')}</button>`}
    </form>
    <section>
      <h2>${t('entry_where')}</h2>
      <ol class="how soft where">
        <li><${Command} text=${t('entry_where_1')} /></li>
        <li>${t('entry_where_2')}</li>
        <li>${t('entry_where_3')}</li>
      </ol>
    </section>
  <//>`;
}
