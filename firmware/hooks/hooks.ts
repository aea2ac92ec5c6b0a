// Webhooks from outside: who may send, each message taken once, and the topic it goes out on.

import { type Bucket, openBucket, rate, take } from '../protocol/bucket.ts';
import { random, toBase64url } from '../protocol/bytes.ts';
import { IngleError, toIngleError } from '../protocol/errors.ts';
import { parseJson } from '../protocol/json.ts';
import { openQueue } from '../protocol/queue.ts';
import type { Log } from '../system/log.ts';
import type { Migration, Store } from '../system/store.ts';
import { holds, readSigned, type Signed, secretText, TOLERANCE_S } from './signature.ts';
import type { Vault } from './vault.ts';

export const hooksSchema: Migration[] = [
  {
    adds: `CREATE TABLE hooks (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, topic TEXT NOT NULL, secret BLOB NOT NULL, made_at INTEGER NOT NULL,
    used_at INTEGER, floor INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
CREATE TABLE hook_messages (
    hook TEXT NOT NULL REFERENCES hooks (id) ON DELETE CASCADE, id TEXT NOT NULL, at INTEGER NOT NULL,
    published INTEGER NOT NULL, PRIMARY KEY (hook, id)) WITHOUT ROWID`,
  },
];

/** Why a message was refused last. */
export type Refusal = 'signature' | 'secret_lost' | 'time' | 'replay' | 'rate' | 'body';

export interface Hook {
  id: string;
  name: string;
  topic: string;
  /** Unix seconds. */
  made_at: number;
  used_at: number | null;
  refused: { at: number; reason: Refusal } | null;
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
/** Messages of one hook whose ids are kept; beyond them the oldest go, and nothing as old is taken any more. */
const MAX_KEPT = 1024;
/** Messages of a hook at once, and a second. */
const mine = rate(60, 1);
/** Messages that are nobody's, of all hooks and of those that are not there. */
const wrong = rate(60, 5);

interface Row extends Record<string, unknown> {
  id: string;
  name: string;
  topic: string;
  secret: Uint8Array;
  made_at: number;
  used_at: number | null;
}

/** A hook in memory. */
interface Known {
  topic: string;
  /** Undefined where it cannot be opened any more. */
  secret: Uint8Array | undefined;
  bucket: Bucket;
  refused: Hook['refused'];
}

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
  const { store, vault } = o;
  const now = o.now ?? Date.now;
  const seconds = () => Math.floor(now() / 1000);
  const known = new Map<string, Known>();
  const strangers = openBucket(wrong, now());
  const queue = openQueue();
  /** Whose secret a message to no hook is held against, so that it takes the same time. */
  const nobody = random(32);

  const row = (id: string) => `hook ${id}`;
  const learn = (id: string, topic: string, secret: Uint8Array | undefined) =>
    known.set(id, { topic, secret, bucket: openBucket(mine, now()), refused: null });
  for (const r of await store.all<Row>('SELECT * FROM hooks')) {
    const secret = vault.open(row(r.id), r.secret);
    if (!secret) o.log.error('the secret of a hook cannot be opened; rotate it', { hook: r.id });
    learn(r.id, r.topic, secret);
  }

  function mustKnow(id: string): Known {
    const hook = known.get(id);
    if (!hook) throw new IngleError('not_found', 'There is no such hook. GET /api/hooks lists them.');
    return hook;
  }

  function refuse(hook: Known, reason: Refusal, e: IngleError): never {
    hook.refused = { at: seconds(), reason };
    throw e;
  }

  /** Counts what nobody's secret signed, or what came before; refuses in the same words whether there is a hook. */
  function stranger(hook: Known | undefined, reason: Refusal, error: IngleError): never {
    if (hook) hook.refused = { at: seconds(), reason };
    if (!take(strangers, wrong, now()))
      throw new IngleError('rate_limited', 'Too many messages that are not signed right.', {
        retry_after: 10,
      });
    throw error;
  }

  /** Who is let in is who has the secret; of a hook that is not there everything is wrong. */
  function authenticate(id: string, signed: Signed, body: Uint8Array): Known {
    const hook = known.get(id);
    const isRight = holds(hook?.secret ?? nobody, signed, body);
    if (hook?.secret && isRight) return hook;
    const error = new IngleError(
      'unauthenticated',
      'No signature of this message holds. Check the address and the secret.',
    );
    return stranger(hook, hook && !hook.secret ? 'secret_lost' : 'signature', error);
  }

