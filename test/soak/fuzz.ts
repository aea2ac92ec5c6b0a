// npm run test:soak:fuzz [-- inputs] [--seed n] [--from n]: hostile input to every endpoint and event of root, at least
// 200,000 in one run. Tells where it is, and at the end what came of it; a failure names seed and input, and
// `-- 1 --seed <seed> --from <input>` sends that one again.
import { parseArgs } from 'node:util';
import { until } from '../lab/wait.ts';
import { footprint, fuzz } from '../root/fuzzed.ts';
import { heard, signedIn, startRoot } from '../root/kit.ts';

const MIB = 1024 * 1024;
/** Inputs before memory is looked at: what compilers and the database keep for good is no leak. */
const WARM = 20_000;
/** How much more root may hold at the end: the allocator does not give everything back. */
const GROWTH = 48 * MIB;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seed: { type: 'string' }, from: { type: 'string' } },
});
const inputs = Number(positionals[0] ?? 200_000);
const seed = Number(values.seed ?? Date.now() % 2 ** 31);
const from = Number(values.from ?? 0);
if (![inputs, seed, from].every(Number.isSafeInteger)) {
  console.error('Usage: npm run test:soak:fuzz [-- inputs] [--seed n] [--from n]');
  process.exit(64);
}
console.log(`seed ${seed}, inputs ${from} to ${from + inputs - 1}`);
const root = await startRoot({ INGLE_ROOT_SURGE: '1000000', INGLE_ROOT_GUESSES: '1000000' });
try {
  const { hub, tab } = await signedIn(root);
  const line = hub.socket();
  const owner = tab.socket();
  await tab.offer();
  await until(() => owner.last?.route === 'bound', 'a bound route');
  const warm = Math.min(WARM, Math.floor(inputs / 10));
  const total: Record<string, number> = {};
  const began = Date.now();
  async function send(first: number, last: number): Promise<void> {
    const { kinds, statuses } = await fuzz(root, {
      ...{ seed, from: first, to: last, workers: 8 },
      progress(done) {
        const at = first - from + done;
        const { bytes, descriptors } = footprint(root);
        const rate = Math.round(at / ((Date.now() - began) / 1000));
        if (at % 5000 === 0)
          console.log(`${at} of ${inputs}, ${rate}/s, ${Math.round(bytes / MIB)} MiB, ${descriptors} open`);
      },
    });
    for (const [k, n] of [...Object.entries(kinds), ...Object.entries(statuses)])
      total[k] = (total[k] ?? 0) + n;
  }
  await send(from, from + warm);
  const before = footprint(root);
  await send(from + warm, from + inputs);
  if (!root.alive()) throw new Error('root has ended');
  if (/ error /.test(root.log())) throw new Error(root.log().match(/.* error .*/)![0]);
  await until(() => footprint(root).descriptors <= before.descriptors, 'descriptors to be as many as before');
  await until(() => footprint(root).bytes <= before.bytes + GROWTH, 'memory to be about as before');
  const passed = heard(line, 'relay.to_hub');
  owner.emit('relay.to_hub', { sid: tab.sid, frame: Buffer.from([1]), ctr: 2 ** 40 });
  await passed;
  const after = footprint(root);
  const [was, is] = [before, after].map((f) => `${Math.round(f.bytes / MIB)} MiB, ${f.descriptors} open`);
  console.log(`${was} after ${warm} inputs; ${is} at the end; ${Math.round((Date.now() - began) / 1000)} s`);
  console.log(JSON.stringify({ soak: 'fuzz', seed, from, inputs, ...total }));
} catch (e) {
  console.error(`seed ${seed}: ${(e as Error).message}`);
  process.exitCode = 1;
} finally {
  await root.stop();
}
process.exit();
