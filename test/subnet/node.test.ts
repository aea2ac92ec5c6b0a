// A member as the hub that leads it sees it: the table, and time that counts.
import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  after,
  MISSES,
  type Node,
  type NodeEvent,
  type NodeState,
  nodeTable,
  openWatch,
} from '../../firmware/subnet/node.ts';

const test = suite('a member of the subnet');

const node = (state: NodeState): Node => ({
  ...{ hub_id: 'b', static_pub: 's', sign_pub: 'k', bond: 'x', state, since: 5, heard_at: 4 },
  ...{ untold: false, name: 'B', version: '1', caps: [] },
});
const states = Object.keys(nodeTable) as NodeState[];
const events: NodeEvent[] = ['admitted', 'heard', 'missed', 'parted'];

test('the table leads where it should, and since tells when', () => {
  const leads: Record<NodeState, string> = {
    joined: 'joined here gone left',
    here: 'joined here gone left',
    gone: 'joined here gone left',
    left: 'joined left left left',
  };
  for (const s of states) assert.is(events.map((e) => after(node(s), e, 9).state).join(' '), leads[s], s);
  assert.is(after(node('gone'), 'heard', 9).since, 9);
  assert.is(after(node('here'), 'heard', 9).since, 5, 'here as before');
  assert.is(after(node('gone'), 'missed', 9).since, 5, 'gone since then');
  assert.is(after(node('joined'), 'admitted', 9).since, 9, 'let in anew');
});

test('who left comes back by being let in, and by nothing else', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...events), { maxLength: 30 }), (all) => {
      let n = node('left');
      for (const e of all) {
        const next = after(n, e, 9);
        if (n.state === 'left' && next.state !== 'left') assert.is(e, 'admitted');
        if (next.state === 'here') assert.ok(e === 'heard' || n.state === 'here');
        n = next;
      }
    }),
  );
});

const interval = 30_000;
const look = 10_000;
/** A watch that is looked at as a hub does, on a clock of the test. */
function watched() {
  let t = 0;
  const w = openWatch({ interval, look }, () => t);
  return {
    w,
    /** Time passes, with looks in between. */
    pass(ms: number, listening = true): string[] {
      const missed: string[] = [];
      for (let left = ms; left > 0; left -= look) {
        t += Math.min(look, left);
        missed.push(...w.missed(listening));
      }
      return missed;
    },
    /** This hub is stopped, or asleep: nothing looks. */
    stand(ms: number): void {
      t += ms;
    },
  };
}

test('three heartbeats that are missed, and not fewer, make a member gone, once', () => {
  const { w, pass } = watched();
  w.heard('b');
  assert.equal(pass(MISSES * interval), []);
  assert.equal(pass(look), ['b']);
  assert.equal(pass(10 * interval), [], 'it is gone already');
  w.heard('b');
  assert.equal(pass(MISSES * interval), []);
  assert.equal(pass(look), ['b']);
});

test('a heartbeat begins the time anew, and nobody else’s', () => {
  const { w, pass } = watched();
  w.heard('b');
  w.heard('c');
  pass(2 * interval);
  w.heard('b');
  assert.equal(pass(MISSES * interval), ['c']);
  assert.equal(pass(look), ['b']);
});

test('a hub that stood still, slept or had no way to root calls nobody gone for it', () => {
  const { w, pass, stand } = watched();
  w.heard('b');
  for (let i = 0; i < 5; i++) {
    stand(100 * interval);
    assert.equal(pass(look), [], 'stood');
  }
  assert.equal(pass(100 * interval, false), [], 'no way to root');
  // As long as ever from now, less what was counted before.
  assert.equal(pass(MISSES * interval), []);
  assert.equal(pass(look), ['b']);
});

test('who was let go is not missed', () => {
  const { w, pass } = watched();
  w.heard('b');
  w.forget('b');
  assert.equal(pass(10 * interval), []);
});

test('however looks and heartbeats fall, nobody is gone who was heard within three intervals', () => {
  const step = fc.record({
    ms: fc.integer({ min: 1, max: 3 * interval }),
    heard: fc.boolean(),
    on: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      let t = 0;
      let last = 0;
      const w = openWatch({ interval, look }, () => t);
      w.heard('b');
      for (const { ms, heard, on } of steps) {
        t += ms;
        if (heard) {
          w.heard('b');
          last = t;
        }
        if (w.missed(on).length > 0) {
          assert.ok(t - last > MISSES * interval);
          w.heard('b');
          last = t;
        }
      }
    }),
  );
});

test.run();
