// timeout: 300 s
// Root's records in PostgreSQL: the one suite, several processes at once, and a database that goes, stands still or is newer.
import * as assert from 'uvu/assert';
import type { IngleError } from '../../../firmware/protocol/errors.ts';
import { openPostgres, openPostgresStore } from '../../../root/records/postgres.ts';
import type { Records } from '../../../root/records/records.ts';
import { migrations } from '../../../root/records/sql/schema.ts';
import { type Postgres, startPostgres } from '../../lab/postgres.ts';
import { tried, until } from '../../lab/wait.ts';
import { enrol, ids, issue, LATER, login, nobody, passkey, register, signedIn, T, take } from './kit.ts';
import { recordsSuite } from './suite.ts';

let server: Postgres;
const url = () => server.url('postgres');
const test = recordsSuite('PostgreSQL', async () => {
  await server.ask('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
  return openPostgres(url());
});
test.before(async () => {
  server = await startPostgres({ flush: false });
});
test.after(() => server.stop());

/** A second and a third process beside the one of the test. */
async function beside(work: (all: Records[]) => Promise<void>, records: Records): Promise<void> {
  const others = await Promise.all([openPostgres(url()), openPostgres(url())]);
  try {
    await work([records, ...others]);
  } finally {
    await Promise.all(others.map((o) => o.close()));
  }
}
const times = (n: number) => Array.from({ length: n }, (_, i) => i);
const codeOf = (e: unknown) => (e as IngleError).code;

test('of many that take one code in three processes, one gets it', async ({ records }) => {
  await beside(async (all) => {
    const hub = await enrol(records, 'a');
    const sids = times(30).map((i) => `s${i}`);
    for (const sid of sids) await records.sessions.begin({ sid, cookie: sid, now: T });
    await issue(records, hub, '111-111');
    const got = await Promise.all(sids.map((sid, i) => take(all[i % 3]!, sid, '111-111')));
    assert.is(got.filter(Boolean).length, 1);
    const winner = sids[got.findIndex(Boolean)]!;
    for (const [i, sid] of sids.entries()) {
      const s = (await all[i % 3]!.sessions.find(sid, T))!;
      assert.equal([s.hub_id, s.tries], sid === winner ? [hub.hub_id, 0] : [null, 1]);
    }
  }, records);
});

test('a process that is frozen in a transaction does not keep what it holds', async ({ records }) => {
  await records.sessions.begin({ sid: 's', cookie: 'c', now: T });
  const frozen = await openPostgresStore(url(), migrations, { idleMs: 300 });
  let wake = () => {};
  let holds = false;
  // To the database, who asks nothing more in a transaction looks as one that is frozen does.
  const held = frozen
    .transaction(async (db) => {
      await db.run('UPDATE session_web SET last_seen = ? WHERE sid = ?', T + 1, 's');
      holds = true;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
      await db.run('UPDATE session_web SET last_seen = ? WHERE sid = ?', T + 2, 's');
    })
    .catch(codeOf);
  await until(() => holds, 'the transaction');
  await records.sessions.seen('s', T + 3);
  wake();
  assert.is(await held, 'unavailable');
  assert.is((await records.sessions.find('s', T))!.last_seen, T + 3);
  await frozen.close();
});

test('tries of one session are counted whichever process it comes to', async ({ records }) => {
  await beside(async (all) => {
    await records.sessions.begin({ sid: 's', cookie: 'c', now: T });
    const got = await Promise.all(
      times(12).map((i) => take(all[i % 3]!, 's', '999-999').catch((e) => codeOf(e))),
    );
    assert.is(got.filter((g) => g === undefined).length, 5);
    assert.is(got.filter((g) => g === 'rate_limited').length, 7);
  }, records);
});

test('a hub has one code, a key one hub, a proof one use and a passkey one owner', async ({ records }) => {
  await beside(async (all) => {
    const hubs = await Promise.all(times(9).map((i) => enrol(all[i % 3]!, 'a')));
    assert.is(new Set(hubs.map((h) => h.hub_id)).size, 1);
    const hub = hubs[0]!;
    const given = { scope: '', network: '', ticket: '', exp: LATER, now: T };
    await Promise.all(times(9).map((i) => all[i % 3]!.codes.issue({ ...hub, ...given }, () => `10${i}-000`)));
    await Promise.all(times(9).map((i) => records.sessions.begin({ sid: `s${i}`, cookie: 'c', now: T })));
    const taken = await Promise.all(times(9).map((i) => take(all[i % 3]!, `s${i}`, `10${i}-000`)));
    assert.is(taken.filter(Boolean).length, 1, 'of nine codes one was open');
    const spent = await Promise.all(times(9).map((i) => all[i % 3]!.hubs.spendProof('p', LATER)));
    assert.is(spent.filter(Boolean).length, 1);

    const other = await enrol(records, 'b');
    const keys = await Promise.all(
      [hub, other].map((h, i) =>
        all[i]!.hubs.rotate({ hub_id: h.hub_id, from: h.sign_pub, to: 'new', e2e_pub: 'e', now: T }),
      ),
    );
    assert.is(keys.filter(Boolean).length, 1, 'two hubs wanted one key');
  }, records);
});

test('of a passkey that is removed while it signs in nothing is left', async ({ records }) => {
  await beside(async (all) => {
    const hub = await enrol(records, 'a');
    for (const i of times(6)) {
      await signedIn(records, `first${i}`, hub, `cred${i}`);
      const sid = `again${i}`;
      await records.sessions.begin({ sid, cookie: 'c', now: T });
      const [, gone] = await Promise.all([
        login(all[1]!, sid, hub, `cred${i}`, { owner_before: null }).catch(() => undefined),
        all[2]!.passkeys.remove({ cred_id: `cred${i}`, owner_id: hub.owner_id, by: nobody, now: T }),
      ]);
      assert.ok(gone?.includes(`first${i}`));
      // Either it signed in first and was ended with the others, or it came too late.
      const s = await records.sessions.find(sid, T);
      assert.is(s?.browser_key_id ?? null, null, `round ${i}`);
    }
  }, records);
});

test('a subnet has no more members than it may, however many are let in at once', async ({ records }) => {
  await beside(async (all) => {
    const lead = await enrol(records, 'lead');
    const names = times(8).map((i) => `m${i}`);
    for (const [i, name] of names.entries()) {
      const m = await enrol(records, name);
      await issue(records, lead, `20${i}-000`, { scope: 'member' });
      const asks = { hub_id: m.hub_id, code: `20${i}-000`, ticket: '', network: '', now: T, exp: LATER };
      assert.ok(await records.codes.join(asks));
    }
    const got = await Promise.all(
      names.map((name, i) =>
        all[i % 3]!.members.admit({
          hub_id: ids(name).hub_id,
          sign_pub: `sign_${name}`,
          via: lead.hub_id,
          most: 3,
          now: T,
        }),
      ),
    );
    assert.is(got.filter(Boolean).length, 3);
  }, records);
});

test('several that open an empty database at once make one schema, and a newer one is refused', async () => {
  await server.ask('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
  const all = await Promise.all(times(4).map(() => openPostgres(url())));
  await enrol(all[0]!, 'a');
  assert.is((await all[3]!.hubs.find('hub_a'))?.owner_id, 'own_a');
  await Promise.all(all.map((r) => r.close()));
  const again = await openPostgres(url());
  assert.ok(await again.hubs.find('hub_a'));
  await again.close();
  await server.ask('UPDATE schema_version SET version = 1000');
  const e = await openPostgres(url()).catch((e: Error) => e);
  assert.match((e as Error).message, /written by a newer version \(schema 1000/);
});

test('what was told is there after the server was killed, and meanwhile it says that it is away', async ({
  records,
}) => {
  const hub = await enrol(records, 'a');
  await server.signal('SIGKILL');
  const e = await records.hubs.find(hub.hub_id).then(
    () => undefined,
    (e: IngleError) => e,
  );
  assert.is(e?.code, 'unavailable');
  assert.not.match(e!.message, /127\.0\.0\.1|postgres/i);
  assert.is(await records.ready().catch(codeOf), 'unavailable');
  // Who starts now is told what to look at, and not the address.
  const started = await openPostgres(url().replace('//postgres@', '//postgres:hunter2@')).catch(
    (e) => e.message,
  );
  assert.match(started, /^(?!.*hunter2).*--database/);
  await server.start();
  await until(
    tried(async () => await records.hubs.find(hub.hub_id)),
    'the hub to be there again',
  );
  // It is the whole of it: what comes next works as before.
  await records.sessions.begin({ sid: 's', cookie: 'c', now: T });
  await issue(records, hub, '111-111');
  assert.ok(await take(records, 's', '111-111'));
  assert.ok(await register(records, 's', passkey('p', hub)));
});

test('a server that stands still is given up after a while, and used again when it goes on', async ({
  records,
}) => {
  const hub = await enrol(records, 'a');
  await server.signal('SIGSTOP');
  const asked = await Promise.all([
    records.hubs.find(hub.hub_id).catch(codeOf),
    enrol(records, 'b').catch(codeOf),
  ]);
  assert.equal(asked, ['unavailable', 'unavailable']);
  await server.signal('SIGCONT');
  await until(
    tried(async () => (await records.hubs.find(hub.hub_id))?.hub_id === hub.hub_id),
    'the hub to be there again',
  );
});

test.run();
