// timeout: 240 s
// A newcomer's way: a new skill is made, tested, built, packed, and runs in the hub of `npm start`, anew at each save.
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { skill1, skillBusName } from '../../firmware/skills/contract.ts';
import { loadBundle } from '../../firmware/skills/load.ts';
import { parseTable } from '../../firmware/skills/slots.ts';
import { fromVariant } from '../../firmware/system/contract.ts';
import { marked } from '../../services/cli/skill/dev.ts';
import { child } from '../lab/child.ts';
import { startHouse } from '../lab/house.ts';
import { until, within } from '../lab/wait.ts';

const test = suite('ingle skill for authors');
const dir = mkdtempSync(join(tmpdir(), 'ingle-author-'));
test.after(() => rmSync(dir, { recursive: true }));
test.before(async () => {
  const { build } = await import('../../services/cli/build.mjs' as string);
  await build();
});

function ingle(
  words: string,
  env: Record<string, string> = {},
  o: { program?: string[]; cwd?: string } = {},
) {
  const { program = [resolve('services/cli/ingle.mjs')], cwd = dir } = o;
  const c = child(process.execPath, [...program, ...words.split(' ')], {
    cwd,
    env: { ...process.env, INGLE_LANG: 'en', ...env },
  });
  let said = '';
  for (const s of [c.stdout!, c.stderr!]) s.on('data', (d) => (said += d));
  const code = new Promise<number | null>((done) => c.once('close', done));
  return { code, said: () => said, end: () => c.kill('SIGINT') };
}
async function gives(status: number, words: string, says: RegExp, env?: Record<string, string>) {
  const run = ingle(words, env);
  const code = await within(run.code, words);
  assert.is(code, status, run.said());
  assert.match(run.said(), says);
}
const edit = (file: string, from: string | RegExp, to: string) => {
  const path = join(dir, 'lamp', file);
  const before = readFileSync(path, 'utf8');
  const after = before.replace(from, to);
  assert.is.not(after, before);
  writeFileSync(path, after);
  return () => writeFileSync(path, before);
};

