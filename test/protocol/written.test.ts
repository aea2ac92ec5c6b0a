// JSON of declared answers: what JSON.stringify says, whatever was said before.
import fc from 'fast-check';
import * as T from 'typebox';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { writerOf } from '../../firmware/protocol/endpoint/written.ts';

const test = suite('written');
const schema = T.Object({
  name: T.String(),
  n: T.Number(),
  'a "key"': T.Optional(T.Boolean()),
  link: T.Union([T.Object({ id: T.String(), up: T.Boolean() }), T.Null()]),
  rows: T.Array(T.Object({ id: T.String(), at: T.Optional(T.Integer()) })),
  any: T.Unknown(),
  one: T.Union([T.Literal('a'), T.Literal('b')]),
});

/** Few different ones, so that a field often has the value it had. */
const few = fc.constantFrom('', 'x', 'é"\\\n', '\ud800', '😀');
const any = fc.oneof(
  few,
  fc.constantFrom(undefined, null, 0, -0, NaN, Infinity, 1.5, true, false),
  fc.jsonValue(),
);
const declared = fc.record(
  {
    name: fc.oneof(few, any),
    n: fc.oneof(fc.double(), fc.constantFrom(1, 2)),
    'a "key"': fc.oneof(fc.boolean(), fc.constant(undefined)),
    link: fc.oneof(fc.constant(null), fc.record({ id: few, up: fc.boolean() }), any),
    rows: fc.oneof(fc.array(fc.record({ id: few, at: fc.nat(2) }, { requiredKeys: ['id'] })), any),
    any,
    one: fc.constantFrom('a', 'b'),
    beside: any,
  },
  { requiredKeys: [] },
);
const parsed = (text: string | undefined): unknown => text && JSON.parse(text);

test('one after the other, each is written as JSON.stringify does', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(declared, any), { maxLength: 12 }), (values) => {
      const write = writerOf(schema);
      for (const v of [...values, ...values]) assert.equal(parsed(write(v)), parsed(JSON.stringify(v)));
    }),
    { numRuns: 400 },
  );
});

test('a change anywhere shows, and so does one in the very object that was written before', () => {
  const write = writerOf(schema);
  const value = {
    name: 'x',
    n: 1,
    link: { id: 'a', up: true },
    rows: [{ id: '1', at: 1 }],
    any: { deep: 1 },
    one: 'a',
  };
  const isRight = () => assert.equal(parsed(write(value)), JSON.parse(JSON.stringify(value)));
  isRight();
  value.link.up = false;
  isRight();
  value.rows[0]!.at = 2;
  isRight();
  value.any.deep = 2;
  isRight();
  Object.assign(value, { link: null });
  isRight();
  Object.assign(value, { link: { id: 'a', up: true } });
  isRight();
});

test('a long text is written, and what comes after it', () => {
  const write = writerOf(T.Object({ a: T.String(), b: T.Optional(T.String()) }));
  for (const value of [
    { a: 'x'.repeat(5000) },
    { a: 'x'.repeat(5000), b: 'y' },
    { a: 'x', b: 'y' },
    { a: 'x' },
  ])
    assert.equal(parsed(write(value)), value);
});

test('an object of nothing, and what is no object', () => {
  assert.is(writerOf(T.Object({}))({}), '{}');
  assert.is(writerOf(schema)(null), 'null');
  assert.is(writerOf(T.Array(T.Integer()))([1, 2]), '[1,2]');
  assert.is(writerOf(T.Array(T.Integer()))([]), '[]');
});

test.run();
