// One line in which the changes of a document are tried, stored and then shown.
import { IngleError } from '../protocol/errors.ts';
import type { Problem } from '../ui/tree.ts';
import type { Transaction } from './archive.ts';
import { type JsonObject, readContent } from './content.ts';
import { type Draft, merged, type Trial, type Tried, whole } from './draft.ts';
import type { Member } from './members.ts';
import type { Change } from './staging.ts';

export interface WriteOptions {
  from?: Member | undefined;
  /** Runs in the same transaction as the change, on the document as it will be. */
  also?: ((tx: Transaction, content: JsonObject) => Promise<void>) | undefined;
  /** Refuses the change by throwing. */
  check?: ((content: JsonObject) => void) | undefined;
  /** Told what the compiler of a view has to say of it, once it is stored. */
  told?: ((problems: readonly Problem[]) => void) | undefined;
  /** What comes of a change that is refused: nobody is told where it settles. */
  refused?: ((e: unknown) => Promise<void>) | undefined;
}

interface Writing extends Omit<WriteOptions, 'refused'>, Trial {
  isRefused: boolean;
  resolve: () => void;
  reject: (e: unknown) => void;
}

/** What came of the changes of a turn, and all of them as one update. */
interface Batch {
  tried: ({ w: Writing } & Tried)[];
  all: Uint8Array | null;
}
const nothing: readonly Writing[] = [];

/** Stores what a room has tried: the update, what belongs to it, and what is to be known of the document as it is then. */
export type Commit = (
  update: Uint8Array | null,
  next: Pick<Draft, 'doc'>,
  also?: (tx: Transaction) => Promise<void>,
) => Promise<void>;

/** Told of what was stored; `author` alone has written it, `planted` is what the hub has added to it. */
export type Shown = (update: Uint8Array, author: Member | undefined, planted: Uint8Array | null) => void;

export class Line {
  readonly #draft: Draft;
  readonly #commit: Commit;
  readonly #shown: Shown;
  #queue: Writing[] = [];
  /** What waits for a moment at which the document is as the disk has it. */
  readonly #greetings: (() => void)[] = [];
  #pumping: Promise<void> = Promise.resolve();
  #active = false;

  constructor(draft: Draft, commit: Commit, shown: Shown) {
    this.#draft = draft;
    this.#commit = commit;
    this.#shown = shown;
  }

  /** Settles when the change is on disk; only then others see it. */
  write(change: Change, options: WriteOptions = {}): Promise<void> {
    return new Promise((resolve, reject) => {
      const { from, also, check, told, refused } = options;
      // Written out, as all that is read of each write (D126).
      const w: Writing = {
        change,
        from,
        also,
        check,
        told,
        resolve,
        isRefused: false,
        reject(e) {
          w.isRefused = true;
          if (refused) resolve(refused(e));
          else reject(e);
        },
      };
      this.#queue.push(w);
      if (this.#active) return;
      this.#active = true;
      this.#pumping = this.#pump();
    });
  }

  /** Does it now, or as soon as the document is as the disk has it. */
  greet(work: () => void): void {
    if (this.#active) this.#greetings.push(work);
    else work();
  }

  /** Settles when nothing waits. */
  async idle(): Promise<void> {
    while (this.#active) await this.#pumping;
  }

  isIdle(): boolean {
    return this.#queue.length === 0 && !this.#active;
  }

  async #pump(): Promise<void> {
    while (this.#queue.length > 0) {
      const waiting = this.#queue;
      this.#queue = [];
      try {
        for (const one of await this.#turn(waiting)) await this.#turn([one]);
      } catch (e) {
        for (const w of waiting) w.reject(e);
      }
      if (this.#greetings.length > 0) for (const greet of this.#greetings.splice(0)) greet();
      // What else has come in this turn of the loop goes along.
      if (this.#queue.length > 0) await new Promise((done) => setImmediate(done));
    }
    // In the same turn as the look at the queue, so that no write falls between.
    this.#active = false;
  }

  /** Tries, stores and shows what waits. @returns what is to be done again, one at a time */
  async #turn(waiting: readonly Writing[]): Promise<readonly Writing[]> {
    const draft = this.#draft;
    if (draft.isSpoilt) await draft.restore();
    /** What is to be shown; of one change that nothing is wrong with, as most turns are, that alone. */
    let batch: Batch | undefined;
    let all: Uint8Array | null = null;
    try {
      const first = draft.take(waiting, 0);
      const [w] = waiting;
      if (first.count === 1 && waiting.length === 1 && !w!.also && !draft.isSpoilt) {
        all = first.update;
        if (all) await this.#commit(all, draft);
      } else {
        batch = await this.#tryAll(waiting, first);
        all = batch.all;
        await this.#store(batch);
      }
    } catch (e) {
      if (all) draft.spoil();
      // Where that fails as well, the next change tries it again.
      await draft.restore().catch(() => {});
      const open = waiting.filter((w) => !w.isRefused);
      // One whose part cannot be stored takes nobody along.
      if (open.length > 1) return open;
      for (const w of open) w.reject(e);
      return nothing;
    }
    if (batch) this.#show(batch);
    else {
      if (all) this.#shown(all, waiting[0]!.from, null);
      waiting[0]!.resolve();
    }
    return nothing;
  }

  /** Tries what waits, in its order. @returns what came of each that was not refused, and all of it as one update */
  async #tryAll(waiting: readonly Writing[], first: ReturnType<Draft['take']>): Promise<Batch> {
    const draft = this.#draft;
    const tried: Batch['tried'] = [];
    const parts: (Uint8Array | null)[] = [];
    for (let at = 0, taken = first; ; taken = draft.take(waiting, at)) {
      parts.push(taken.update);
      for (const w of waiting.slice(at, at + taken.count))
        tried.push({ w, update: taken.update, planted: null });
      at += taken.count;
      const w = waiting[at++];
      if (!w || draft.isSpoilt) break;
      try {
        const one = await draft.attempt(w);
        tried.push({ w, ...one });
        parts.push(whole(one));
      } catch (e) {
        w.reject(e);
      }
      if (at >= waiting.length || draft.isSpoilt) break;
    }
    return { tried, all: merged(parts) };
  }

  async #store({ tried, all }: Batch): Promise<void> {
    const draft = this.#draft;
    if (draft.isSpoilt) throw new IngleError('internal', 'A change broke the document, and is taken back.');
    const also = tried.filter((b) => b.w.also);
    if (!all && also.length === 0) return;
    const more = async (tx: Transaction) => {
      const content = readContent(draft.doc);
      for (const b of also) await b.w.also!(tx, content);
    };
    await this.#commit(all, draft, also.length > 0 ? more : undefined);
  }

  /** Shows what has been stored. */
  #show({ tried, all }: Batch): void {
    const authors = new Set<Member | undefined>();
    for (const b of tried) if (b.update || b.planted) authors.add(b.w.from);
    const [author] = authors.size === 1 ? authors : [];
    if (all) this.#shown(all, author, merged(tried.map((b) => b.planted)));
    for (const b of tried) {
      if (b.problems?.length) b.w.told?.(b.problems);
      b.w.resolve();
    }
  }
}
