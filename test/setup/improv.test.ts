import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { concat, fromHex, toHex, utf8 } from '../../firmware/protocol/bytes.ts';
import {
  bleResult,
  improvError,
  packetType,
  readBleCommand,
  serialPacket,
  serialResult,
  serialSplitter,
} from '../../firmware/setup/improv.ts';

const rpc = (command: number, ...strings: string[]) => {
  const data = strings.flatMap((s) => [utf8(s).length, ...utf8(s)]);
  return new Uint8Array([command, data.length, ...data]);
};
const withSum = (b: Uint8Array) => concat(b, new Uint8Array([b.reduce((a, x) => (a + x) & 0xff, 0)]));

test('golden packets of the Improv specification read as what they are', () => {
  // The example of improv-wifi.com/serial: send Wi-Fi settings "MyWirelessAP" / "mysecurepassword".
  const example = fromHex('011e0c4d79576972656c6573734150106d7973656375726570617373776f7264');
  assert.equal(readBleCommand(withSum(example)), {
    command: 'wifi',
    ssid: 'MyWirelessAP',
    psk: 'mysecurepassword',
  });
  assert.equal(readBleCommand(fromHex('020002')), { command: 'identify' });
  assert.is(toHex(bleResult(1, ['https://x'])), '010a0968747470733a2f2f7857');
  assert.is(toHex(serialPacket(packetType.state, new Uint8Array([2]))), '494d50524f5601010102e20a');
});

test('a bad checksum, a wrong length and an unknown command are told apart', () => {
  assert.is(readBleCommand(fromHex('020003')), undefined);
  assert.is(readBleCommand(withSum(new Uint8Array([1, 5, 1, 2]))), undefined);
  assert.is(readBleCommand(withSum(new Uint8Array([0x77, 0]))), 'unknown');
  assert.is(readBleCommand(new Uint8Array(0)), undefined);
});

test('packets and typed text share one line, whatever pieces they come in', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.oneof(
          fc.record({ ssid: fc.string({ maxLength: 20 }), psk: fc.string({ maxLength: 40 }) }),
          fc.stringMatching(/^[a-z \r]{1,20}$/),
        ),
        { maxLength: 6 },
      ),
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 30 }),
      (parts, cuts) => {
        const line = concat(
          ...parts.map((p) =>
            typeof p === 'string' ? utf8(p) : serialPacket(packetType.command, rpc(1, p.ssid, p.psk)),
          ),
        );
        const split = serialSplitter();
        const got: unknown[] = [];
        let typed = '';
        for (let at = 0, i = 0; at < line.length; i++) {
          const end = at + cuts[i % cuts.length]!;
          for (const x of split(line.slice(at, end)))
            if (x.kind === 'text') typed += new TextDecoder().decode(x.bytes);
            else got.push(x);
          at = end;
        }
        assert.equal(
          got,
          parts
            .filter((p) => typeof p !== 'string')
            .map((p) => ({ kind: 'command', command: { command: 'wifi', ...(p as object) } })),
        );
        assert.is(typed, parts.filter((p) => typeof p === 'string').join(''));
      },
    ),
  );
});

test('hostile bytes never throw and never hold more than one packet back', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 5 }), (pieces) => {
      const split = serialSplitter();
      for (const p of pieces) split(p);
      readBleCommand(pieces[0] ?? new Uint8Array());
    }),
  );
  const split = serialSplitter();
  assert.equal(split(concat(utf8('IMPROV'), new Uint8Array([1, 3, 1, 9, 0]))), [
    { kind: 'error', error: improvError.invalid },
  ]);
});

test('a result that does not fit into a packet leaves out whole strings', () => {
  const packet = serialResult(4, ['a', 'x'.repeat(300), 'b']);
  assert.is(packet[8], 4);
});

test.run();
