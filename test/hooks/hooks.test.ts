// Webhooks with a clock that is told: each message once, whatever the clock, the bus and the disk do.
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Hooks, openHooks } from '../../firmware/hooks/hooks.ts';
import { hooksSchema } from '../../firmware/hooks/records.ts';
import { digestOf } from '../../firmware/hooks/signature.ts';
import { utf8 } from '../../firmware/protocol/bytes.ts';
import { IngleError, toIngleError } from '../../firmware/protocol/errors.ts';
import { logger } from '../../firmware/system/log.ts';
import { openStore, type Store } from '../../firmware/system/store.ts';
import { openVault } from '../../firmware/system/vault.ts';

const test = suite('hooks');
const T0 = 1_800_000_000;

interface World {
  store: Store;
  hooks: Hooks;
  published: { topic: string; payload: unknown }[];
  /** Unix seconds. */
  time: number;
  /** The bus is gone. */
  lost: boolean;
  folder: string;
  /** As after kill -9: another process over the same disk. */
  again(): Promise<void>;
}
async function world(): Promise<World> {
  const folder = mkdtempSync(join(tmpdir(), 'ingle-hooks-'));
  const w = { published: [], time: T0, lost: false, folder } as unknown as World;
  const open = async () => {
    w.store = await openStore(join(folder, 'api.db'), hooksSchema);
    w.hooks = await openHooks({
      store: w.store,
      vault: openVault(join(folder, 'hooks.key')),
      log: logger('test'),
      now: () => w.time * 1000,
      publication: (topic, payload) => () => {
        if (!w.lost) w.published.push({ topic, payload });
      },
      async flushed() {
        if (w.lost) throw new IngleError('unavailable', 'The bus is gone.');
      },
    });
  };
  w.again = async () => {
    await w.store.close();
    await open();
  };
  await open();
  return w;
}
async function over(w: World): Promise<void> {
  await w.store.close();
  rmSync(w.folder, { recursive: true, force: true });
}

const bytesOf = (secret: string) => new Uint8Array(Buffer.from(secret.replace('whsec_', ''), 'base64'));
/** Sends a message; what came of it in a word. */
async function send(
  w: World,
  hook: { id: string; secret: string },
  m: { id?: string; at?: number; body?: string } = {},
): Promise<string> {
  const { id = 'm1', at = w.time, body = '{"open":true}' } = m;
  const digest = Buffer.from(digestOf(bytesOf(hook.secret), { id, at }, utf8(body))).toString('base64');
  const headers = { 'webhook-id': id, 'webhook-timestamp': String(at), 'webhook-signature': `v1,${digest}` };
  return w.hooks.receive(hook.id, headers, utf8(body)).then(
    () => 'ok',
    (e) => toIngleError(e).code,
  );
}

test('a message goes out on its topic, and the same bytes are refused for good', async () => {
  const w = await world();
  const hook = await w.hooks.add('Door', 'external.door');
  assert.is(await send(w, hook), 'ok');
  assert.equal(w.published, [
    { topic: 'external.door', payload: { hook: hook.id, id: 'm1', body: { open: true } } },
  ]);
  assert.is(await send(w, hook, { at: T0 }), 'conflict');
  await w.again();
  assert.is(await send(w, hook, { at: T0 }), 'conflict');
  assert.is(w.published.length, 1);
  const [shown] = await w.hooks.list();
  assert.equal([shown!.used_at, shown!.refused?.reason], [T0, 'replay']);
  assert.not(JSON.stringify(shown).includes('secret'));
  await over(w);
});

test('a sender that did not hear its answer signs again, is told that all is well, and nothing is published twice', async () => {
  const w = await world();
  const hook = await w.hooks.add('Door', 'external.door');
  assert.is(await send(w, hook), 'ok');
  w.time += 20;
  assert.is(await send(w, hook), 'ok');
  assert.is(w.published.length, 1);
  await over(w);
});

test('nothing is acknowledged that the bus did not take, and the next try is', async () => {
  const w = await world();
  const hook = await w.hooks.add('Door', 'external.door');
  w.lost = true;
  assert.is(await send(w, hook), 'unavailable');
  await w.again();
  w.lost = false;
  w.time += 5;
  assert.is(await send(w, hook), 'ok');
  assert.is(w.published.length, 1);
  assert.is(await send(w, hook), 'conflict');
  await over(w);
});