test('a new skill is tested, built and packed as it is; what is there is never overwritten', async () => {
  await gives(0, 'skill new lamp', /A new skill lies in .*lamp/);
  await gives(73, 'skill new lamp', /is there already and stays/);
  for (const bad of ['../lamp', 'Lamp', '7up', 'x'.repeat(60)])
    await gives(64, `skill new ${bad}`, /cannot be a skill's name/);
  await gives(64, 'skill new ../лампа', /не может быть/, { INGLE_LANG: 'ru' });
  await gives(0, 'skill test lamp', /pass 2/);
  await gives(0, 'skill build lamp', /lamp\/dist is built: lamp 1\.0\.0/);
  await gives(0, 'skill key new acme.pem', /key id/);
  await gives(0, 'skill pack lamp/dist --key acme.pem', /signed with the key/);
  await gives(0, 'skill show lamp-1.0.0.ingle-skill', /the signature is right/);
});

test('what is wrong with a skill is said with its place: code, manifest, a failing test, what a hub lacks', async () => {
  const wrongs: [
    file: string,
    from: string | RegExp,
    to: string,
    words: string,
    code: number,
    says: RegExp,
  ][] = [
    ['skill.ts', 'defineSkill({', 'defineSkill(({', 'build', 64, /skill\.ts:\d+:\d+: Expected/],
    ['skill.ts', 'export const skill', 'const other', 'build', 64, /exports no "skill"/],
    ['skill.ts', "'./texts.ts'", "'./gone.ts'", 'build', 64, /Could not resolve/],
    ['manifest.json', '"1.0.0"', '"1"', 'build', 64, /is not a semantic version/],
    ['manifest.json', '{', '', 'build', 64, /is no JSON/],
    ['skill.ts', '+ 1, stored', '+ 2, stored', 'test', 64, /fail 1[\s\S]*Some tests failed/],
  ];
  for (const [file, from, to, words, code, says] of wrongs) {
    const mend = edit(file, from, to);
    await gives(code, `skill ${words} lamp`, says);
    mend();
  }
  for (const words of ['build', 'test', 'dev'])
    await gives(words === 'dev' ? 69 : 66, `skill ${words} .`, /manifest|npm start/);
  await gives(69, 'skill dev lamp', /Start one in another terminal.*npm start/);
});

test('what is built is strict CommonJS; what asks for its own address or imports on demand stays a module', async () => {
  const file = join(dir, 'lamp/dist/skill.js');
  const built = async (before: string) => {
    const mend = edit('skill.ts', 'export const skill', `${before}\nexport const skill`);
    await gives(0, 'skill build lamp', /is built/);
    mend();
    // Node keeps a module by its address.
    const copy = join(dir, `built-${before.length}.mjs`);
    cpSync(file, copy);
    const loaded = (await loadBundle(copy)) as { skill: object; more(): Promise<unknown> };
    assert.type(loaded.skill, 'object');
    return { text: readFileSync(file, 'utf8'), more: await loaded.more() };
  };
  const common = await built("import { cpus } from 'node:os';\nexport const more = async () => typeof cpus;");
  assert.match(common.text, /^["']use strict["'];/);
  assert.is(common.more, 'function');
  for (const [code, gives] of [
    ['export const more = async () => typeof import.meta.url;', 'string'],
    ["export const more = async () => typeof (await import('node:os')).cpus;", 'function'],
  ] as const) {
    const { text, more } = await built(code);
    assert.match(text, /^export \{/m);
    assert.is(more, gives);
  }
});

test('the title says developer mode in each language, within its bounds', () => {
  const ui = {
    title: 'x'.repeat(80),
    titles: { ru: 'Лампа' },
    modes: ['modal' as const],
    schema: 'ui/v0' as const,
  };
  const m = { id: 'lamp', version: '1.0.0', capabilities: { visual: true, ui } };
  const { title, titles } = marked(m).capabilities.ui!;
  assert.match(title, /^x+ \(developer mode\)$/);
  assert.ok(title.length <= 80);
  assert.is(titles!['ru'], 'Лампа (режим разработчика)');
  const none = { ...m, capabilities: {} };
  assert.equal(marked(none), none);
});

test('in the hub of npm start it runs after one restart of the hub, and anew at each save', async () => {
  const data = join(dir, '.ingle');
  let house = await startHouse({ data });
  const dev = ingle('skill dev lamp');
  try {
    await until(() => /has place \d+ of this hub. Start the hub again/.test(dev.said()), 'its place');
    await house.stop();
    house = await startHouse({ data });
    await until(() => /lamp 1\.0\.0 runs in developer mode at http/.test(dev.said()), 'it to run');
    const table = parseTable(readFileSync(join(data, 'hub/skills/slots.json'), 'utf8'));
    const slot = [...table].find(([, row]) => row.state === 'used' && row.skill_id === 'lamp')![0];
    const manifest = async () => {
      const bus = await house.connection();
      const m = await bus.client(skill1, { busName: skillBusName(slot) }).Manifest({});
      return fromVariant(m.manifest) as { version: string; capabilities: { ui: { title: string } } };
    };
    assert.is((await manifest()).capabilities.ui.title, 'Lamp (developer mode)');
    edit('skill.ts', 'start(ctx) {', 'start(ctx) {{');
    await until(() => /skill\.ts:\d+:\d+/.test(dev.said()), 'the fault to be told');
    assert.is((await manifest()).version, '1.0.0', 'the last that could be built runs on');
    edit('skill.ts', 'start(ctx) {{', 'start(ctx) {');
    edit('manifest.json', '"1.0.0"', '"1.1.0"');
    await until(() => /lamp 1\.1\.0 runs in developer mode/.test(dev.said()), 'the new version');
    await until(async () => (await manifest().catch(() => undefined))?.version === '1.1.0', 'it to answer');
    await gives(0, 'skill logs lamp', /serving skill=lamp version=1\.1\.0/);
    // From elsewhere the command speaks to the hub of the checkout it comes from.
    const from = join(dir, 'dist/services/cli');
    cpSync('dist/services/cli', from, { recursive: true });
    symlinkSync(resolve('dist/native'), join(dir, 'dist/native'));
    const program = [
      '--input-type=module',
      '-e',
      `process.exit(await (await import('${from}/ingle.js')).main(process.argv.slice(1)))`,
    ];
    const elsewhere = ingle('skill list', {}, { program, cwd: tmpdir() });
    assert.is(await within(elsewhere.code, 'the list'), 0, elsewhere.said());
    assert.match(elsewhere.said(), /weather .* part of the system/);
    // Its screen goes on, too: the hub takes the version that lies there now.
    await until(async () => {
      const token = readFileSync(join(data, 'hub/api/token'), 'utf8').trim();
      const r = await fetch(`${house.api}/v1/icons`, { headers: { 'x-service-token': token } });
      const icons = (await r.json()) as { skill_id: string; available: boolean }[];
      return icons.some((i) => i.skill_id === 'lamp' && i.available);
    }, 'its icon');
    edit('texts.ts', "today: 'Today'", "today: 'Switched on'");
    await until(async () => {
      const token = readFileSync(join(data, 'hub/api/token'), 'utf8').trim();
      const r = await fetch(`${house.api}/skills/lamp/v1/ui/panel?lang=en`, {
        headers: { 'x-service-token': token },
      });
      return (await r.text()).includes('Switched on');
    }, 'its screen as it was saved');
  } catch (e) {
    throw new Error(`${(e as Error).message}\nsaid: ${dev.said()}`);
  } finally {
    dev.end();
    await dev.code;
    await house.stop();
  }
});

test.run();
