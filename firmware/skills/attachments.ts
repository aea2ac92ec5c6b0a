// The owners a running skill is attached to: each side has what the other had, and only then what is new is stored.
import * as Y from 'yjs';
import type { Library } from '../documents/library.ts';
import type { Problem } from '../ui/tree.ts';
import { contentCheck, documentKey, documents } from './documents.ts';

export interface Document {
  doc: string;
  update: Uint8Array;
}

export interface AttachmentOptions {
  id: string;
  library: Library;
  /** Gives the skill what is stored for an owner and how many look at it, and takes what it has beyond that. */
  attach(body: { owner_id: string; documents: Document[] }): Promise<{ documents: Document[] }>;
  /** Stores an update of the skill soon. */
  gather(owner_id: string, doc: string, update: Uint8Array): void;
  /** Tells the skill what is wrong with a view. */
  tell(owner_id: string, doc: string, problems: readonly Problem[], isRefused: boolean): void;
}

export function attachments(o: AttachmentOptions) {
  const { id, library } = o;
  const attached = new Set<string>();
  /** By owner that is being attached: what the skill sends meanwhile builds on what is still to be stored. */
  const early = new Map<string, Document[]>();

  async function exchange(owner_id: string): Promise<void> {
    const rooms = await Promise.all(documents.map((doc) => library.open(documentKey(owner_id, id, doc))));
    await Promise.all(rooms.map((r) => r.flush()));
    const given = rooms.map((r, i) => ({ doc: documents[i]!, update: Y.encodeStateAsUpdate(r.doc) }));
    const lacked = (await o.attach({ owner_id, documents: given })).documents;
    await Promise.all(
      lacked.map(({ doc, update }) =>
        rooms[documents.indexOf(doc)]?.write(update, {
          check: contentCheck(doc),
          told: (problems) => o.tell(owner_id, doc, problems, false),
        }),
      ),
    );
  }

  return {
    has: (owner_id: string) => attached.has(owner_id),
    /** Whether all that the skill has sent for an owner is in the rooms. */
    isSettled: (owner_id: string) => attached.has(owner_id) && !early.has(owner_id),
    /** The skill is unheard: what it sends next would build on what did not come, so each owner is attached anew. */
    lapse(): void {
      attached.clear();
      early.clear();
    },
    /** Whether the skill's updates for an owner are taken. */
    takes: (owner_id: string) => attached.has(owner_id) || early.has(owner_id),
    take(owner_id: string, doc: string, update: Uint8Array): void {
      const waits = early.get(owner_id);
      if (waits) waits.push({ doc, update });
      else o.gather(owner_id, doc, update);
    },
    async attach(owner_id: string): Promise<void> {
      const waits: Document[] = [];
      early.set(owner_id, waits);
      const isMine = () => early.get(owner_id) === waits;
      try {
        await exchange(owner_id);
        // Another attachment, or the owner's end, has come meanwhile.
        if (!isMine()) return;
        attached.add(owner_id);
        for (const { doc, update } of waits) o.gather(owner_id, doc, update);
      } finally {
        if (isMine()) early.delete(owner_id);
      }
    },
    end(owner_id: string): void {
      attached.delete(owner_id);
      early.delete(owner_id);
    },
  };
}
