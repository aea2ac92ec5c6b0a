// A room: one document, those who look at it, and one line in which changes are tried, stored and then shown.
import * as Y from 'yjs';
import { IngleError } from '../protocol/errors.ts';
import type { Compiled } from '../ui/compile.ts';
import type { Problem } from '../ui/tree.ts';
import type { Transaction } from './archive.ts';
import { type Json, type JsonObject, readContent, sourceOf } from './content.ts';
import {
  decodeMessage,
  encodeAwareness,
  encodeDenied,
  encodeStep1,
  encodeStep2,
  encodeUpdate,
} from './message.ts';
import { isPlain } from './plain.ts';
import { openPresence } from './presence.ts';
import { type Change, GapError, plant, stage } from './staging.ts';
import { undoing } from './undo.ts';

/** One socket in a room. */
export interface Member {
  send(bytes: Uint8Array): void;
  /** Sends to every other member at once; where it is missing, each is sent to. */
  cast?(bytes: Uint8Array): void;
  /** Asked at each write. */
  readonly canWrite: boolean;
  /** Whose socket it is. */
  readonly who?: string;
}

export interface WriteOptions {
  from?: Member;
  /** Runs in the same transaction as the change, on the document as it will be. */
  also?: (tx: Transaction, content: JsonObject) => Promise<void>;
  /** Refuses the change by throwing. */
  check?: ((content: JsonObject) => void) | undefined;
  /** Told what the compiler of a view has to say of it, once it is stored. */
  told?: ((problems: readonly Problem[]) => void) | undefined;
}

/** Makes of a view's source the tree that stands beside it (firmware/ui/compile.ts). */
export type Compile = (source: JsonObject) => Promise<Compiled>;

interface Writing extends WriteOptions {
  change: Change;
  resolve: () => void;
  reject: (e: unknown) => void;
}

/** Stores what a room has tried: the update, the document with it, and what belongs to it. */
export type Commit = (
  update: Uint8Array | null,
  next: Y.Doc,
  also?: (tx: Transaction) => Promise<void>,
) => Promise<void>;

export interface Room {
  readonly key: string;
  /** The document; read it, and change it by `write` alone. It may be ahead of the disk by what is being stored now. */
  readonly doc: Y.Doc;
  readonly members: ReadonlySet<Member>;
  /** Settles when the change is on disk; only then others see it. */
  write(change: Change, options?: WriteOptions): Promise<void>;
  /** A skill's update: gathered for a moment, then written. Faults go to `failed`. */
  gather(
    update: Uint8Array,
    check: ((content: JsonObject) => void) | undefined,
    failed: (e: unknown) => void,
    told?: WriteOptions['told'],
  ): void;
  /** Settles when all that was gathered or written before is on disk. */
  flush(): Promise<void>;
  join(member: Member): void;
  leave(member: Member): void;
  /**
   * A message of a member; settles when what it changes is on disk. A change that is refused is taken back at its author.
   * @throws IngleError when it is malformed or not allowed
   */
  receive(member: Member, bytes: Uint8Array, also?: WriteOptions['also']): Promise<void>;
  idle(): boolean;
  close(): void;
}

/** A skill's updates are written at most so often, milliseconds; after a rest, at once. */
const GATHER_MS = 60;

/**
 * @param reload reads the document anew, where what was tried could not be stored
 * @param compile for a view document, whose tree is the hub's alone to write
 */
