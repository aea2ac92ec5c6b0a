// What rooms have tried goes to the disk together: one write for all that came meanwhile.
import { openDeferred } from '../system/deferred.ts';
import type { Store } from '../system/store.ts';
import {
  type Append,
  decodeAppends,
  deleteDocument,
  encodeAppends,
  type Loaded,
  loadDocument,
  type Transaction,
  writeAppends,
  writeEncoded,
} from './archive.ts';

export interface Commits {
  /** Settles when it is on the disk. What comes first is written first. */
  append(a: Append): Promise<void>;
  /** The same together with something else to store, in a transaction of its own. */
  with(a: Append | null, also: (tx: Transaction) => Promise<void>): Promise<void>;
  /** Reads a document; one that is not there is empty. @throws where the tables lack something of it */
  load(key: string): Promise<Loaded>;
  remove(key: string): Promise<void>;
  close(): Promise<void>;
}

interface Waiting {
  append: Append;
  resolve: () => void;
  reject: (e: unknown) => void;
}

export function openCommits(store: Store): Commits {
  let waiting: Waiting[] = [];
  let isWriting = false;
  const deferred = openDeferred({ store, write: writeEncoded });

  /** Settles when the tables know all of a document. */
  const settle = (key: string) =>
    deferred.settle().catch((e) => {
      const lacking = deferred.lacking()?.flatMap(decodeAppends);
      if (!lacking || lacking.some((a) => a.key === key)) throw e;
    });

  async function run(): Promise<void> {
    // What else comes in this turn of the loop goes along.
    await new Promise((done) => setImmediate(done));
    while (waiting.length > 0) {
      const all = waiting;
      waiting = [];
      try {
        await deferred.add(encodeAppends(all.map((w) => w.append)));
        for (const w of all) w.resolve();
      } catch (e) {
        for (const w of all) w.reject(e);
      }
    }
    isWriting = false;
  }

  return {
    append: (append) =>
      new Promise<void>((resolve, reject) => {
        waiting.push({ append, resolve, reject });
        if (isWriting) return;
        isWriting = true;
        void run();
      }),
    with: (a, also) =>
      store.transaction(async (tx) => {
        await also(tx);
        if (a) await writeAppends(tx, [a]);
      }),
    async load(key) {
      await settle(key);
      return loadDocument(store, key);
    },
    async remove(key) {
      // What came later to the tables would bring it back.
      await settle(key);
      await store.transaction((tx) => deleteDocument(tx, key));
    },
    close: deferred.close,
  };
}
