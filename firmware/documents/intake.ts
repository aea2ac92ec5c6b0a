// What browsers wrote into a command document, taken into the journal with the change: each id once.
import { IngleError, toIngleError } from '../protocol/errors.ts';
import type { Principal } from './acl.ts';
import type { Transaction } from './archive.ts';
import {
  type Command,
  checkCommand,
  isCommandId,
  MAX_PENDING,
  type Outcome,
  pendingEntries,
} from './command.ts';
import { acceptId, findId, finishId, type JournalEntry, sameRequest, scopedId } from './command-journal.ts';
import type { JsonObject } from './content.ts';
import { parseKey } from './key.ts';

/** What makes two commands under one id the same: all but when they were written. */
const essence = (c: Command | null) => c && { skill_id: c.skill_id, action: c.action };

/** What is to be done once a change is stored. */
export interface Taken {
  start: JournalEntry[];
  /** By the ids in the document. */
  answer: [string, Outcome][];
  remove: string[];
}

/** @param now Unix seconds @returns what a change adds to its transaction, and what that has taken */
export function takeIn(key: string, principal: Principal | null, now: () => number) {
  const { owner_id } = parseKey(key);
  const taken: Taken = { start: [], answer: [], remove: [] };
  const { start, answer, remove } = taken;

  async function take(tx: Transaction, id: string, value: unknown): Promise<void> {
    let command: Command | null = null;
    let failure: Outcome | undefined;
    try {
      command = checkCommand(id, value);
    } catch (e) {
      failure = { status: 'failed', error: toIngleError(e).body() };
    }
    // Builds before this one kept an id as it came; what they took in is not done again.
    const former = await findId(tx, owner_id, id);
    const entry = { owner_id, id: scopedId(key, id), document: key, principal, command };
    if (former?.document !== key && (await acceptId(tx, entry, now()))) {
      if (!failure) return void start.push({ ...entry, outcome: undefined });
      await finishId(tx, owner_id, entry.id, failure, now());
      return void answer.push([id, failure]);
    }
    const found = former?.document === key ? former : (await findId(tx, owner_id, entry.id))!;
    try {
      sameRequest(essence(found.command as Command | null), essence(command));
    } catch (e) {
      return void answer.push([id, { status: 'failed', error: toIngleError(e).body() }]);
    }
    if (found.outcome) answer.push([id, found.outcome]);
    else if (found.command) start.push(found);
  }

  return {
    taken,
    async also(tx: Transaction, content: JsonObject) {
      const pending = pendingEntries(content);
      for (const [id, value] of pending.slice(0, MAX_PENDING)) {
        if (!isCommandId(id)) remove.push(id);
        else await take(tx, id, value);
      }
      const busy = new IngleError('rate_limited', 'Too many commands wait already.').body();
      for (const [id] of pending.slice(MAX_PENDING)) answer.push([id, { status: 'failed', error: busy }]);
    },
  };
}
