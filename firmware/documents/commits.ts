// What rooms have tried goes to the disk together: one write for all that came meanwhile.
import { IngleError } from '../protocol/errors.ts';
import { openDeferred } from '../system/deferred.ts';
import type { Log } from '../system/log.ts';
import type { Store } from '../system/store.ts';
import {
  type Append,
  decodeAppends,
  deleteDocument,
  encodeAppends,
  isAppends,
  type Loaded,
  loadDocument,
  type Transaction,
  writeAppends,
} from './archive.ts';

export interface Commits {
  /** Settles when it is on the disk. What comes first is written first. */
  append(a: Append): Promise<void>;
  /** The same together with something else to store, in a transaction of its own. */
  with(a: Append | null, also: (tx: Transaction) => Promise<void>): Promise<void>;
  /** Reads a document, what waits for the tables included; one that is not there is empty. */
  load(key: string): Promise<Loaded>;
  remove(key: string): Promise<void>;
  close(): Promise<void>;
}

interface Waiting {
  append: Append;
  resolve: () => void;
  reject: (e: unknown) => void;
}

export function openCommits(store: Store, log?: Pick<Log, 'warn'>): Commits {
  let waiting: Waiting[] = [];
  let isWriting = false;
  const deferred = openDeferred({
    ...{ store, write: writeAppends, isKnown: isAppends },
    setAside: (file, count) => log?.warn('updates that another build logged cannot be read', { file, count }),
  });

  /** Puts all into the tables. @returns what they lack of a document nonetheless. @throws where nobody knows that */
  async function lacking(key: string): Promise<Append[]> {
    try {
      await deferred.settle();
      return [];
    } catch (e) {
      const left = deferred.lacking();
      if (!left) throw e;
      return left.flatMap(decodeAppends).filter((a) => a.key === key);
    }
  }

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
        if (a) await writeAppends(tx, [encodeAppends([a])]);
      }),
    async load(key) {
      const left = await lacking(key);
      return loadDocument(store, key, left);
    },
    async remove(key) {
      // What comes to the tables later would bring it back.
      if ((await lacking(key)).length > 0)
        throw new IngleError('unavailable', 'The hub cannot write to its disk at the moment.');
      await store.transaction((tx) => deleteDocument(tx, key));
    },
    close: deferred.close,
  };
}
