// Groups of icons: the entries of menus that make and end them, their name, and what is let go over them.
import { html } from 'htm/preact';
import { useEffect, useState } from 'preact/hooks';
import * as to from './arrange.ts';
import { glyph } from './glyphs.ts';
import { say } from './groups-text.ts';
import { change, move } from './rearrange.ts';
import { dissolved, grouped, into, outOf, renamed } from './regroup.ts';
import { type Icon, toast } from './store.ts';
import { titleOf } from './text.ts';

function put(tiles: to.Tiles, icon: Icon, group: string, place?: number): void {
  change(into(tiles, icon.skill_id, group, place), () => say('grouped', { title: titleOf(icon), group }));
}

function takeOut(tiles: to.Tiles, icon: Icon, place?: number): void {
  const said = say('ungrouped', { title: titleOf(icon), group: icon.group ?? '' });
  change(outOf(tiles, icon.skill_id, place), () => said);
}

/** A new group of one icon, with a name that no other has. */
function make(tiles: to.Tiles, icon: Icon): void {
  const taken = (name: string) => tiles.some((x) => x.group === name);
  const first = say('new_group');
  let group = first;
  for (let n = 2; taken(group); n++) group = `${first} ${n}`;
  const said = () => say('grouped', { title: titleOf(icon), group });
  change(grouped(tiles, icon.skill_id, group), said, { group });
}

/** What is dragged from one tile, or icon of an open group, is let go over another. */
export function drop(tiles: to.Tiles, id: string, over: string): void {
  if (id === over) return;
  const find = (of: string) => tiles.flatMap((x) => x.icons).find((i) => i.skill_id === of);
  const [icon, target] = [find(id), find(over)];
  const group = target ? (target.group ?? null) : over.slice(1);
  const place = target
    ? tiles.find((x) => x.icons.includes(target))!.icons.indexOf(target)
    : Number.MAX_SAFE_INTEGER;
  const there = to.at(tiles, group === null ? over : to.groupId(group));
  if (!icon) move(tiles, id, there, id.slice(1));
  else if (group !== null && group !== icon.group) put(tiles, icon, group, place);
  else if (group === null && icon.group) takeOut(tiles, icon, there);
  else if (target) move(tiles, id, group === null ? there : place, titleOf(icon));
}

export function IconItems({ tiles, icon }: { tiles: to.Tiles; icon: Icon }) {
  const group = icon.group ?? null;
  const others = tiles.flatMap((x) => (x.group === null || x.group === group ? [] : x.group));
  return html`<hr />
    ${
      group === null
        ? html`<button type="button" class="item" onClick=${() => make(tiles, icon)}>${glyph('app')}${say('new_group')}</button>`
        : html`<button type="button" class="item" onClick=${() => takeOut(tiles, icon)}>${glyph('out')}${say('take_out')}</button>`
    }
    ${others.map(
      (name) =>
        html`<button type="button" class="item" onClick=${() => put(tiles, icon, name)}>${glyph('app')}<span>${say('into', { group: name })}</span></button>`,
    )}`;
}

export function Ungroup({ tiles, name }: { tiles: to.Tiles; name: string }) {
  const dissolve = () => change(dissolved(tiles, name), () => say('dissolved', { group: name }));
  return html`<button type="button" class="item" onClick=${dissolve}>${glyph('out')}${say('dissolve')}</button>`;
}

/** The name of an open group, to be changed in place. */
export function Name({ tiles, name }: { tiles: to.Tiles; name: string }) {
  const [given, give] = useState(name);
  useEffect(() => give(name), [name]);
  const rename = (e: Event) => {
    e.preventDefault();
    const group = given.trim();
    if (group === name || group === '') return give(name);
    if (tiles.some((x) => x.group === group)) return toast(say('group_taken', { group }));
    change(renamed(tiles, name, group), () => say('renamed', { group }), { group });
  };
  return html`<form onSubmit=${rename}>
    <input class="input" aria-label=${say('group_name')} maxlength="40" enterkeyhint="done" value=${given}
      onInput=${(e: Event) => give((e.target as HTMLInputElement).value)} onBlur=${rename} />
  </form>`;
}
