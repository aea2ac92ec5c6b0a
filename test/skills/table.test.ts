// gate: out, it kills writers
// timeout: 200 s
// The table of skills on disk: whatever lies there, and whenever its writer dies.
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { moveIn } from '../../firmware/skills/home.ts';
import { assign, parseTable, printTable, type Slot } from '../../firmware/skills/slots.ts';
import { bundleOf, manifestOf, readSlots, settleSlots, stateOf } from '../../firmware/skills/table.ts';
import type { Log } from '../../firmware/system/log.ts';
import { child, ended } from '../lab/child.ts';

const test = suite<{ top: string; skills: string; data: string; table: string }>('table of skills');
const tag = 'a'.repeat(32);
const manifest = (id: string) => JSON.stringify({ id, version: '1.0.0', capabilities: {} });
const errors: string[] = [];
const log = new Proxy(
  {},
  { get: (_, level) => (what: string) => level === 'error' && errors.push(what) },
) as Log;

test.before.each((c) => {
  errors.length = 0;
  c.top = mkdtempSync(join(tmpdir(), 'ingle-table-'));
  c.skills = join(c.top, 'skills');
  c.data = join(c.top, 'data');
  c.table = join(c.data, 'skills/slots.json');
  for (const id of ['hub_status', 'logs']) {
    mkdirSync(join(c.skills, id), { recursive: true });
    writeFileSync(join(c.skills, id, 'manifest.json'), manifest(id));
    writeFileSync(join(c.skills, id, 'skill.js'), '');
  }
  writeFileSync(join(c.skills, 'slots.json'), '{"hub_status": 1}');
});
test.after.each((c) => rmSync(c.top, { recursive: true, force: true }));
const who = (c: { skills: string; data: string }) =>
  [...readSlots(c).slots.values()].map((s) => `${s.slot} ${s.skill_id}`);

test('without a table the pinned skills are there, and settling gives the others theirs', async (c) => {
  assert.equal(who(c), ['1 hub_status']);
  await settleSlots(c, log);
  assert.equal(who(c), ['1 hub_status', '2 logs']);
  const text = readFileSync(c.table, 'utf8');
  await settleSlots(c, log);
  assert.is(readFileSync(c.table, 'utf8'), text, 'a skill keeps its tag over restarts');
  assert.equal(errors, []);
});

test('a hostile or torn table leaves the pinned skills, and is put aside', async (c) => {
  await settleSlots(c, log);
  for (const text of [
    readFileSync(c.table, 'utf8').slice(0, -9),
    '{"slots":{"2":{"state":"root"}}}',
    '\0\0\0',
  ]) {
    writeFileSync(c.table, text);
    assert.equal(who(c), ['1 hub_status']);
    assert.match(readSlots(c).fault!.message, /The table of skills/);
    assert.equal(readSlots(c).freed, [], 'nobody is wiped on its word');
    await settleSlots(c, log);
    assert.equal(who(c), ['1 hub_status', '2 logs']);
    assert.is(readFileSync(`${c.table}.bad`, 'utf8'), text);
    assert.equal(errors.splice(0), ['the table of skills cannot be used; it is put aside']);
  }
});

test('a table that cannot be written takes nobody with it', async (c) => {
  writeFileSync(c.data, 'no folder');
  await settleSlots(c, log);
  assert.equal(who(c), ['1 hub_status']);
  assert.ok(errors.includes('the table of skills cannot be written'));
});

