// A document on which changes are tried before they are stored: it may be ahead of the disk by what is being stored.
import * as Y from 'yjs';
import { IngleError } from '../protocol/errors.ts';
import type { Compiled } from '../ui/compile.ts';
import type { Problem } from '../ui/tree.ts';
import { type Json, type JsonObject, readContent, sourceOf } from './content.ts';
import { plainClocks } from './plain.ts';
import { type Change, plant, stage } from './staging.ts';

/** Makes of a view's source the tree that stands beside it (firmware/ui/compile.ts). */
export type Compile = (source: JsonObject) => Promise<Compiled>;

/** A change to be tried. */
export interface Trial {
  change: Change;
  /** Refuses the change by throwing. */
  check?: ((content: JsonObject) => void) | undefined;
}

/** What a change is, once tried. */
export interface Tried {
  update: Uint8Array | null;
  /** The update that puts a view's tree beside it. */
  planted: Uint8Array | null;
  problems?: readonly Problem[];
}

export function merged(updates: readonly (Uint8Array | null)[]): Uint8Array | null {
  const some = updates.filter((u) => u !== null);
  return some.length > 1 ? Y.mergeUpdates(some) : (some[0] ?? null);
}

/** A change and the tree of what it leads to, as one update. */
export const whole = ({ update, planted }: Tried): Uint8Array | null => merged([update, planted]);

const nothing = { tree: undefined, problems: [] };

/** Plain updates that a document takes later: together they cost a fraction, and what they replace is never made. */
const MOST_PUT_OFF = 64;

export interface Draft {
  /** Asked for, it has all that was taken. */
  readonly doc: Y.Doc;
  /** The document holds what could not be stored. */
  readonly isSpoilt: boolean;
  /**
   * Applies these changes from one of them on as far as nothing can be wrong with them, in one transaction of Yjs.
   * @returns how many they are, and what they are together; `update` is null where nothing changes
   */
  take(all: readonly Trial[], from: number): { count: number; update: Uint8Array | null };
  /** Applies a change that nothing is wrong with. `update` and `planted` are null where nothing changes. */
  attempt(t: Trial): Promise<Tried>;
  /** What was applied could not be stored. */
  spoil(): void;
  /** Reads the document anew where it holds what could not be stored. */
  restore(): Promise<void>;
}

export interface DraftOptions {
  /** Reads the document anew, where what was tried could not be stored. */
  reload?: (() => Promise<Y.Doc>) | undefined;
  /** For a view document, whose tree is the hub's alone to write. */
  compile?: Compile | undefined;
}

export const openDraft = (stored: Y.Doc, maxBytes: number, o: DraftOptions): Draft =>
  new Tries(stored, maxBytes, o);

/**
 * A class, as there are as many as documents that are open: an accessor in an object literal would give each a hidden class
 * of its own in V8, and all code that meets them would look every property up (D184).
 */
class Tries implements Draft {
  isSpoilt = false;
  #doc: Y.Doc;
  readonly #maxBytes: number;
  readonly #o: DraftOptions;
  /** Not less than what the document takes, bytes; 0: not known. */
  #size = 0;
  /** Updates that were taken and are not in the document yet, and how far they lead whom. */
  #putOff: { updates: Uint8Array[]; ahead: Map<number, number> } | undefined;

  constructor(stored: Y.Doc, maxBytes: number, o: DraftOptions) {
    this.#doc = stored;
    this.#maxBytes = maxBytes;
    this.#o = o;
  }

