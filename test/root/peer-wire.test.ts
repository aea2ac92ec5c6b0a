// What nodes say to each other, as bytes.
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { frameHead, type Message, reader, say } from '../../root/cluster/wire.ts';

const test = suite('wire between nodes');

const framed = (end: number, ctr: number, frame: Uint8Array) =>
  Buffer.concat([frameHead(end, ctr, frame.length), frame]);
function readAll(pieces: readonly Buffer[]): Message[] {
  const found: Message[] = [];
  const read = reader((m) => found.push(m.kind === 'frame' ? { ...m, frame: Buffer.from(m.frame) } : m));
  for (const p of pieces) read(p);
  return found;
}

test('golden bytes of a frame', () => {
  assert.is(
    framed(7, 3, Buffer.from('abc')).toString('hex'),
    '00000010010000000740080000000000' + '00616263',
  );
  const said = say({ a: 1 });
  assert.is(said.readUInt32BE(), said.length - 4);
  assert.is(said[4], 0);
});

const plain = <T>(of: { [K in keyof T]: fc.Arbitrary<T[K]> }) => fc.record(of, { noNullPrototype: true });
const message = fc.oneof(
  plain({
    kind: fc.constant('frame' as const),
    end: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
    ctr: fc.maxSafeNat(),
    frame: fc.uint8Array({ maxLength: 2000 }).map((b) => Buffer.from(b)),
  }),
  plain({
    kind: fc.constant('say' as const),
    body: plain({ what: fc.string(), n: fc.double({ noNaN: true }), u: fc.constant(undefined) }),
  }),
);

test('what was written is read, however it is cut', () => {
  fc.assert(
    fc.property(fc.array(message, { maxLength: 8 }), fc.array(fc.nat(5000)), (messages, cuts) => {
      const bytes = Buffer.concat(
        messages.map((m) => (m.kind === 'frame' ? framed(m.end, m.ctr, m.frame) : say(m.body))),
      );
      const at = [...new Set(cuts.map((c) => c % (bytes.length + 1)))].sort((a, b) => a - b);
      const pieces = [0, ...at].map((from, i) => bytes.subarray(from, at[i] ?? bytes.length));
      assert.equal(readAll(pieces), messages);
    }),
  );
});

test('what is no message ends in an error, and takes no memory for it', () => {
  for (const hex of ['00000000', 'ffffffff00', '0002000000', '00000001ff', '0000000201'])
    assert.throws(() => readAll([Buffer.from(hex.padEnd(12, '0'), 'hex')]), hex);
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 300 }), (bytes) => {
      try {
        readAll([Buffer.from(bytes)]);
      } catch (e) {
        assert.ok(e instanceof Error);
      }
    }),
  );
});

test.run();
