// timeout: 280 s
// gate: out, 12 s
// Installing packages with real files and a real store: each step cut short, a full disk, and every rule of who may.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { toBase64url } from '../../firmware/protocol/bytes.ts';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { type Disk, openBundles, openDisk } from '../../firmware/skills/bundles.ts';
import { type Installer, openInstaller } from '../../firmware/skills/install.ts';
import type { InstallParts } from '../../firmware/skills/install-parts.ts';
import { packSkill } from '../../firmware/skills/package.ts';
import { readPublishers, writePublishers } from '../../firmware/skills/publisher-files.ts';
import { withPublisher, withRevoked } from '../../firmware/skills/publishers.ts';
import { changeTable, manifestOf, readPlaces, readSlots } from '../../firmware/skills/table.ts';
import { durableSchema } from '../../firmware/system/durable.ts';
import type { Log } from '../../firmware/system/log.ts';
import { openStore } from '../../firmware/system/store.ts';
import { tried, until } from '../lab/wait.ts';
import { lamp, signerOfSeed } from './archive.ts';

const silent: Log = Object.fromEntries(
  ['error', 'warn', 'notice', 'info', 'debug'].map((k) => [k, () => {}]),
) as never;
const acme = signerOfSeed(1);
const other = signerOfSeed(2);
const keyOf = (s: typeof acme) => toBase64url(s.key);
const packed = (version = '1.0.0', id = 'lamp', signer: typeof acme | undefined = acme) =>
  packSkill(lamp(id, version), signer).bytes;

/** A machine whose power can be cut: from the given step on nothing is done any more. */
interface Power {
  steps: number;
  cutAt: number;
}
const cut = new Error('the power is gone');
function powered<T extends object>(power: Power, on: T): T {
  return new Proxy(on, {
    get(target, name) {
      const f = (target as Record<PropertyKey, unknown>)[name];
      if (typeof f !== 'function') return f;
      return (...args: unknown[]) => {
        if (power.steps++ >= power.cutAt) {
          if (name === 'read') throw cut;
          const [path, bytes] = args as [string, unknown];
          // What is being written when the power goes lies there in part.
          const isHalf = power.steps - 1 === power.cutAt && name === 'write' && bytes instanceof Uint8Array;
          const done = isHalf ? f.call(target, path, bytes.subarray(0, bytes.length >> 1)) : undefined;
          return Promise.resolve(done).then(() => Promise.reject(cut));
        }
        return f.apply(target, args);
      };
    },
  });
}

interface Bench {
  c: { skills: string; data: string };
  /** Versions that do not come up, by skill. */
  broken: Set<string>;
  developer: boolean;
  left: number[];
  wiped: number[];
  forgotten: string[];
  told: string[];
  open(o?: { power?: Power; disk?: Partial<Disk>; parts?: Partial<InstallParts> }): Promise<Installer>;
  /** The version in the slot of a skill, as its process would load it. */
  lives(id?: string): string | undefined;
  bundles(): string[];
  end(): Promise<void>;
}

