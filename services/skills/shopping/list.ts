// The list: what is to buy and what is in the basket, by name. Each change says what shall be, so that changes of several
// people come together in whatever order they arrive, and one that comes twice changes nothing. Pure.

/** Exactly one of `open` and `got` is there, so that a page can ask for either. */
export type Item = { key: string; name: string } & (
  | { open: true; got?: never }
  | { got: true; open?: never }
);
export type Items = Readonly<Record<string, Item>>;

export type Change =
  | { is: 'put'; name: string }
  | { is: 'got' | 'back'; key: string }
  | { is: 'clear'; keys: readonly string[] };

const MAX_NAME = 80;
/** Things that a tile names. */
const NAMED = 4;
export const MAX_ITEMS = 300;

const neat = (name: string) => name.normalize('NFC').trim().replace(/\s+/g, ' ').slice(0, MAX_NAME);
const folded = (name: string) => neat(name).toLocaleLowerCase('en');

/** A thing's key is its name as it was first written, which is what an application shows until the skill has it. */
const keyIn = (v: unknown): string | null => (typeof v === 'string' && neat(v) ? neat(v) : null);

/** What is written down twice is once on the list, whoever wrote it and however. */
function found(items: Items, key: string): Item | undefined {
  const same = folded(key);
  return Object.values(items).find((item) => folded(item.key) === same);
}

/** What the tile tells: how much is to buy, and the first of it; null where that is nothing. */
export function briefOf(items: Items): { count: number; brief: string | null } {
  const open = Object.values(items).flatMap(({ open, name }) => (open ? [name] : []));
  const more = open.length > NAMED ? [`+${open.length - NAMED}`] : [];
  return { count: open.length, brief: [...open.slice(0, NAMED), ...more].join(', ') || null };
}

/** A change as an action brings it; null for what is none. */
export function changeOf(action: string, payload: Readonly<Record<string, unknown>>): Change | null {
  if (action === 'put') {
    const { name } = payload;
    return typeof name === 'string' && neat(name) ? { is: 'put', name: neat(name) } : null;
  }
  if (action === 'got' || action === 'back') {
    const key = keyIn(payload['key']);
    return key === null ? null : { is: action, key };
  }
  const { keys } = payload;
  if (action !== 'clear' || !Array.isArray(keys)) return null;
  return { is: 'clear', keys: keys.slice(0, MAX_ITEMS).flatMap((k) => keyIn(k) ?? []) };
}

/** @returns null where there is no room for more */
export function changed(items: Items, change: Change): Items | null {
  if (change.is === 'clear') {
    // What somebody has put back meanwhile stays.
    const keys = new Set(change.keys.map(folded));
    const gone = (item: Item) => item.got === true && keys.has(folded(item.key));
    return Object.fromEntries(Object.entries(items).filter(([, item]) => !gone(item)));
  }
  const there = found(items, change.is === 'put' ? change.name : change.key);
  if (change.is !== 'put') {
    // What was taken off the list stays off it.
    if (!there) return items;
    const { key, name } = there;
    return { ...items, [key]: change.is === 'got' ? { key, name, got: true } : { key, name, open: true } };
  }
  if (!there && Object.keys(items).length >= MAX_ITEMS) return null;
  if (there?.open) return items;
  const key = there?.key ?? change.name;
  return { ...items, [key]: { key, name: key, open: true } };
}
