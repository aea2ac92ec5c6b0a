import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type Bounds, type Held, sessions } from '../../firmware/uplink/sessions.ts';

const test = suite('sessions');
const frame = new Uint8Array(2);

type Fake = Held & { sid: string; frames: number; state: string };

function house(b: Partial<Bounds> = {}) {
  let time = 0;
  const made: Fake[] = [];
  const all = sessions(
    (sid) => {
      const s: Fake = {
        ...{ sid, frames: 0, state: 'open', browser: sid[0]! },
        get open() {
          return s.state === 'open';
        },
        receive: () => void s.frames++,
        straight: () => void s.frames++,
        restart() {
          s.state = 'restarted';
        },
        rotate: () => {},
        nudge: () => {},
        close() {
          s.state = 'closed';
        },
      };
      made.push(s);
      return s;
    },
    { channels: 3, accepted: 5, idle: 1000, burst: 4, rate: 1, ...b },
    () => time,
  );
  return { all, made, tick: (ms: number) => (time += ms) };
}

test('frames are heard only from web sessions that were accepted', () => {
  const { all, made } = house();
  assert.not(all.receive('x', frame, 1));
  assert.is(made.length, 0);
  assert.ok(all.accept('x'));
  assert.ok(all.receive('x', frame, 1));
  assert.ok(all.receive('x', frame, 2));
  assert.equal(
    made.map((s) => [s.sid, s.frames]),
    [['x', 2]],
  );
});

test('of a session that is over nothing is left, whichever way its browser comes', () => {
  const { all, made } = house();
  all.accept('x');
  all.receive('x', frame, 1);
  all.forget('x');
  assert.is(made[0]!.state, 'closed');
  all.straight('x', frame);
  assert.not(all.receive('x', frame, 2));
  assert.equal([made.length, made[0]!.frames, all.pendingCount()], [1, 1, 0]);
});

test('a data channel is heard while its session has a channel, and keeps it in use', () => {
  const { all, made, tick } = house();
  all.accept('x');
  all.straight('x', frame);
  assert.is(made.length, 0);
  all.receive('x', frame, 1);
  tick(900);
  all.straight('x', frame);
  tick(900);
  all.sweep();
  assert.equal(
    made.map((s) => [s.frames, s.state]),
    [[2, 'open']],
  );
});

test('a flood of requests is refused, and known sessions come in all the same', () => {
  const { all, tick } = house();
  for (const sid of ['a', 'b', 'c', 'd']) assert.ok(all.accept(sid));
  assert.not(all.accept('e'));
  assert.ok(all.accept('a'));
  tick(1000);
  assert.ok(all.accept('e'));
  assert.not(all.accept('f'));
});

test('the channel idle for longest makes room, and comes back with its next frame', () => {
  const { all, made } = house();
  for (const sid of ['a', 'b', 'c']) {
    all.accept(sid);
    all.receive(sid, frame, 1);
  }
  all.receive('a', frame, 2);
  all.accept('d');
  all.receive('d', frame, 1);
  assert.equal(
    made.filter((s) => s.state === 'closed').map((s) => s.sid),
    ['b'],
  );
  all.receive('b', frame, 2);
  assert.is(made.length, 5);
  assert.is(all.openCount(), 3);
});

test('sessions that take each other’s place are started no faster than the limit', () => {
  const { all, made, tick } = house({ channels: 1, burst: 4 });
  for (const sid of ['a', 'b']) all.accept(sid);
  const flood = () => {
    for (let i = 0; i < 50; i++) all.receive('ab'[i % 2]!, frame, i);
  };
  flood();
  assert.is(made.length, 5);
  tick(2000);
  flood();
  assert.is(made.length, 7);
});

test('idle channels are dropped, busy ones stay', () => {
  const { all, made, tick } = house();
  for (const sid of ['a', 'b']) {
    all.accept(sid);
    all.receive(sid, frame, 1);
  }
  tick(600);
  all.receive('a', frame, 2);
  tick(600);
  all.sweep();
  assert.equal(
    made.map((s) => [s.sid, s.state]),
    [
      ['a', 'open'],
      ['b', 'closed'],
    ],
  );
});

test("all channels of one browser are shut, the others' stay", () => {
  const { all, made } = house();
  for (const sid of ['a1', 'a2', 'b1']) {
    all.accept(sid);
    all.receive(sid, frame, 1);
  }
  all.shut('a');
  assert.equal(
    made.map((s) => s.state),
    ['restarted', 'restarted', 'open'],
  );
});

test("a route of root's counts as pending until its channel opens, and not once root is away", () => {
  const { all, made } = house();
  for (const sid of ['a', 'b', 'c']) all.accept(sid);
  assert.is(all.pendingCount(), 3);
  all.receive('a', frame, 1);
  assert.is(all.pendingCount(), 2);
  made[0]!.restart();
  assert.is(all.pendingCount(), 3);
  all.unrouted();
  assert.is(all.pendingCount(), 0);
  all.accept('b');
  assert.is(all.pendingCount(), 1);
});

test.run();
