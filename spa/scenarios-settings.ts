// What a scenario may be set to: parameters, each by the kind of its default, and the skills of its slots.
import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { glyph } from './glyphs.ts';
import { openManager } from './open.ts';
import { type Action, type Changed, type Scenario, type Step, say } from './scenarios-hub.ts';
import type { Page } from './scenarios-page.ts';
import { stepName, stepsOf } from './scenarios-told.ts';
import { type Kind, kindOf, readValue, type Typed, typedOf } from './scenarios-value.ts';
import { words } from './scenarios-words.ts';
import { app } from './store.ts';
import { titleOf } from './text.ts';

function Param(o: {
  id: string;
  label: string;
  kind: Kind;
  typed: Typed;
  isBad: boolean;
  standard: string;
  options: readonly string[];
  set(to: Typed): void;
}) {
  const { id } = o;
  const hint = `${id}-hint`;
  const common = { id, 'aria-describedby': hint, 'aria-invalid': o.isBad ? 'true' : undefined };
  const onInput = (e: Event) => o.set((e.target as HTMLInputElement).value);
  const control = {
    switch:
      () => html`<input type="checkbox" class="switch" role="switch" ...${common} checked=${o.typed === true}
      onChange=${(e: Event) => o.set((e.target as HTMLInputElement).checked)} />`,
    number: () =>
      html`<input class="input" type="text" inputmode="decimal" autocomplete="off" ...${common} value=${o.typed} onInput=${onInput} />`,
    text: () =>
      html`<input class="input" type="text" maxlength="500" autocomplete="off" ...${common} value=${o.typed} onInput=${onInput} />`,
    list: () =>
      html`<textarea class="input" rows=${Math.min(6, String(o.typed).split('\n').length + 1)} ...${common} value=${o.typed} onInput=${onInput}></textarea>`,
    value: () =>
      html`<textarea class="input" rows="3" spellcheck=${false} ...${common} value=${o.typed} onInput=${onInput}></textarea>`,
    choice: () =>
      html`<select class="select" ...${common} value=${o.typed} onChange=${onInput}>${o.options.map(
        (way) => html`<option value=${way} selected=${way === o.typed}>${wayOf(way)}</option>`,
      )}</select>`,
  }[o.kind]();
  const bad = { number: 'bad_number', list: 'bad_list', value: 'bad_json' } as const;
  return html`<div class=${o.kind === 'switch' ? 'setting' : 'field'}><label for=${id}>${o.label}</label>${control}
    <p class="soft small" id=${hint} role=${o.isBad ? 'alert' : undefined}>${
      o.isBad
        ? say(bad[o.kind as keyof typeof bad])
        : `${o.kind === 'list' ? `${say('one_a_line')} ` : ''}${say('standard', { value: o.standard })}`
    }</p></div>`;
}

const ways = ['voice', 'text', 'phone', 'console'] as const;
const wayOf = (way: string): string =>
  (ways as readonly string[]).includes(way) ? say(`way_${way as (typeof ways)[number]}`) : way;

function shownOf(kind: Kind, value: unknown): string {
  if (kind === 'switch') return say(value ? 'on' : 'off');
  if (kind === 'choice') return wayOf(String(value));
  if (kind === 'list') return (value as unknown[]).join(', ') || say('empty');
  return kind === 'value' ? JSON.stringify(value) : String(value) || say('empty');
}

interface Values {
  [id: string]: unknown;
}

/** Values with a default each, by the kind of that; `name` begins the ids of its controls. */
function Form(o: {
  name: 'params' | 'io';
  standards: Values;
  is: Values;
  own: Values;
  labelOf(id: string): string;
  /** What it can only be. */
  optionsOf?(id: string): readonly string[] | undefined;
  still: boolean;
  save(own: Values): void;
}) {
  const [typed, type] = useState<Record<string, Typed>>({});
  const all = Object.entries(o.standards).map(([id, standard]) => {
    const options = typeof standard === 'string' ? o.optionsOf?.(id) : undefined;
    const kind = options ? 'choice' : kindOf(standard);
    const is = o.is[id] ?? standard;
    const given = typed[id] ?? typedOf(kind, is);
    const value = readValue(kind, given, standard);
    const isNew = JSON.stringify(value) !== JSON.stringify(is);
    return { ...{ id, kind, standard, given, value, isNew }, options: options ?? [] };
  });
  const isBad = all.some((p) => p.value === undefined);
  const fresh = all.filter((p) => p.isNew);
  const send = (e: Event) => {
    e.preventDefault();
    o.save({ ...o.own, ...Object.fromEntries(fresh.map((p) => [p.id, p.value])) });
  };
  const isOwn = Object.keys(o.own).length > 0;
  return html`<form class="v-card" aria-labelledby=${o.name} onSubmit=${send}><h3 id=${o.name}>${say(o.name)}</h3>
    ${all.map(
      (
        p,
      ) => html`<${Param} key=${p.id} id=${`${o.name}-${p.id}`} kind=${p.kind} label=${o.labelOf(p.id)} typed=${p.given}
        isBad=${p.value === undefined} standard=${shownOf(p.kind, p.standard)} options=${p.options}
        set=${(to: Typed) => type((before) => ({ ...before, [p.id]: to }))} />`,
    )}
    <div class="v-row"><button type="submit" class="button" disabled=${o.still || isBad || fresh.length === 0}>${say('save')}</button>
      ${isOwn && html`<button type="button" class="button quiet" disabled=${o.still} onClick=${() => o.save({})}>${say('as_made')}</button>`}</div>
  </form>`;
}

