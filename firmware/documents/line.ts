// One line in which the changes of a document are tried, stored and then shown.
import type * as Y from 'yjs';
import { IngleError } from '../protocol/errors.ts';
import type { Problem } from '../ui/tree.ts';
import type { Transaction } from './archive.ts';
import { type JsonObject, readContent } from './content.ts';
import { type Draft, merged, type Trial, type Tried, whole } from './draft.ts';
import type { Member } from './members.ts';
import type { Change } from './staging.ts';

export interface WriteOptions {
  from?: Member;
  /** Runs in the same transaction as the change, on the document as it will be. */
  also?: (tx: Transaction, content: JsonObject) => Promise<void>;
  /** Refuses the change by throwing. */
  check?: ((content: JsonObject) => void) | undefined;
  /** Told what the compiler of a view has to say of it, once it is stored. */
  told?: ((problems: readonly Problem[]) => void) | undefined;
}

interface Writing extends WriteOptions, Trial {
  isRefused: boolean;
  resolve: () => void;
  reject: (e: unknown) => void;
}

/** Stores what a room has tried: the update, what belongs to it, and what is to be known of the document as it is then. */
export type Commit = (
  update: Uint8Array | null,
  next: Y.Doc,
  also?: (tx: Transaction) => Promise<void>,
) => Promise<void>;

/** @param shown told of what was stored; `author` alone has written it, `planted` is what the hub has added to it */
export function openLine(
  draft: Draft,
  commit: Commit,
  shown: (update: Uint8Array, author: Member | undefined, planted: Uint8Array | null) => void,
) {
  const queue: Writing[] = [];
  /** What waits for a moment at which the document is as the disk has it. */
  const greetings: (() => void)[] = [];
  let pumping: Promise<void> = Promise.resolve();
  let active = false;

  /** Tries what waits, in its order. @returns what came of each that was not refused, and all of it as one update */
  async function tryAll(waiting: readonly Writing[]) {
    const batch: ({ w: Writing } & Tried)[] = [];
    const parts: (Uint8Array | null)[] = [];
    for (let at = 0; at < waiting.length && !draft.isSpoilt; ) {
      const { count, update } = draft.take(waiting, at);
      parts.push(update);
      for (const w of waiting.slice(at, at + count)) batch.push({ w, update, planted: null });
      at += count;
      const w = waiting[at++];
      if (!w) break;
      try {
        const tried = await draft.attempt(w);
        batch.push({ w, ...tried });
        parts.push(whole(tried));
      } catch (e) {
        w.reject(e);
      }
    }
    return { batch, all: merged(parts) };
  }

  /** Tries, stores and shows what waits. @returns what is to be done again, one at a time */
  async function turn(waiting: Writing[]): Promise<Writing[]> {
    await draft.restore();
    let batch: ({ w: Writing } & Tried)[] = [];
    let all: Uint8Array | null = null;
    try {
      ({ batch, all } = await tryAll(waiting));
      if (draft.isSpoilt) throw new IngleError('internal', 'A change broke the document, and is taken back.');
      const also = batch.filter((b) => b.w.also);
      if (all || also.length > 0) {
        const more = async (tx: Transaction) => {
          const content = readContent(draft.doc);
          for (const b of also) await b.w.also!(tx, content);
        };
        await commit(all, draft.doc, also.length > 0 ? more : undefined);
      }
    } catch (e) {
      if (all) draft.spoil();
      // Where that fails as well, the next change tries it again.
      await draft.restore().catch(() => {});
      const open = waiting.filter((w) => !w.isRefused);
      // One whose part cannot be stored takes nobody along.
      if (open.length > 1) return open;
      for (const w of open) w.reject(e);
      return [];
    }
    const authors = new Set<Member | undefined>();
    for (const b of batch) if (b.update || b.planted) authors.add(b.w.from);
    const [author] = authors.size === 1 ? authors : [];
    if (all) shown(all, author, merged(batch.map((b) => b.planted)));
    for (const b of batch) {
      if (b.problems?.length) b.w.told?.(b.problems);
      b.w.resolve();
    }
    return [];
  }

  async function pump(): Promise<void> {
    while (queue.length > 0) {
      const waiting = queue.splice(0);
      try {
        for (const one of await turn(waiting)) await turn([one]);
      } catch (e) {
        for (const w of waiting) w.reject(e);
      }
      for (const greet of greetings.splice(0)) greet();
      // What else has come in this turn of the loop goes along.
      if (queue.length > 0) await new Promise((done) => setImmediate(done));
    }
    // In the same turn as the look at the queue, so that no write falls between.
    active = false;
  }

  return {
    /** Settles when the change is on disk; only then others see it. */
    write(change: Change, options: WriteOptions = {}): Promise<void> {
      return new Promise((resolve, reject) => {
        const w: Writing = {
          ...options,
          ...{ change, resolve, isRefused: false },
          reject(e) {
            w.isRefused = true;
            reject(e);
          },
        };
        queue.push(w);
        if (active) return;
        active = true;
        pumping = pump();
      });
    },
    /** Does it now, or as soon as the document is as the disk has it. */
    greet(work: () => void): void {
      if (active) greetings.push(work);
      else work();
    },
    /** Settles when nothing waits. */
    async idle(): Promise<void> {
      while (active) await pumping;
    },
    isIdle: (): boolean => queue.length === 0 && !active,
  };
}
