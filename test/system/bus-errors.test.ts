import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { busName, IngleError } from '../../firmware/protocol/errors.ts';
import { asIngle, errorBody, isAbsent } from '../../firmware/system/bus-errors.ts';

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

const over = (body: unknown[]) =>
  asIngle({ type: busName('conflict'), text: String(body[0]), reply: { body } }, 'io.x');

test('details of an error cross the bus, and whose name was missing does not', () => {
  const details = { pointer: '/cron', retry_after: 3 };
  assert.equal(over(errorBody(new IngleError('conflict', 'No.', details))).body(), {
    error: 'conflict',
    message: 'No.',
    details,
  });
  // What is a sentence alone is one string, as everybody's errors are.
  assert.equal(errorBody(new IngleError('conflict', 'No.')), ['No.']);
  const missing = { dbus: 'org.freedesktop.DBus.Error.ServiceUnknown' };
  assert.equal(errorBody(new IngleError('conflict', 'No.', missing)), ['No.']);
  assert.not(isAbsent(over(['No.', JSON.stringify({ ...missing, a: 1 })])));
  assert.equal(errorBody(new IngleError('conflict', 'No.', { a: 'x'.repeat(20_000) })), ['No.']);
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue(), { noNullPrototype: true }), (d) => {
      const { dbus: _, ...told } = JSON.parse(JSON.stringify(d));
      const got = over(errorBody(new IngleError('conflict', 'No.', d))).details;
      assert.equal(got, Object.keys(told).length > 0 ? told : undefined);
    }),
  );
  fc.assert(
    fc.property(fc.array(fc.anything(), { maxLength: 3 }), (body) => {
      const e = asIngle({ type: busName('conflict'), text: 'No.', reply: { body } }, 'io.x');
      assert.equal([e.code, e.message], ['conflict', 'No.']);
    }),
  );
});

test.run();
