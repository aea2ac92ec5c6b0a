// Webhooks from outside: who may send, each message taken once, and the topic it goes out on.

import { random, toBase64url } from '../protocol/bytes.ts';
import { IngleError } from '../protocol/errors.ts';
import { openQueue } from '../protocol/queue.ts';
import type { Log } from '../system/log.ts';
import type { Store } from '../system/store.ts';
import type { Vault } from '../system/vault.ts';
import { type Known, openDoor } from './door.ts';
import { hookRecords } from './records.ts';
import { readSigned, type Signed, secretText } from './signature.ts';

export interface Hook {
  id: string;
  name: string;
  topic: string;
  /** Unix seconds. */
  made_at: number;
  used_at: number | null;
  refused: Known['refused'];
}

export interface Hooks {
  /** @throws IngleError `conflict` when there are too many */
  add(name: string, topic: string): Promise<Hook & { secret: string }>;
  list(): Promise<Hook[]>;
  /** @throws IngleError `not_found` */
  remove(id: string): Promise<void>;
  /** A new secret; the one before counts for nothing from then on. @throws IngleError `not_found` */
  rotate(id: string): Promise<{ secret: string }>;
  /**
   * Takes a message: when this settles it was published, now or before.
   * @throws IngleError `invalid_request` for headers or a body that are none, `unauthenticated`, `forbidden` for a time
   *   too far off, `conflict` for a message that was sent before, `rate_limited`
   */
  receive(id: string, headers: Readonly<Record<string, string>>, body: Uint8Array): Promise<void>;
}

const MAX_HOOKS = 32;

export async function openHooks(o: {
  store: Store;
  vault: Vault;
  log: Log;
  /** What publishes when it is called. @throws IngleError `invalid_request` for what the bus does not carry */
  publication(topic: string, payload: unknown): () => void;
  /** Settles when the bus has what was published. */
  flushed(): Promise<void>;
  /** Milliseconds. */
  now?: () => number;
}): Promise<Hooks> {
  const { vault } = o;
  const now = o.now ?? Date.now;
  const seconds = () => Math.floor(now() / 1000);
  const records = hookRecords(o.store);
  const known = new Map<string, Known>();
  const door = openDoor(known, now);
  const queue = openQueue();

  const row = (id: string) => `hook ${id}`;
  const learn = (id: string, topic: string, secret: Uint8Array | undefined) =>
    known.set(id, { topic, secret, bucket: door.bucket(), refused: null });
  for (const r of await records.all()) {
    const secret = vault.open(row(r.id), r.secret);
    if (!secret) o.log.error('the secret of a hook cannot be opened; rotate it', { hook: r.id });
    learn(r.id, r.topic, secret);
  }

  function mustKnow(id: string): Known {
    const hook = known.get(id);
    if (!hook) throw new IngleError('not_found', 'There is no such hook. GET /api/hooks lists them.');
    return hook;
  }

  async function deliver(id: string, m: Signed, body: Uint8Array): Promise<void> {
    // Once more: while this message waited the owner may have changed the secret.
    const hook = door.authenticate(id, m, body);
    const said = door.admit(hook, m, body);
    const publish = o.publication(hook.topic, { hook: id, id: m.id, body: said });
    const found = await records.accept(id, m, seconds(), () => door.mayTake(hook));
    if (found === 'rate')
      return door.refuse(
        hook,
        'rate',
        new IngleError('rate_limited', 'Too many messages; a hook takes one a second.', { retry_after: 1 }),
      );
    if (found === 'again') return;
    if (found !== 'new')
      return door.stranger(
        hook,
        found === 'late' ? 'time' : 'replay',
        new IngleError('conflict', 'This message, or a newer one, was taken already.'),
      );
    publish();
    await o.flushed();
    await records.published(id, m, seconds());
  }

  return {
    async add(name, topic) {
      if (known.size >= MAX_HOOKS)
        throw new IngleError('conflict', `A hub has at most ${MAX_HOOKS} hooks. Remove one first.`);
      const id = toBase64url(random(16));
      const secret = random(32);
      const made_at = seconds();
      learn(id, topic, secret);
      await records.add({ id, name, topic, made_at, secret: vault.seal(row(id), secret) }).catch((e) => {
        known.delete(id);
        throw e;
      });
      return { id, name, topic, made_at, used_at: null, refused: null, secret: secretText(secret) };
    },
    async list() {
      const rows = await records.all();
      return rows.map(({ id, name, topic, made_at, used_at }) => ({
        ...{ id, name, topic, made_at, used_at },
        refused: known.get(id)?.refused ?? null,
      }));
    },
    async remove(id) {
      mustKnow(id);
      await records.remove(id);
      known.delete(id);
    },
    async rotate(id) {
      const hook = mustKnow(id);
      const secret = random(32);
      await records.rotate(id, vault.seal(row(id), secret));
      hook.secret = secret;
      hook.refused = null;
      return { secret: secretText(secret) };
    },
    async receive(id, headers, body) {
      const signed = readSigned(headers);
      door.authenticate(id, signed, body);
      // One after the other: a message that comes twice at once is published once.
      return queue.add(() => deliver(id, signed, body));
    },
  };
}
