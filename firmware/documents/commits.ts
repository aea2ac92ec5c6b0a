// What rooms have tried goes to the disk together: one transaction for all that came meanwhile.
import type { Store } from '../system/store.ts';
import { type Append, append, type Transaction } from './archive.ts';

export type Commits = (a: Append | null, also?: (tx: Transaction) => Promise<void>) => Promise<void>;

interface Waiting {
  append: Append;
  resolve: () => void;
  reject: (e: unknown) => void;
}

/** Each document has one commit at a time. What has something else to store beside it has a transaction of its own. */
export function openCommits(store: Pick<Store, 'transaction'>): Commits {
  let waiting: Waiting[] = [];
  let isWriting = false;

  const write = (some: readonly Waiting[]) =>
    store.transaction((tx) =>
      append(
        tx,
        some.map((w) => w.append),
      ),
    );

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
        if (a) await append(tx, [a]);
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