export function makeRoom(
  key: string,
  stored: Y.Doc,
  maxBytes: number,
  commit: Commit,
  reload?: () => Promise<Y.Doc>,
  compile?: Compile,
): Room {
  const members = new Set<Member>();
  const queue: Writing[] = [];
  /** What waits for a moment at which the document is as the disk has it. */
  const greetings: (() => void)[] = [];
  let doc = stored;
  /** Not less than what the document takes, bytes; 0: not known. */
  let size = 0;
  /** The document holds what could not be stored. */
  let isSpoilt = false;
  let pumping: Promise<void> = Promise.resolve();
  let active = false;
  let gathered: Uint8Array[] = [];
  let timer: NodeJS.Timeout | undefined;
  let written = Number.NEGATIVE_INFINITY;
  let flushGathered: () => void = () => {};
  const presence = openPresence<Member>();
  const refused = new WeakSet<Writing>();
  /** Members that have answered step 1: nothing of theirs is lacking from then on. */
  const answered = new WeakSet<Member>();

  /** To every member, or to all but one; written once for all of them. */
  function show(bytes: Uint8Array, but?: Member): void {
    const [one] = but && members.has(but) ? [but] : members;
    if (one?.cast) {
      one.cast(bytes);
      if (one !== but) one.send(bytes);
    } else for (const m of members) if (m !== but) m.send(bytes);
  }

  /** Whether there is room for `more` bytes without a look at the whole. */
  function hasRoom(more: number): boolean {
    if (size === 0 || size + more > maxBytes) size = Y.encodeStateAsUpdate(doc).length;
    return size + more <= maxBytes;
  }

  /** Tries a view's change on a copy, with the tree of what it leads to. */
  async function tryView(w: Writing, compile: Compile): Promise<Tried> {
    // A view and its tree have a document's bytes each.
    const { next, update } = stage(doc, w.change, 2 * maxBytes, true);
    try {
      // What changes nothing has nobody's word for what stands there; the hub itself may ask for today's tree.
      if (!update && w.change instanceof Uint8Array) return { update, planted: null };
      const source = sourceOf(readContent(next));
      // What is stored already stays, also where a newer build stored what this one cannot judge.
      if (update) w.check?.(source);
      if (update && JSON.stringify(source).length > maxBytes)
        throw new IngleError('too_large', `A document may have at most ${maxBytes} bytes.`);
      const { tree, problems } = Object.keys(source).length > 0 ? await compile(source) : nothing;
      return { update, planted: plant(next, tree as unknown as Json | undefined), problems };
    } finally {
      next.destroy();
    }
  }

  /** Tries a change: in place where nothing can be wrong with it but its size, else on a copy. */
  async function tryOut(w: Writing): Promise<Tried> {
    if (compile) return tryView(w, compile);
    if (w.change instanceof Uint8Array && !w.check && hasRoom(w.change.length) && isPlain(doc, w.change))
      return { update: w.change, planted: null };
    const { next, update } = stage(doc, w.change, maxBytes);
    try {
      if (update) w.check?.(readContent(next));
    } finally {
      next.destroy();
    }
    size = 0;
    return { update, planted: null };
  }

  /** Applies a change that nothing is wrong with. `update` and `planted` are null where nothing changes. */
  async function attempt(w: Writing): Promise<Tried> {
    const tried = await tryOut(w);
    const update = whole(tried);
    if (!update) return tried;
    let isNew = false;
    const note = () => {
      isNew = true;
    };
    doc.on('update', note);
    try {
      Y.applyUpdate(doc, update);
      isSpoilt ||= doc.store.pendingStructs !== null || doc.store.pendingDs !== null;
    } catch (e) {
      isSpoilt = true;
      throw e;
    } finally {
      doc.off('update', note);
    }
    // What is not known is looked at anew.
    if (size > 0) size += update.length;
    return isNew ? tried : { ...tried, update: null, planted: null };
  }

  /** Reads the document anew where it holds what could not be stored. */
  async function restore(): Promise<void> {
    if (!isSpoilt) return;
    if (!reload) throw new IngleError('internal', 'The document cannot be read again.');
    const before = doc;
    doc = await reload();
    before.destroy();
    size = 0;
    isSpoilt = false;
  }

  /** Tries, stores and shows what waits. @returns what is to be done again, one at a time */
  async function turn(waiting: Writing[]): Promise<Writing[]> {
    await restore();
    const batch: ({ w: Writing } & Tried)[] = [];
    for (const w of waiting)
      try {
        batch.push({ w, ...(await attempt(w)) });
      } catch (e) {
        w.reject(e);
        if (isSpoilt) break;
      }
    const all = merged(batch.map(whole));
    const also = batch.filter((b) => b.w.also);
    try {
      if (isSpoilt) throw new IngleError('internal', 'A change broke the document, and is taken back.');
      if (all || also.length > 0) {
        const more = async (tx: Transaction) => {
          const content = readContent(doc);
          for (const b of also) await b.w.also!(tx, content);
        };
        await commit(all, doc, also.length > 0 ? more : undefined);
      }
    } catch (e) {
      isSpoilt ||= all !== null;
      // Where that fails as well, the next change tries it again.
      await restore().catch(() => {});
      const open = waiting.filter((w) => !refused.has(w));
      // One whose part cannot be stored takes nobody along.
      if (open.length > 1) return open;
      for (const w of open) w.reject(e);
      return [];
    }
    const authors = new Set(batch.flatMap((b) => (whole(b) ? [b.w.from] : [])));
    const [author] = authors.size === 1 ? authors : [];
    if (all) show(encodeUpdate(all), author);
    // Others have view and tree at once; who wrote the view alone lacks its tree.
    const planted = merged(batch.map((b) => b.planted));
    if (planted && author && members.has(author)) author.send(encodeUpdate(planted));
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
    }
    // In the same turn as the look at the queue, so that no write falls between.
    active = false;
  }

  function write(change: Change, options: WriteOptions = {}): Promise<void> {
    return new Promise((resolve, reject) => {
      const w: Writing = {
        ...options,
        change,
        resolve,
        reject(e) {
          refused.add(w);
          reject(e);
        },
      };
      queue.push(w);
      if (active) return;
      active = true;
      pumping = pump();
    });
  }

  /** Now, or as soon as the document is as the disk has it. */
  function greet(work: () => void): void {
    if (active) greetings.push(work);
    else work();
  }

  /** Takes a refused change back where it came from. */
  async function undo(member: Member, change: Uint8Array): Promise<void> {
    await new Promise<void>(greet);
    const update = undoing(doc, change);
    if (update && members.has(member)) member.send(encodeUpdate(update));
  }

  const room: Room = {
    key,
    get doc() {
      return doc;
    },
    members,
    write,
    gather(update, check, failed, told) {
      gathered.push(update);
      timer ??= setTimeout(() => flushGathered(), Math.max(0, written + GATHER_MS - performance.now()));
      flushGathered = () => {
        clearTimeout(timer);
        timer = undefined;
        written = performance.now();
        const all = gathered;
        gathered = [];
        if (all.length === 0) return;
        try {
          write(all.length === 1 ? all[0]! : Y.mergeUpdates(all), { check, told }).catch(failed);
        } catch {
          failed(new IngleError('invalid_request', 'The document update cannot be read.'));
        }
      };
    },
    async flush() {
      flushGathered();
      while (active) await pumping;
    },
    join(member) {
      members.add(member);
      greet(() => {
        // Whoever may not write is not asked what it has.
        if (member.canWrite) member.send(encodeStep1(Y.encodeStateVector(doc)));
        const here = presence.all();
        if (here) member.send(encodeAwareness(here));
      });
    },
    leave(member) {
      members.delete(member);
      const gone = presence.leave(member);
      if (gone) show(encodeAwareness(gone));
    },
    async receive(member, bytes, also) {
      const m = decodeMessage(bytes);
      if (m.type === 'step1')
        await new Promise<void>((resolve, reject) =>
          greet(() => {
            try {
              member.send(encodeStep2(missing(doc, m.stateVector)));
              resolve();
            } catch (e) {
              reject(e);
            }
          }),
        );
      else if (m.type === 'query-awareness') {
        const here = presence.all();
        if (here) member.send(encodeAwareness(here));
      } else if (m.type === 'awareness') {
        const news = presence.hear(member, member.who ?? '', m.update);
        // The sender hears itself too: y-websocket takes silence for a dead line.
        if (news) show(encodeAwareness(news));
      } else if (member.canWrite) {
        if (m.answer) answered.add(member);
        const isWhole = answered.has(member);
        try {
          await write(m.update, { from: member, also });
        } catch (e) {
          // Written while the member was away and sent before it heard step 1: its answer to that has it all.
          if (e instanceof GapError && !isWhole) return;
          if (e instanceof IngleError && e.status < 500) await undo(member, m.update);
          throw e;
        }
      } else if (stage(doc, m.update, Number.POSITIVE_INFINITY).update !== null) {
        const e = new IngleError('forbidden', 'This document may only be read.');
        member.send(encodeDenied(e.message));
        await undo(member, m.update);
        throw e;
      }
    },
    idle: () => members.size === 0 && queue.length === 0 && !active && gathered.length === 0,
    close() {
      clearTimeout(timer);
      doc.destroy();
    },
  };
  return room;
}

/** What a change is, once tried. */
interface Tried {
  update: Uint8Array | null;
  /** The update that puts a view's tree beside it. */
  planted: Uint8Array | null;
  problems?: readonly Problem[];
}

const nothing = { tree: undefined, problems: [] };

function merged(updates: readonly (Uint8Array | null)[]): Uint8Array | null {
  const some = updates.filter((u) => u !== null);
  return some.length > 1 ? Y.mergeUpdates(some) : (some[0] ?? null);
}

/** A change and the tree of what it leads to, as one update. */
const whole = ({ update, planted }: Tried): Uint8Array | null => merged([update, planted]);

function missing(doc: Y.Doc, stateVector: Uint8Array): Uint8Array {
  try {
    return Y.encodeStateAsUpdate(doc, stateVector);
  } catch {
    throw new IngleError('invalid_request', 'The state vector cannot be read.');
  }
}
