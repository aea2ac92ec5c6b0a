// npm run test:soak:install [-- <cuts>]: the power of a hub is cut in the middle of an update, at random moments (50
// times unless told); after each boot it runs what it ran before, with its data. At last the update goes through.
import { randomInt } from 'node:crypto';
import { flash } from '../../image/flash.ts';
import { bundlesFor } from '../lab/vm/bundles.ts';
import { bare, cutInstall, type Moment, whole, wired } from '../lab/vm/interrupt.ts';
import { boot, cannotRun } from '../lab/vm/lab.ts';
import { shelf } from '../lab/vm/shelf.ts';

const why = cannotRun();
if (why) {
  console.log(`SKIP ${why}`);
  process.exit(0);
}

async function run(cuts: number): Promise<void> {
  const a = await flash();
  const server = await shelf(await bundlesFor(a));
  const vm = await boot({ flash: a, cable: true, cuts: true, cmdline: wired });
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
      const at: Moment =
        randomInt(4) === 0 ? { of: 'esp', mb: randomInt(12) } : { of: 'root', mb: randomInt(400) };
      await cutInstall(vm, bundle, at);
      await vm.start(bare);
      const found = await vm.must(
        'cat /run/ingle/slot /var/lab/kept; /usr/lib/ingle/rauc-backend get-primary',
      );
      if (found !== 'a\nkept\na') throw new Error(`cut ${n} at ${at.mb} MB of the ${at.of}: ${found}`);
      console.log(
        `cut ${n} at ${at.mb} MB of the ${at.of}: as before (${((Date.now() - began) / 1000).toFixed(0)} s)`,
      );
    }
    await vm.must(`rauc install ${bundle} && sync`, { timeoutMs: 400_000 });
    await vm.kill();
    await vm.start(whole);
    await vm.until('test -e /run/ingle/committed', { timeoutMs: 400_000 });
    console.log(
      `${cuts} cuts; slot ${await vm.must('cat /run/ingle/slot')} boots after the update and is kept`,
    );
  } catch (e) {
    vm.failed();
    throw e;
  } finally {
    await vm.stop();
    server.close();
  }
}

await run(Number(process.argv[2] ?? 50));