  /** Keeps the id of a message. @returns what is known of it: nothing, or that it was published */
  function accept(
    id: string,
    m: Signed,
    bucket: Bucket,
  ): Promise<'new' | 'again' | 'replay' | 'late' | 'rate'> {
    return store.transaction(async (tx) => {
      const seen = await tx.get<{ at: number; published: number }>(
        'SELECT at, published FROM hook_messages WHERE hook = ? AND id = ?',
        id,
        m.id,
      );
      // The same time is the same bytes, which anybody may have kept; another one was signed by who has the secret.
      if (seen?.published) return seen.at === m.at ? 'replay' : 'again';
      if (seen) {
        await tx.run('UPDATE hook_messages SET at = ? WHERE hook = ? AND id = ?', m.at, id, m.id);
        return 'new';
      }
      const { floor } = (await tx.get<{ floor: number }>('SELECT floor FROM hooks WHERE id = ?', id)) ?? {
        floor: Infinity,
      };
      if (m.at <= floor) return 'late';
      // Only what is new counts: who sends again what others have sent takes nothing from them.
      if (!take(bucket, mine, now())) return 'rate';
      await forget(tx, id);
      await tx.run('INSERT INTO hook_messages (hook, id, at, published) VALUES (?, ?, ?, 0)', id, m.id, m.at);
      return 'new';
    });
  }

  /** Drops ids whose time is over, and raises the time up to which nothing is taken: no clock that is set back changes it. */
  async function forget(tx: Pick<Store, 'run' | 'get'>, id: string): Promise<void> {
    const oldest = seconds() - TOLERANCE_S;
    const excess = await tx.get<{ at: number }>(
      'SELECT at FROM hook_messages WHERE hook = ? ORDER BY at DESC LIMIT 1 OFFSET ?',
      id,
      MAX_KEPT - 1,
    );
    const upTo = Math.max(oldest - 1, excess?.at ?? 0);
    const top = await tx.get<{ at: number | null }>(
      'SELECT max(at) AS at FROM hook_messages WHERE hook = ? AND at <= ?',
      id,
      upTo,
    );
    if (top?.at == null) return;
    await tx.run('UPDATE hooks SET floor = max(floor, ?) WHERE id = ?', top.at, id);
    await tx.run('DELETE FROM hook_messages WHERE hook = ? AND at <= ?', id, upTo);
  }

  /** What a signed message says, or why it is not taken. */
  function admit(hook: Known, m: Signed, body: Uint8Array): unknown {
    if (Math.abs(seconds() - m.at) > TOLERANCE_S)
      return refuse(
        hook,
        'time',
        new IngleError(
          'forbidden',
          'The time of this message is more than 5 minutes off. Set the clock right and sign anew.',
        ),
      );
    try {
      return parseJson(body);
    } catch (e) {
      return refuse(hook, 'body', toIngleError(e));
    }
  }

  async function deliver(id: string, m: Signed, body: Uint8Array): Promise<void> {
    // Once more: while this message waited the owner may have changed the secret.
    const hook = authenticate(id, m, body);
    const said = admit(hook, m, body);
    const publish = o.publication(hook.topic, { hook: id, id: m.id, body: said });
    const found = await accept(id, m, hook.bucket);
    if (found === 'rate')
      return refuse(
        hook,
        'rate',
        new IngleError('rate_limited', 'Too many messages; a hook takes one a second.', { retry_after: 1 }),
      );
    if (found === 'again') return;
    if (found !== 'new')
      return stranger(
        hook,
        found === 'late' ? 'time' : 'replay',
        new IngleError('conflict', 'This message, or a newer one, was taken already.'),
      );
    publish();
    await o.flushed();
    await store.transaction(async (tx) => {
      await tx.run('UPDATE hook_messages SET published = 1 WHERE hook = ? AND id = ?', id, m.id);
      await tx.run('UPDATE hooks SET used_at = ? WHERE id = ?', seconds(), id);
    });
  }

  return {
    async add(name, topic) {
      if (known.size >= MAX_HOOKS)
        throw new IngleError('conflict', `A hub has at most ${MAX_HOOKS} hooks. Remove one first.`);
      const id = toBase64url(random(16));
      const secret = random(32);
      const made_at = seconds();
      learn(id, topic, secret);
      await store
        .run(
          'INSERT INTO hooks (id, name, topic, secret, made_at) VALUES (?, ?, ?, ?, ?)',
          id,
          name,
          topic,
          vault.seal(row(id), secret),
          made_at,
        )
        .catch((e) => {
          known.delete(id);
          throw e;
        });
      return { id, name, topic, made_at, used_at: null, refused: null, secret: secretText(secret) };
    },
    async list() {
      const rows = await store.all<Row>('SELECT * FROM hooks ORDER BY made_at, id');
      return rows.map(({ id, name, topic, made_at, used_at }) => ({
        ...{ id, name, topic, made_at, used_at },
        refused: known.get(id)?.refused ?? null,
      }));
    },
    async remove(id) {
      mustKnow(id);
      await store.run('DELETE FROM hooks WHERE id = ?', id);
      known.delete(id);
    },
    async rotate(id) {
      const hook = mustKnow(id);
      const secret = random(32);
      await store.transaction(async (tx) => {
        await tx.run('UPDATE hooks SET secret = ?, floor = 0 WHERE id = ?', vault.seal(row(id), secret), id);
        await tx.run('DELETE FROM hook_messages WHERE hook = ?', id);
      });
      hook.secret = secret;
      hook.refused = null;
      return { secret: secretText(secret) };
    },
    async receive(id, headers, body) {
      const signed = readSigned(headers);
      authenticate(id, signed, body);
      // One after the other: a message that comes twice at once is published once.
      return queue.add(() => deliver(id, signed, body));
    },
  };
}
