// A room: one document, those who look at it, and one line in which changes are tried, stored and then shown.
import {
  Awareness,
  applyAwarenessUpdate,
  encodeAwarenessUpdate,
  removeAwarenessStates,
} from 'y-protocols/awareness';
import * as Y from 'yjs';
import { IngleError } from '../protocol/errors.ts';
import type { Compiled } from '../ui/compile.ts';
import type { Problem } from '../ui/tree.ts';
import type { Transaction } from './archive.ts';
import type { Json, JsonObject } from './content.ts';
import { readContent, sourceOf } from './content.ts';
import {
  decodeMessage,
  encodeAwareness,
  encodeDenied,
  encodeStep1,
  encodeStep2,
  encodeUpdate,
} from './message.ts';
import { type Change, GapError, plant, stage } from './staging.ts';

/** One socket in a room. */
export interface Member {
  send(bytes: Uint8Array): void;
  readonly canWrite: boolean;
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
  also: (tx: Transaction) => Promise<void>,
) => Promise<void>;

export interface Room {
  readonly key: string;
  /** The document as stored; read it, and change it by `write` alone. */
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
  /** A message of a member. @throws IngleError when it is malformed or not allowed. */
  receive(member: Member, bytes: Uint8Array, also?: WriteOptions['also']): Promise<void>;
  idle(): boolean;
  close(): void;
}

/** A skill's updates are written at most so often, milliseconds; after a rest, at once. */
const GATHER_MS = 60;
/** Awareness states one socket may keep. */
const MAX_CLIENTS = 16;

