// The hub's place is pinned: what root may change by its word (nothing), and what a person's confirmation changes.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { IngleError } from '../../firmware/protocol/errors.ts';
import { openStore } from '../../firmware/system/store.ts';
import { translator } from '../../firmware/text/i18n.ts';
import { uplinkTexts } from '../../firmware/text/uplink.ts';
import { changes, enrolment, type Place } from '../../firmware/uplink/enrolment.ts';
import { newWindow } from '../../firmware/uplink/pairing-window.ts';
import { openPins } from '../../firmware/uplink/pins.ts';
import type { Identity, Passkey } from '../../firmware/uplink/rows.ts';
import { openUplinkStore } from '../../firmware/uplink/store.ts';
import { peopleTables } from '../../firmware/uplink/store-people.ts';
import { subnetTables } from '../../firmware/uplink/store-subnet.ts';

const now = 1_800_000_000;
const at = (over: Partial<Identity> = {}): Identity => ({
  ...{ owner_id: 'own_a', subnet_id: 'net_a', hub_id: 'hub_a', app_url: 'https://a.example' },
  ...{ certificate: 'c1', issued_at: now, expires_at: now + 90, root_url: 'https://root.example' },
  ...over,
});
const placeOf = ({ owner_id, subnet_id, hub_id, app_url }: Identity): Place => ({
  ...{ owner_id, subnet_id, hub_id, app_url },
});
const others: Partial<Identity>[] = [
  { owner_id: 'own_b' },
  { subnet_id: 'net_b' },
  { hub_id: 'hub_b' },
  { app_url: 'https://b.example' },
  { owner_id: 'own_b', subnet_id: 'net_b', hub_id: 'hub_b', app_url: 'https://b.example' },
];
const passkey: Passkey = {
  ...{ cred_id: 'k', public_key: new Uint8Array([1]), counter: 0, label: 'P' },
  ...{ pinned_at: now, regressions: 0 },
};
const silent = { error() {}, warn() {}, notice() {}, info() {}, debug() {} };
const code = (e: unknown) => (e as IngleError | undefined)?.code;
const failure = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (e) => e as IngleError,
  );

/** A hub with one browser, one passkey, a proven browser and an open code, at `pinned`. */
async function hub(o: { pinned?: Identity; config?: { root_url?: string; app_url?: string } } = {}) {
  const store = await openUplinkStore(':memory:');
  const pinned = 'pinned' in o ? o.pinned : at();
  if (pinned) await store.setIdentity(pinned);
  const pins = await openPins(store, () => now);
  await pins.admit('phone', 'Phone', passkey);
  await pins.prove('half', false);
  await store.setWindow(newWindow('123-456', 600, false, now));
  const entered: string[] = [];
  let offer = at({ certificate: 'c2' });
  let meanwhile = () => {};
  let asked = 0;
  let left = 0;
  const place = enrolment({
    config: { root_url: 'https://root.example', app_url: '', ...o.config },
    store,
    root: {
      async enrol() {
        asked++;
        meanwhile();
        return offer;
      },
    },
    text: translator(uplinkTexts, 'en'),
    log: silent,
    identity: await store.identity(),
    entered: (i) => entered.push(i.owner_id),
    async leave(write) {
      left++;
      await pins.forgetAll(write);
    },
  });
  return {
    place,
    pins,
    store,
    entered,
    left: () => left,
    asked: () => asked,
    /** Something that happens while root is asked. */
    meanwhile(f: () => void) {
      meanwhile = f;
    },
    offers(i: Partial<Identity>) {
      offer = at({ certificate: 'c2', ...i });
    },
    /** What is on the disk. */
    async kept() {
      const i = await store.identity();
      return {
        place: i && placeOf(i),
        certificate: i?.certificate,
        rows: [
          (await store.browsers()).length,
          (await store.passkeys()).length,
          (await store.proven()).length,
        ],
        code: (await store.window())?.code,
      };
    },
  };
}
const whole = { rows: [1, 1, 1], code: '123-456' };
const test = suite('the hub’s place');

test('the first enrolment takes what root gives; the next asks nobody', async () => {
  const h = await hub({ pinned: undefined });
  const i = await h.place.enrol();
  assert.equal(await h.place.enrol(), i);
  assert.is(h.asked(), 1);
  assert.is((await h.kept()).certificate, 'c2');
});

