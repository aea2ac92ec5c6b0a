import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { utf8 } from '../../firmware/protocol/bytes.ts';
import { decodeControl, encodeControl } from '../../firmware/protocol/noise/control.ts';
import { splitTyped } from '../../firmware/protocol/pairing/pairing.ts';
import type { Control } from '../../firmware/protocol/wire.ts';

const test = suite('control');

test('every control message comes out as it went in', () => {
  const all: Control[] = [
    {
      t: 'welcome',
      hub_id: 'h',
      hub_name: 'Дом',
      version: '1.0.0',
      admitted: false,
      need: 'assertion',
      first: true,
      owner_id: 'own_1',
      elevated_until: 0,
    },
    { t: 'assertion', credential: { id: 'x' }, public_key: 'k', label: 'phone' },
    { t: 'admitted', elevated_until: 5 },
    { t: 'refused', error: 'assertion_failed', message: 'No.' },
    { t: 'direct', stun: ['stun:192.0.2.1:3478'] },
    { t: 'offer', id: 1, end: { ufrag: 'u' } },
    { t: 'answer', id: 1, end: { ufrag: 'u' } },
    { t: 'answer', id: 1 },
    { t: 'rotate', e2e_pub: 'a', sign_pub: 'b', signature: 'c' },
  ];
  for (const c of all) assert.equal(decodeControl(encodeControl(c)), c);
});

test('what is no control message is left to others; what is malformed is refused', () => {
  assert.is(decodeControl(Uint8Array.of(1, 2, 3)), null);
  const bad = [
    '',
    '{',
    '[]',
    '{}',
    '{"t":"no"}',
    '{"t":"toString"}',
    '{"t":"admitted"}',
    '{"t":"admitted","elevated_until":0,"x":1}',
  ];
  for (const json of bad)
    assert.throws(
      () => decodeControl(Uint8Array.of(0, ...utf8(json))),
      (e: { code?: string }) => e.code === 'invalid_request',
    );
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), (b) => {
      try {
        decodeControl(b);
      } catch (e) {
        assert.is((e as { code?: string }).code, 'invalid_request');
      }
    }),
  );
});

test('a message of no known kind, or with a need of no known kind, is refused by name', () => {
  const decode = (m: object) => decodeControl(Uint8Array.of(0, ...utf8(JSON.stringify(m))));
  const refused = (m: object, pointer: string) =>
    assert.throws(
      () => decode(m),
      (e: { code?: string; details?: object }) => {
        assert.equal([e.code, e.details], ['invalid_request', { pointer }]);
        return true;
      },
    );
  const ids = { hub_id: 'h', hub_name: 'n', version: '1', owner_id: 'o' };
  const welcome = { t: 'welcome', ...ids, admitted: true, first: false, elevated_until: 0 };
  for (const t of ['no', 'toString', '', 7, null, ['admitted'], undefined])
    refused({ t, elevated_until: 0 }, '/t');
  assert.equal(decode({ t: 'admitted', elevated_until: 5 }), { t: 'admitted', elevated_until: 5 });
  for (const need of ['no', '', 'Assertion']) refused({ ...welcome, need }, '/need');
  assert.is((decode(welcome) as { need: unknown }).need, null, 'nothing is needed');
  assert.is((decode({ ...welcome, need: 'assertion' }) as { need: unknown }).need, 'assertion');
  assert.is(decodeControl(Uint8Array.of(1, ...utf8('{"t":"admitted","elevated_until":5}'))), null);
});

test('the typed code is taken however it is grouped, and nothing else is', () => {
  for (const t of ['482-913 507-226', '482913507226', ' 482 913 507 226 '])
    assert.equal(splitTyped(t), { code: '482913', secret: '507226' });
  for (const t of ['', '482-913', '482-913 507-22x', '4829135072261']) assert.is(splitTyped(t), null);
});

test.run();
