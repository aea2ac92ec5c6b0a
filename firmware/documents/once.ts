// Requests that are done once by their id: the journal has the first answer for whoever asks again.
import { createHash } from 'node:crypto';
import { toIngleError } from '../protocol/errors.ts';
import type { Store } from '../system/store.ts';
import type { Principal } from './acl.ts';
import { acceptId, findId, finishId, sameRequest, scopedId } from './command-journal.ts';
import { type Answer, answerOf, outcomeOf } from './outcome.ts';
import { isPassing } from './waiting.ts';

/** One request of a principal, with the id it is done once under. */
export interface Call {
  id: string;
  owner_id: string;
  principal: Principal | null;
  method: string;
  /** With its query. */
  path: string;
  body: Uint8Array;
}

/** @param now Unix seconds */
export function openOnce(store: Store, now: () => number) {
  const running = new Map<string, Promise<Answer>>();

  return async function once(call: Call, work: (id: string) => Promise<Answer>): Promise<Answer> {
    const { owner_id, principal, method, path, body } = call;
    const id = scopedId(`http ${principal?.browser ?? 'local'}`, call.id);
    const key = `${owner_id}/${id}`;
    await running.get(key)?.catch(() => {});
    const digest = createHash('sha256').update(body).digest('base64url');
    const entry = { owner_id, id, document: '', principal, command: { method, path, digest } };
    const fresh = await store.transaction((tx) => acceptId(tx, entry, now()));
    const found = fresh ? undefined : await findId(store, owner_id, id);
    if (found) sameRequest(found.command, entry.command);
    if (found?.outcome) return answerOf(found.outcome);
    if (running.has(key)) return once(call, work);
    const result = (async () => {
      try {
        const response = await work(id);
        await finishId(store, owner_id, id, outcomeOf(response), now());
        return response;
      } catch (e) {
        const error = toIngleError(e);
        // What may yet succeed stays open under its id.
        if (!isPassing(error))
          await finishId(store, owner_id, id, { status: 'failed', error: error.body() }, now());
        throw error;
      }
    })().finally(() => running.delete(key));
    running.set(key, result);
    return result;
  };
}
