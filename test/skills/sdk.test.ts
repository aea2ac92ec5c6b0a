// gate: out, it imports what the build makes
// The SDK: its harness, timers that survive, its types, its template.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { toBase64url } from '../../firmware/protocol/bytes.ts';
import type { IngleError } from '../../firmware/protocol/errors.ts';
import { mayHave } from '../../firmware/skills/grants.ts';
import { checkPackage, packSkill } from '../../firmware/skills/package.ts';
import { nobody } from '../../firmware/skills/publishers.ts';
import { defineSkill, texts, type View as Written } from '../../firmware/skills/sdk/sdk.ts';
import type { Fired, SkillContext } from '../../firmware/skills/sdk/skill.ts';
import { skill as template } from '../../firmware/skills/sdk/template/skill.ts';
import { startSkill } from '../../firmware/skills/sdk/test.ts';
import { dueOf, MIN_EVERY_MS, nextOf, timerOf } from '../../firmware/skills/timers.ts';
import { type View, validateView } from '../../firmware/ui/schema.ts';
import { face } from '../../spa/glyphs.ts';
import { signerOfSeed } from './archive.ts';

const test = suite('SDK of skills');
const skillFolders = () =>
  readdirSync('services/skills', { withFileTypes: true }).flatMap((e) =>
    e.isDirectory() ? [join('services/skills', e.name)] : [],
  );
const manifest = (version = '1.0.0') => ({
  id: 'lamp',
  version,
  capabilities: { visual: true, ui: { title: 'Lamp', modes: ['modal'], schema: 'ui/v0' } },
});
const refused = async (code: string, work: () => unknown, words = /./) => {
  try {
    await work();
  } catch (e) {
    assert.is((e as IngleError).code, code, String(e));
    assert.match((e as IngleError).message, words);
    return;
  }
  assert.unreachable(`not refused as ${code}`);
};
/** A skill that notes what fires, with its context in the test's hand. */
function noting(timer?: (f: Fired) => void | Promise<void>) {
  const fired: [string, number][] = [];
  const seen: { ctx?: SkillContext; stopped: number } = { stopped: 0 };
  const skill = defineSkill({
    start(ctx) {
      seen.ctx = ctx;
      return {
        endpoints: [],
        async timer(f) {
          fired.push([f.name, f.late]);
          await timer?.(f);
        },
        stop: () => void seen.stopped++,
      };
    },
  });
  return { skill, fired, seen, timers: () => seen.ctx!.timers };
}
const begin = async (n: ReturnType<typeof noting>) => {
  const s = await startSkill(n.skill, { manifest: manifest() });
  await s.attach('ann');
  return s;
};

test('a timer fires at its time, once, and is gone; one that repeats goes on', async () => {
  const n = noting();
  const s = await begin(n);
  await n.timers().set('once', s.now + 5000);
  await n.timers().set('date', new Date(s.now + 6000));
  await n.timers().set('often', { every: 2000 });
  await s.advance(4999);
  assert.equal(n.fired, [
    ['often', 0],
    ['often', 0],
  ]);
  await s.advance(1);
  assert.equal(n.fired.at(-1), ['once', 0]);
  assert.equal(Object.keys(n.timers().due()), ['date', 'often']);
  await s.advance(3000);
  assert.is(n.fired.filter(([name]) => name === 'often').length, 4);
  assert.is(n.fired.filter(([name]) => name === 'date').length, 1);
});

test('what was missed while it was off fires once and says how late it is; then the rhythm is as before', async () => {
  const n = noting();
  const s = await begin(n);
  await n.timers().set('often', { every: 2000 });
  await n.timers().set('once', s.now + 1000);
  await s.restart({ after: 9000, killed: true });
  await s.advance(0);
  assert.equal(n.fired.sort(), [
    ['often', 7000],
    ['once', 8000],
  ]);
  await s.advance(1000);
  assert.equal(n.fired.at(-1), ['often', 0]);
  assert.is(n.fired.length, 3);
});

