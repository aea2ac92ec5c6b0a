import { createRequire } from 'node:module';
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { MAX_OPERATIONS, patched } from '../../firmware/ui/patch.ts';

interface Case {
  comment?: string;
  doc: unknown;
  patch: unknown;
  expected?: unknown;
  error?: string;
  disabled?: boolean;
}
const load = createRequire(import.meta.url);
const cases = ['tests.json', 'spec_tests.json'].flatMap((f) => load(`json-patch-test-suite/${f}`) as Case[]);

const tried = (doc: unknown, patch: unknown) => {
  try {
    return { value: patched(doc, patch) };
  } catch (e) {
    if (!(e instanceof IngleError)) throw e;
    return { code: e.code, pointer: e.details?.['pointer'] };
  }
};

test('patches are those of RFC 6902, by its test suite', () => {
  const ours = cases.filter((c) => !c.disabled);
  const failed = ours.filter((c) => {
    const before = JSON.stringify(c.doc);
    const got = tried(c.doc, c.patch);
    assert.is(JSON.stringify(c.doc), before, 'the document given stays');
    if (c.error !== undefined) return got.code === undefined;
    if (got.code !== undefined) return true;
    if (!('expected' in c)) return false;
    try {
      assert.equal(got.value, c.expected);
      return false;
    } catch {
      return true;
    }
  });
  console.log(`FIGURE rfc6902_tests ${ours.length - failed.length} of ${ours.length}`);
  assert.equal(
    failed.map((f) => f.comment ?? f.patch),
    [],
  );
});

test('a patch that fails half way changes nothing and says where', () => {
  const doc = { viewModel: { n: 1 } };
  const patch = [
    { op: 'replace', path: '/viewModel/n', value: 2 },
    { op: 'remove', path: '/viewModel/none' },
  ];
  assert.equal(tried(doc, patch), { code: 'invalid_request', pointer: '/1/path' });
  assert.equal(doc, { viewModel: { n: 1 } });
  assert.is(tried(doc, [{ op: 'test', path: '/viewModel/n', value: 5 }]).code, 'conflict');
});

test('a patch reaches nothing a document does not own', () => {
  for (const path of [
    '/__proto__/x',
    '/constructor/prototype/x',
    '/a/__proto__',
    '/a/length',
    '/toString/x',
    '/list/push/x',
  ])
    for (const op of ['add', 'replace', 'test', 'remove'])
      assert.is(
        tried({ a: [1], list: [] }, [{ op, path, value: 1 }]).code,
        'invalid_request',
        `${op} ${path}`,
      );
  for (const from of ['/__proto__', '/constructor', '/a/length'])
    assert.is(tried({ a: [1] }, [{ op: 'copy', from, path: '/b' }]).code, 'invalid_request', from);
  assert.is(({} as Record<string, unknown>)['x'], undefined);
});

test('a patch is bounded', () => {
  const many = Array.from({ length: MAX_OPERATIONS + 1 }, () => ({ op: 'add', path: '/a', value: 1 }));
  assert.is(tried({}, many).code, 'too_large');
  assert.is(tried({}, [{ op: 'add', path: '/a', value: 'x'.repeat(300_000) }]).code, 'too_large');
  // Each copy doubles the document.
  const doubling = Array.from({ length: 60 }, (_, i) => ({ op: 'copy', from: '', path: `/k${i}` }));
  assert.is(tried({ a: [1, 2, 3] }, doubling).code, 'too_large');
});

test('whatever is sent as a patch, the answer is a document or an error of ours', () => {
  const path = fc.oneof(
    fc.constantFrom(
      '',
      '/',
      '/a',
      '/a/0',
      '/a/-',
      '/b/c',
      '/__proto__',
      '/a/length',
      '/~2',
      'a',
      '/a/01',
      '/a/1e0',
      '/b/~1',
    ),
    fc.string({ maxLength: 8 }),
  );
  const op = fc.record(
    {
      op: fc.constantFrom('add', 'remove', 'replace', 'move', 'copy', 'test', 'x'),
      path,
      from: path,
      value: fc.jsonValue(),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(
      fc.array(fc.oneof({ weight: 9, arbitrary: op }, { weight: 1, arbitrary: fc.anything() }), {
        maxLength: 6,
      }),
      (p) => {
        tried({ a: [1, { x: 2 }], b: { c: null } }, p);
        assert.equal(Object.keys(Object.prototype), []);
      },
    ),
    { numRuns: 3000, seed: 6902 },
  );
});

test.run();
