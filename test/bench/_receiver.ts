// The other process of the benchmark `lines`: takes frames and says how many came, in which order, and how late.
import { type Name, type Names, receive } from './_lines.ts';

let next = 0;
let outOfOrder = 0;
let late: number[] = [];
process.on('message', async (m: { way: Name; names: Names } | 'count') => {
  if (m === 'count') {
    process.send!({ next, outOfOrder, late });
    late = [];
    return;
  }
  const id = await receive(m.way, m.names, (n, sent) => {
    if (n !== next) outOfOrder++;
    next = n + 1;
    late.push(Number(process.hrtime.bigint() - sent) / 1e6);
  });
  process.send!({ id });
});