async function bench(): Promise<Bench> {
  const at = mkdtempSync(join(tmpdir(), 'ingle-install-'));
  const c = { skills: join(at, 'root'), data: join(at, 'data') };
  mkdirSync(join(c.skills, 'clock'), { recursive: true });
  mkdirSync(join(c.data, 'skills'), { recursive: true });
  writeFileSync(join(c.skills, 'clock/manifest.json'), '{}');
  const ends: (() => unknown)[] = [];
  const b: Bench = {
    ...{ c, broken: new Set(), developer: false, left: [], wiped: [], forgotten: [], told: [] },
    async open({ power = { steps: 0, cutAt: Infinity }, disk = {}, parts = {} } = {}) {
      const store = await openStore(join(c.data, 'api.db'), [durableSchema('installs')]);
      const real = { ...openDisk(join(c.data, 'skills/bundles')), ...disk };
      const installer = await openInstaller({
        store: powered(power, { run: store.run, all: store.all }),
        log: silent,
        bundles: openBundles(powered(power, real)),
        places: powered(power, {
          read: () => readPlaces(c),
          change: (f) => changeTable(c, f),
        } satisfies InstallParts['places']),
        publishers: powered(power, {
          read: () => readPublishers(c),
          write: (o) => writePublishers(c, o),
        } satisfies InstallParts['publishers']),
        tag: () => 'a'.repeat(32),
        isDeveloper: () => b.developer,
        running: powered(power, {
          changed: async () => {},
          leave: async (slot) => void b.left.push(slot),
          async come(id) {
            const version = b.lives(id);
            if (!version || b.broken.has(`${id} ${version}`))
              throw new IngleError('unavailable', `The skill "${id}" does not start. See its log.`);
          },
          wipe: async (slot) => void b.wiped.push(slot),
          forget: async (id) => void b.forgotten.push(id),
        } satisfies InstallParts['running']),
        told: (id, { state, memory }) => b.told.push(`${id} ${state} ${memory.current ?? '-'}`),
        gone: (id) => b.told.push(`${id} gone`),
        retryMs: 1,
        ...parts,
      });
      ends.push(async () => {
        await installer.stop();
        await store.close().catch(() => {});
      });
      return installer;
    },
    lives(id = 'lamp') {
      const slot = [...readSlots(c).slots.values()].find((s) => s.skill_id === id);
      return slot && manifestOf(c, slot).version;
    },
    bundles: () =>
      existsSync(join(c.data, 'skills/bundles')) ? readdirSync(join(c.data, 'skills/bundles')) : [],
    async end() {
      for (const f of ends) await f();
      rmSync(at, { recursive: true, force: true });
    },
  };
  await writePublishers(c, withPublisher(readPublishers(c), { key: keyOf(acme), name: 'Acme' }));
  return b;
}

const state = (i: Installer, id = 'lamp') => i.rows().find((r) => r.key === id)?.state;
const settled = (i: Installer, wanted: string | undefined, id = 'lamp') =>
  until(
    tried(() => state(i, id) === wanted),
    `${id} to be ${wanted}`,
  );
const memory = (i: Installer, id = 'lamp') => i.rows().find((r) => r.key === id)!.memory;
async function installed(i: Installer, version: string, id = 'lamp') {
  await i.install(packed(version, id));
  await until(
    tried(() => memory(i, id).current === version && state(i, id) === 'active'),
    `${id} ${version}`,
  );
  await i.idle();
}
async function refused(work: Promise<unknown>, code: string, says: RegExp) {
  const e = await work.then(
    () => undefined,
    (e) => e,
  );
  assert.instance(e, IngleError, String(e));
  assert.is(e.code, code, e.message);
  assert.match(e.message, says);
}
/** A test with a bench of its own. */
const on = (name: string, work: (b: Bench) => Promise<void>) =>
  test(name, async () => {
    const b = await bench();
    try {
      await work(b);
    } finally {
      await b.end();
    }
  });

on('a package is prepared beside what is used, and changes nothing until it is activated', async (b) => {
  const i = await b.open();
  await installed(i, '1.0.0');
  const { kept } = await i.prepare(packed('1.1.0'));
  assert.equal([kept.version, b.lives(), state(i)], ['1.1.0', '1.0.0', 'active']);
  assert.is(b.bundles().length, 2);
  await i.activate('lamp', '1.1.0');
  await settled(i, 'active');
  assert.equal([b.lives(), memory(i).current, memory(i).previous], ['1.1.0', '1.1.0', '1.0.0']);
});

on('without a sandbox a package lies prepared and begins no trial, unless in developer mode', async (b) => {
  const i = await b.open({ parts: { unconfined: 'missing' } });
  const refusal = () => refused(i.install(packed('1.0.0')), 'forbidden', /install bubblewrap/);
  await refusal();
  assert.equal([state(i), memory(i).kept.length, b.lives()], ['prepared', 1, undefined]);
  b.developer = true;
  await installed(i, '1.0.0');
  b.developer = false;
  await refused(i.install(packed('1.1.0')), 'forbidden', /install bubblewrap/);
  assert.equal([state(i), b.lives(), memory(i).kept.length], ['active', '1.0.0', 2]);
  await i.renew();
  assert.is(b.left.length, 2, 'the process of the one that is used was told to go, when it came and now');
});