test('a message that comes many times at once is published once', async () => {
  const w = await world();
  const hook = await w.hooks.add('Door', 'external.door');
  const all = await Promise.all(Array.from({ length: 20 }, () => send(w, hook)));
  assert.is(all.filter((a) => a === 'ok').length, 1);
  assert.is(w.published.length, 1);
  await over(w);
});

test('a time beyond five minutes is refused, up to there it is taken', async () => {
  const w = await world();
  const hook = await w.hooks.add('Door', 'external.door');
  const outcomes = [];
  for (const off of [-301, -300, 300, 301])
    outcomes.push(await send(w, hook, { id: `m${off}`, at: T0 + off }));
  assert.equal(outcomes, ['forbidden', 'ok', 'ok', 'forbidden']);
  assert.is((await w.hooks.list())[0]!.refused?.reason, 'time');
  await over(w);
});

test('a clock that runs ahead and is set back opens no door for what was sent before', async () => {
  const w = await world();
  const hook = await w.hooks.add('Door', 'external.door');
  assert.is(await send(w, hook, { id: 'old', at: T0 }), 'ok');
  // An hour ahead, where the next message drives out the old ids.
  w.time = T0 + 3600;
  assert.is(await send(w, hook, { id: 'ahead' }), 'ok');
  await w.again();
  w.time = T0 + 10;
  assert.is(await send(w, hook, { id: 'old', at: T0 }), 'conflict');
  assert.is(await send(w, hook, { id: 'fresh' }), 'ok');
  assert.is(w.published.length, 3);
  await over(w);
});

test('ids are bounded, and what drove one out does not let it in again', async () => {
  const w = await world();
  const hook = await w.hooks.add('Door', 'external.door');
  assert.is(await send(w, hook, { id: 'first', at: T0 - 200 }), 'ok');
  // Signed within one window, as a sender in a hurry does.
  await w.store.transaction(async (tx) => {
    for (let i = 0; i < 1100; i++)
      await tx.run('INSERT INTO hook_messages VALUES (?, ?, ?, 1)', hook.id, `x${i}`, T0 - 100 + (i % 50));
  });
  assert.is(await send(w, hook, { id: 'next' }), 'ok');
  const kept = await w.store.get<{ n: number }>('SELECT count(*) AS n FROM hook_messages');
  assert.ok(kept!.n <= 1024);
  assert.is(await send(w, hook, { id: 'first', at: T0 - 200 }), 'conflict');
  await over(w);
});

test('an unknown hook and a wrong signature get the same words, and a flood of either stops neither the hook nor its replays', async () => {
  const w = await world();
  const hook = await w.hooks.add('Door', 'external.door');
  const other = { id: 'A'.repeat(22), secret: hook.secret };
  const wrong = { id: hook.id, secret: `whsec_${Buffer.alloc(32).toString('base64')}` };
  const words = async (h: { id: string; secret: string }) => {
    try {
      await w.hooks.receive(
        h.id,
        { 'webhook-id': 'm', 'webhook-timestamp': String(T0), 'webhook-signature': 'v1,x' },
        utf8('{}'),
      );
      return 'taken';
    } catch (e) {
      return JSON.stringify(toIngleError(e).body());
    }
  };
  assert.is(await words(other), await words(wrong));
  assert.match(await words(other), 'unauthenticated');
  const flood = [];
  for (let i = 0; i < 200; i++) flood.push(await send(w, i % 2 ? other : wrong, { id: `f${i}` }));
  assert.ok(flood.includes('rate_limited'));
  assert.is(flood.includes('ok'), false);
  assert.is(await words(other), await words(wrong));
  assert.is(await send(w, hook), 'ok');
  // Who sends again what others have sent takes nothing from them.
  for (let i = 0; i < 200; i++) await send(w, hook, { at: T0 });
  assert.is(await send(w, hook, { id: 'm2' }), 'ok');
  await over(w);
});

test('a hook takes sixty at once, then one a second, and says how long to wait', async () => {
  const w = await world();
  const hook = await w.hooks.add('Door', 'external.door');
  const all = [];
  for (let i = 0; i < 70; i++) all.push(await send(w, hook, { id: `m${i}` }));
  assert.equal([all.filter((a) => a === 'ok').length, all.at(-1)], [60, 'rate_limited']);
  w.time += 3;
  assert.is(await send(w, hook, { id: 'm69' }), 'ok');
  await over(w);
});