test('a kill in a timer fires it again at the next start; an orderly end of its work does not', async () => {
  const n = noting(() => (n.fired.length === 1 ? new Promise(() => {}) : undefined));
  const s = await begin(n);
  await n.timers().set('t', s.now + 1000);
  await s.advance(1000);
  await s.restart({ killed: true });
  await s.advance(0);
  assert.equal(
    n.fired.map(([name]) => name),
    ['t', 't'],
  );
  await s.restart();
  await s.advance(60_000);
  assert.is(n.fired.length, 2);
  assert.is(n.seen.stopped, 1, 'a kill tells nobody');
});

test('a timer whose work throws is told and done; one that is set again in its own work stays set', async () => {
  const n = noting((f) => {
    if (f.name === 'bad') throw new Error('no lamp');
    return n.timers().set('again', f.due + 3000);
  });
  const s = await begin(n);
  await n.timers().set('bad', s.now + 1000);
  await n.timers().set('again', s.now + 1000);
  await s.advance(10_000);
  assert.equal(s.errors, ['a timer of the skill failed: no lamp']);
  assert.is(n.fired.filter(([name]) => name === 'again').length, 4);
  await n.timers().clear('again');
  await s.advance(60_000);
  assert.is(n.fired.length, 5);
  await n.timers().clear('never was');
});

test('timers wait for the first owner, but not for ever', async () => {
  const n = noting();
  const s = await startSkill(n.skill, { manifest: manifest() });
  await n.timers().set('t', s.now);
  await s.advance(9_999);
  assert.is(n.fired.length, 0);
  await s.advance(1);
  assert.equal(n.fired, [['t', 10_000]]);
});

test('what is no time is refused', async () => {
  for (const bad of [
    Number.NaN,
    -1,
    Infinity,
    'x',
    null,
    {},
    { every: 0 },
    { every: MIN_EVERY_MS - 1 },
    { every: NaN },
    new Date('x'),
  ])
    await refused('invalid_request', () => timerOf(bad as never, 0));
});

test('the next time is after now and in the rhythm; a clock set back makes nobody wait longer than once around', () => {
  assert.is(nextOf({ due: 5 }, 10), undefined);
  assert.equal(nextOf({ due: 100, every: 10 }, 100), { due: 110, every: 10 });
  assert.equal(nextOf({ due: 100, every: 10 }, 129), { due: 130, every: 10 });
  assert.equal(nextOf({ due: 100, every: 10 }, 130), { due: 140, every: 10 });
  assert.equal(nextOf({ due: 100, every: 10 }, 50), { due: 110, every: 10 });
  assert.is(dueOf({ due: 1_000_000, every: 10 }, 0), 10);
  assert.is(dueOf({ due: 1_000_000 }, 0), 1_000_000);
});

test('a request is done once, its effect and what is stored outlive a kill', async () => {
  let runs = 0;
  const skill = defineSkill({
    start: (ctx) => ({
      endpoints: [
        {
          method: 'POST',
          path: '/v1/on/{room}',
          async answer({ body }) {
            runs++;
            await ctx.storage.set('on', body['on'] ?? null);
            return { body: { runs }, state: () => ({ on: body['on'] }) };
          },
        },
      ],
    }),
  });
  const s = await startSkill(skill, { manifest: manifest() });
  await s.attach('ann');
  const ask = () => s.request('POST', '/v1/on/hall', { body: { on: true }, id: 'same' });
  assert.equal(await ask(), { status: 200, body: { runs: 1 } });
  assert.equal(await ask(), { status: 200, body: { runs: 1 } });
  await s.restart({ killed: true });
  assert.equal(await ask(), { status: 200, body: { runs: 1 } });
  assert.equal(s.state(), { on: true });
  assert.is(s.storage.get('on'), true);
  await refused('not_found', () => s.request('POST', '/v1/off'));
  await refused('not_found', () => s.state('bob'));
});