test('after a refusal the same place gets its new certificate, and nobody is forgotten', async () => {
  const h = await hub();
  h.place.refused();
  await h.place.enrol();
  assert.equal(await h.kept(), { place: placeOf(at()), certificate: 'c2', ...whole });
  await h.place.enrol();
  assert.is(h.asked(), 1);
  assert.is(h.left(), 0);
});

test('a hub that root took as it is while it was asked has no trouble, and no new connection', async () => {
  for (const other of [{}, ...others]) {
    const h = await hub();
    h.offers(other);
    h.place.refused();
    h.meanwhile(h.place.accepted);
    const isOther = Object.keys(other).length > 0;
    assert.is(code(await failure(h.place.enrol())), isOther ? 'conflict' : undefined);
    assert.equal(await h.kept(), { place: placeOf(at()), certificate: isOther ? 'c1' : 'c2', ...whole });
    assert.equal([h.place.trouble, h.entered], ['', []]);
  }
});

for (const other of others) {
  const what = Object.keys(other).join(', ');
  test(`root’s word changes no ${what}: not by a refusal, a code, an enrolment or a renewal`, async () => {
    const h = await hub();
    h.offers(other);
    h.place.refused();
    for (const way of [h.place.enrol, h.place.place, h.place.enrol]) {
      const e = (await failure(way()))!;
      assert.is(code(e), 'conflict');
      assert.match(e.message, /Nothing was changed.*ingle init/);
      const told = e.details?.['changes'] as { field: string; was: string; now: string }[];
      assert.equal(told, changes(at(), at(other)));
      for (const [field, value] of Object.entries(other)) {
        const c = told.find((x) => x.field === field)!;
        assert.equal([c.was, c.now], [at()[field as keyof Place], value]);
        assert.match(e.message, `${field} ${c.was} -> ${c.now}`);
      }
    }
    assert.match(h.place.trouble, /ingle init/);
    assert.equal(await h.kept(), { place: placeOf(at()), certificate: 'c1', ...whole });
    assert.equal([h.entered, h.left()], [[], 0]);
    assert.ok(h.pins.browser('phone') && h.pins.hasPasskey && h.pins.proven('half'));
    // Root is itself again.
    h.offers({});
    await h.place.enrol();
    assert.is(h.place.trouble, '');
  });

  test(`a person who confirmed another ${what} gets exactly that, and everybody is forgotten`, async () => {
    const h = await hub();
    h.offers(other);
    const { place, changes: told } = await h.place.offered();
    assert.equal(told, changes(at(), at(other)));
    assert.equal(await h.kept(), { place: placeOf(at()), certificate: 'c1', ...whole });
    await h.place.adopt(placeOf(place as Identity));
    assert.equal(await h.kept(), {
      ...{ place: placeOf(at(other)), certificate: 'c2', rows: [0, 0, 0], code: undefined },
    });
    assert.not(h.pins.browser('phone') || h.pins.hasPasskey || h.pins.proven('half'));
    assert.equal([h.left(), h.place.identity?.owner_id], [1, at(other).owner_id]);
  });

  test(`what was confirmed is not taken when root offers another ${what} by then`, async () => {
    const h = await hub();
    const confirmed = placeOf(at({ owner_id: 'own_c' }));
    h.offers({ owner_id: 'own_c', ...other });
    if (other.owner_id === undefined) assert.is(code(await failure(h.place.adopt(confirmed))), 'conflict');
    h.offers(other);
    const e = await failure(h.place.adopt(confirmed));
    assert.is(code(e), 'conflict');
    assert.match(e!.message, /Run `ingle init` again/);
    assert.equal(await h.kept(), { place: placeOf(at()), certificate: 'c1', ...whole });
    assert.is(h.left(), 0);
  });
}

test('confirming the place that is pinned forgets nobody', async () => {
  const h = await hub();
  await h.place.adopt(placeOf(at()));
  assert.equal(await h.kept(), { place: placeOf(at()), certificate: 'c2', ...whole });
  assert.is(h.left(), 0);
});

