// The size budgets, for `npm run check`: exits 1 when the application has outgrown one.
import { existsSync } from 'node:fs';
import { budget, readDescription, sizes } from './size.ts';

if (!existsSync('dist/spa/build.json')) {
  console.log('FAIL dist/spa is not built');
  process.exit(1);
}
const kib = (n: number) => (n / 1024).toFixed(1);
const s = sizes(readDescription());
console.log(
  `code entry ${kib(s.code)} of ${kib(budget.code)} KiB, until a live skill ${kib(s.live)} of ${kib(budget.live)} KiB, ${kib(s.liveWithout)} KiB in a browser without X25519`,
);
if (s.lazy.length === 0) console.log('FAIL the curves of the typed code are not in a chunk of their own');
process.exit(s.code > budget.code || s.liveWithout > budget.live || s.lazy.length === 0 ? 1 : 0);
