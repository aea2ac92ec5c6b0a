// The receiving side of the outbox: an id is worked once, and a repeated id gets the first answer.
import { IngleError } from '../errors.ts';

export interface JournalEntry {
  id: string;
  /** Hash of the request: the same id with another request is a conflict. */
  digest: string;
  /** JSON of the answer. */
  answer: string;
}

/** What the hub implements: `T` is what work does its writes with. Work and entry are durable together, or neither. */
export interface JournalStore<T> {
  transaction<R>(
    work: (t: {
      get(id: string): Promise<JournalEntry | undefined>;
      put(entry: JournalEntry): Promise<void>;
      tx: T;
    }) => Promise<R>,
  ): Promise<R>;
}

/**
 * Does `work` once for `id`, whatever is lost or repeated around it.
 * @throws IngleError `conflict` when the id was used for another request; what `work` throws (nothing is then kept).
 */
export function once<T, R>(
  store: JournalStore<T>,
  request: { id: string; digest: string },
  work: (tx: T) => Promise<R>,
): Promise<R> {
  return store.transaction(async (t) => {
    const before = await t.get(request.id);
    if (before) {
      if (before.digest !== request.digest)
        throw new IngleError('conflict', 'This change id was used for another change.');
      return JSON.parse(before.answer) as R;
    }
    const answer = await work(t.tx);
    await t.put({ ...request, answer: JSON.stringify(answer ?? null) });
    return answer;
  });
}
