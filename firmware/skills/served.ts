// The owners a skill serves, each with its documents.
import * as Y from 'yjs';
import { isOwnerId } from '../documents/key.ts';
import { IngleError } from '../protocol/errors.ts';
import type { Answer } from './answer.ts';

export interface Served {
  documents: Map<string, Y.Doc>;
  viewers: number;
  /** What changes now is in an answer, and no update of its own. */
  answering: boolean;
  /** Answers under way or given, by idempotency id. */
  answers: Map<string, Promise<Answer>>;
}

/** Bytes of a Yjs update without anything: no structs, no deletions. */
const EMPTY = 2;
/** The documents a skill has; more come with branches. */
const names = ['view:main', 'state:main'];
export type ServedOwners = ReturnType<typeof servedOwners>;

/** @param update is told of each change of a document, in order */
export function servedOwners(update: (owner_id: string, doc: string, update: Uint8Array) => void) {
  const served = new Map<string, Served>();

  function serve(owner_id: string): Served {
    const known = served.get(owner_id);
    if (known) return known;
    if (!isOwnerId(owner_id)) throw new IngleError('invalid_request', 'That is no owner id.');
    const s: Served = { documents: new Map(), viewers: 0, answering: false, answers: new Map() };
    for (const name of names) {
      const doc = new Y.Doc();
      doc.on('update', (change: Uint8Array, origin: unknown) => {
        if (origin !== 'stored' && !s.answering) update(owner_id, name, change);
      });
      s.documents.set(name, doc);
    }
    served.set(owner_id, s);
    return s;
  }
  return {
    find: (owner_id: string): Served | undefined => served.get(owner_id),
    /** One of those served; from now on, where it was not. @throws IngleError `invalid_request` */
    serve,
    owners: (): string[] => [...served.keys()],
    /** How many look at its documents, of all owners. */
    viewers: (): number => [...served.values()].reduce((n, s) => n + s.viewers, 0),
    /** @throws IngleError `not_found` for an owner who is not served */
    document(owner_id: string, name: string): Y.Doc {
      const doc = served.get(owner_id)?.documents.get(name);
      if (!doc) throw new IngleError('not_found', `The skill does not serve ${owner_id}.`);
      return doc;
    },
  };
}

/** Takes what is stored of an owner's documents, by their names. @throws IngleError `invalid_request` */
export function takeStored({ documents }: Served, stored: ReadonlyMap<string, Uint8Array>): void {
  for (const [name, update] of stored) {
    const doc = documents.get(name);
    if (!doc) continue;
    try {
      Y.applyUpdate(doc, update, 'stored');
    } catch {
      throw new IngleError('invalid_request', `The stored ${name} cannot be read.`);
    }
  }
}

/** What is stored nowhere yet, by document. */
export function lackedBy({ documents }: Served, stored: ReadonlyMap<string, Uint8Array>) {
  const all = [...documents].map(([name, doc]) => {
    const given = stored.get(name);
    const vector = given ? Y.encodeStateVectorFromUpdate(given) : undefined;
    return { doc: name, update: Y.encodeStateAsUpdate(doc, vector) };
  });
  return all.filter(({ update }) => update.length > EMPTY);
}