test('an update migrates; one that fails says why, and the old version starts with its data', async () => {
  const keeps = (migrate?: Parameters<typeof defineSkill>[0]['migrate']) =>
    defineSkill({ migrate, start: () => ({ endpoints: [] }) });
  const s = await startSkill(keeps(), { manifest: manifest() });
  await s.storage.set('n', 1);
  const bad = keeps(() => {
    throw new Error('too old');
  });
  await refused('unavailable', () => s.restart({ definition: bad, manifest: manifest('2.0.0') }), /too old/);
  await s.restart({ definition: keeps(), manifest: manifest() });
  assert.is(s.storage.get('n'), 1);
  const good = keeps(({ storage, from }) => storage.set('n', `${from} and on`));
  await s.restart({ definition: good, manifest: manifest('2.0.0') });
  assert.is(s.storage.get('n'), '1.0.0 and on');
  await s.restart({ definition: keeps(), manifest: manifest() });
  assert.is(s.storage.get('n'), 1, 'as it was before the update');
});

test('the harness refuses what the hub would: a manifest that is none, a view with faults', async () => {
  const shows = defineSkill({
    start: (ctx) => ({
      endpoints: [],
      attached: (o) => ctx.setView(o, { schema: 'ui/v0', layout: { type: 'title' } }),
    }),
  });
  await refused('invalid_request', () => startSkill(shows, { manifest: { id: 'Lamp' } }));
  const s = await startSkill(shows, { manifest: manifest() });
  await s.attach('ann');
  await refused('invalid_request', () => s.view(), /text/);
});

test('texts are for every reader, counted by the forms of each language', () => {
  const t = texts({
    en: { a: 'A', n: { by: 'n', one: 'one', other: '{n} many' } },
    ru: { a: 'Я', n: { by: 'n', few: '{n} мало', other: '{n} много' } },
  });
  assert.equal(t('n', { n: 2 }), { i18n: { en: '2 many', ru: '2 мало' } });
  assert.is(t.in('ru', 'n', { n: 5 }), '5 много');
  assert.is(t.ref('a'), '{{meta.texts.a}}');
  assert.equal(t.all(), { a: { i18n: { en: 'A', ru: 'Я' } } });
});

test("each kind of node of an author's view passes the hub's schema, and its type is the schema's", () => {
  const view: Written = {
    schema: 'ui/v0',
    meta: { title: 'x', texts: { a: { i18n: { en: 'a', ru: 'б' } } } },
    layout: {
      type: 'stack',
      gap: 8,
      justify: 'between',
      children: [
        { type: 'title', text: 'x' },
        { type: 'text', text: '{{state.a}}' },
        { type: 'badge', text: 'x', icon: 'star' },
        { type: 'metric', label: 'x', value: '1' },
        { type: 'row', children: [] },
        { type: 'card', title: 'x', child: { type: 'empty' } },
        { type: 'table', columns: [{ key: 'a', label: 'A' }], rows: '{{state.rows}}' },
        { type: 'chart.line', series: [{ label: 'x', x: 'a', y: 'b', data: '{{state.rows}}' }] },
        { type: 'button', label: 'x', action: { type: 'http.post', path: '/skills/lamp/v1/on', body: {} } },
        { type: 'button', label: 'x', action: { type: 'bus.publish', topic: 'ui.x', payload: {} } },
        { type: 'button', label: 'x', action: { type: 'navigate', path: 'skill:lamp', mode: 'modal' } },
        { type: 'select', bind: '{{state.a}}', options: [{ label: 'A', value: 'a' }] },
        {
          type: 'form',
          label: 'Go',
          fields: [{ key: 'a', label: 'A', value: '{{state.a}}', secret: true }],
          action: { type: 'http.post', path: '/skills/lamp/v1/a' },
        },
      ],
    },
  };
  const later: Written = {
    schema: 'ui/v0.1',
    layout: {
      type: 'tabs',
      tabs: [
        { label: 'x', children: [view.layout, { type: 'progress', value: '{{state.a}}', max: '5' }] },
        { label: 'y', child: { type: 'chart.bar', series: [{ x: 'a', y: 'b', data: '{{state.rows}}' }] } },
        {
          label: 'z',
          child: {
            type: 'form',
            label: 'Go',
            fields: [
              { key: 'a', label: 'A', input: 'number', required: true, max: 9 },
              { key: 'b', label: 'B', input: 'chips', options: [{ label: 'x', value: 'x' }] },
            ],
            action: { type: 'http.post', path: '/skills/lamp/v1/a' },
          },
        },
      ],
    },
  };
  for (const drawn of [view, later] as View[]) assert.equal(validateView(drawn), []);
});

