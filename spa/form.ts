// What a person gives: forms, and fields that stand alone.
export { sheet } from './nodes.css';

import { html } from 'htm/preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { translator } from '../firmware/text/i18n.ts';
import { spaFormTexts } from '../firmware/text/spa-form.ts';
import type { Field } from '../firmware/ui/tree.ts';
import { evaluate } from '../firmware/ui/value.ts';
import { controlOf, type Drawing, type Of, say, words } from './drawing.ts';
import { Op, useOp } from './op.ts';
import { app } from './store.ts';

/** What a field gives: its text, a number, yes or no, or the values that are chosen. */
type Given = string | number | boolean | string[] | null;

let ids = 0;
/** Characters of a field that says nothing of its own. */
const MAX = 256;
/** Typed text outside of a form is sent so long after the last key, milliseconds. */
const WAIT = 400;

/** What stands in a field first. */
function first(f: Field, d: Drawing): Given {
  const value = f.value === undefined ? undefined : evaluate(f.value, d.scope, (v) => words(v ?? '', d));
  if (f.input === 'check') return value === true || value === 'true';
  if (f.input === 'chips') return Array.isArray(value) ? value.map(String) : [];
  return value === undefined || value === null
    ? ''
    : typeof value === 'object'
      ? words(value, d)
      : String(value);
}

/** As it is sent: a number where one was asked for. */
function sent(f: Field, given: Given): Given {
  if (f.input !== 'number') return given;
  return given === '' || !Number.isFinite(Number(given)) ? null : Number(given);
}

type Typed<T> = Event & { currentTarget: T };

function FieldOf(o: { f: Field; d: Drawing; given: Given; error: string; change: (g: Given) => void }) {
  const { f, d, given, change } = o;
  const [id] = useState(() => `field-${++ids}`);
  const label = html`${say(f.label, d)}${f.required && html`<span aria-hidden="true"> *</span>`}`;
  const told = o.error ? { 'aria-invalid': 'true', 'aria-describedby': id } : {};
  const error = html`<span class="v-error" id=${id} role="alert">${o.error}</span>`;
  const common = {
    name: f.name,
    required: f.required,
    maxlength: f.max ?? MAX,
    autocomplete: 'off',
    ...told,
    onInput: (e: Typed<HTMLInputElement>) => change(e.currentTarget.value),
  };
  const options = (f.options ?? []).map((option) => ({ ...option, says: say(option.label, d) }));
  if (f.input === 'chips') {
    const chosen = Array.isArray(given) ? given : [];
    const toggle = (value: string) =>
      change(chosen.includes(value) ? chosen.filter((c) => c !== value) : [...chosen, value]);
    return html`<fieldset class="field v-chips" ...${told}><legend>${label}</legend>
      <div class="v-row">${options.map((c) => html`<label><input type="checkbox" checked=${chosen.includes(c.value)} onChange=${() => toggle(c.value)} /><span>${c.says}</span></label>`)}</div>${error}</fieldset>`;
  }
  if (f.input === 'check')
    return html`<div class="field"><label class="v-check"><input type="checkbox" name=${f.name} required=${f.required} checked=${given === true} ...${told}
      onChange=${(e: Typed<HTMLInputElement>) => change(e.currentTarget.checked)} /><span>${label}</span></label>${error}</div>`;
  const value = String(given ?? '');
  if (f.input === 'choice') {
    const isNone = !options.some((c) => c.value === value);
    return html`<div><label class="field"><span>${label}</span>
      <select class="select" ...${common} value=${value} onInput=${undefined} onChange=${(e: Typed<HTMLSelectElement>) => change(e.currentTarget.value)}>
        ${isNone && html`<option value=${value} hidden></option>`}${options.map((c) => html`<option value=${c.value}>${c.says}</option>`)}
      </select></label>${error}</div>`;
  }
  if (f.input === 'area')
    return html`<div><label class="field"><span>${label}</span><textarea class="input" rows="4" ...${common} value=${value}></textarea></label>${error}</div>`;
  const type = f.input === 'secret' ? 'password' : f.input;
  return html`<div><label class="field"><span>${label}</span><input class="input" type=${type} step="any" ...${common} value=${value} /></label>${error}</div>`;
}

