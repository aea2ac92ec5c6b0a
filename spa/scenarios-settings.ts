// What a scenario may be set to: parameters, each by the kind of its default, and the skills of its slots.
import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { glyph } from './glyphs.ts';
import { openManager } from './open.ts';
import { type Action, type Changed, type Scenario, type Step, say } from './scenarios-hub.ts';
import type { Page } from './scenarios-page.ts';
import { stepsOf } from './scenarios-told.ts';
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
  set(to: Typed): void;
}) {
  const id = `param-${o.id}`;
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
  }[o.kind]();
  const bad = { number: 'bad_number', list: 'bad_list', value: 'bad_json' } as const;
  return html`<div class=${o.kind === 'switch' ? 'setting' : 'field'}><label for=${id}>${o.label}</label>${control}
    <p class="soft small" id=${hint} role=${o.isBad ? 'alert' : undefined}>${
      o.isBad
        ? say(bad[o.kind as keyof typeof bad])
        : `${o.kind === 'list' ? `${say('one_a_line')} ` : ''}${say('standard', { value: o.standard })}`
    }</p></div>`;
}

function shownOf(kind: Kind, value: unknown): string {
  if (kind === 'switch') return say(value ? 'on' : 'off');
  if (kind === 'list') return (value as unknown[]).join(', ') || say('empty');
  return kind === 'value' ? JSON.stringify(value) : String(value) || say('empty');
}

export function Params(o: { of: Scenario; now: Changed; still: boolean; change(what: object): void }) {
  const { params = {}, paramDocs = {} } = o.of;
  const own = o.now.implementation.params ?? {};
  const [typed, type] = useState<Record<string, Typed>>({});
  const all = Object.entries(params).map(([id, standard]) => {
    const kind = kindOf(standard);
    const is = o.now.effective.params?.[id] ?? standard;
    const given = typed[id] ?? typedOf(kind, is);
    const value = readValue(kind, given, standard);
    return { ...{ id, kind, standard, given, value }, isNew: JSON.stringify(value) !== JSON.stringify(is) };
  });
  if (all.length === 0)
    return html`<section class="v-card" aria-labelledby="params"><h3 id="params">${say('params')}</h3><p class="soft">${say('params_none')}</p></section>`;
  const isBad = all.some((p) => p.value === undefined);
  const fresh = all.filter((p) => p.isNew);
  const send = (e: Event) => {
    e.preventDefault();
    const next = Object.fromEntries(fresh.map((p) => [p.id, p.value]));
    o.change({ params: { ...own, ...next } });
  };
  const isOwn = Object.keys(own).length > 0;
  return html`<form class="v-card" aria-labelledby="params" onSubmit=${send}><h3 id="params">${say('params')}</h3>
    ${all.map(
      (
        p,
      ) => html`<${Param} key=${p.id} id=${p.id} kind=${p.kind} label=${words(paramDocs[p.id]) || p.id} typed=${p.given} isBad=${p.value === undefined}
        standard=${shownOf(p.kind, p.standard)} set=${(to: Typed) => type((before) => ({ ...before, [p.id]: to }))} />`,
    )}
    <div class="v-row"><button type="submit" class="button" disabled=${o.still || isBad || fresh.length === 0}>${say('save')}</button>
      ${isOwn && html`<button type="button" class="button quiet" disabled=${o.still} onClick=${() => o.change({ params: {} })}>${say('as_made')}</button>`}</div>
  </form>`;
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
export function Sealed(o: { of: Scenario; now: Changed; still: boolean; change(what: object): void }) {
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
          ${s.isSet && html`<button type="button" class="button quiet" disabled=${o.still} aria-label=${say('forget_of', { name: s.name })} onClick=${() => forget(s.kind, s.name)}>${say('forget')}</button>`}</div></div>`,
    )}
    <div class="v-row"><button type="submit" class="button" disabled=${o.still || fresh.length === 0}>${say('save')}</button></div>
  </form>`;
}
