// npm run test:soak:install [-- <cuts>]: the power of a hub is cut in the middle of an update, at random moments (50
// times unless told); after each boot it runs what it ran before, with its data. At last the update goes through.
import { randomInt } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { flash, update } from '../../image/flash.ts';
import { bare, cutInstall, type Moment } from '../vm/interrupt.ts';
import { boot, cannotRun } from '../vm/lab.ts';
import { shelf } from '../vm/shelf.ts';

const why = cannotRun();
if (why) {
  console.log(`SKIP ${why}`);
  process.exit(0);
}

async function run(cuts: number): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'ingle-soak-'));
  await update(await flash({ version: '1.1.0' }), { out: join(dir, 'b.raucb') });
  const server = await shelf(dir);
  const vm = await boot({ flash: await flash(), cable: true });
  const bundle = '/var/lab/b.raucb';
  try {
    await vm.until(`mkdir -p /var/lab && curl -sSf -o ${bundle} ${server.http}/b.raucb`, {
      timeoutMs: 200_000,
    });
    await vm.must('echo kept >/var/lab/kept; sync', { timeoutMs: 120_000 });
    await vm.kill();
    await vm.start(bare);
    for (let n = 1; n <= cuts; n++) {
      const began = Date.now();
      const at: Moment = randomInt(4) === 0 ? 'esp' : randomInt(90);
      await cutInstall(vm, bundle, at);
      await vm.start(bare);
      const found = await vm.must(
        'cat /run/ingle/slot /var/lab/kept; /usr/lib/ingle/rauc-backend get-primary',
      );
      if (found !== 'a\nkept\na') throw new Error(`cut ${n} at ${at}: ${found}`);
      console.log(`cut ${n} at ${at}: as before (${((Date.now() - began) / 1000).toFixed(0)} s)`);
    }
    await vm.must(`rauc install ${bundle} && sync`, { timeoutMs: 400_000 });
    await vm.kill();
    await vm.start('');
    await vm.until('test -e /run/ingle/committed', { timeoutMs: 400_000 });
    console.log(
      `${cuts} cuts; slot ${await vm.must('cat /run/ingle/slot')} boots after the update and is kept`,
    );
  } finally {
    await vm.stop();
    server.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

await run(Number(process.argv[2] ?? 50));
