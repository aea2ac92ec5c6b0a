// Runs what browsers wrote down, each id once: taken into the journal with the change, finished with its answer.

import { createHash } from 'node:crypto';
import { checked } from '../protocol/endpoint/check.ts';
import { IngleError, toIngleError } from '../protocol/errors.ts';
import type { Log } from '../system/log.ts';
import type { Store } from '../system/store.ts';
import { isToSkill, toSkill, uiTopics } from '../ui/topics.ts';
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
import type { Json, JsonObject } from './content.ts';
import { readContent } from './content.ts';
import {
  acceptId,
  beginId,
  findId,
  finishId,
  type JournalEntry,
  openIds,
  sameRequest,
  scopedId,
  trimJournal,
} from './journal.ts';
import { commandsSkill, parseKey } from './key.ts';
import type { Library } from './library.ts';
import { type Answer, answerOf, outcomeOf } from './outcome.ts';
import { isPassing, patience, queueOf } from './waiting.ts';

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

export interface Commands {
  /** What a change of a command document adds to its transaction, and what to do once it is stored. */
  accept(
    key: string,
    principal: Principal | null,
  ): {
    also: (tx: Transaction, content: JsonObject) => Promise<void>;
    stored: () => void;
  };
  /**
   * Does a request of a browser once by its id; the same request again gets the first answer. Rights are the caller's
   * to check, before.
   * @throws IngleError `conflict` when the browser used the id for another request; what `work` throws.
   */
  once(call: Call, work: (id: string) => Promise<Answer>): Promise<Answer>;
  /** Takes up what was not finished before a restart. */
  resume(): Promise<void>;
  /** Something that was missing is there: what waits tries again now. */
  wake(): void;
  sweep(): Promise<void>;
  /** Commands under way. */
  size(): number;
}

/** How long a command waits for a skill that does not run, milliseconds. */
const WAIT_MS = 5 * 60_000;
/** How long a finished command stays in its document, milliseconds. */
const SHOWN_MS = 10 * 60_000;
/** A command document of more bytes than this is begun anew when nobody looks. */
const RENEW_BYTES = 64 * 1024;
/** Commands of a skill that are under way at once; a skill remembers far more ids than that over a crash. */
const SLOTS = 8;

/** What makes two commands under one id the same: all but when they were written. */
const essence = (c: Command | null) => c && { skill_id: c.skill_id, action: c.action };

