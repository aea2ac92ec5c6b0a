import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openProfiles, type Profile } from '../../firmware/audio/profile.ts';

const test = suite<{ dir: string }>('profiles');
test.before((c) => {
  c.dir = mkdtempSync(join(tmpdir(), 'ingle-profile-'));
});
test.after((c) => rmSync(c.dir, { recursive: true, force: true }));

const profile = (n: number): Profile => ({
  sink_id: `sink${n}`,
  source_id: `source${n}`,
  format_out: '48000/2',
  format_in: '16000/1',
  latency_ms: n + 0.25,
  score: 190,
  verified_at: new Date(1_700_000_000_000 + n).toISOString(),
  proof: { corr: 0.75, snr_db: 12.5 },
  verified: true,
});

test('a profile comes back as it was saved, also after a restart', async ({ dir }) => {
  const file = join(dir, 'a.db');
  let p = await openProfiles(file);
  await p.save(profile(1));
  await p.close();
  p = await openProfiles(file);
  assert.equal(await p.list(), [profile(1)]);
  await p.close();
});

test('three profiles are kept, newest first; saving a pair again moves it to the front', async ({ dir }) => {
  const p = await openProfiles(join(dir, 'b.db'));
  for (const n of [1, 2, 3, 4, 2]) await p.save(profile(n));
  assert.equal(
    (await p.list()).map((x) => x.sink_id),
    ['sink2', 'sink4', 'sink3'],
  );
  await p.forget();
  assert.equal(await p.list(), []);
  await p.close();
});

test('killed while saving, the store holds whole profiles only, and every one that was acknowledged', async ({
  dir,
}) => {
  const file = join(dir, 'c.db');
  const writer = new URL('./profile-writer.mjs', import.meta.url).pathname;
  let acknowledged = 0;
  for (let round = 0; round < 6; round++) {
    const child = spawn(process.execPath, ['--import', 'tsx', writer, file, String(acknowledged + 1)]);
    await new Promise<void>((resolve) => {
      child.stdout.on('data', (d: Buffer) => {
        for (const line of d.toString().trim().split('\n'))
          acknowledged = Math.max(acknowledged, Number(line));
        if (acknowledged > round * 40 + 5 + 7 * round) child.kill('SIGKILL');
      });
      child.on('close', () => resolve());
    });
    const p = await openProfiles(file);
    const list = await p.list();
    await p.close();
    const newest = Number(list[0]!.sink_id.slice(4));
    // One more than acknowledged may be there: it was written and the word did not get out.
    assert.ok(newest >= acknowledged, `${newest} ${acknowledged}`);
    assert.ok(list.length >= 1 && list.length <= 3);
    for (const x of list) assert.equal(x, profile(Number(x.sink_id.slice(4))));
    acknowledged = newest;
  }
});

test.run();