export function makeRoom(
  key: string,
  doc: Y.Doc,
  maxBytes: number,
  commit: Commit,
  changed: () => void,
  compile?: Compile,
): Room {
  const members = new Set<Member>();
  const queue: Writing[] = [];
  let pumping: Promise<void> = Promise.resolve();
  let active = false;
  let gathered: Uint8Array[] = [];
  let timer: NodeJS.Timeout | undefined;
  let written = Number.NEGATIVE_INFINITY;
  let flushGathered: () => void = () => {};
  let awareness: Awareness | undefined;
  const clients = new Map<Member, Set<number>>();
  /** Members that have answered step 1: nothing of theirs is lacking from then on. */
  const answered = new WeakSet<Member>();

  doc.on('update', (update: Uint8Array, origin: unknown) => {
    const bytes = encodeUpdate(update);
    for (const m of members) if (m !== origin) m.send(bytes);
  });

  /** A change tried, with the tree of what it leads to. */
  async function tryOut(from: Y.Doc, w: Writing) {
    // A view and its tree have a document's bytes each.
    const tried = stage(from, w.change, compile ? 2 * maxBytes : maxBytes, compile !== undefined);
    // What is stored already stays, also where a newer build stored what this one cannot judge.
    if (tried.update) w.check?.(compile ? sourceOf(readContent(tried.next)) : readContent(tried.next));
    if (!compile) return { ...tried, planted: null };
    const source = sourceOf(readContent(tried.next));
    if (tried.update && JSON.stringify(source).length > maxBytes)
      throw new IngleError('too_large', `A document may have at most ${maxBytes} bytes.`);
    const { tree, problems } = Object.keys(source).length > 0 ? await compile(source) : nothing;
    const planted = plant(tried.next, tree as unknown as Json | undefined);
    return { ...tried, planted, problems };
  }

  async function pump(): Promise<void> {
    while (queue.length > 0) {
      const batch: ({ w: Writing } & Tried)[] = [];
      let next = doc;
      for (const w of queue.splice(0)) {
        try {
          const tried = await tryOut(next, w);
          next = tried.next;
          batch.push({ w, ...tried });
        } catch (e) {
          w.reject(e);
        }
      }
      const updates = batch.flatMap((b) => whole(b) ?? []);
      try {
        if (updates.length > 0 || batch.some((b) => b.w.also)) {
          const content = readContent(next);
          await commit(updates.length ? Y.mergeUpdates(updates) : null, next, async (tx) => {
            for (const b of batch) await b.w.also?.(tx, content);
          });
        }
      } catch (e) {
        for (const b of batch) b.w.reject(e);
        continue;
      }
      for (const b of batch) {
        const update = whole(b);
        if (update) Y.applyUpdate(doc, update, b.w.from);
        // Others have had both at once; who wrote the view lacks its tree.
        if (b.planted && b.w.from && members.has(b.w.from)) b.w.from.send(encodeUpdate(b.planted));
        if (b.problems?.length) b.w.told?.(b.problems);
        b.w.resolve();
      }
      changed();
    }
    // In the same turn as the look at the queue, so that no write falls between.
    active = false;
  }

  function write(change: Change, options: WriteOptions = {}): Promise<void> {
    return new Promise((resolve, reject) => {
      queue.push({ ...options, change, resolve, reject });
      if (active) return;
      active = true;
      pumping = pump();
    });
  }

  function presence(): Awareness {
    if (awareness) return awareness;
    const a = new Awareness(doc);
    a.setLocalState(null);
    a.on('update', (c: { added: number[]; updated: number[]; removed: number[] }) => {
      const bytes = encodeAwareness(encodeAwarenessUpdate(a, [...c.added, ...c.updated, ...c.removed]));
      // The sender hears itself too: y-websocket takes silence for a dead line.
      for (const m of members) m.send(bytes);
    });
    awareness = a;
    return a;
  }

  const room: Room = {
    key,
    doc,
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
      // Whoever may not write is not asked what it has.
      if (member.canWrite) member.send(encodeStep1(Y.encodeStateVector(doc)));
      if (awareness && awareness.states.size > 0)
        member.send(encodeAwareness(encodeAwarenessUpdate(awareness, [...awareness.states.keys()])));
    },
    leave(member) {
      members.delete(member);
      const own = clients.get(member);
      clients.delete(member);
      if (awareness && own) removeAwarenessStates(awareness, [...own], null);
    },
    async receive(member, bytes, also) {
      const m = decodeMessage(bytes);
      if (m.type === 'step1') member.send(encodeStep2(missing(doc, m.stateVector)));
      else if (m.type === 'query-awareness') {
        const a = presence();
        member.send(encodeAwareness(encodeAwarenessUpdate(a, [...a.states.keys()])));
      } else if (m.type === 'awareness') {
        const own = clients.get(member) ?? new Set<number>();
        // Providers pass on what they hear of others, so a known id stays with whoever brought it.
        for (const c of m.clients) if (!isKnown(c)) own.add(c);
        if (own.size > MAX_CLIENTS)
          throw new IngleError('forbidden', 'One socket speaks for too many clients.');
        clients.set(member, own);
        applyAwarenessUpdate(presence(), m.update, member);
      } else if (member.canWrite) {
        if (m.answer) answered.add(member);
        try {
          await write(m.update, { from: member, also });
        } catch (e) {
          // Written while the member was away and sent before it heard step 1: its answer to that has it all.
          if (!(e instanceof GapError) || answered.has(member)) throw e;
        }
      } else if (stage(doc, m.update, Number.POSITIVE_INFINITY).update !== null) {
        const e = new IngleError('forbidden', 'This document may only be read.');
        member.send(encodeDenied(e.message));
        throw e;
      }
    },
    idle: () => members.size === 0 && queue.length === 0 && !active && gathered.length === 0,
    close() {
      clearTimeout(timer);
      awareness?.destroy();
      doc.destroy();
    },
  };
  function isKnown(client: number): boolean {
    for (const own of clients.values()) if (own.has(client)) return true;
    return false;
  }
  return room;
}

interface Tried {
  next: Y.Doc;
  update: Uint8Array | null;
  /** The update that puts a view's tree beside it. */
  planted: Uint8Array | null;
  problems?: readonly Problem[];
}

const nothing = { tree: undefined, problems: [] };

/** A change and the tree of what it leads to, as one update. */
function whole({ update, planted }: Tried): Uint8Array | null {
  return update && planted ? Y.mergeUpdates([update, planted]) : (update ?? planted);
}

function missing(doc: Y.Doc, stateVector: Uint8Array): Uint8Array {
  try {
    return Y.encodeStateAsUpdate(doc, stateVector);
  } catch {
    throw new IngleError('invalid_request', 'The state vector cannot be read.');
  }
}
