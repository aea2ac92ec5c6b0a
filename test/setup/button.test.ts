import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { buttonReader, hasButton, meaning } from '../../firmware/setup/button.ts';

function event(ms: number, type: number, code: number, value: number): Buffer {
  const b = Buffer.alloc(24);
  b.writeBigInt64LE(BigInt(Math.floor(ms / 1000)), 0);
  b.writeBigInt64LE(BigInt((ms % 1000) * 1000), 8);
  b.writeUInt16LE(type, 16);
  b.writeUInt16LE(code, 18);
  b.writeInt32LE(value, 20);
  return b;
}

test('a touch does nothing, a press lets Improv in, a long one starts setup again, a very long one erases', () => {
  for (const [ms, want] of [
    [199, 'none'],
    [200, 'approve'],
    [2999, 'approve'],
    [3000, 'restart'],
    [14_999, 'restart'],
    [15_000, 'reset'],
  ] as const)
    assert.is(meaning(ms), want);
});

test('presses are read from input events in pieces of any size; other keys are not ours', () => {
  const all = Buffer.concat([
    event(1_000, 1, 0x198, 1),
    event(1_500, 1, 30, 1),
    event(4_000, 1, 0x198, 2),
    event(5_000, 0, 0, 0),
    event(5_200, 1, 0x198, 0),
    event(30_000, 1, 30, 0),
    event(31_000, 1, 0x211, 0),
  ]);
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 80 }), (step) => {
      const presses: string[] = [];
      const feed = buttonReader((p) => presses.push(p));
      for (let at = 0; at < all.length; at += step) feed(all.subarray(at, at + step));
      assert.equal(presses, ['restart']);
    }),
  );
});

test('a key to talk by counts as it goes down, once a press', () => {
  const presses: string[] = [];
  const feed = buttonReader((p) => presses.push(p));
  for (const code of [0x246, 0x247]) for (const value of [1, 2, 2, 0]) feed(event(1000, 1, code, value));
  assert.equal(presses, ['talk', 'talk']);
  assert.ok(hasButton(`${(1n << BigInt(0x246 & 63)).toString(16)}${' 0'.repeat(0x246 >> 6)}`));
});

test('a keyboard and a power key are no button of the hub, a restart key and a first game button are', () => {
  // As a PC's kernel lists them: AT keyboard, power button; then KEY_RESTART (0x198) and BTN_0 (0x100) alone.
  assert.not.ok(hasButton('402000000 3803078f800d001 feffffdfffefffff fffffffffffffffe\n'));
  assert.not.ok(hasButton('10000000000000 0\n'));
  assert.ok(hasButton('1000000 0 0 0 0 0 0\n'));
  assert.ok(hasButton('1 0 0 0 0\n'));
  assert.not.ok(hasButton(''));
});

test('the system leaves the button to setup: its key does not restart the hub', () => {
  const login = readFileSync('image/overlay/etc/systemd/logind.conf.d/ingle-button.conf', 'utf8');
  assert.match(login, /^\[Login\]\nHandleRebootKey=ignore$/m);
});

test.run();