test('at another address a code is refused without a word to it; `ingle init` moves the hub to the same place', async () => {
  const h = await hub({ config: { root_url: 'https://new.example' } });
  h.offers({ root_url: 'https://new.example' });
  const e = await failure(h.place.place());
  assert.is(code(e), 'conflict');
  assert.match(e!.message, /another root service.*ingle init/);
  assert.is(h.asked(), 0);
  assert.match(h.place.trouble, /another root service/);
  await h.place.enrol();
  assert.is(h.place.trouble, '');
  assert.is((await h.store.identity())!.root_url, 'https://new.example');
  assert.equal((await h.kept()).rows, [1, 1, 1]);
  await h.place.place();
});

test('an application the configuration pins is the only one, at the first enrolment and at every later step', async () => {
  const config = { app_url: 'https://pinned.example' };
  const fresh = await hub({ pinned: undefined, config });
  for (const way of [
    fresh.place.enrol,
    fresh.place.place,
    fresh.place.offered,
    () => fresh.place.adopt(at()),
  ]) {
    const e = await failure(way());
    assert.is(code(e), 'conflict');
    assert.match(e!.message, /pinned\.example only.*names https:\/\/a\.example/);
  }
  assert.is((await fresh.kept()).place, undefined);
  fresh.offers({ app_url: 'https://pinned.example' });
  await fresh.place.enrol();

  const old = await hub({ config });
  assert.match(old.place.trouble, /pinned\.example only/);
  assert.is(code(await failure(old.place.place())), 'conflict');
});

test('a place and its forgetting are one: a write that fails leaves both as they were', async () => {
  const h = await hub();
  h.offers({ owner_id: 'own_b', expires_at: null as never });
  const e = await failure(h.place.adopt(placeOf(at({ owner_id: 'own_b' }))));
  assert.match(String(e), /NOT NULL/);
  assert.equal(await h.kept(), { place: placeOf(at()), certificate: 'c1', ...whole });
  assert.ok(h.pins.browser('phone') && h.pins.hasPasskey && h.pins.proven('half'));
  assert.is(h.place.identity?.owner_id, 'own_a');
});

test('a browser whose admission was under way while the place changed is not let in', async () => {
  const h = await hub();
  h.offers({ owner_id: 'own_b' });
  const entering = failure(h.pins.admit('late', 'Late', { ...passkey, cred_id: 'late' }));
  const proving = h.pins.prove('later', false);
  await h.place.adopt(placeOf(at({ owner_id: 'own_b' })));
  assert.is(code(await entering), 'pairing_failed');
  await proving;
  assert.equal((await h.kept()).rows, [0, 0, 0]);
  assert.not(h.pins.browser('late') || h.pins.passkey('late') || h.pins.proven('later'));
});

test('a renewal under way is not written over a place adopted after it', async () => {
  const h = await hub();
  h.offers({ owner_id: 'own_b' });
  let renewed: (i: Identity) => void = () => {};
  const renewing = h.place.refresh(() => new Promise((resolve) => (renewed = resolve)));
  const adopting = h.place.adopt(placeOf(at({ owner_id: 'own_b' })));
  await new Promise((r) => setImmediate(r));
  renewed(at({ certificate: 'c9' }));
  await Promise.all([renewing, adopting]);
  assert.is((await h.kept()).place?.owner_id, 'own_b');
  assert.is(h.place.identity?.owner_id, 'own_b');
});

test('enrolling at the same time asks root once', async () => {
  const h = await hub({ pinned: undefined });
  await Promise.all([h.place.enrol(), h.place.enrol(), h.place.place()]);
  assert.is(h.asked(), 1);
});

test('a store from before is opened, and counts on', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'ingle-place-'));
  const file = join(dir, 'u.sqlite');
  let store = await openUplinkStore(file);
  await store.setIdentity(at());
  assert.is(await store.reserve('s', 10, 1), 1);
  await store.close();
  const db = await openStore(file, []).catch(() => undefined);
  assert.is(db, undefined, 'a newer file is not opened by an older program');
  const raw = await openStore(file, ['', '']);
  const added = ['counter_floor', ...peopleTables, ...subnetTables].map((t) => `DROP TABLE ${t}`);
  for (const sql of [...added, 'DROP INDEX counter_seen', 'PRAGMA user_version = 1']) await raw.run(sql);
  await raw.close();
  store = await openUplinkStore(file);
  assert.is(await store.reserve('s', 10, 1), 11);
  assert.is((await store.identity())?.owner_id, 'own_a');
  await store.close();
  rmSync(dir, { recursive: true, force: true });
});

test.run();