interface Setting {
  of: Scenario;
  now: Changed;
  still: boolean;
  change(what: object): void;
}

export function Params({ of: { params = {}, paramDocs = {} }, now, still, change }: Setting) {
  if (Object.keys(params).length === 0)
    return html`<section class="v-card" aria-labelledby="params"><h3 id="params">${say('params')}</h3><p class="soft">${say('params_none')}</p></section>`;
  return html`<${Form} name="params" standards=${params} is=${now.effective.params ?? {}} own=${now.implementation.params ?? {}}
    labelOf=${(id: string) => words(paramDocs[id]) || id} still=${still} save=${(own: Values) => change({ params: own })} />`;
}

/** How it speaks, within what it says of itself; where it listens is up to whoever speaks to it. */
export function InOut({ of: { io = {} }, now, still, change }: Setting) {
  const { 'input.active': _, ...standards } = io.settings ?? {};
  if (Object.keys(standards).length === 0) return null;
  const isWay = (id: string) => id === 'output.active';
  return html`<${Form} name="io" standards=${standards} is=${now.effective.io?.settings ?? {}} own=${now.implementation.io?.settings ?? {}}
    labelOf=${(id: string) => (isWay(id) ? say('io_output') : id)}
    optionsOf=${(id: string) => (isWay(id) ? io.output : undefined)} still=${still} save=${(own: Values) => change({ io: { settings: own } })} />`;
}

/** Steps, each of which can be left out where no other needs it, and those that were. */
export function Steps({
  of,
  now,
  still,
  change,
}: Setting & { change(what: object, refused?: string): void }) {
  const [isOpen, open] = useState(false);
  const { steps } = now.effective;
  const rewrite = now.implementation.rewrite ?? [];
  const out = rewrite.flatMap((r) => (r.action === 'drop' ? [r.match.id] : []));
  const ids = stepsOf(steps).flatMap((s) => s.id ?? s.name ?? []);
  const drop = (id: string) =>
    change({ rewrite: [...rewrite, { action: 'drop', match: { id } }] }, say('steps_needed'));
  const take = (id: string) =>
    change({ rewrite: rewrite.filter((r) => r.action !== 'drop' || r.match.id !== id) });
  const row = (id: string, isOut: boolean) => {
    const name = stepName(id, isOut ? (now.left_out ?? []) : steps, of);
    const does = say(isOut ? 'step_back' : 'step_drop');
    return html`<li key=${id} data-step=${id} data-out=${isOut}><span class=${isOut ? 'soft' : ''}>${isOut ? say('step_is_out', { step: name }) : name}</span>
      <button type="button" class="button quiet" id=${`step-${id}`} disabled=${still} aria-label=${`${does}: ${name}`}
        onClick=${() => (isOut ? take(id) : drop(id))}>${does}</button></li>`;
  };
  return html`<section class="v-card" aria-labelledby="steps"><h3 id="steps">${say('steps')}</h3>
    <p class="soft small">${say('steps_lead')}</p>
    <div><button type="button" class="button second" aria-expanded=${isOpen} onClick=${() => open(!isOpen)}>${say(isOpen ? 'steps_shut' : 'steps_open', { n: ids.length + out.length })}</button></div>
    ${(isOpen || out.length > 0) && html`<ul class="rows">${isOpen && ids.map((id) => row(id, false))}${out.map((id) => row(id, true))}</ul>`}
  </section>`;
}

/** In the list: no skill. No id of a skill has this form. */
const NONE = '-';

/** The actions that steps ask of a slot. */
function methodsOf(steps: readonly Step[], slot: string): string[] {
  return [...new Set(stepsOf(steps).flatMap((s) => (s.slot === slot && s.method ? [s.method] : [])))];
}

