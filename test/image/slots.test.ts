// gate: in, it reads files
// The pool of skills: its files are those the generator makes, and privileges lie in slots the root pins.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { parsePins, SLOTS } from '../../firmware/skills/slots.ts';
import { slotFiles } from '../../image/slots.ts';

const test = suite('slots of the pool');
const files = readdirSync('systemd', { recursive: true, withFileTypes: true })
  .filter((e) => e.isFile())
  .map((e) => join(e.parentPath, e.name));
const pins = parsePins(readFileSync('services/skills/slots.json', 'utf8'));

test('what lies in systemd/ for the slots is what the generator makes, and nothing besides', () => {
  for (const [file, text] of Object.entries(slotFiles))
    assert.is(readFileSync(`systemd/${file}`, 'utf8'), text, `${file}: node --import tsx image/slots.ts`);
  const there = files.filter((f) => /Skill1/.test(f)).map((f) => f.replace('systemd/', ''));
  assert.equal(
    there.sort(),
    Object.keys(slotFiles)
      .filter((f) => /Skill1/.test(f))
      .sort(),
  );
  assert.is(there.length, SLOTS + 1);
});

test('a slot with privileges of its own is pinned to a skill of the image', () => {
  const privileged = new Set<number>();
  for (const file of files) {
    if (Object.hasOwn(slotFiles, file.replace('systemd/', ''))) continue;
    // What is refused to every slot alike is no privilege.
    const said = file + readFileSync(file, 'utf8').replace(/\{(?:\s*ingle-skill-\d+,?)+\s*\} drop$/gm, '');
    for (const [, n] of said.matchAll(/(?:ingle-skill[-@]|Skill1\.slot)(\d+)/g)) privileged.add(Number(n));
  }
  assert.ok(privileged.size > 0);
  assert.equal([...privileged].sort(), [...pins.values()].sort());
});

test('every skill that is pinned is in the image', () => {
  for (const id of pins.keys())
    assert.is(JSON.parse(readFileSync(`services/skills/${id}/manifest.json`, 'utf8')).id, id);
});

test('nothing starts a slot at boot', () => {
  for (const file of files.filter((f) => /^systemd\/units\//.test(f)))
    assert.not.match(
      readFileSync(file, 'utf8'),
      /^(Wants|Requires|WantedBy|DefaultInstance)=.*ingle-skill@/m,
      file,
    );
  assert.not.match(readFileSync('systemd/units/ingle-skill@.service', 'utf8'), /^\[Install\]/m);
});

test.run();
