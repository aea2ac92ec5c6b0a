// Runs what browsers wrote down, each id once: taken into the journal with the change, finished with its answer.

import { checked } from '../protocol/endpoint/check.ts';
import { IngleError, toIngleError } from '../protocol/errors.ts';
import type { Log } from '../system/log.ts';
import type { Store } from '../system/store.ts';
import { isToSkill, toSkill, uiTopics } from '../ui/topics.ts';
import type { Principal } from './acl.ts';
import type { Transaction } from './archive.ts';
import type { Command, CommandAction, Outcome } from './command.ts';
import { commandDocuments, SHOWN_MS } from './command-document.ts';
import { beginId, finishId, type JournalEntry, openIds, trimJournal } from './command-journal.ts';
import type { JsonObject } from './content.ts';
import { takeIn } from './intake.ts';
import type { Library } from './library.ts';
import { type Call, openOnce } from './once.ts';
import { type Answer, outcomeOf } from './outcome.ts';
import { patience, queueOf } from './waiting.ts';

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
/** A command that takes longer is shown as running, milliseconds. */
const SLOW_MS = 250;
/** Commands of a skill that are under way at once; a skill remembers far more ids than that over a crash. */
const SLOTS = 8;

type Publish = (topic: string, payload: unknown) => void;
type Request = Exclude<CommandAction, { type: 'bus.publish' }>;

/**
 * The request a command asks for. What it has to say on the bus is said.
 * @returns undefined where that was all
 * @throws IngleError `forbidden`, `invalid_request` for what a client does not say
 */
function requestOf({ skill_id, action }: Command, publish: Publish): Request | undefined {
  if (action.type !== 'bus.publish') return action;
  const { topic, payload } = action;
  if (uiTopics[topic as keyof typeof uiTopics] && !isToSkill(topic))
    throw new IngleError('forbidden', `A client does not say "${topic}".`);
  if (isToSkill(topic)) checked(toSkill[topic].payload, payload);
  publish(topic, payload);
  if (!isToSkill(topic)) return undefined;
  const path = `/skills/${skill_id}/v1/${topic.replace('.', '/')}`;
  return { type: 'http.post', path, body: payload as Record<string, unknown> };
}

function callOf({ id, owner_id, principal }: JournalEntry, request: Request): Call {
  const isPost = request.type === 'http.post';
  const body = new TextEncoder().encode(isPost ? JSON.stringify(request.body) : '');
  return { id, owner_id, principal, method: isPost ? 'POST' : 'GET', path: request.path, body };
}

export function runCommands(o: {
  store: Store;
  library: Library;
  log: Log;
  dispatch: (call: Call) => Promise<Answer>;
  publish: Publish;
  event: (topic: string, payload: JsonObject) => void;
  /** There will be something to sweep at this time, milliseconds since 1970. */
  stirred?: (at: number) => void;
}): Commands {
  const { store, log } = o;
  const running = new Map<string, Promise<unknown>>();
  const waits = patience(WAIT_MS);
  const slots = queueOf(SLOTS);
  const documents = commandDocuments(o);
  const seconds = () => Math.floor(Date.now() / 1000);

  function run(entry: JournalEntry): void {
    const key = `${entry.owner_id}/${entry.id}`;
    if (running.has(key)) return;
    const { id } = entry.command as Command;
    const work = perform(entry)
      .then(async (outcome) => {
        await documents.show(entry.document, [[id, outcome]], [], (tx) =>
          finishId(tx, entry.owner_id, entry.id, outcome, seconds()),
        );
        o.event('commands.finished', { id, status: outcome.status });
        o.stirred?.(Date.now() + SHOWN_MS + 1000);
      })
      .catch((cause) => log.error('a command could not be finished', { id, cause }))
      .finally(() => running.delete(key));
    running.set(key, work);
  }

  async function perform(entry: JournalEntry): Promise<Outcome> {
    const command = entry.command as Command;
    try {
      const request = requestOf(command, o.publish);
      if (!request) return { status: 'done', result: { status: 202, body: null } };
      return await ask(entry, command, callOf(entry, request));
    } catch (e) {
      return { status: 'failed', error: toIngleError(e).body() };
    }
  }

  async function ask(entry: JournalEntry, { id, skill_id }: Command, call: Call): Promise<Outcome> {
    const release = await slots(skill_id);
    const slow = setTimeout(() => documents.running(entry.document, id), SLOW_MS);
    try {
      await beginId(store, entry.owner_id, entry.id);
      return outcomeOf(await waits.patiently(() => o.dispatch(call)));
    } finally {
      clearTimeout(slow);
      release();
    }
  }

  return {
    accept(key, principal) {
      const { also, taken } = takeIn(key, principal, seconds);
      return {
        also,
        stored() {
          const { start, answer, remove } = taken;
          for (const entry of start) run(entry);
          if (answer.length + remove.length > 0)
            documents
              .show(key, answer, remove)
              .catch((cause) => log.error('a command cannot be answered', { cause }));
        },
      };
    },
    once: openOnce(store, seconds),
    async resume() {
      for (const entry of await openIds(store)) if (entry.document !== '' && entry.command) run(entry);
    },
    wake: waits.wake,
    size: () => running.size,
    async sweep() {
      await trimJournal(store, seconds());
      await documents.sweep();
    },
  };
}
