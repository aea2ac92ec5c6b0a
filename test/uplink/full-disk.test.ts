// People and invitations on a disk that is full: what is refused has not happened, and what has happened stays.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { fromBase64url } from '../../firmware/protocol/bytes.ts';
import { toIngleError } from '../../firmware/protocol/errors.ts';
import { openCodes } from '../../firmware/uplink/codes.ts';
import type { Core } from '../../firmware/uplink/core.ts';
import { openHousehold } from '../../firmware/uplink/household.ts';
import { makeKeys } from '../../firmware/uplink/keys.ts';
import { openPeople } from '../../firmware/uplink/people.ts';
import { openPins } from '../../firmware/uplink/pins.ts';
import { openUplinkStore, type UplinkStore } from '../../firmware/uplink/store.ts';
import { passkey, place } from './admitting.ts';

const test = suite<{ dir: string }>('a full disk under people');
test.before.each((c) => {
  c.dir = mkdtempSync(join(tmpdir(), 'ingle-full-'));
});
test.after.each((c) => rmSync(c.dir, { recursive: true }));

const NOW = 1_800_000_000;
const ann = { name: 'Ann', role: 'adult', until: 0 } as const;

/** The uplink's people over a real store that takes nothing while `full`. */
async function household(dir: string) {
  const disk = { full: false, asked: [] as object[] };
  const real = await openUplinkStore(join(dir, 'a.sqlite'));
  const writes = /^(set|put|drop|admit|sweep)/;
  const store = new Proxy(real, {
    get: (t, name: keyof UplinkStore) =>
      disk.full && writes.test(name) ? () => Promise.reject(new Error('SQLITE_FULL')) : t[name],
  });
  const now = () => NOW;
  const here = place;
  await real.setIdentity(here);
  const pins = await openPins(store, now);
  const people = await openPeople(store, () => here, now);
  const quiet = () => {};
  const log = { info: quiet, notice: quiet, warn: quiet, error: quiet, debug: quiet };
  const core = {
    ...{ store, pins, people, now, log, outside: log, config: {}, text: String },
    ...{ place: { identity: here, place: async () => here }, ring: { keys: makeKeys(NOW) } },
    ...{ nodes: { all: () => [] }, on: { pairingFailed: quiet }, trouble: '' },
    root: {
      deviceCode: async (_: unknown, wish: object) => {
        disk.asked.push(wish);
        return { device_code: '123-456', expires_in: 600, taken_ago: undefined };
      },
    },
  } as unknown as Core;
  const codes = await openCodes(core, { hubProven: quiet });
  const shut: string[] = [];
  const h = openHousehold(core, codes, (b) => shut.push(b));
  /** What the next start finds. */
  async function stored() {
    const [all, w, browsers] = [await real.people(), await real.window(), await real.browsers()];
    return {
      people: all.map((p) => [p.name, p.role, p.until]),
      window: w !== undefined,
      browsers: browsers.length,
    };
  }
  /** What is true in this process. */
  const held = () => ({
    people: h.all().map((p) => [p.name, p.role, p.until]),
    window: codes.window() !== null,
    browsers: pins.browsers().length,
  });
  async function stop(): Promise<void> {
    h.stop();
    await real.close();
  }
  return { disk, h, codes, pins, real, shut, stored, held, stop };
}
const refused = (work: Promise<unknown>) =>
  work.then(
    () => assert.unreachable('it was taken'),
    (e) => assert.is(toIngleError(e).code, 'internal'),
  );

test('nobody is added, changed or removed by half, and the same works once there is room', async ({
  dir,
}) => {
  const c = await household(dir);
  const p = await c.h.add(ann, '');
  const key = passkey();
  const row = {
    cred_id: key.id,
    public_key: fromBase64url(key.publicKey),
    counter: 0,
    regressions: 0,
    label: '',
    pinned_at: 0,
    person: p.id,
  };
  await c.pins.prove('b1', true, { kind: 'person', person_id: p.id });
  await c.pins.admit('b1', 'Phone', row);
  const before = await c.stored();
  assert.equal([before, c.held()], [{ people: [['Ann', 'adult', 0]], window: false, browsers: 1 }, before]);
  c.disk.full = true;
  await refused(c.h.add({ ...ann, name: 'Ben' }, ''));
  await refused(c.h.change(p.id, { role: 'kid' }));
  await refused(c.h.change(p.id, { until: NOW - 5 }));
  await refused(c.h.remove(p.id));
  await refused(c.pins.forget('b1'));
  assert.equal([await c.stored(), c.held(), c.shut], [before, before, []]);
  c.disk.full = false;
  await c.h.change(p.id, { role: 'kid' });
  assert.equal(c.held(), { ...before, people: [['Ann', 'kid', 0]] });
  await c.h.remove(p.id);
  assert.equal(
    [await c.stored(), c.held(), c.shut],
    [{ people: [], window: false, browsers: 0 }, c.held(), ['b1', 'b1']],
  );
  await c.stop();
});

test('an invitation that cannot be stored lets nobody in, and root hears that it was for a guest', async ({
  dir,
}) => {
  const c = await household(dir);
  const p = await c.h.add(ann, '');
  c.disk.full = true;
  await refused(c.h.invite(p.id));
  assert.equal([c.held().window, (await c.stored()).window], [false, false]);
  c.disk.full = false;
  await c.h.invite(p.id);
  assert.equal([c.held().window, (await c.stored()).window], [true, true]);
  await c.codes.issue(false);
  assert.equal(
    c.disk.asked.map((w) => (w as { guest?: true }).guest),
    [true, true, undefined],
  );
  await c.stop();
});

test('an end that is stored is told as done, though the window behind it could not be removed', async ({
  dir,
}) => {
  const c = await household(dir);
  const p = await c.h.add(ann, '');
  await c.h.invite(p.id);
  const { setWindow } = c.real;
  c.real.setWindow = () => Promise.reject(new Error('SQLITE_FULL'));
  assert.is((await c.h.change(p.id, { until: NOW - 5 })).until, NOW - 5);
  assert.is(c.held().window, false);
  c.real.setWindow = setWindow;
  await c.stop();
});

test.run();
