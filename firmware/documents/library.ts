// All documents of the hub: rooms on demand, the index beside them, and the sweep of what has lived its time.
import type { Log } from '../system/log.ts';
import type { Store } from '../system/store.ts';
import { compile } from '../ui/compile.ts';
import { expiredDocuments, type IndexRow, type Loaded, unindexed } from './archive.ts';
import { openCommits } from './commits.ts';
import { etagOf, readContent } from './content.ts';
import { type DocumentKey, parseKey } from './key.ts';
import { makeRoom, type Room } from './room.ts';
import { aclOf, isSkillDocument, mayWait, openSaving } from './saving.ts';
import type { Signer } from './sign.ts';
import { MAX_OWNER_DOCUMENT, MAX_SKILL_DOCUMENT } from './staging.ts';

export interface Library {
  /** The room of a canonical key, loaded when it is not open. */
  open(key: string): Promise<Room>;
  /** The room, when it is open. */
  peek(key: string): Room | undefined;
  rooms(): Iterable<Room>;
  /** Access list of a document: what its index says, else what one of its kind begins with. */
  acl(key: DocumentKey, index: Pick<IndexRow, 'acl'> | undefined): string[];
  /** The same of a document that is open; undefined where it is not. */
  aclNow(key: string): readonly string[] | undefined;
  /** Brings the index up to date for documents whose key begins so: in between it may not know of the newest updates. */
  settle(prefix: string): Promise<void>;
  /** Somebody has left a room, or needs it no more. */
  left(): void;
  /** Deletes a document nobody looks at. @returns false when somebody does. */
  remove(key: string): Promise<boolean>;
  /** Closes rooms nobody needs and deletes documents past their time. @returns the deleted keys. */
  sweep(): Promise<string[]>;
  /** All is on disk afterwards. */
  close(): Promise<void>;
}

/** How long a room that nobody needs stays in memory, seconds. */
const IDLE_SEC = 30;
export function openLibrary(o: {
  store: Store;
  signer: Signer;
  log: Log;
  /** A room that must stay open though nobody looks. */
  needed: (key: string) => boolean;
  /** A document has another access list. */
  aclChanged?: (key: string) => void;
  /** Another state of a document is on the disk. */
  written?: (key: string) => void;
  /** There may be something to sweep at this time, milliseconds since 1970. */
  stirred?: (at: number) => void;
}): Library {
  const { store, signer } = o;
  const commits = openCommits(store, o.log);
  const lists = new Map<string, string[]>();
  const open = new Map<string, Promise<Room>>();
  const ready = new Map<string, Room>();
  const now = () => Math.floor(Date.now() / 1000);

  const stir = (seconds: number) => o.stirred?.(Date.now() + seconds * 1000);

  /** What the index is told of a document. */
  const said =
    (text: string) =>
    ({ acl, ttl_sec }: { acl: string[]; ttl_sec: number }): void => {
      if (ttl_sec > 0) stir(ttl_sec + 1);
      const before = lists.get(text);
      lists.set(text, acl);
      if (before?.join() !== acl.join()) o.aclChanged?.(text);
    };

  async function read(text: string): Promise<Loaded> {
    const at = await commits.load(text);
    if (at.isDamaged) o.log.warn('a stored document cannot be read whole', { document: text });
    return at;
  }

  async function load(text: string): Promise<Room> {
    const key = parseKey(text);
    const at = await read(text);
    lists.set(text, aclOf(key, at.index));
    const save = openSaving(text, at, {
      // Written out: it is read at each write (D126).
      commits,
      signer,
      now,
      indexed: said(text),
      written: () => o.written?.(text),
    });
    const room = makeRoom(
      text,
      at.doc,
      isSkillDocument(key) ? MAX_SKILL_DOCUMENT : MAX_OWNER_DOCUMENT,
      save,
      async () => (await read(text)).doc,
      key.doc_type === 'view' ? compile : undefined,
    );
    stir(IDLE_SEC);
    if (key.doc_type === 'view' && at.index) await renew(o, room, at.index);
    ready.set(text, room);
    return room;
  }

  function unload(text: string): boolean {
    const room = ready.get(text);
    if (room && !room.idle()) return false;
    if (!room && open.has(text)) return false;
    ready.delete(text);
    open.delete(text);
    lists.delete(text);
    room?.close();
    return true;
  }

  const library: Library = {
    acl: aclOf,
    aclNow: (key) => lists.get(key),
    peek: (key) => ready.get(key),
    rooms: () => ready.values(),
    left: () => stir(IDLE_SEC),
    open(text) {
      let room = open.get(text);
      if (!room) {
        room = load(text);
        open.set(text, room);
        room.catch(() => open.delete(text));
      }
      return room;
    },
    async settle(prefix) {
      const lagging = (await unindexed(store, prefix)).filter((key) => mayWait(parseKey(key)));
      const settling = lagging.map((key) =>
        library
          .open(key)
          .then((room) => room.settle())
          .catch((cause) => o.log.warn('the index lags behind a document', { document: key, cause })),
      );
      await Promise.all(settling);
    },
    async remove(text) {
      if (!unload(text)) return false;
      await commits.remove(text);
      return true;
    },
    async sweep() {
      const gone: string[] = [];
      await library.settle('');
      for (const key of await expiredDocuments(store, now()))
        if (!o.needed(key) && (await library.remove(key))) gone.push(key);
      for (const [key, room] of [...ready])
        if (!o.needed(key) && !unload(key) && room.members.size === 0) stir(IDLE_SEC);
      if (gone.length > 0) o.log.info('documents past their time are gone', { count: gone.length });
      return gone;
    },
    async close() {
      for (const room of [...ready.values()]) await room.flush();
      await library.settle('');
      for (const room of ready.values()) room.close();
      await commits.close();
    },
  };
  return library;
}

/** A view that was stored without its tree, or with that of an older compiler, gets today's. */
async function renew(o: { signer: Signer; log: Log }, room: Room, { signature }: IndexRow): Promise<void> {
  const { key } = room;
  // What somebody else wrote into the store gets no signature by the way.
  if (!o.signer.verify(key, etagOf(readContent(room.doc)), signature))
    return o.log.warn('a stored view does not bear the signature of this hub', { document: key });
  await room
    .write(() => {})
    .catch((cause) => o.log.warn('a view is shown as it was compiled before', { document: key, cause }));
}