export function Slots(o: {
  of: Scenario;
  now: Changed;
  actions: Action[];
  page: Page;
  change(what: object): void;
}) {
  const slots = Object.entries(o.of.slots ?? {});
  if (slots.length === 0) return null;
  const { bindings = {} } = o.now.implementation;
  // Those that declare no actions have paths, which steps may call as well.
  const shown = (app().icons ?? []).map((i) => i.skill_id);
  const skills = [...new Set([...o.actions.map((a) => a.skill_id), ...shown])];
  const has = (skill: string, id: string) => o.actions.some((a) => a.skill_id === skill && a.id === id);
  const title = (id: string) => {
    const icon = app().icons?.find((i) => i.skill_id === id);
    return icon ? titleOf(icon) : id;
  };
  /** @param skill NONE: the slot stays empty; '' says nothing of it */
  const bind = (slot: string, skill: string) => {
    const { [slot]: _, ...rest } = bindings.slots ?? {};
    const own = { ...rest, [slot]: { skill: skill === NONE ? null : skill } };
    o.change({ bindings: { ...bindings, slots: skill === '' ? rest : own } });
  };
  const isOwner = app().role === null || app().role === 'owner';
  return html`<section class="v-card" aria-labelledby="slots"><h3 id="slots">${say('slots')}</h3>
    ${slots.map(([slot, { cap, optional, title: named }]) => {
      const own = bindings.slots?.[slot];
      const chosen = own ? (own.skill ?? NONE) : '';
      const bySelf = o.of.chosen[slot];
      const unsaid = bySelf
        ? say('slot_by_self', { name: title(bySelf) })
        : say(optional ? 'slot_none' : 'slot_open');
      const wanted = methodsOf(o.now.effective.steps, slot);
      const fitting = skills.filter(
        (id) => id === cap || (wanted.length > 0 && wanted.every((m) => has(id, m))),
      );
      const others = skills.filter((id) => !fitting.includes(id));
      const options = (some: string[]) =>
        some.map((id) => html`<option value=${id} selected=${id === chosen}>${title(id)}</option>`);
      const id = `slot-${slot}`;
      return html`<div class="field" key=${slot}><label for=${id}>${words(named) || slot}</label>
        <select class="select" id=${id} disabled=${o.page.still} value=${chosen} aria-describedby=${`${id}-hint`}
          onChange=${(e: Event) => bind(slot, (e.target as HTMLSelectElement).value)}>
          <option value="" selected=${chosen === ''}>${unsaid}</option>
          ${(chosen === NONE || (optional && bySelf)) && html`<option value=${NONE} selected=${chosen === NONE}>${say('slot_none')}</option>`}
          ${chosen !== '' && chosen !== NONE && !skills.includes(chosen) && html`<option value=${chosen} selected>${chosen}</option>`}
          ${fitting.length > 0 && html`<optgroup label=${say('slot_fitting')}>${options(fitting)}</optgroup>`}
          ${others.length > 0 && html`<optgroup label=${say('slot_others')}>${options(others)}</optgroup>`}
        </select>
        <p class="soft small" id=${`${id}-hint`}>${say('slot_wants', { cap, actions: wanted.join(', ') || '–' })}${optional ? ` ${say('slot_optional')}` : ''}${bySelf && chosen === '' ? ` ${say('slot_only')}` : ''}</p></div>`;
    })}
    ${
      skills.length === 0 &&
      html`<div class="note">${glyph('info')}<div class="v-stack tight"><span>${say('no_skills')}</span>
        ${isOwner && html`<div><button type="button" class="button second" onClick=${() => openManager('manage')}>${say('get_skill')}</button></div>`}</div></div>`
    }
  </section>`;
}

const sealedKinds = [
  { kind: 'secrets', holds: 'value', type: 'password', unset: 'secret_unset', set: 'secret_set' },
  { kind: 'devices', holds: 'device_id', type: 'text', unset: 'device_unset', set: 'device_set' },
] as const;

/** Secrets and devices that steps name. The hub keeps them and shows none: only that there is one. */
export function Sealed(o: Setting) {
  const [typed, type] = useState<Record<string, string>>({});
  const all = sealedKinds.flatMap((k) =>
    Object.entries(o.of[k.kind]).map(([name, isSet]) => ({ ...k, name, isSet, id: `${k.kind}-${name}` })),
  );
  if (all.length === 0) return null;
  const { bindings = {} } = o.now.implementation;
  const forget = (kind: 'secrets' | 'devices', name: string) => {
    const { [name]: _, ...rest } = bindings[kind] ?? {};
    o.change({ bindings: { ...bindings, [kind]: rest } });
  };
  const fresh = all.filter((s) => typed[s.id]);
  const send = (e: Event) => {
    e.preventDefault();
    const next = { ...bindings };
    for (const s of fresh) next[s.kind] = { ...next[s.kind], [s.name]: { [s.holds]: typed[s.id] } };
    o.change({ bindings: next });
  };
  return html`<form class="v-card" aria-labelledby="sealed" onSubmit=${send}><h3 id="sealed">${say('sealed')}</h3>
    ${all.map(
      (s) => html`<div class="field" key=${s.id}><label for=${s.id}>${s.name}</label>
        <input class="input" id=${s.id} type=${s.type} maxlength="4096" autocomplete="off" spellcheck=${false} aria-describedby=${`${s.id}-hint`}
          value=${typed[s.id] ?? ''} onInput=${(e: Event) => type((before) => ({ ...before, [s.id]: (e.target as HTMLInputElement).value }))} />
        <div class="v-row"><p class="soft small" id=${`${s.id}-hint`}>${say(s.isSet ? s.set : s.unset)}</p>
          ${s.isSet && html`<button type="button" class="button quiet danger" disabled=${o.still} aria-label=${say('forget_of', { name: s.name })} onClick=${() => forget(s.kind, s.name)}>${say('forget')}</button>`}</div></div>`,
    )}
    <div class="v-row"><button type="submit" class="button" disabled=${o.still || fresh.length === 0}>${say('save')}</button></div>
  </form>`;
}