  get doc(): Y.Doc {
    const { updates } = this.#putOff ?? {};
    this.#putOff = undefined;
    if (updates)
      this.#apply(() => {
        for (const update of updates) Y.applyUpdate(this.#doc, update);
      });
    return this.#doc;
  }

  take(all: readonly Trial[], from: number): { count: number; update: Uint8Array | null } {
    // One alone that brings items goes on as it came.
    if (from === all.length - 1 && this.#takeLater(all[from]!))
      return { count: 1, update: all[from]!.change as Uint8Array };
    let at = from;
    const update = this.#changed(() => {
      while (at < all.length && this.#takeOne(all[at]!)) at++;
    });
    return { count: at - from, update };
  }

  async attempt(t: Trial): Promise<Tried> {
    const tried = await this.#tryOut(t);
    const update = whole(tried);
    if (!update) return tried;
    const isNew = this.#changed(() => Y.applyUpdate(this.doc, update)) !== null;
    return isNew ? tried : { ...tried, update: null, planted: null };
  }

  async restore(): Promise<void> {
    if (!this.isSpoilt) return;
    if (!this.#o.reload) throw new IngleError('internal', 'The document cannot be read again.');
    const next = await this.#o.reload();
    this.#doc.destroy();
    this.#doc = next;
    this.#putOff = undefined;
    this.#size = 0;
    this.isSpoilt = false;
  }

  spoil(): void {
    this.isSpoilt = true;
  }

  /** Whether there is room for `more` bytes without a look at the whole. */
  #hasRoom(more: number): boolean {
    if (this.#size === 0 || this.#size + more > this.#maxBytes)
      this.#size = Y.encodeStateAsUpdate(this.doc).length;
    return this.#size + more <= this.#maxBytes;
  }

  /** How far a change leads whom, where nothing can be wrong with it. */
  #judge({ change, check }: Trial): ReadonlyMap<number, number> | null {
    if (this.#o.compile || check || !(change instanceof Uint8Array)) return null;
    if (!this.#hasRoom(change.length)) return null;
    return plainClocks(this.#doc, change, this.#putOff?.ahead);
  }

  #takeOne(t: Trial): boolean {
    if (!this.#judge(t)) return false;
    const change = t.change as Uint8Array;
    Y.applyUpdate(this.#doc, change);
    this.#size += change.length;
    return true;
  }

  /** The same for one that brings items; the document takes it when it is asked for, or has put off enough. */
  #takeLater(t: Trial): boolean {
    const clocks = this.#judge(t);
    if (!clocks || clocks.size === 0) return false;
    const change = t.change as Uint8Array;
    this.#putOff ??= { updates: [], ahead: new Map() };
    const { updates, ahead } = this.#putOff;
    for (const [client, clock] of clocks) ahead.set(client, clock);
    // A copy, as the whole of what it came in would stay with it.
    updates.push(new Uint8Array(change));
    this.#size += change.length;
    if (updates.length >= MOST_PUT_OFF) void this.doc;
    return true;
  }

  /** Tries a change on a copy. */
  async #tryOut(t: Trial): Promise<Tried> {
    if (this.#o.compile) return this.#tryView(t, this.#o.compile);
    const { next, update } = stage(this.doc, t.change, this.#maxBytes);
    try {
      if (update) t.check?.(readContent(next));
    } finally {
      next.destroy();
    }
    this.#size = 0;
    return { update, planted: null };
  }

  /** Tries a view's change on a copy, with the tree of what it leads to. */
  async #tryView(t: Trial, compile: Compile): Promise<Tried> {
    const maxBytes = this.#maxBytes;
    // A view and its tree have a document's bytes each.
    const { next, update } = stage(this.doc, t.change, 2 * maxBytes, true);
    try {
      // What changes nothing has nobody's word for what stands there; the hub itself may ask for today's tree.
      if (!update && t.change instanceof Uint8Array) return { update, planted: null };
      const source = sourceOf(readContent(next));
      // What is stored already stays, also where a newer build stored what this one cannot judge.
      if (update) t.check?.(source);
      if (update && JSON.stringify(source).length > maxBytes)
        throw new IngleError('too_large', `A document may have at most ${maxBytes} bytes.`);
      const { tree, problems } = Object.keys(source).length > 0 ? await compile(source) : nothing;
      return { update, planted: plant(next, tree as unknown as Json | undefined), problems };
    } finally {
      next.destroy();
    }
  }

  /** Changes the document by `work`, in one transaction of Yjs. */
  #apply(work: () => void): void {
    try {
      this.#doc.transact(work);
      const { pendingStructs, pendingDs } = this.#doc.store;
      this.isSpoilt ||= pendingStructs !== null || pendingDs !== null;
    } catch (e) {
      this.isSpoilt = true;
      throw e;
    }
  }

  /** @returns what the document has got by it; null: nothing */
  #changed(work: () => void): Uint8Array | null {
    let made: Uint8Array | null = null;
    const note = (update: Uint8Array) => {
      made = update;
    };
    const { doc } = this;
    doc.on('update', note);
    try {
      this.#apply(work);
    } finally {
      doc.off('update', note);
    }
    return made;
  }
}
