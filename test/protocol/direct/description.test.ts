import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  checkedDescription,
  type Description,
  MAX_CANDIDATES,
  readDescription,
  writeDescription,
} from '../../../firmware/protocol/direct/description.ts';

const print = Array.from({ length: 32 }, (_, i) => (i + 160).toString(16).toUpperCase()).join(':');

/** As Chromium writes it: its addresses are hidden behind names. */
const chromium = `v=0\r
o=- 5587041023562350977 2 IN IP4 127.0.0.1\r
s=-\r
t=0 0\r
a=group:BUNDLE 0\r
m=application 9 UDP/DTLS/SCTP webrtc-datachannel\r
c=IN IP4 0.0.0.0\r
a=candidate:2530196146 1 udp 2113937151 13c07e83-2e99-4aa8-9c20-99c7fdb4f036.local 34076 typ host generation 0 network-cost 999\r
a=candidate:842163049 1 udp 1677729535 203.0.113.7 46154 typ srflx raddr 0.0.0.0 rport 0 generation 0 network-cost 999\r
a=ice-ufrag:0N6s\r
a=ice-pwd://GZiAdytk0WD+TRn3HCiZOv\r
a=fingerprint:sha-256 ${print}\r
a=setup:actpass\r
a=mid:0\r
a=sctp-port:5000\r
`;
/** As libdatachannel writes it. */
const library = `v=0
a=fingerprint:sha-256 ${print.toLowerCase()}
m=application 50076 UDP/DTLS/SCTP webrtc-datachannel
a=ice-ufrag:JxTX
a=ice-pwd:kutU6kNWN9dsD5kZ9n/GcI
a=candidate:2 1 UDP 2116026111 fd00::2 50076 typ host
a=candidate:1 1 UDP 2114977791 192.0.2.2 50076 typ host
a=end-of-candidates`;

test('what browser and library write is read; names that hide an address are left out', () => {
  assert.equal(readDescription(chromium), {
    ufrag: '0N6s',
    pwd: '//GZiAdytk0WD+TRn3HCiZOv',
    fingerprint: print,
    candidates: ['candidate:842163049 1 udp 1677729535 203.0.113.7 46154 typ srflx raddr 0.0.0.0 rport 0'],
  });
  assert.equal(readDescription(library)?.candidates, [
    'candidate:2 1 UDP 2116026111 fd00::2 50076 typ host',
    'candidate:1 1 UDP 2114977791 192.0.2.2 50076 typ host',
  ]);
  for (const line of ['a=ice-ufrag:0N6s', 'a=ice-pwd:', 'a=fingerprint:'])
    assert.is(readDescription(chromium.replace(line, 'a=x:')), null);
});

const good: Description = {
  ufrag: 'abcd',
  pwd: 'x'.repeat(22),
  fingerprint: print,
  candidates: [
    'candidate:1 1 UDP 1 192.0.2.2 1 typ host',
    'candidate:1 1 udp 4294967295 fe80::1 65535 typ host',
  ],
};

test('a description is taken as it is written, and nothing beside it', () => {
  assert.equal(checkedDescription(good), good);
  assert.equal(checkedDescription({ ...good, more: 1 }), good);
  assert.equal(checkedDescription({ ...good, candidates: [] })?.candidates, []);
});

for (const [name, bad] of Object.entries({
  nothing: null,
  'a text': 'v=0',
  'a list': [],
  'no name': { ...good, ufrag: undefined },
  'a short name': { ...good, ufrag: 'abc' },
  'a short password': { ...good, pwd: 'x'.repeat(21) },
  'a long password': { ...good, pwd: 'x'.repeat(257) },
  'a line of its own': { ...good, pwd: `${'x'.repeat(22)}\r\na=candidate:1` },
  'a line at the end': { ...good, ufrag: 'abcd\n' },
  'a short fingerprint': { ...good, fingerprint: print.slice(3) },
  'a fingerprint with a line': { ...good, fingerprint: `${print}\n` },
  'candidates in an object': { ...good, candidates: { length: 0 } },
  'too many candidates': { ...good, candidates: Array(MAX_CANDIDATES + 1).fill(good.candidates[0]) },
}))
  test(`${name} is no description`, () => assert.is(checkedDescription(bad), null));

for (const bad of [
  'candidate:1 1 UDP 1 router.local 80 typ host',
  'candidate:1 1 UDP 1 192.0.2.256 80 typ host',
  'candidate:1 1 UDP 1 192.0.2 80 typ host',
  'candidate:1 1 UDP 1 fe80:::1 80 typ host',
  'candidate:1 1 UDP 1 192.0.2.1 0 typ host',
  'candidate:1 1 UDP 1 192.0.2.1 65536 typ host',
  'candidate:1 1 UDP 4294967296 192.0.2.1 80 typ host',
  'candidate:1 2 UDP 1 192.0.2.1 80 typ host',
  'candidate:1 1 TCP 1 192.0.2.1 80 typ host',
  'candidate:1 1 UDP 1 192.0.2.1 80 typ relay raddr 0.0.0.0 rport 0',
  'candidate:1 1 UDP 1 192.0.2.1 80 typ host\r\na=setup:passive',
  'candidate:1 1 UDP 1 192.0.2.1 80 typ host\n',
  'x candidate:1 1 UDP 1 192.0.2.1 80 typ host',
  80,
])
  test(`${JSON.stringify(bad)} is no candidate`, () =>
    assert.is(checkedDescription({ ...good, candidates: [bad] }), null));

test('what is written for a library is read as what it was, and has no lines beside', () => {
  for (const type of ['offer', 'answer'] as const) {
    const sdp = writeDescription(good, type);
    assert.equal(readDescription(sdp), good);
    assert.match(sdp, type === 'offer' ? 'a=setup:actpass' : 'a=setup:active');
    assert.is(sdp.split(`\r\n`).length, 16 + good.candidates.length);
  }
});

test('nothing from outside throws', () => {
  fc.assert(
    fc.property(fc.anything(), (v) => {
      checkedDescription(v);
    }),
  );
  const field = fc.oneof(fc.string(), fc.constant('abcd'), fc.constant('x'.repeat(22)), fc.constant(print));
  fc.assert(
    fc.property(
      fc.record({ ufrag: field, pwd: field, fingerprint: field, candidates: fc.array(field) }),
      (v) => {
        const d = checkedDescription(v);
        if (d) assert.equal(readDescription(writeDescription(d, 'offer')), d);
      },
    ),
  );
  fc.assert(fc.property(fc.string(), (text) => void readDescription(text)));
});

test.run();
