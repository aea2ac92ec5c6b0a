// timeout: 300 s
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { solvePow } from '../../firmware/protocol/pairing/pow.ts';
import { issueCode, verifyCode, wishOf } from '../../root/codes.ts';
import { openGuesses } from '../../root/guesses.ts';
import { migrations } from '../../root/records/sql/schema.ts';
import type { Store } from '../../root/records/sql/store.ts';
import { sqlRecords } from '../../root/records/sql.ts';
import { openSqliteStore } from '../../root/records/sqlite.ts';
import type { Root } from '../../root/root.ts';
import { browserOf, openSession, sessionOf } from '../../root/session.ts';
import { openTokens } from '../../root/tokens.ts';
import { call, newAddress, newHub, newTab, openDatabase, type RootProcess, startRoot, until } from './kit.ts';

const test = suite<{ root: RootProcess }>('codes');
test.before(async (c) => {
  c.root = await startRoot({ INGLE_ROOT_SURGE: '100000', INGLE_ROOT_GUESSES: '100000' });
});
test.after((c) => c.root.stop());

/** A code that is not `code`. */
const other = (code: string, add = 1) => {
  const n = String((Number(code.replace('-', '')) + add) % 1_000_000).padStart(6, '0');
  return `${n.slice(0, 3)}-${n.slice(3)}`;
};

test('a code is 3+3 digits, lives 10 minutes and names the page', async ({ root }) => {
  const hub = await newHub(root);
  const r = await call(root, 'POST', '/v1/owner/login/device-code', {}, await hub.headers('device-code'));
  assert.is(r.status, 200);
  assert.match(r.body.device_code, /^\d{3}-\d{3}$/);
  assert.is(r.body.expires_in, 600);
  assert.is(new URL(r.body.verify_uri).origin, root.origin);
});

test('a code is taken with or without its hyphen, by its new and its old name', async ({ root }) => {
  const hub = await newHub(root);
  for (const body of [
    { device_code: await hub.code() },
    { device_code: (await hub.code()).replace('-', '') },
    { code: await hub.code() },
  ]) {
    // Each call of hub.code() voids the code before it, so only the last one of the list is open.
    const tab = await newTab(root);
    const last = await hub.code();
    const key = Object.keys(body)[0] as 'code' | 'device_code';
    const typed = body[key as never] as string;
    const code = typed.includes('-') ? last : last.replace('-', '');
    const r = await tab.post('/v1/owner/login/verify', { [key]: code, sid: tab.sid });
    assert.equal(r.body, { ok: true, owner_id: hub.owner_id, subnet_id: hub.subnet_id, hub_id: hub.hub_id });
    assert.is(await tab.stage(), 'PREAUTH');
  }
});

test('wrong, spent and replaced codes get the very same answer', async ({ root }) => {
  const hub = await newHub(root);
  const replaced = await hub.code();
  const code = await hub.code();
  const first = await newTab(root);
  assert.is((await first.verify(code)).status, 200);
  const answers = [];
  for (const typed of [other(code, 7), code, replaced, 'abc', ''])
    answers.push(await (await newTab(root)).verify(typed));
  answers.push(await first.verify(code));
  for (const a of answers) {
    assert.is(a.status, 400);
    assert.is(a.body.error, 'invalid_device_code');
    assert.equal(a.body, answers[0]!.body);
  }
});

test('a wrong, an expired and a spent code are the very same work: the same statements, the same answer', async () => {
  const store = await openSqliteStore(':memory:', migrations);
  const said: string[] = [];
  const spied: Store = {
    ...store,
    transaction: (work) =>
      store.transaction((db) =>
        work({
          run: (sql, ...v) => (said.push(sql), db.run(sql, ...v)),
          all: (sql, ...v) => (said.push(sql), db.all(sql, ...v)),
          get: (sql, ...v) => (said.push(sql), db.get(sql, ...v)),
        }),
      ),
  };
  let failures = 0;
  const records = sqlRecords(spied);
  const root = {
    records,
    tokens: await openTokens(records, 'http://localhost'),
    surge: { failed: () => failures++, check() {} },
    guesses: openGuesses(1000),
    ways: { drop() {} },
    config: { origin: 'http://localhost', api: 'http://localhost' },
  } as unknown as Root;
  await store.run(
    "INSERT INTO hub (hub_id, owner_id, subnet_id, sign_pub, e2e_pub, created) VALUES ('h', 'o', 'n', 's', 'e', 0)",
  );
  const hub = { hub_id: 'h', owner_id: 'o', subnet_id: 'n', sign_pub: 's', e2e_pub: 'e' };
  const verify = async (code: string) => {
    const opened = await openSession(root, '', undefined);
    const { sid } = opened.body;
    // A new sid is a record from its first use on.
    await sessionOf(root, sid, browserOf(root, opened.cookie!.split(';')[0]!, ''));
    said.length = 0;
    const typed = { code, ip: '10.0.0.1', ticket: '', pow: '' };
    const answer = await verifyCode(root, sid, typed).catch((e) => e.body());
    return { answer, statements: [...said] };
  };
  const spent = (await issueCode(root, hub, wishOf({}, '10.0.0.2'))).device_code;
  assert.is((await verify(spent)).answer.ok, true);
  const expired = (await issueCode(root, hub, wishOf({}, '10.0.0.2'))).device_code;
  await store.run('UPDATE device_code SET exp = exp - 601 WHERE bind_sid IS NULL');
  const all = [];
  for (const code of [other(spent), expired, spent, 'abc', '']) all.push(await verify(code));
  for (const one of all) assert.equal(one, all[0]);
  assert.is(all[0]!.answer.error, 'invalid_device_code');
  assert.ok(all[0]!.statements.length > 2);
  assert.is(failures, all.length);
  await store.close();
});