export function Form({ n, d }: { n: Of<'form'>; d: Drawing }) {
  const [typed, setTyped] = useState<Record<string, Given>>({});
  const [errors, setErrors] = useState<Record<string, string>>({});
  const [sending, setSending] = useState(false);
  const flying = useRef<Record<string, Given>>({});
  const next = useRef(false);
  const control = controlOf(n, d);
  const op = useOp(control);
  const busy = sending || op?.is === 'pending';
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    form.current?.querySelector<HTMLElement>('[aria-invalid]')?.focus();
  }, [errors]);
  const given = (f: Field) => (Object.hasOwn(typed, f.name) ? typed[f.name]! : first(f, d));
  const send = async (e?: Event) => {
    e?.preventDefault();
    if (sending) {
      // The same once more is a double tap; what was written meanwhile is sent next.
      next.current ||= typed !== flying.current;
      return;
    }
    const open = n.fields.filter(
      (f) => f.required && Array.isArray(given(f)) && !(given(f) as string[]).length,
    );
    setErrors(
      Object.fromEntries(open.map((f) => [f.name, translator(spaFormTexts, app().language)('choose')])),
    );
    if (open.length > 0) return;
    setSending(true);
    flying.current = typed;
    const scope = { ...d.scope, form: Object.fromEntries(n.fields.map((f) => [f.name, sent(f, given(f))])) };
    const secret = n.fields.some((f) => f.input === 'secret');
    const { done, fields } = await d.act(n.act, scope, { secret, control }).finally(() => setSending(false));
    // What was written while this was under way stays.
    if (done)
      setTyped((now) =>
        Object.fromEntries(Object.entries(now).filter(([name, g]) => g !== flying.current[name])),
      );
    else
      setErrors(
        Object.fromEntries(Object.entries(fields ?? {}).map(([name, says]) => [name, words(says, d)])),
      );
  };
  useEffect(() => {
    if (sending || !next.current) return;
    next.current = false;
    void send();
  }, [sending]);
  const change = (f: Field) => (g: Given) => {
    setTyped((before) => ({ ...before, [f.name]: g }));
    setErrors(({ [f.name]: _, ...rest }) => rest);
  };
  return html`<form class="v-form" ref=${form} onSubmit=${send}>
    ${n.title !== undefined && html`<h3>${say(n.title, d)}</h3>`}
    ${n.fields.map((f) => html`<${FieldOf} key=${f.name} f=${f} d=${d} given=${given(f)} error=${errors[f.name] ?? ''} change=${change(f)} />`)}
    <button class="button second" aria-busy=${busy ? 'true' : undefined}>${busy && html`<span class="spin"></span>`}${say(n.label, d)}</button>
    <${Op} of=${op} again=${send} />
  </form>`;
}

/** What was chosen stands until what it is bound to says otherwise. */
export function Input({ n, d }: { n: Of<'input'>; d: Drawing }) {
  const field = n.bind ? { ...n.field, value: n.bind } : n.field;
  const now = first(field, d);
  const stamp = JSON.stringify(now);
  const [typed, setTyped] = useState<{ over: string; given: Given } | null>(null);
  const [error, setError] = useState('');
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const change = (given: Given) => {
    setTyped({ over: stamp, given });
    setError('');
    const value = sent(field, given);
    if (n.bind)
      void d.act({ do: 'set', at: n.bind, value: Array.isArray(value) ? { array: value } : value }, d.scope);
    clearTimeout(timer.current);
    const { act } = n;
    if (!act) return;
    const send = async () => {
      const scope = { ...d.scope, form: { [field.name]: value } };
      const { done, fields } = await d.act(act, scope, { secret: field.input === 'secret' });
      if (done) return;
      setError(Object.hasOwn(fields ?? {}, field.name) ? words(fields![field.name], d) : '');
      if (['choice', 'check', 'chips'].includes(field.input)) setTyped(null);
    };
    const quick = ['choice', 'check', 'chips', 'date', 'time'].includes(field.input);
    timer.current = setTimeout(send, n.wait ?? (quick ? 0 : WAIT));
  };
  const given = typed?.over === stamp ? typed.given : now;
  return html`<${FieldOf} f=${field} d=${d} given=${given} error=${error} change=${change} />`;
}
