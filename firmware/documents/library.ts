// All documents of the hub: rooms on demand, the index beside them, and the sweep of what has lived its time.
import type * as Y from 'yjs';
import type { Log } from '../system/log.ts';
import type { Store } from '../system/store.ts';
import { compile } from '../ui/compile.ts';
import { isAclEntry, isPersonal, skillAcl } from './acl.ts';
import { appendUpdate, deleteDocument, expiredDocuments, type IndexRow, loadDocument } from './archive.ts';
import { readMeta, treeKey } from './content.ts';
import { parseDuration } from './duration.ts';
import { commandsSkill, type DocumentKey, parseKey } from './key.ts';
import { makeRoom, type Room } from './room.ts';
import type { Signer } from './sign.ts';
import { MAX_OWNER_DOCUMENT, MAX_SKILL_DOCUMENT } from './staging.ts';

export interface Library {
  /** The room of a canonical key, loaded when it is not open. */
  open(key: string): Promise<Room>;
  /** The room, when it is open. */
  peek(key: string): Room | undefined;
  rooms(): Iterable<Room>;
  /** Access list of a document: what its index says, else what one of its kind begins with. */
  acl(key: DocumentKey, index: IndexRow | undefined): string[];
  /** Deletes a document nobody looks at. @returns false when somebody does. */
  remove(key: string): Promise<boolean>;
  /** Closes rooms nobody needs and deletes documents past their time. @returns the deleted keys. */
  sweep(): Promise<string[]>;
  /** All is on disk afterwards. */
  close(): Promise<void>;
}

/** How long commands and other device branches are kept without a change, seconds. */
const DEVICE_TTL = 90 * 86_400;

/** Whether a skill writes the document; else a browser does, or the hub. */
export function isSkillDocument(key: DocumentKey): boolean {
  return key.skill_id !== commandsSkill && !isPersonal(key);
}

/** What a document is written in, as its index says: a view's front end, which its tree names. */
function schemaOf(doc: Y.Doc): string {
  const from = Object(doc.getMap('content').get(treeKey))['from'] as unknown;
  return typeof from === 'string' ? from : 'ui/v0';
}

export function openLibrary(o: {
  store: Store;
  signer: Signer;
  log: Log;
  /** A room that must stay open though nobody looks. */
  needed: (key: string) => boolean;
  changed?: (key: string) => void;
}): Library {
  const { store, signer } = o;
  const open = new Map<string, Promise<Room>>();
  const ready = new Map<string, Room>();
  const now = () => Math.floor(Date.now() / 1000);

  function acl(key: DocumentKey, index: IndexRow | undefined): string[] {
    if (index) return JSON.parse(index.acl) as string[];
    return isSkillDocument(key) ? skillAcl(key.skill_id) : ['OWNER:read'];
  }

  /** Seconds until a time, where there is one: a document that is written again ends no later. */
  const left = (until: unknown) =>
    typeof until === 'number' ? Math.max(1, Math.floor(until) - now()) : undefined;

  function about(key: DocumentKey, next: Y.Doc) {
    const skill = isSkillDocument(key);
    const meta = skill ? readMeta(next) : {};
    const extra = Array.isArray(meta['acl'])
      ? meta['acl'].filter(isAclEntry).filter((a) => a.startsWith('ROLE:'))
      : [];
    return {
      acl: [...acl(key, undefined), ...extra.slice(0, 8)],
      schema: key.doc_type === 'view' ? schemaOf(next) : 'ui/v0',
      ttl_sec: skill ? (left(meta['until']) ?? parseDuration(meta['ttl']) ?? 0) : DEVICE_TTL,
      now: now(),
    };
  }

  async function load(text: string): Promise<Room> {
    const key = parseKey(text);
    const at = await loadDocument(store, text);
    let { rows, next: n } = at;
    let rev = at.index?.rev ?? 0;
    const room = makeRoom(
      text,
      at.doc,
      isSkillDocument(key) ? MAX_SKILL_DOCUMENT : MAX_OWNER_DOCUMENT,
      async (update, next, also) => {
        const stored = await store.transaction(async (tx) => {
          await also(tx);
          return update
            ? appendUpdate(tx, { key: text, next: n, rows, rev }, update, next, about(key, next), signer)
            : undefined;
        });
        if (!stored) return;
        n++;
        rows = stored.rows;
        rev = stored.index.rev;
      },
      () => o.changed?.(text),
      key.doc_type === 'view' ? compile : undefined,
    );
    // A view that was stored without its tree, or with that of an older compiler, gets today's.
    if (key.doc_type === 'view' && at.index)
      await room
        .write(() => {})
        .catch((cause) => o.log.warn('a view is shown as it was compiled before', { key: text, cause }));
    ready.set(text, room);
    return room;
  }

  function unload(text: string): boolean {
    const room = ready.get(text);
    if (room && !room.idle()) return false;
    if (!room && open.has(text)) return false;
    ready.delete(text);
    open.delete(text);
    room?.close();
    return true;
  }

  const library: Library = {
    acl,
    peek: (key) => ready.get(key),
    rooms: () => ready.values(),
    open(text) {
      let room = open.get(text);
      if (!room) {
        room = load(text);
        open.set(text, room);
        room.catch(() => open.delete(text));
      }
      return room;
    },
    async remove(text) {
      if (!unload(text)) return false;
      await store.transaction((tx) => deleteDocument(tx, text));
      return true;
    },
    async sweep() {
      const gone: string[] = [];
      for (const key of await expiredDocuments(store, now()))
        if (!o.needed(key) && (await library.remove(key))) gone.push(key);
      for (const key of [...ready.keys()]) if (!o.needed(key)) unload(key);
      if (gone.length > 0) o.log.info('documents past their time are gone', { count: gone.length });
      return gone;
    },
    async close() {
      for (const room of [...ready.values()]) {
        await room.flush();
        room.close();
      }
    },
  };
  return library;
}
