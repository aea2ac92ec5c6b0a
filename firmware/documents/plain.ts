// Whether an update may be applied without a trial: JSON under a root map's keys, right behind what is there. Most are so.
// It is read as bytes (Yjs, update format 1): objects made of it would be garbage a moment later.
import { createDecoder, readAny, readUint8, readVarString, readVarUint } from 'lib0/decoding';
import * as Y from 'yjs';
import { checkJson } from './content.ts';

const MAX_CLOCK = 2 ** 40;
/** What an item's first byte tells. */
const has = { origin: 0x80, rightOrigin: 0x40, parentSub: 0x20 } as const;
const content = { mask: 0x1f, deleted: 1, any: 8 } as const;

/** For each client how many of its changes there are, where that is more than the document has of it. */
export type Clocks = ReadonlyMap<number, number>;

/**
 * Whether `update` holds nothing that a trial on a copy could find wrong but the document's size: it can be read, lacks
 * nothing that is there, and brings JSON values and deletions alone. Null says only that it is to be tried.
 * @param ahead what plain updates lead to that `doc` does not have yet
 * @returns how far it leads each client that it is of
 */
export function plainClocks(doc: Y.Doc, update: Uint8Array, ahead?: Clocks): Map<number, number> | null {
  try {
    return new Reading(doc, update, ahead).clocks();
  } catch {
    return null;
  }
}

/** Ends a reading; nobody sees it. */
const notPlain = new Error('not plain');
function need(holds: boolean): void {
  if (!holds) throw notPlain;
}

class Reading {
  readonly #doc: Y.Doc;
  readonly #d: ReturnType<typeof createDecoder>;
  readonly #ahead: Clocks | undefined;
  readonly #clocks = new Map<number, number>();

  constructor(doc: Y.Doc, update: Uint8Array, ahead: Clocks | undefined) {
    this.#doc = doc;
    this.#d = createDecoder(update);
    this.#ahead = ahead;
  }

  clocks(): Map<number, number> {
    const d = this.#d;
    for (let left = readVarUint(d); left > 0; left--) this.#items();
    for (let left = readVarUint(d); left > 0; left--) this.#deletions();
    return this.#clocks;
  }

  #clockOf(client: number): number {
    return this.#clocks.get(client) ?? this.#ahead?.get(client) ?? Y.getState(this.#doc.store, client);
  }

  /** Items of one client. */
  #items(): void {
    const d = this.#d;
    const count = readVarUint(d);
    const client = readVarUint(d);
    let clock = readVarUint(d);
    // Of two parts of one client Yjs takes the second alone.
    need(!this.#clocks.has(client) && clock === this.#clockOf(client));
    for (let left = count; left > 0; left--) {
      const info = readUint8(d);
      const origin = info & has.origin ? this.#there() : null;
      const rightOrigin = info & has.rightOrigin ? this.#there() : null;
      const beside = origin ?? rightOrigin;
      if (beside) need(this.#isInRoot(beside));
      else {
        need(readVarUint(d) === 1);
        const root = readVarString(d);
        // The map itself, not something in it; and a key of it, not a place in a list.
        need((root === 'content' || root === 'meta') && (info & has.parentSub) !== 0);
        readVarString(d);
      }
      const length = this.#value(info & content.mask);
      need(length > 0 && clock + length <= MAX_CLOCK);
      clock += length;
      this.#clocks.set(client, clock);
    }
  }

  /** Where an item stands next to: one that is there. */
  #there(): { client: number; clock: number } {
    const client = readVarUint(this.#d);
    const clock = readVarUint(this.#d);
    need(clock < this.#clockOf(client));
    return { client, clock };
  }

  /** Whether it stands in the map `content` or `meta` itself. */
  #isInRoot({ client, clock }: { client: number; clock: number }): boolean {
    const doc = this.#doc;
    // All that the document does not have yet is so.
    if (clock >= Y.getState(doc.store, client)) return true;
    // Asked for first: until then, items of a root name another as their parent.
    const [contents, meta] = [doc.getMap('content'), doc.getMap('meta')];
    const item = Y.getItem(doc.store, Y.createID(client, clock)) as unknown;
    return item instanceof Y.Item && (item.parent === contents || item.parent === meta);
  }

  /** @returns the length of an item, which counts as so many changes */
  #value(kind: number): number {
    if (kind === content.deleted) return readVarUint(this.#d);
    need(kind === content.any);
    const length = readVarUint(this.#d);
    for (let left = length; left > 0; left--) checkJson(readAny(this.#d), 1);
    return length;
  }

  #deletions(): void {
    const d = this.#d;
    const client = readVarUint(d);
    const most = this.#clockOf(client);
    for (let left = readVarUint(d); left > 0; left--) {
      const clock = readVarUint(d);
      const length = readVarUint(d);
      // Yjs cannot take one of no length behind all that is there.
      need(length > 0 && clock + length <= most);
    }
  }
}
