// A service for service.test.ts: says on its output what it does, and takes orders from its input.
import { lookup } from 'node:dns';
import { createInterface } from 'node:readline';
import { IngleError } from '../../firmware/protocol/errors.ts';
import type { Contract } from '../../firmware/system/contract.ts';
import { startService } from '../../firmware/system/service.ts';

const say = (text: string) => process.stdout.write(`${text}\n`);
const orders = createInterface({ input: process.stdin });
const order = (want: string) =>
  new Promise<void>((resolve) => orders.on('line', (l) => l === want && resolve()));

const how = (process.argv[2] ?? '').split(' ');
const life = await startService('living', how.includes('hang') ? { stopMs: 1500 } : {});
life.onStop(() => say(`store closed healthy=${life.healthy()}`));
life.onStop(async () => {
  say('server closing');
  if (how.includes('hang')) await new Promise(() => {});
  if (how.includes('slow')) await new Promise((resolve) => setTimeout(resolve, 700));
  if (how.includes('throw')) throw new Error('the server\ndoes not close');
  say('server closed');
});
const asked: Contract = {
  bus: 'io.ingle.Living1',
  path: '/io/ingle/Living1',
  name: 'io.ingle.Living1',
  doc: 'A service that leaves.',
  methods: { Who: { doc: 'Its process, after a while.', in: {}, out: { pid: 'i' }, errors: [] } },
  signals: {},
  properties: {},
};
if (how.includes('serve'))
  await life.bus.serve(
    asked,
    {
      async Who() {
        await new Promise((resolve) => setTimeout(resolve, 200));
        return { pid: process.pid };
      },
    },
    { onCall: life.touch },
  );
say('wired');
if (how.includes('conflict')) throw new IngleError('conflict', 'The port is taken.', { port: 1 });
if (how.includes('fault')) throw new Error('a fault\nof two lines');
if (how.includes('wait')) await order('go');
let busy = how.includes('busy');
if (how.includes('idle') || how.includes('busy')) {
  life.leaveWhenIdle(
    60_000,
    () => {
      if (how.includes('told')) say('looks');
      return busy;
    },
    { told: how.includes('told') },
  );
}
life.ready();
void order('touch').then(life.touch);
void order('rest').then(() => {
  busy = false;
  if (how.includes('told')) life.touch();
});
void order('ask').then(() => {
  lookup('root.example', () => say('answered'));
  say('asking');
});
void order('crash').then(() => {
  throw new Error('unforeseen');
});
say('serving');