test('the template starts, counts and shows a view the hub takes', async () => {
  const s = await startSkill(template, {
    manifest: JSON.parse(readFileSync('firmware/skills/sdk/template/manifest.json', 'utf8')),
  });
  await s.attach('ann');
  assert.equal((await s.request('POST', '/v1/press')).body, { today: 1, ever: 1 });
  assert.is(s.view().schema, 'ui/v0');
  await s.advance(24 * 3_600_000);
  assert.is(s.storage.of('ann').get('today'), 0);
  assert.equal(s.errors, []);
});

test('the icons of the template and of the skills of the image are drawn, none is the one for names nobody knows', () => {
  const unknown = JSON.stringify(face('no-such-icon'));
  for (const folder of ['firmware/skills/sdk/template', ...skillFolders()]) {
    const { capabilities } = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'));
    assert.is.not(JSON.stringify(face(capabilities.ui.icon)), unknown, `${folder}: ${capabilities.ui.icon}`);
  }
});

(existsSync('dist/skills/weather/skill.js') ? test : test.skip)(
  'each skill of the image makes a package of the kind that everybody’s are, with what the maker alone gives',
  async () => {
    const maker = signerOfSeed(7);
    const by = (s: typeof maker) => ({ ...nobody, maker: [{ key: toBase64url(s.key), name: 'Maker' }] });
    const folders = readdirSync('dist/skills', { withFileTypes: true }).filter((e) => e.isDirectory());
    const granted: string[] = [];
    for (const { name } of folders) {
      const at = join('dist/skills', name);
      const files = readdirSync(at, { recursive: true, encoding: 'utf8' })
        .filter((path) => statSync(join(at, path)).isFile())
        .map((path) => ({ path, bytes: new Uint8Array(readFileSync(join(at, path))) }));
      const { bytes } = packSkill(files, maker);
      const { meta, manifest, trust, publisher } = await checkPackage(bytes, by(maker));
      assert.equal([meta.id, manifest.id, trust], [name, name, 'trusted']);
      mayHave(manifest, by(maker), publisher!.key);
      if (!manifest.permissions?.grants) continue;
      granted.push(name);
      await refused('forbidden', () => mayHave(manifest, by(signerOfSeed(8)), publisher!.key));
    }
    for (const id of ['weather', 'logs', 'hub_status', 'updates', 'settings'])
      assert.ok(
        folders.some((f) => f.name === id),
        id,
      );
    assert.equal(granted, ['logs']);
  },
);

const built = existsSync('dist/sdk/package.json');
(built ? test : test.skip)('the built package names nothing outside itself: types and code', () => {
  const files = readdirSync('dist/sdk', { recursive: true, encoding: 'utf8' });
  const declared = files.filter((f) => f.endsWith('.d.ts'));
  assert.ok(declared.length > 3);
  for (const f of declared)
    for (const [, named = ''] of readFileSync(join('dist/sdk', f), 'utf8').matchAll(
      /(?:from|import\() ?'([^']+)'/g,
    )) {
      assert.match(named, /^\./, `${f} names ${named}`);
      assert.ok(
        existsSync(join('dist/sdk', dirname(f), named.replace(/\.js$/, '.d.ts'))),
        `${f} names ${named}`,
      );
    }
  for (const f of ['index.js', 'test.js'])
    for (const [, named = ''] of readFileSync(join('dist/sdk', f), 'utf8').matchAll(
      /^import .*?'([^']+)';/gm,
    ))
      assert.ok(process.getBuiltinModule(named), `${f} imports ${named}`);
});

test.run();