on('prepared twice it is there once', async (b) => {
  const i = await b.open();
  await Promise.all([i.prepare(packed()), i.prepare(packed())]);
  assert.equal([memory(i).kept.length, b.bundles().length], [1, 1]);
});

on('a version that does not come up gives way to the one before, and the reason is told', async (b) => {
  const i = await b.open();
  await installed(i, '1.0.0');
  b.broken.add('lamp 2.0.0');
  await i.install(packed('2.0.0'));
  await until(
    tried(() => memory(i).fault?.version === '2.0.0' && state(i) === 'active'),
    'the way back',
  );
  assert.equal([b.lives(), memory(i).current, memory(i).trying], ['1.0.0', '1.0.0', null]);
  assert.is(memory(i).fault?.reason, 'broken');
  assert.match(memory(i).fault!.message, /does not start/);
  // It can be tried again.
  b.broken.clear();
  await i.activate('lamp', '2.0.0');
  await until(
    tried(() => b.lives() === '2.0.0' && memory(i).fault === null),
    'the second try',
  );
});

on(
  'a first version that does not come up is taken out again and stays prepared with its reason',
  async (b) => {
    const i = await b.open();
    b.broken.add('lamp 1.0.0');
    await i.install(packed());
    await until(
      tried(() => state(i) === 'prepared' && memory(i).fault),
      'the way back',
    );
    assert.equal([b.lives(), memory(i).kept.length, b.wiped.length], [undefined, 1, 1]);
  },
);

on('a version that hangs is given up when its time is over', async (b) => {
  const i = await b.open({
    parts: {
      trialMs: 50,
      running: {
        changed: async () => {},
        leave: async () => {},
        come: (_, signal) =>
          new Promise((_, no) =>
            signal.addEventListener('abort', () => no(new IngleError('timeout', 'Late.'))),
          ),
        wipe: async () => {},
        forget: async () => {},
      },
    },
  });
  await i.install(packed());
  await until(
    tried(() => state(i) === 'prepared'),
    'the way back',
  );
  assert.is(memory(i).fault?.reason, 'timeout');
});

on('a step back goes to the version before and no further', async (b) => {
  const i = await b.open();
  for (const v of ['1.0.0', '1.1.0', '1.2.0']) await installed(i, v);
  assert.equal(
    memory(i).kept.map((k) => k.version),
    ['1.1.0', '1.2.0'],
  );
  assert.is(b.bundles().length, 2);
  await i.rollback('lamp');
  await until(
    tried(() => b.lives() === '1.1.0' && state(i) === 'active'),
    'the version before',
  );
  await refused(i.rollback('lamp'), 'conflict', /no version/);
  await i.activate('lamp', '1.2.0');
  await until(
    tried(() => b.lives() === '1.2.0' && state(i) === 'active'),
    'the newer one again',
  );
});

on('versions do not go back, and a version has one content', async (b) => {
  const i = await b.open();
  await installed(i, '1.1.0');
  await refused(i.prepare(packed('1.0.0')), 'conflict', /older/);
  const changed = packSkill([...lamp('lamp', '1.1.0'), { path: 'z', bytes: new Uint8Array(1) }], acme).bytes;
  await refused(i.prepare(changed), 'conflict', /other content/);
});

on('what is removed leaves nothing, and its name is free for another publisher', async (b) => {
  const i = await b.open();
  await installed(i, '1.0.0');
  await i.owned((o) => withPublisher(o, { key: keyOf(other), name: 'Other' }));
  await refused(i.prepare(packed('2.0.0', 'lamp', other)), 'forbidden', /has come from "Acme"/);
  await i.remove('lamp');
  await until(
    tried(() => b.told.at(-1) === 'lamp gone'),
    'word that nothing is left',
  );
  assert.is(state(i), undefined);
  assert.equal([b.lives(), b.bundles(), b.wiped, b.forgotten], [undefined, [], [1], ['lamp']]);
  await i.install(packed('0.1.0', 'lamp', other));
  await until(
    tried(() => b.lives() === '0.1.0' && state(i) === 'active'),
    'the other',
  );
});

