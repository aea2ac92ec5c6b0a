import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { openGreeting } from '../../spa/greeting.ts';

const test = suite('greeting');
const frame = (n: number) => new Uint8Array([1, n]);
const text = (n: number) => Buffer.from(frame(n)).toString('base64url');

/** @param begins whether each connection begins a handshake, in their order; then none does */
function greeted(...begins: boolean[]) {
  const said: unknown[] = [];
  let asked = 0;
  const g = openGreeting(
    () => ({ who: 'me' }),
    () => begins[asked++] ?? false,
  );
  return { g, said, connect: () => g.auth((auth) => said.push(auth)), asked: () => asked };
}
const first = (n: number, ctr: number) => ({ who: 'me', first: { frame: text(n), ctr } });
const none = { who: 'me', first: undefined };

test('a frame that is ready goes along once, and what root says next is of it', () => {
  const { g, said, connect, asked } = greeted(true);
  g.prepare();
  g.take(frame(7), 3);
  connect();
  assert.equal(said, [first(7, 3)]);
  assert.equal([g.heard(), g.heard()], [true, false]);
  connect();
  assert.equal(said[1], none);
  assert.equal([g.heard(), asked()], [false, 2]);
});

test('a connection waits for the frame of a handshake that has begun, and begins one where none has', () => {
  const { g, said, connect, asked } = greeted(true, true);
  g.prepare();
  connect();
  assert.equal([said, asked()], [[], 1]);
  g.take(frame(1), 1);
  assert.equal(said, [first(1, 1)]);
  connect();
  assert.equal([said.length, asked()], [1, 2]);
  g.take(frame(2), 2);
  assert.equal(said[1], first(2, 2));
});

test('where no handshake begins nobody is waited for', () => {
  const { g, said, connect } = greeted(false, false);
  g.prepare();
  connect();
  assert.equal(said, [none]);
  assert.is(g.heard(), false);
});

test('the newest frame goes, and one that comes after the greeting is not of it', () => {
  const { g, said, connect } = greeted(true);
  g.prepare();
  g.take(frame(1), 1);
  g.take(frame(2), 2);
  connect();
  assert.equal(said, [first(2, 2)]);
  // The handshake has begun anew before root said anything: that one is still to be sent.
  g.take(frame(3), 3);
  assert.is(g.heard(), false);
  assert.is(said.length, 1);
});

test('a frame left over from one connection does not go with the next', () => {
  const { g, said, connect, asked } = greeted(true, true);
  g.prepare();
  g.take(frame(1), 1);
  connect();
  // Root stood still for so long that the handshake has begun anew.
  g.take(frame(2), 2);
  g.heard();
  connect();
  assert.equal([said.length, asked()], [1, 2]);
  g.take(frame(9), 9);
  assert.equal(said[1], first(9, 9));
});

test('a root that refused one is given none any more', () => {
  const { g, said, connect } = greeted(true, true);
  g.prepare();
  g.take(frame(1), 1);
  connect();
  g.refused();
  g.heard();
  connect();
  g.take(frame(2), 2);
  assert.equal(said[1], none);
  assert.is(g.heard(), false);
});

test.run();