test('how long the answer takes tells nothing of why', async ({ root }) => {
  const hub = await newHub(root);
  const spent = await hub.code();
  assert.is((await (await newTab(root)).verify(spent)).status, 200);
  const expired = await hub.code();
  const db = await openDatabase(root);
  await db.run('UPDATE device_code SET exp = exp - 601 WHERE hub_id = ? AND bind_sid IS NULL', hub.hub_id);
  await db.close();
  const took: Record<string, number[]> = { wrong: [], expired: [], spent: [] };
  for (let i = 0; i < 60; i++)
    for (const [why, code] of Object.entries({ wrong: other(spent, 11), expired, spent })) {
      const tab = await newTab(root);
      const began = performance.now();
      assert.is((await tab.verify(code)).body.error, 'invalid_device_code');
      took[why]!.push(performance.now() - began);
    }
  const median = (list: number[]) => [...list].sort((a, b) => a - b)[list.length >> 1]!.toFixed(2);
  for (const [why, list] of Object.entries(took)) console.log(`FIGURE root.verify.${why}_ms ${median(list)}`);
});

test('five wrong codes shut a sid out, even for the right code, and others are undisturbed', async ({
  root,
}) => {
  const hub = await newHub(root);
  const code = await hub.code();
  const tab = await newTab(root);
  for (let i = 1; i <= 5; i++) assert.is((await tab.verify(other(code, i))).status, 400);
  const r = await tab.verify(code);
  assert.is(r.status, 429);
  assert.is(r.body.error, 'rate_limited');
  assert.ok(Number(r.headers.get('retry-after')) > 0);
  assert.is((await (await newTab(root)).verify(code)).status, 200);
});

test('the count of wrong codes survives kill -9', async ({ root }) => {
  const hub = await newHub(root);
  const code = await hub.code();
  const tab = await newTab(root);
  for (let i = 1; i <= 5; i++) await tab.verify(other(code, i));
  await root.kill();
  await root.again();
  assert.is((await tab.verify(code)).status, 429);
  assert.is((await (await newTab(root)).verify(code)).status, 200, 'and so does the open code');
});

test('twenty tries a minute shut an address out, whatever sids it uses', async ({ root }) => {
  const from = { 'x-forwarded-for': newAddress() };
  let refused = 0;
  for (let i = 0; i < 45 && refused === 0; i++) {
    const tab = await newTab(root);
    const r = await tab.post('/v1/owner/login/verify', { device_code: '000-000', sid: tab.sid }, from);
    if (r.status === 429) {
      refused = i;
      assert.ok(Number(r.headers.get('retry-after')) > 0);
    } else assert.is(r.status, 400);
  }
  // Twenty in any minute: a few more if a minute went by on a slow machine.
  assert.ok(refused >= 20, `refused after ${refused}`);
});

test('only the address a trusted proxy saw counts', async ({ root }) => {
  const tab = await newTab(root);
  const seen = newAddress();
  let last = 0;
  for (let i = 0; i < 45 && last !== 429; i++) {
    const t = await newTab(root);
    const forged = { 'x-forwarded-for': `1.2.3.${i}, ${seen}` };
    last = (await t.post('/v1/owner/login/verify', { device_code: '000-000', sid: t.sid }, forged)).status;
  }
  assert.is(last, 429);
  assert.is((await tab.verify('000-000')).status, 400);
});

test('a code of another browser cannot be used on a stolen sid', async ({ root }) => {
  const hub = await newHub(root);
  const victim = await newTab(root);
  const thief = await newTab(root);
  const body = { device_code: await hub.code(), sid: victim.sid };
  assert.is((await thief.post('/v1/owner/login/verify', body)).status, 401);
  assert.is((await call(root, 'POST', '/v1/owner/login/verify', body)).status, 401);
  assert.is((await victim.verify(body.device_code)).status, 200);
});

test('while guesses surge everybody works, and one solution opens the door once', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ingle-clock-'));
  const clock = join(folder, 'ahead');
  writeFileSync(clock, '0');
  const root = await startRoot({
    INGLE_ROOT_SURGE: '3',
    INGLE_TEST_CLOCK: clock,
    NODE_OPTIONS: `--import ${resolve('test/lab/browser/clock.mjs')}`,
  });
  try {
    const hub = await newHub(root);
    const code = await hub.code();
    // A surge is counted by the minute: at the begin of one it lasts for all of it.
    const ahead = 60_000 - (Date.now() % 60_000);
    writeFileSync(clock, String(ahead));
    await until(() => existsSync(`${clock}.${ahead}`), 'root to read its clock');
    for (let i = 1; i <= 3; i++) await (await newTab(root)).verify(other(code, i));
    const tab = await newTab(root);
    const r = await tab.verify(code);
    assert.is(r.status, 429);
    const { challenge, bits } = r.body.details.pow;
    const solution = await solvePow(challenge, bits);
    const send = (t: typeof tab, s: string, c: string) =>
      t.post('/v1/owner/login/verify', { device_code: c, sid: t.sid }, { 'x-ingle-pow': s });
    const thief = await newTab(root);
    assert.is((await send(thief, solution, code)).status, 429, 'a solution is of one sid');
    assert.is((await send(tab, `${challenge}.x`, code)).status, 429, 'no work, no entry');
    assert.is((await send(tab, solution, other(code, 9))).status, 400);
    assert.is((await send(tab, solution, code)).status, 429, 'a solution counts once');
    const again = (await tab.verify(code)).body.details.pow;
    assert.is((await send(tab, await solvePow(again.challenge, again.bits), code)).status, 200);
  } finally {
    await root.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});

test.run();