export function runCommands(o: {
  store: Store;
  library: Library;
  log: Log;
  dispatch: (call: Call) => Promise<Answer>;
  publish: (topic: string, payload: unknown) => void;
  event: (topic: string, payload: JsonObject) => void;
  /** There will be something to sweep at this time, milliseconds since 1970. */
  stirred?: (at: number) => void;
}): Commands {
  const { store, library, log } = o;
  const running = new Map<string, Promise<unknown>>();
  let performing = 0;
  const waits = patience(WAIT_MS);
  const slots = queueOf(SLOTS);
  const seconds = () => Math.floor(Date.now() / 1000);
  const name = (owner_id: string, id: string) => `${owner_id}/${id}`;

  function accept(key: string, principal: Principal | null) {
    const { owner_id } = parseKey(key);
    const start: JournalEntry[] = [];
    const answer: [string, Outcome][] = [];
    const remove: string[] = [];

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
      if (former?.document !== key && (await acceptId(tx, entry, seconds()))) {
        if (!failure) return void start.push({ ...entry, outcome: undefined });
        await finishId(tx, owner_id, entry.id, failure, seconds());
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
      async also(tx: Transaction, content: JsonObject) {
        const pending = pendingEntries(content);
        for (const [id, value] of pending.slice(0, MAX_PENDING)) {
          if (!isCommandId(id)) remove.push(id);
          else await take(tx, id, value);
        }
        const busy = new IngleError('rate_limited', 'Too many commands wait already.').body();
        for (const [id] of pending.slice(MAX_PENDING)) answer.push([id, { status: 'failed', error: busy }]);
      },
      stored() {
        for (const entry of start) run(entry);
        if (answer.length + remove.length > 0)
          show(key, answer, remove).catch((cause) => log.error('a command cannot be answered', { cause }));
      },
    };
  }

  /** Writes outcomes into the document, and `also` with them. */
  async function show(
    key: string,
    outcomes: [string, Outcome][],
    remove: string[],
    also?: (tx: Transaction) => Promise<void>,
  ): Promise<void> {
    const room = await library.open(key);
    await room.write(
      (doc) => {
        const content = doc.getMap<Json>('content');
        for (const id of remove) content.delete(id);
        for (const [id, outcome] of outcomes) {
          const now = content.get(id);
          if (now === undefined) continue;
          const entry = now !== null && typeof now === 'object' && !Array.isArray(now) ? now : { id };
          content.set(id, { ...entry, ...(outcome as unknown as JsonObject), finished_at: Date.now() });
        }
      },
      { also },
    );
  }

  function run(entry: JournalEntry): void {
    const key = name(entry.owner_id, entry.id);
    if (running.has(key)) return;
    const { id } = entry.command as Command;
    const work = perform(entry)
      .then(async (outcome) => {
        await show(entry.document, [[id, outcome]], [], (tx) =>
          finishId(tx, entry.owner_id, entry.id, outcome, seconds()),
        );
        o.event('commands.finished', { id, status: outcome.status });
        o.stirred?.(Date.now() + SHOWN_MS + 1000);
      })
      .catch((cause) => log.error('a command could not be finished', { id, cause }))
      .finally(() => {
        performing--;
        running.delete(key);
      });
    performing++;
    running.set(key, work);
  }

  async function perform(entry: JournalEntry): Promise<Outcome> {
    const command = entry.command as Command;
    let { action } = command;
    if (action.type === 'bus.publish')
      try {
        if (uiTopics[action.topic as keyof typeof uiTopics] && !isToSkill(action.topic))
          throw new IngleError('forbidden', `A client does not say "${action.topic}".`);
        if (isToSkill(action.topic)) checked(toSkill[action.topic].payload, action.payload);
        o.publish(action.topic, action.payload);
        if (!isToSkill(action.topic)) return { status: 'done', result: { status: 202, body: null } };
        const path = `/skills/${command.skill_id}/v1/${action.topic.replace('.', '/')}`;
        action = { type: 'http.post', path, body: action.payload as Record<string, unknown> };
      } catch (e) {
        return { status: 'failed', error: toIngleError(e).body() };
      }
    const body = action.type === 'http.post' ? JSON.stringify(action.body) : '';
    const call: Call = {
      id: entry.id,
      owner_id: entry.owner_id,
      principal: entry.principal,
      method: action.type === 'http.post' ? 'POST' : 'GET',
      path: action.path,
      body: new TextEncoder().encode(body),
    };
    const release = await slots(command.skill_id);
    const slow = setTimeout(() => markRunning(entry), 250);
    try {
      await beginId(store, entry.owner_id, entry.id);
      return outcomeOf(await waits.patiently(() => o.dispatch(call)));
    } catch (e) {
      return { status: 'failed', error: toIngleError(e).body() };
    } finally {
      clearTimeout(slow);
      release();
    }
  }

  function markRunning(entry: JournalEntry): void {
    const { id } = entry.command as Command;
    library
      .open(entry.document)
      .then((room) =>
        room.write((doc) => {
          const content = doc.getMap<Json>('content');
          const now = content.get(id) as JsonObject | undefined;
          if (now?.['status'] === 'pending') content.set(id, { ...now, status: 'running' });
        }),
      )
      .catch((cause) => log.debug('a command cannot be shown as running', { cause }));
  }

  async function once(call: Call, work: (id: string) => Promise<Answer>): Promise<Answer> {
    const { owner_id, principal, method, path, body } = call;
    const id = scopedId(`http ${principal?.browser ?? 'local'}`, call.id);
    const key = name(owner_id, id);
    const before = running.get(key) as Promise<Answer | undefined> | undefined;
    if (before) await before.catch(() => {});
    const digest = createHash('sha256').update(body).digest('base64url');
    const entry = { owner_id, id, document: '', principal, command: { method, path, digest } };
    const fresh = await store.transaction((tx) => acceptId(tx, entry, seconds()));
    const found = fresh ? undefined : await findId(store, owner_id, id);
    if (found) sameRequest(found.command, entry.command);
    if (found?.outcome) return answerOf(found.outcome);
    if (running.has(key)) return once(call, work);
    const result = (async () => {
      try {
        const response = await work(id);
        await finishId(store, owner_id, id, outcomeOf(response), seconds());
        return response;
      } catch (e) {
        const error = toIngleError(e);
        // What may yet succeed stays open under its id.
        if (!isPassing(error))
          await finishId(store, owner_id, id, { status: 'failed', error: error.body() }, seconds());
        throw error;
      }
    })().finally(() => running.delete(key));
    running.set(key, result);
    return result;
  }

  return {
    accept,
    once,
    async resume() {
      for (const entry of await openIds(store)) if (entry.document !== '' && entry.command) run(entry);
    },
    wake: waits.wake,
    size: () => performing,
    async sweep() {
      await trimJournal(store, seconds());
      for (const room of [...library.rooms()]) {
        if (parseKey(room.key).skill_id !== commandsSkill) continue;
        const content = readContent(room.doc);
        const before = Date.now() - SHOWN_MS;
        const old = Object.entries(content).filter(
          ([, v]) => Number((v as JsonObject)['finished_at'] ?? Infinity) < before,
        );
        if (old.length > 0)
          await show(
            room.key,
            [],
            old.map(([id]) => id),
          );
        if (old.length === Object.keys(content).length && (await sizeOf(room.key)) > RENEW_BYTES)
          await library.remove(room.key);
      }
    },
  };

  async function sizeOf(key: string): Promise<number> {
    const row = await store.get<{ n: number | null }>(
      'SELECT sum(length(data)) AS n FROM doc_updates WHERE key = ?',
      key,
    );
    return row?.n ?? 0;
  }
}