on('a skill that is being removed is listed until its last folder has gone', async (b) => {
  const real = openDisk(join(b.c.data, 'skills/bundles'));
  const seen: unknown[] = [];
  const i: Installer = await b.open({
    disk: {
      async remove(path) {
        if (path.startsWith('lamp')) seen.push(state(i));
        await real.remove(path);
      },
    },
  });
  await installed(i, '1.0.0');
  seen.length = 0;
  await i.remove('lamp');
  await settled(i, undefined);
  assert.equal([seen, b.bundles()], [['removing'], []]);
});

on('a publisher nobody trusts may be looked at and not used; a revoked one neither', async (b) => {
  const i = await b.open();
  await i.prepare(packed('1.0.0', 'lamp', other));
  await refused(i.activate('lamp', '1.0.0'), 'forbidden', /Trust its key/);
  assert.equal([b.lives(), state(i)], [undefined, 'prepared']);
  await i.owned((o) => withRevoked(o, keyOf(other)));
  await refused(i.activate('lamp', '1.0.0'), 'forbidden', /revoked/);
  await refused(i.prepare(packed('1.1.0', 'lamp', other)), 'forbidden', /revoked/);
});

on('an unsigned package is for developer mode, and is marked for ever', async (b) => {
  const i = await b.open();
  const unsigned = (v: string) => packSkill(lamp('lamp', v)).bytes;
  await refused(i.prepare(unsigned('1.0.0')), 'forbidden', /not signed/);
  b.developer = true;
  await i.install(unsigned('1.0.0'));
  await settled(i, 'active');
  await i.prepare(unsigned('1.1.0'));
  b.developer = false;
  await refused(i.activate('lamp', '1.1.0'), 'forbidden', /not signed/);
  await installed(i, '1.2.0');
  assert.ok(memory(i).unsigned);
  b.developer = true;
  await refused(i.prepare(unsigned('1.3.0')), 'forbidden', /not signed/);
});

on('a skill of the image is not replaced by a package', async (b) => {
  const i = await b.open();
  await refused(i.prepare(packed('1.0.0', 'clock')), 'forbidden', /part of the image/);
  assert.equal(b.bundles(), []);
});

on('200 packages fit and no more; 16 skills have a place and the next is told so', async (b) => {
  const i = await b.open();
  for (let n = 0; n < 200; n++) await i.prepare(packed('1.0.0', `skill_${n}`));
  await refused(i.prepare(packed('1.0.0', 'one_more')), 'conflict', /Remove a skill/);
  assert.is(b.bundles().length, 200);
  for (let n = 0; n < 16; n++) await i.activate(`skill_${n}`, '1.0.0');
  for (let n = 0; n < 16; n++) await settled(i, 'active', `skill_${n}`);
  await refused(i.activate('skill_16', '1.0.0'), 'conflict', /all 16 places/);
  await i.discard('skill_199', '1.0.0');
  assert.is(b.bundles().length, 199);
  await i.prepare(packed('1.0.0', 'one_more'));
});

on('a bound of bytes holds over all packages', async (b) => {
  const i = await b.open({ parts: { most: { packages: 200, bytes: 1500 } } });
  await i.prepare(packed());
  await refused(i.prepare(packed('1.1.0')), 'conflict', /Remove a skill/);
});

on('what is used cannot be discarded, what is prepared can', async (b) => {
  const i = await b.open();
  await installed(i, '1.0.0');
  await i.prepare(packed('1.1.0'));
  await refused(i.discard('lamp', '1.0.0'), 'conflict', /in use/);
  await i.discard('lamp', '1.1.0');
  await refused(i.discard('lamp', '1.1.0'), 'not_found', /is not here/);
  assert.is(b.bundles().length, 1);
});

for (const [what, disk] of [
  ['before it begins', { free: async () => 1000 }],
  [
    'in the middle',
    {
      write: async (path: string) => {
        if (path.endsWith('skill.js')) throw Object.assign(new Error('full'), { code: 'ENOSPC' });
      },
    },
  ],
] as [string, Partial<Disk>][])
  on(`a disk that is full ${what} leaves nothing behind and says what to do`, async (b) => {
    const i = await b.open({ disk });
    await refused(i.prepare(packed()), 'conflict', /no room left/);
    assert.equal([b.bundles(), i.rows().length], [[], 0]);
  });

