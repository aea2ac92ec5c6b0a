// npm run test:soak:install [-- <cuts>]: the power of a hub is cut in the middle of an update, at random moments (50
// times unless told); after each boot it runs what it ran before, with its data. At last the update goes through.
import { randomInt } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { flash, update } from '../../image/flash.ts';
import { bare, cutInstall, type Moment } from '../vm/interrupt.ts';
import { boot, cannotRun } from '../vm/lab.ts';

const why = cannotRun();
if (why) {
  console.log(`SKIP ${why}`);
  process.exit(0);
}

async function run(cuts: number): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'ingle-soak-'));
  const bundle = join(dir, 'b.raucb');
  await update(await flash({ version: '1.1.0' }), { out: bundle });
  const vm = await boot({ flash: await flash(), files: { 'b.raucb': bundle }, cmdline: bare });
  try {
    await vm.must('echo kept >/var/lib/kept; sync');
    for (let n = 1; n <= cuts; n++) {
      const at: Moment = randomInt(4) === 0 ? 'esp' : randomInt(90);
      await cutInstall(vm, '/run/lab/b.raucb', at);
      const found = await vm.must(
        'cat /run/ingle/slot /var/lib/kept; /usr/lib/ingle/rauc-backend get-primary',
      );
      if (found !== 'a\nkept\na') throw new Error(`cut ${n} at ${at}: ${found}`);
      console.log(`cut ${n} at ${at}: as before`);
    }
    await vm.must('rauc install /run/lab/b.raucb && sync', { timeoutMs: 400_000 });
    await vm.restart();
    console.log(`${cuts} cuts; slot ${await vm.must('cat /run/ingle/slot')} boots after the update`);
  } finally {
    await vm.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

await run(Number(process.argv[2] ?? 50));
