import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { keepFailed } from './vm/failed.ts';

const test = suite<{ dir: string }>('what a failed machine leaves');
test.before.each((c) => {
  c.dir = mkdtempSync(join(tmpdir(), 'ingle-failed-'));
});
test.after.each((c) => rmSync(c.dir, { recursive: true, force: true }));

test('disks, firmware variables and console are kept, of the newest three', async ({ dir }) => {
  const machine = join(dir, 'machine');
  mkdirSync(machine);
  for (const f of ['disk.raw', 'disk.raw.base', 'disk.raw.log', 'vars.fd', 'console.log', 'agent.sock'])
    writeFileSync(join(machine, f), f);
  const failed = join(dir, 'failed');
  // Another suite's, older than all of ours.
  mkdirSync(join(failed, 'zeta-2020-01-01T00-00-00-000Z'), { recursive: true });
  const kept: string[] = [];
  for (let n = 0; n < 4; n++) kept.push(await keepFailed(machine, failed));
  assert.equal(
    readdirSync(failed)
      .map((f) => join(failed, f))
      .sort(),
    kept.slice(1).sort(),
  );
  assert.match(kept[3]!, /\/failed-20\d\d-\d\d-\d\dT[\d-]+Z$/);
  assert.equal(readdirSync(kept[3]!).sort(), [
    'console.log',
    'disk.raw',
    'disk.raw.base',
    'disk.raw.log',
    'vars.fd',
  ]);
  assert.is(readFileSync(join(kept[3]!, 'disk.raw'), 'utf8'), 'disk.raw');
});

test.run();