test('a new secret ends the old one; a removed hook is as if it had never been', async () => {
  const w = await world();
  const hook = await w.hooks.add('Door', 'external.door');
  const { secret } = await w.hooks.rotate(hook.id);
  assert.is(await send(w, hook), 'unauthenticated');
  assert.is(await send(w, { id: hook.id, secret }), 'ok');
  await w.again();
  assert.is(await send(w, { id: hook.id, secret }, { id: 'm2' }), 'ok');
  await w.hooks.remove(hook.id);
  assert.is(await send(w, { id: hook.id, secret }, { id: 'm3' }), 'unauthenticated');
  assert.equal(await w.hooks.list(), []);
  for (const act of [() => w.hooks.remove(hook.id), () => w.hooks.rotate(hook.id)])
    await act().then(
      () => assert.unreachable(),
      (e) => assert.is(toIngleError(e).code, 'not_found'),
    );
  await over(w);
});

test('a message on its way when the secret changes is held against the new one', async () => {
  const w = await world();
  const hook = await w.hooks.add('Door', 'external.door');
  const first = send(w, hook, { id: 'a' });
  const rotated = w.hooks.rotate(hook.id);
  const late = [await first, await send(w, hook, { id: 'b' })];
  await rotated;
  assert.is(late.at(-1), 'unauthenticated');
  await over(w);
});

test('what is no JSON is refused; a text, a number and nested values are taken', async () => {
  const w = await world();
  const hook = await w.hooks.add('Door', 'external.door');
  const outcomes = [];
  for (const [i, body] of [
    '',
    '{',
    'x',
    `${'['.repeat(40)}${']'.repeat(40)}`,
    '"text"',
    '1',
    'null',
    '[[{}]]',
  ].entries())
    outcomes.push(await send(w, hook, { id: `m${i}`, body }));
  assert.equal(outcomes, [...Array(4).fill('invalid_request'), ...Array(4).fill('ok')]);
  assert.is((await w.hooks.list())[0]!.refused?.reason, 'body');
  await over(w);
});

test('the database alone opens nothing, and a secret moved to another hook is lost', async () => {
  const w = await world();
  const a = await w.hooks.add('A', 'external.a');
  const b = await w.hooks.add('B', 'external.b');
  await w.store.all('PRAGMA wal_checkpoint(TRUNCATE)');
  for (const kept of ['api.db', 'api.db-wal'])
    assert.not(readFileSync(join(w.folder, kept)).includes(Buffer.from(bytesOf(a.secret))), kept);
  assert.is(statSync(join(w.folder, 'hooks.key')).mode & 0o777, 0o600);
  await w.store.run(
    'UPDATE hooks SET secret = (SELECT secret FROM hooks WHERE id = ?) WHERE id = ?',
    a.id,
    b.id,
  );
  await w.again();
  assert.is(await send(w, { id: b.id, secret: a.secret }), 'unauthenticated');
  assert.is((await w.hooks.list()).find((h) => h.id === b.id)!.refused?.reason, 'secret_lost');
  assert.is(await send(w, a), 'ok');
  // Without the key file every hook waits for a new secret, and nothing falls.
  writeFileSync(join(w.folder, 'hooks.key'), 'another key');
  await w.again();
  assert.is(await send(w, a, { id: 'm2' }), 'unauthenticated');
  const { secret } = await w.hooks.rotate(a.id);
  assert.is(await send(w, { id: a.id, secret }, { id: 'm2' }), 'ok');
  await over(w);
});

test('there is an end to hooks, and to what a full disk may break', async () => {
  const w = await world();
  for (let i = 0; i < 32; i++) await w.hooks.add(`h${i}`, 'external.x');
  await w.hooks.add('more', 'external.x').then(
    () => assert.unreachable(),
    (e) => assert.is(e.code, 'conflict'),
  );
  const [first] = await w.hooks.list();
  await w.hooks.remove(first!.id);
  const hook = await w.hooks.add('more', 'external.x');
  await w.store.run(
    'CREATE TRIGGER full BEFORE INSERT ON hook_messages BEGIN SELECT RAISE(ABORT, "disk full"); END',
  );
  assert.is(await send(w, hook), 'internal');
  assert.is(w.published.length, 0);
  await w.store.run('DROP TRIGGER full');
  assert.is(await send(w, hook), 'ok');
  await over(w);
});

test.run();
