import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { asIngle, isAbsent } from '../../firmware/system/bus-errors.ts';

const test = suite('errors of the bus');
const dbus = (name: string) => asIngle({ type: `org.freedesktop.DBus.Error.${name}`, text: name }, 'io.x');

test('a service is absent when nobody has its name, and only then', () => {
  for (const [name, code, absent] of [
    ['ServiceUnknown', 'unavailable', true],
    ['NameHasNoOwner', 'unavailable', true],
    ['NoReply', 'unavailable', false],
    ['AccessDenied', 'forbidden', false],
    ['UnknownMethod', 'not_supported', false],
    ['InvalidArgs', 'invalid_request', false],
    ['Spawn.ChildExited', 'internal', false],
  ] as const) {
    const e = dbus(name);
    assert.is(e.code, code, name);
    assert.is(isAbsent(e), absent, name);
    assert.is(/^io\.x does not run on this hub\./.test(e.message), absent, name);
  }
  // A service of ours that says so itself is there.
  for (const e of [
    asIngle({ type: 'io.ingle.Error.unavailable', text: '' }, 'io.x'),
    new Error('ServiceUnknown'),
    null,
  ])
    assert.not(isAbsent(e));
  assert.not(isAbsent(new IngleError('unavailable', 'ServiceUnknown')));
});

test.run();
