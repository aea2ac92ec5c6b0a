// What rooms have tried goes to the disk together: one statement for all that came meanwhile.
import type { Store } from '../system/store.ts';
import { type Append, appendSql, appendValues, appendView, type Transaction } from './archive.ts';

export type Commits = (a: Append | null, also?: (tx: Transaction) => Promise<void>) => Promise<void>;

interface Waiting {
  append: Append;
  resolve: () => void;
  reject: (e: unknown) => void;
}

/** What comes first is written first. What has something else to store beside it has a transaction of its own. */
export function openCommits(store: Pick<Store, 'run' | 'prepare' | 'transaction'>): Commits {
  let waiting: Waiting[] = [];
  let isWriting = false;
  const ready = Promise.all(appendView.map((sql) => store.run(sql)));
  // Told at each write.
  ready.catch(() => {});
  const append = store.prepare(appendSql);

  async function write(some: readonly Waiting[]): Promise<void> {
    await ready;
    await append(...appendValues(some.map((w) => w.append)));
  }

  async function run(): Promise<void> {
    // What else comes in this turn of the loop goes along.
    await new Promise((done) => setImmediate(done));
    while (waiting.length > 0) {
      const all = waiting;
      waiting = [];
      try {
        await write(all);
        for (const w of all) w.resolve();
      } catch {
        // One that cannot be stored takes nobody along.
        for (const w of all) await write([w]).then(w.resolve, w.reject);
      }
    }
    isWriting = false;
  }

  return async (a, also) => {
    if (also)
      return store.transaction(async (tx) => {
        await also(tx);
        if (a) await tx.run(appendSql, ...appendValues([a]));
      });
    if (!a) return;
    await new Promise<void>((resolve, reject) => {
      waiting.push({ append: a, resolve, reject });
      if (isWriting) return;
      isWriting = true;
      void run();
    });
  };
}
