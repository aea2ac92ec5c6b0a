// A room: one document, those who look at it, and one line in which changes are tried, stored and then shown.
import * as Y from 'yjs';
import { IngleError } from '../protocol/errors.ts';
import type { JsonObject } from './content.ts';
import { type Compile, type Draft, openDraft } from './draft.ts';
import { type Commit, Line, type WriteOptions } from './line.ts';
import { type Member, openMembers } from './members.ts';
import {
  type ClientMessage,
  decodeMessage,
  encodeAwareness,
  encodeDenied,
  encodeStep1,
  encodeStep2,
  encodeUpdate,
} from './message.ts';
import { openPresence } from './presence.ts';
import { type Change, GapError, stage } from './staging.ts';
import { undoing } from './undo.ts';

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
  /** Stores what is to be known of the document beside it. */
  settle(): Promise<void>;
  idle(): boolean;
  close(): void;
}

/** A skill's updates are written at most so often, milliseconds; after a rest, at once. */
const GATHER_MS = 60;

/** Updates of a skill, gathered for a moment and then written as one. */
function gathering(write: Room['write']) {
  let gathered: Uint8Array[] = [];
  let timer: NodeJS.Timeout | undefined;
  let written = Number.NEGATIVE_INFINITY;
  let flush: () => void = () => {};
  let last: Promise<void> = Promise.resolve();
  const gather: Room['gather'] = (update, check, failed, told) => {
    gathered.push(update);
    timer ??= setTimeout(() => flush(), Math.max(0, written + GATHER_MS - performance.now()));
    flush = () => {
      clearTimeout(timer);
      timer = undefined;
      written = performance.now();
      const all = gathered;
      gathered = [];
      if (all.length === 0) return;
      try {
        last = write(all.length === 1 ? all[0]! : Y.mergeUpdates(all), { check, told }).catch(failed);
      } catch {
        failed(new IngleError('invalid_request', 'The document update cannot be read.'));
      }
    };
  };
  return {
    gather,
    /** Settles when it is written, or its fault was told. */
    async flush() {
      flush();
      await last;
    },
    isIdle: () => gathered.length === 0,
    stop: () => clearTimeout(timer),
  };
}

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
  const members = openMembers();
  const presence = openPresence<Member>();
  /** Members that have answered step 1: nothing of theirs is lacking from then on. */
  const answered = new WeakSet<Member>();
  const draft = openDraft(stored, maxBytes, { reload, compile });
  let settling = 0;
  const line = new Line(draft, commit, (update, author, planted) => {
    members.show(encodeUpdate(update), author);
    // Others have view and tree at once; who wrote the view alone lacks its tree.
    if (planted && author && members.all.has(author)) author.send(encodeUpdate(planted));
  });
  const write: Room['write'] = (change, options) => line.write(change, options);
  const gathered = gathering(write);

  /** Takes a refused change back where it came from. */
  async function undo(member: Member, change: Uint8Array): Promise<void> {
    await new Promise<void>((resolve) => line.greet(resolve));
    const update = undoing(draft.doc, change);
    if (update && members.all.has(member)) member.send(encodeUpdate(update));
  }

  /** Takes back what a member may not write, and tells it so. */
  async function refuse(member: Member, change: Uint8Array): Promise<void> {
    if (stage(draft.doc, change, Number.POSITIVE_INFINITY).update === null) return;
    const e = new IngleError('forbidden', 'This document may only be read.');
    member.send(encodeDenied(e.message));
    await undo(member, change);
    throw e;
  }

  /** A member's update: written where it may write, else taken back. */
  function update(
    member: Member,
    m: { update: Uint8Array; answer: boolean },
    also: WriteOptions['also'],
  ): Promise<void> {
    if (!member.canWrite) return refuse(member, m.update);
    if (m.answer) answered.add(member);
    const isWhole = answered.has(member);
    const refused = async (e: unknown) => {
      // Written while the member was away and sent before it heard step 1: its answer to that has it all.
      if (e instanceof GapError && !isWhole) return;
      if (e instanceof IngleError && e.status < 500) await undo(member, m.update);
      throw e;
    };
    return line.write(m.update, { from: member, also, refused });
  }

  /** What a member asks or says of itself. */
  async function hear(member: Member, m: Exclude<ClientMessage, { type: 'update' }>): Promise<void> {
    if (m.type === 'step1')
      await new Promise<void>((resolve, reject) =>
        line.greet(() => {
          try {
            member.send(encodeStep2(missing(draft.doc, m.stateVector)));
            resolve();
          } catch (e) {
            reject(e);
          }
        }),
      );
    else if (m.type === 'query-awareness') {
      const here = presence.all();
      if (here) member.send(encodeAwareness(here));
    } else {
      const news = presence.hear(member, member.who ?? '', m.update);
      // The sender hears itself too: y-websocket takes silence for a dead line.
      if (news) members.show(encodeAwareness(news));
    }
  }

  const rest: Omit<Room, 'doc'> = {
    key,
    members: members.all,
    write,
    gather: gathered.gather,
    async flush() {
      await gathered.flush();
      await line.idle();
    },
    join(member) {
      members.join(member);
      line.greet(() => {
        // Whoever may not write is not asked what it has.
        if (member.canWrite) member.send(encodeStep1(Y.encodeStateVector(draft.doc)));
        const here = presence.all();
        if (here) member.send(encodeAwareness(here));
      });
    },
    leave(member) {
      members.leave(member);
      const gone = presence.leave(member);
      if (gone) members.show(encodeAwareness(gone));
    },
    receive(member, bytes, also) {
      try {
        const m = decodeMessage(bytes);
        return m.type === 'update' ? update(member, m, also) : hear(member, m);
      } catch (e) {
        return Promise.reject(e);
      }
    },
    async settle() {
      settling++;
      try {
        await new Promise<void>((resolve, reject) =>
          line.greet(() => {
            try {
              commit(null, draft).then(resolve, reject);
            } catch (e) {
              reject(e);
            }
          }),
        );
      } finally {
        settling--;
      }
    },
    idle: () => members.all.size === 0 && line.isIdle() && gathered.isIdle() && settling === 0,
    close() {
      gathered.stop();
      draft.doc.destroy();
    },
  };
  return Object.assign(new OfDraft(draft), rest);
}

/** Whose document is the draft's, which may be another one later; a class for the same reason as the draft's (D184). */
class OfDraft {
  readonly #draft: Draft;
  constructor(draft: Draft) {
    this.#draft = draft;
  }
  get doc(): Y.Doc {
    return this.#draft.doc;
  }
}

function missing(doc: Y.Doc, stateVector: Uint8Array): Uint8Array {
  try {
    return Y.encodeStateAsUpdate(doc, stateVector);
  } catch {
    throw new IngleError('invalid_request', 'The state vector cannot be read.');
  }
}