test('a bundle is taken from where bundles are, and is of the skill the table names', async (c) => {
  const bundles = join(c.data, 'skills/bundles');
  mkdirSync(join(bundles, 'lamp-1'), { recursive: true });
  mkdirSync(join(c.top, 'elsewhere'));
  for (const dir of [join(bundles, 'lamp-1'), join(c.top, 'elsewhere')]) {
    writeFileSync(join(dir, 'manifest.json'), manifest('lamp'));
    writeFileSync(join(dir, 'skill.js'), '');
  }
  const slot = (bundle: string | undefined, skill_id = 'lamp'): Slot => ({ slot: 5, skill_id, bundle, tag });
  assert.is(bundleOf(c, slot('lamp-1')), join(bundles, 'lamp-1'));
  assert.is(manifestOf(c, slot('lamp-1')).id, 'lamp');
  assert.throws(() => manifestOf(c, slot('lamp-1', 'other')), /The bundle of "other" is of "lamp"/);
  assert.throws(() => bundleOf(c, slot('lamp-2')), /has no bundle/);
  symlinkSync(join(c.top, 'elsewhere'), join(bundles, 'link'));
  assert.throws(() => bundleOf(c, slot('link')), /leads elsewhere/);
  rmSync(join(bundles, 'lamp-1/skill.js'));
  symlinkSync(join(c.top, 'elsewhere/skill.js'), join(bundles, 'lamp-1/skill.js'));
  assert.throws(() => bundleOf(c, slot('lamp-1')), /leads elsewhere/);
});

test('what a skill left is gone before the next one runs, and stays for its own next version', async (c) => {
  const folder = stateOf(c, 5);
  const lamp: Slot = { slot: 5, skill_id: 'lamp', bundle: 'lamp-1', tag };
  const left = () => readdirSync(folder).sort();
  await moveIn(folder, lamp);
  mkdirSync(join(folder, 'deep/er'), { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, 'deep/er/secret'), 'x');
  writeFileSync(join(c.top, 'outside'), 'x');
  symlinkSync(c.top, join(folder, 'link'));
  await moveIn(folder, { ...lamp, bundle: 'lamp-2' });
  assert.equal(left(), ['.skill', 'deep', 'link']);
  await moveIn(folder, { ...lamp, tag: 'b'.repeat(32) });
  assert.equal(left(), ['.skill'], 'the same skill, installed anew');
  writeFileSync(join(folder, 'more'), 'x');
  await moveIn(folder, { ...lamp, skill_id: 'other' });
  assert.equal(left(), ['.skill']);
  writeFileSync(join(folder, 'more'), 'x');
  await moveIn(folder, undefined);
  assert.equal(left(), [], 'nobody lives here any more');
  assert.ok(readdirSync(c.top).includes('outside'), 'a link is not followed');
});

test('kill -9 of the writer at any time leaves the old table or the new one', async (c) => {
  mkdirSync(join(c.data, 'skills'), { recursive: true });
  const root = { builtin: [], pins: new Map<string, number>() };
  const tables = ['one', 'two'].map((id) => {
    let t = assign(new Map(), root, { skill_id: id, bundle: `${id}-1` }, tag);
    for (let i = 0; i < 13; i++) t = assign(t, root, { skill_id: `s${i}`, bundle: 'x'.repeat(100) }, tag);
    return printTable(t);
  });
  writeFileSync(c.table, tables[0]!);
  const writer = join(c.top, 'writer.ts');
  const from = (f: string) => JSON.stringify(join(process.cwd(), f));
  writeFileSync(
    writer,
    `import { writeWhole } from ${from('firmware/system/atomic.ts')};
const tables = ${JSON.stringify(tables)};
(async () => { console.log('writes'); for (let i = 1; ; i++) await writeWhole(${JSON.stringify(c.table)}, tables[i % 2], 0o644); })();`,
  );
  const seen = new Set<string>();
  for (let round = 0; round < 12; round++) {
    const w = child(process.execPath, ['--import', 'tsx', writer], { stdio: ['ignore', 'pipe', 'inherit'] });
    await new Promise((done) => w.stdout!.once('data', done));
    await new Promise((done) => setTimeout(done, 3 + 11 * round));
    await ended(w, 'SIGKILL', 'the writer');
    const text = readFileSync(c.table, 'utf8');
    assert.ok(tables.includes(text), text);
    parseTable(text);
    seen.add(text);
  }
  assert.is(seen.size, 2, 'it was killed after both');
});

test.run();
