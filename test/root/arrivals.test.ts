// Ends that come to a node while their hub's home is being looked for: the newest of a sid is let in, whatever the order.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { arrivals } from '../../root/cluster/arrivals.ts';
import { openFar } from '../../root/cluster/far.ts';
import type { Line } from '../../root/cluster/peers.ts';
import type { End } from '../../root/ends.ts';

const test = suite('arrivals');
const session = { sid: 'sid', stage: 'AUTH' as const, owner_id: 'own', subnet_id: 'net', hub_id: 'hub' };

function newEnd() {
  const end = {
    connected: true,
    putOut: 0,
    emit() {},
    disconnect: () => end.putOut++,
    conn: { close() {} },
  };
  return end;
}

/** A node whose hub has a home as soon as it is `found`. */
function node() {
  const up: End[] = [];
  const homes = { found: (_home: string) => {}, lost: (_e: Error) => {}, asked: 0 };
  const ways = arrivals(
    { me: { id: 'me', peer: '', name: '' } },
    {
      browserUp(_, end) {
        up.push(end);
        return { link: {} as never, status: {} as never };
      },
      memberUp: () => ({}) as never,
    },
    {
      homeFor() {
        homes.asked++;
        return new Promise<string>((resolve, reject) =>
          Object.assign(homes, { found: resolve, lost: reject }),
        );
      },
      check() {},
      takeHere: async () => {},
      has: () => true,
    },
    { lineTo: async () => ({}) as Line, ask: async () => null as never },
    { open: () => 1, way: () => ({ frame: () => true, down() {}, last: () => undefined }) },
  );
  /** Waits until a home is looked for once more. */
  const asks = async (n: number) => {
    while (homes.asked < n) await new Promise((resolve) => setTimeout(resolve, 1));
  };
  return { ways, homes, up, asks };
}
const code = (work: Promise<unknown>) =>
  work.then(
    () => 'in',
    (e) => e.code,
  );
const away = () => new IngleError('unavailable', 'The home is gone.');

test('one that is overtaken while it waits is put out, and the newer one is let in', async () => {
  const { ways, homes, up, asks } = node();
  const [older, newer] = [newEnd(), newEnd()];
  const first = code(ways.browserUp(session, older));
  // Its home is gone: it is to look again.
  homes.lost(away());
  const second = code(ways.browserUp(session, newer));
  homes.found('me');
  assert.is(await second, 'in');
  await asks(3);
  homes.found('me');
  assert.is(await first, 'conflict');
  assert.equal(up, [newer]);
  assert.equal([older.putOut, newer.putOut], [1, 0]);
});

test('one that goes while it waits is not let in: by now its sid may be at another node', async () => {
  const { ways, homes, up } = node();
  const gone = newEnd();
  const waits = code(ways.browserUp(session, gone));
  gone.connected = false;
  homes.found('me');
  assert.is(await waits, 'conflict');
  assert.equal(up, []);
});

test('ends of different sids do not overtake each other', async () => {
  const { ways, homes, up } = node();
  const [one, other] = [newEnd(), newEnd()];
  const first = code(ways.browserUp(session, one));
  const { found } = homes;
  const second = code(ways.browserUp({ ...session, sid: 'other' }, other));
  homes.found('me');
  assert.is(await second, 'in');
  found('me');
  assert.is(await first, 'in');
  assert.equal(up, [other, one]);
});

test('an end that goes before its hub is at home here is not let in', async () => {
  const down: unknown[] = [];
  const far = openFar({ toHub: () => true, browserDown: (link: unknown) => void down.push(link) } as never);
  const line = { id: 'other', say() {}, frame: () => true, cut() {} };
  const letIn: number[] = [];
  const open = (end: number, ready: Promise<void>) =>
    code(far.open(line, end, ready, () => ({ link: { end } as never, n: letIn.push(end) })));
  let at = () => {};
  const ready = new Promise<void>((resolve) => {
    at = resolve;
  });
  const [one, two] = [open(1, ready), open(2, ready)];
  far.said(line, { down: 1 });
  at();
  assert.equal([await one, await two], ['conflict', 'in']);
  assert.equal(letIn, [2]);
  // All that were waiting go with their line.
  const three = open(3, Promise.resolve());
  far.lost(line);
  assert.is(await three, 'conflict');
  assert.equal(down, [{ end: 2 }]);
});

test.run();
