// The size budgets, for `npm run check`: exits 1 when the application has outgrown one.
import { existsSync, readFileSync } from 'node:fs';
import { budget, readDescription, sizes } from './size.ts';

if (!existsSync('dist/spa/build.json')) {
  console.log('FAIL dist/spa is not built');
  process.exit(1);
}
const kib = (n: number) => (n / 1024).toFixed(1);
const d = readDescription();
const s = sizes(d);
console.log(
  `code entry ${kib(s.code)} of ${kib(budget.code)} KiB, until a live skill ${kib(s.live)} of ${kib(budget.live)} KiB, ${kib(s.liveWithout)} KiB in a browser without X25519`,
);
if (s.lazy.length === 0) console.log('FAIL the curves of the typed code are not in a chunk of their own');
// Root speaks WebSocket alone; the word would be engine.io's polling.
const polling = Object.keys(d.chunks).filter((f) =>
  readFileSync(`dist/spa/${f}`, 'utf8').includes('XMLHttpRequest'),
);
if (polling.length > 0) console.log(`FAIL engine.io's polling is in ${polling.join(', ')}`);
const bad = polling.length > 0 || s.lazy.length === 0;
process.exit(bad || s.code > budget.code || s.liveWithout > budget.live ? 1 : 0);
