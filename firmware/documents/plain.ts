// Whether an update may be applied without a trial: JSON under a root map's keys, right behind what is there. Most are so.
import * as Y from 'yjs';
import { checkJson } from './content.ts';

const MAX_CLOCK = 2 ** 40;

/**
 * Whether `update` holds nothing that a trial on a copy could find wrong but the document's size: it can be read, lacks
 * nothing `doc` does not have, and brings JSON values and deletions alone. False says only that it is to be tried.
 */
export function isPlain(doc: Y.Doc, update: Uint8Array): boolean {
  try {
    const { structs, ds } = Y.decodeUpdate(update);
    const clocks = new Map<number, number>();
    const clockOf = (client: number) => clocks.get(client) ?? Y.getState(doc.store, client);
    const isThere = (id: Y.ID | null) => id === null || id.clock < clockOf(id.client);
    for (const s of structs) {
      if (!(s instanceof Y.Item) || s.id.clock !== clockOf(s.id.client)) return false;
      if (s.id.clock + s.length > MAX_CLOCK) return false;
      if (!isThere(s.origin) || !isThere(s.rightOrigin)) return false;
      if (!isOfMap(doc, s, clocks)) return false;
      if (!isValue(s.content)) return false;
      clocks.set(s.id.client, s.id.clock + s.length);
    }
    for (const [client, ranges] of ds.clients)
      for (const { clock, len } of ranges) if (clock + len > clockOf(client)) return false;
    return true;
  } catch {
    return false;
  }
}

/** Whether it stands in the map `content` or `meta` itself, not in something there. */
function isOfMap(doc: Y.Doc, s: Y.Item, clocks: ReadonlyMap<number, number>): boolean {
  const root: unknown = s.parent;
  if (root !== null) return (root === 'content' || root === 'meta') && s.parentSub !== null;
  // Next to another it says nothing of where, as it is in the same place.
  const beside = s.origin ?? s.rightOrigin;
  if (!beside) return false;
  if (clocks.has(beside.client) && beside.clock >= Y.getState(doc.store, beside.client)) return true;
  // Asked for first: until then, items of a root name another as their parent.
  const [contents, meta] = [doc.getMap('content'), doc.getMap('meta')];
  const item = Y.getItem(doc.store, beside) as unknown;
  return item instanceof Y.Item && (item.parent === contents || item.parent === meta);
}

function isValue(content: Y.Item['content']): boolean {
  if (content instanceof Y.ContentDeleted) return true;
  if (!(content instanceof Y.ContentAny)) return false;
  for (const value of content.arr) checkJson(value, 1);
  return true;
}
