// The owner's changes on their way to the hub: kept until the hub says done, sent in order, each once (D1).
import { random, toBase64url } from '../bytes.ts';
import { type ErrorCode, type IngleError, toIngleError } from '../errors.ts';
import { openQueue } from '../queue.ts';

/** A change. Plaintext: it never leaves the browser but through the channel. */
export interface Op {
  /** `o` and 128 random bits, base64url: the hub's journal knows it by this. The hub takes no leading `-` or `_` (D34). */
  id: string;
  /** Order of sending. */
  seq: number;
  method: string;
  path: string;
  body: unknown;
  /** Milliseconds since the epoch. */
  created: number;
}

/** Where ops live between page loads (IndexedDB in the SPA). Each call settles when it is durable. */
export interface OutboxStorage {
  load(): Promise<Op[]>;
  put(op: Op): Promise<void>;
  remove(id: string): Promise<void>;
}

export interface Outbox {
  /** Settles when the op is stored: from then on it is not lost. `done` settles with the hub's answer or the final error. */
  enqueue(op: Pick<Op, 'method' | 'path' | 'body'>): Promise<{ id: string; done: Promise<unknown> }>;
  /** Connected (again): send what waits. Also called after each enqueue while online. */
  online(): void;
  offline(): void;
  /** How a change that waits ends, also one of an earlier page: as `done` of `enqueue`. */
  outcome(id: string): Promise<unknown>;
  /** What waits, oldest first. */
  readonly pending: readonly Op[];
  /** Stops timers; what waits stays stored. */
  close(): void;
}

export interface OutboxOptions {
  storage: OutboxStorage;
  /** Sends one op with its id (`Idempotency-Key`); resolves to the hub's answer once the hub says done. @throws IngleError */
  send(op: Op): Promise<unknown>;
  /** An op was refused for good and left the outbox. */
  onFailed?: (op: Op, error: IngleError) => void;
  /** The number of waiting ops changed. */
  onChange?: (pending: number) => void;
  /** First pause before a retry, milliseconds; doubles to 30 s. */
  backoff?: number;
}

/** Errors after which the same op may still succeed. */
const passing: readonly ErrorCode[] = [
  'unavailable',
  'hub_offline',
  'timeout',
  'rate_limited',
  'unauthenticated',
  'assertion_required',
];
/** A hub that fails inside gets this many tries with one op, so that it cannot block those behind it for ever. */
const INTERNAL_TRIES = 5;
const BACKOFF_MAX = 30_000;

/** Opens the outbox with what an earlier page left. */
export async function openOutbox(o: OutboxOptions): Promise<Outbox> {
  const pending = (await o.storage.load()).sort((a, b) => a.seq - b.seq);
  type Waiter = { done: Promise<unknown>; resolve(answer: unknown): void; reject(e: IngleError): void };
  const waiters = new Map<string, Waiter>();
  function wait(id: string): Promise<unknown> {
    const known = waiters.get(id);
    if (known) return known.done;
    let settle: Omit<Waiter, 'done'>;
    const done = new Promise<unknown>((resolve, reject) => {
      settle = { resolve, reject };
    });
    done.catch(() => {});
    waiters.set(id, { done, ...settle! });
    return done;
  }
  let seq = pending.at(-1)?.seq ?? 0;
  let isOnline = false;
  let flushing = false;
  let closed = false;
  let failures = 0;
  let internals = 0;
  const storing = openQueue();
  let timer: ReturnType<typeof setTimeout> | undefined;

  async function flush(): Promise<void> {
    if (flushing || !isOnline || closed) return;
    flushing = true;
    clearTimeout(timer);
    try {
      for (let op = pending[0]; op && isOnline && !closed; op = pending[0]) await deliver(op);
    } catch {
      const pause = Math.min(BACKOFF_MAX, (o.backoff ?? 500) * 2 ** (failures - 1));
      if (!closed) timer = setTimeout(flush, pause * (0.75 + Math.random() / 2));
    } finally {
      flushing = false;
    }
  }

  /** Settles when the op has left the outbox; a throw means try again later. */
  async function deliver(op: Op): Promise<void> {
    let settle: () => void;
    try {
      const answer = await o.send(op);
      settle = () => waiters.get(op.id)?.resolve(answer);
    } catch (cause) {
      failures++;
      const e = toIngleError(cause);
      if (passing.includes(e.code) || (e.code === 'internal' && ++internals < INTERNAL_TRIES)) throw e;
      settle = () => {
        o.onFailed?.(op, e);
        waiters.get(op.id)?.reject(e);
      };
    }
    await o.storage.remove(op.id);
    failures = internals = 0;
    pending.splice(pending.indexOf(op), 1);
    settle();
    waiters.delete(op.id);
    o.onChange?.(pending.length);
  }

  return {
    pending,
    outcome: wait,
    async enqueue(given) {
      const op: Op = { id: `o${toBase64url(random(16))}`, seq: ++seq, created: Date.now(), ...given };
      const done = wait(op.id);
      // One after the other: an op must not be sent before one that was asked for earlier is stored.
      try {
        await storing.add(() => o.storage.put(op));
      } catch (e) {
        waiters.delete(op.id);
        throw e;
      }
      pending.push(op);
      o.onChange?.(pending.length);
      void flush();
      return { id: op.id, done };
    },
    online() {
      isOnline = true;
      failures = 0;
      void flush();
    },
    offline() {
      isOnline = false;
      clearTimeout(timer);
    },
    close() {
      closed = true;
      clearTimeout(timer);
    },
  };
}