on('a package that failed at any step can be prepared again at once', async (b) => {
  const power: Power = { steps: 0, cutAt: Infinity };
  const i = await b.open({ power });
  for (let at = 0, failed = true; failed; at++) {
    power.cutAt = power.steps + at;
    const work = i.prepare(packed(`1.${at}.0`));
    failed = await work.then(
      () => false,
      () => true,
    );
    power.cutAt = Infinity;
    await i.prepare(packed(`1.${at}.0`));
    assert.is(memory(i).kept.length, at + 1);
  }
});

on('a damaged package leaves nothing behind', async (b) => {
  const i = await b.open();
  const bytes = packed();
  for (let at = 20; at < bytes.length; at += 37) {
    const bad = Uint8Array.from(bytes, (v, n) => (n === at ? v ^ 1 : v));
    assert.instance(await i.prepare(bad).catch((e) => e), IngleError);
    assert.instance(await i.prepare(bytes.subarray(0, at)).catch((e) => e), IngleError);
  }
  assert.equal([b.bundles(), i.rows().length], [[], 0]);
});

on('a table that was lost is made again from what is installed', async (b) => {
  const first = await b.open();
  await installed(first, '1.0.0');
  await first.stop();
  rmSync(join(b.c.data, 'skills/slots.json'));
  const i = await b.open();
  await i.begin();
  await until(
    tried(() => b.lives() === '1.0.0'),
    'its place',
  );
});

/** What is done to a hub that has version 1.0.0, and what is whole after it was cut short. */
const orders: [what: string, work: (i: Installer) => Promise<unknown>, whole: (string | undefined)[]][] = [
  ['prepare', (i) => i.prepare(packed('1.1.0')), ['1.0.0']],
  ['install', (i) => i.install(packed('1.1.0')), ['1.0.0', '1.1.0']],
  ['install broken', (i) => i.install(packed('2.0.0')), ['1.0.0']],
  ['remove', (i) => i.remove('lamp'), ['1.0.0', undefined]],
];
for (const [what, work, whole] of orders)
  test(`cut at any step of ${what}, a hub comes back whole, with what it said was done`, async () => {
    let cuts = 0;
    for (let at = 0; ; at++) {
      const b = await bench();
      try {
        b.broken.add('lamp 2.0.0');
        const before = await b.open();
        await installed(before, '1.0.0');
        await before.stop();
        const power: Power = { steps: 0, cutAt: Infinity };
        const running = await b.open({ power, parts: { retryMs: 100_000 } });
        power.cutAt = power.steps + at;
        const said = await work(running).then(
          () => true,
          () => false,
        );
        const quiet = () => running.idle().then(() => Promise.all(running.rows().map((r) => r.acted())));
        await Promise.race([quiet(), until(() => power.steps > power.cutAt, 'the cut')]);
        const wasCut = power.steps > power.cutAt;
        // Nothing of the old process goes on.
        power.cutAt = 0;
        await running.stop();
        const i = await b.open();
        await i.begin();
        await until(
          tried(() => i.rows().every((r) => ['active', 'prepared'].includes(r.state))),
          `it to settle (${what}, ${at})`,
        );
        await i.idle();
        const says = `${what} at ${at}`;
        assert.ok(whole.includes(b.lives()), `${says}: ${b.lives()}`);
        if (said && what === 'remove') assert.is(b.lives(), undefined, says);
        if (said && what === 'install') assert.is(b.lives(), '1.1.0', says);
        const kept = i.rows().flatMap((r) => r.memory.kept.map((k) => k.bundle));
        if (said && what === 'prepare') assert.is(kept.length, 2, says);
        await until(
          tried(() => b.bundles().sort().join() === [...kept].sort().join()),
          `no folder too many (${says}): ${b.bundles()} ${kept}`,
        );
        if (b.lives()) assert.is(memory(i).current, b.lives(), says);
        const table = readFileSync(join(b.c.data, 'skills/slots.json'), 'utf8');
        assert.ok(JSON.parse(table), says);
        if (!wasCut) break;
        cuts++;
      } finally {
        await b.end();
      }
    }
    assert.ok(cuts > 8, `${cuts} cuts`);
    console.log(`FIGURE cuts of ${what} ${cuts}`);
  });

test.run();
