// Who may publish which skill, and what may follow what.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { readPublishers, writePublishers } from '../../firmware/skills/publisher-files.ts';
import {
  keyIdOf,
  mayFollow,
  nobody,
  type Publishers,
  parseOwned,
  parsePublisher,
  printOwned,
  trustIn,
  withFirst,
  withPublisher,
  withRevoked,
} from '../../firmware/skills/publishers.ts';
import { makeSigner, readSigner, signerOf } from '../../firmware/skills/signer.ts';
import { idOfKey, signerOfSeed } from './archive.ts';

const test = suite('publishers of skills');
const dir = mkdtempSync(join(tmpdir(), 'ingle-publishers-'));
test.after(() => rmSync(dir, { recursive: true }));
const [a, b] = [1, 2].map((n) => Buffer.from(signerOfSeed(n).key).toString('base64url')) as [string, string];
const outcome = (work: () => unknown): string => {
  try {
    return String(work());
  } catch (e) {
    assert.instance(e, IngleError, (e as Error).stack);
    return (e as IngleError).code;
  }
};
const acme = { key: a, name: 'Acme' };
const limited = (...ids: string[]): Publishers => ({ ...nobody, maker: [{ ...acme, ids }] });
const first = (key: string, more: Publishers = nobody) => withFirst(more, 'lamp', key);
const trusting: Publishers = { ...nobody, publishers: [acme] };

const trusts: [string, Publishers, string | undefined, string][] = [
  ['nobody is known', nobody, a, 'unknown'],
  ['nobody signed', nobody, undefined, 'unsigned'],
  ['nobody signed, and somebody is trusted', trusting, undefined, 'unsigned'],
  ['the owner trusts it', trusting, a, 'trusted'],
  ['the maker trusts it', { ...nobody, maker: [acme] }, a, 'trusted'],
  ['another is trusted', trusting, b, 'unknown'],
  ['it is trusted with this skill', limited('lamp'), a, 'trusted'],
  ['it is trusted with such skills', limited('x', 'la*'), a, 'trusted'],
  ['it is trusted with others', limited('lam', 'lamps', 'x*'), a, 'forbidden'],
  ['maker and owner trust it with different ones', { ...limited('x'), publishers: [acme] }, a, 'trusted'],
  ['the owner revoked it', { ...nobody, publishers: [{ ...acme, revoked: true }] }, a, 'forbidden'],
  ['the maker revoked it', { ...trusting, maker: [{ ...acme, revoked: true }] }, a, 'forbidden'],
  ['the owner revoked what the maker trusts', withRevoked({ ...nobody, maker: [acme] }, a), a, 'forbidden'],
  ['a revoked one is another', withRevoked(nobody, b), a, 'unknown'],
  ['it came from it first', first(a), a, 'unknown'],
  ['it came from it first and it is trusted', first(a, trusting), a, 'trusted'],
  ['it came from another first', first(b, trusting), a, 'forbidden'],
  ['it came from somebody first and nobody signed', first(a, trusting), undefined, 'forbidden'],
  ['it came from it first and is revoked since', first(a, withRevoked(nobody, a)), a, 'forbidden'],
  ['who was first is forgotten', withFirst(first(b), 'lamp', undefined), a, 'unknown'],
  ['another skill came from another', withFirst(nobody, 'fan', b), a, 'unknown'],
];
for (const [when, publishers, key, want] of trusts)
  test(`when ${when}, the package is ${want}`, () =>
    assert.is(
      outcome(() => trustIn(publishers, 'lamp', key)),
      want,
    ));

const follows: [string, string, boolean, string][] = [
  ['1.0.0', '1.0.1', false, 'undefined'],
  ['1.9.0', '1.10.0', false, 'undefined'],
  ['1.0.0-rc.1', '1.0.0', false, 'undefined'],
  ['1.0.0', '1.0.0', true, 'undefined'],
  ['1.0.0', '1.0.0', false, 'conflict'],
  ['1.0.0', '1.0.0+b2', false, 'conflict'],
  ['1.0.0', '1.0.0-rc.1', false, 'conflict'],
  ['1.10.0', '1.9.0', false, 'conflict'],
];
for (const [before, version, same, want] of follows)
  test(`${version}${same ? ', the same,' : ''} after ${before}: ${want === 'conflict' ? 'no' : 'yes'}`, () => {
    const next = { version, digest: same ? 'x' : 'y' };
    assert.is(
      outcome(() => mayFollow({ version: before, digest: 'x' }, next)),
      want,
    );
    assert.is(
      outcome(() => mayFollow(undefined, next)),
      'undefined',
    );
  });

test('a key stays revoked, and is known once however often it is trusted', () => {
  const p = withPublisher(withPublisher(nobody, acme), { ...acme, name: 'Acme & Co' });
  assert.equal(p.publishers, [{ ...acme, name: 'Acme & Co' }]);
  const gone = withRevoked(p, a);
  assert.equal(gone.publishers, [{ ...acme, name: 'Acme & Co', revoked: true }]);
  assert.is(
    outcome(() => withPublisher(gone, acme)),
    'conflict',
  );
  assert.is(withRevoked(nobody, b).publishers[0]?.name, keyIdOf(signerOfSeed(2).key));
});

test('trusting or revoking one changes nothing of the others', () => {
  const other = { key: b, name: 'Bolt', ids: ['fan'] };
  const both = withPublisher(withPublisher(first(b), other), acme);
  assert.equal(both.publishers, [other, acme]);
  const renamed = withPublisher(both, { ...acme, name: 'Acme & Co' });
  assert.equal(renamed.publishers, [other, { ...acme, name: 'Acme & Co' }]);
  const gone = withRevoked(both, a);
  assert.equal(gone.publishers, [other, { ...acme, revoked: true }]);
  assert.equal([...gone.first], [['lamp', b]], 'who was first stays');
  // The other one goes on as before.
  assert.is(trustIn(gone, 'fan', b), 'trusted');
  assert.equal(withPublisher(gone, { ...other, name: 'Bolts' }).publishers.length, 2);
  assert.equal(
    [...withFirst(first(a), 'fan', b).first],
    [
      ['lamp', a],
      ['fan', b],
    ],
  );
  assert.equal([...withFirst(first(a), 'lamp', undefined).first], []);
});

test('who is refused hears who the publisher is, by name where it has one', () => {
  const ids = [a, b].map((key) => keyIdOf(Buffer.from(key, 'base64url')));
  const told = (p: Publishers, key: string | undefined) => {
    try {
      trustIn(p, 'lamp', key);
    } catch (e) {
      return e as IngleError;
    }
    throw new Error('it was let through');
  };
  const known = withPublisher(nobody, acme);
  assert.match(told(withRevoked(known, a), a).message, `"Acme" (${ids[0]}) is revoked`);
  assert.equal(told(withRevoked(known, a), a).details, { publisher: ids[0] });
  assert.match(
    told(first(a, known), b).message,
    `come from "Acme" (${ids[0]}), and this package is from ${ids[1]}.`,
  );
  assert.match(told(first(a, known), undefined).message, 'this package is not signed');
  assert.is(told(first(a, known), undefined).details, undefined);
  assert.match(
    told(limited('fan'), a).message,
    `"Acme" (${ids[0]}) is not trusted with a skill called "lamp"`,
  );
});

test('the id of a key is what is documented', () => {
  for (const n of [1, 2]) assert.is(keyIdOf(signerOfSeed(n).key), idOfKey(signerOfSeed(n).key));
});

test('a list with one fault counts for nothing, and says which', () => {
  const whole = { publishers: [acme, { key: b, name: 'B', ids: ['b_*'] }], first: { constructor: a } };
  const kept = parseOwned(JSON.stringify(whole));
  assert.is(kept.first.get('constructor'), a);
  assert.equal(parseOwned(printOwned(kept)), kept);
  const respelled = `${a.slice(0, 42)}${String.fromCharCode(a.charCodeAt(42) + 1)}`;
  const cases: [unknown, string][] = [
    [{ publishers: [acme] }, '/first'],
    [{ ...whole, more: 1 }, '/more'],
    [{ ...whole, publishers: [acme, acme] }, '/publishers/1/key'],
    [{ ...whole, publishers: [{ ...acme, key: respelled }] }, '/publishers/0/key'],
    [{ ...whole, publishers: [{ ...acme, key: 'x' }] }, '/publishers/0/key'],
    [{ ...whole, publishers: [{ ...acme, name: 'a\nb' }] }, '/publishers/0/name'],
    [{ ...whole, publishers: [{ ...acme, ids: [] }] }, '/publishers/0/ids'],
    [{ ...whole, publishers: [{ ...acme, ids: ['*'] }] }, '/publishers/0/ids/0'],
    [{ ...whole, publishers: [{ ...acme, revoked: 'no' }] }, '/publishers/0/revoked'],
    [{ ...whole, first: { lamp: 'x' } }, '/first/lamp'],
    [{ ...whole, first: { lamp: respelled } }, '/first/lamp'],
    [{ ...whole, first: { '../x': a } }, '/first/..~1x'],
  ];
  for (const [value, pointer] of cases)
    try {
      parseOwned(JSON.stringify(value));
      assert.unreachable(pointer);
    } catch (e) {
      assert.is((e as IngleError).details?.['pointer'], pointer, (e as Error).message);
    }
  for (const text of ['', '[]', 'null', '{', `{"a":${'['.repeat(9000)}`])
    assert.is(
      outcome(() => parseOwned(text)),
      'invalid_request',
    );
  assert.is(
    outcome(() => parsePublisher(JSON.stringify({ ...acme, key: respelled }))),
    'invalid_request',
  );
});

test("the maker's list lies beside the skills of the image, the owner's with the data", async () => {
  const c = { skills: join(dir, 'skills'), data: join(dir, 'data') };
  assert.equal(readPublishers(c), nobody);
  mkdirSync(join(c.skills, 'publishers'), { recursive: true });
  writeFileSync(join(c.skills, 'publishers/acme.json'), JSON.stringify({ ...acme, ids: ['acme_*'] }));
  writeFileSync(join(c.skills, 'publishers/README'), 'no list');
  const owned = withFirst({ publishers: [{ key: b, name: 'B' }], first: new Map() }, 'lamp', b);
  await writePublishers(c, owned);
  const file = join(c.data, 'skills/publishers.json');
  assert.is(statSync(file).mode & 0o777, 0o644);
  assert.equal(readPublishers(c), { maker: [{ ...acme, ids: ['acme_*'] }], ...owned });
  const before = readFileSync(file, 'utf8');
  await writePublishers(c, { ...owned, publishers: [{ key: 'x', name: '' }] }).then(
    () => assert.unreachable(),
    (e: IngleError) => assert.is(e.code, 'invalid_request'),
  );
  assert.is(readFileSync(file, 'utf8'), before);
  writeFileSync(file, 'x'.repeat(300_000));
  assert.throws(() => readPublishers(c), /publishers\.json: .*more than 262144 bytes/);
  writeFileSync(file, '{}');
  assert.throws(() => readPublishers(c), /publishers\.json: .*\/publishers is missing/);
});

test('a key is made once, for its owner alone, and is the same when it is read', () => {
  const file = join(dir, 'key.pem');
  const made = makeSigner(file);
  assert.is(statSync(file).mode & 0o777, 0o600);
  assert.equal(readSigner(file).key, made.key);
  const before = readFileSync(file, 'utf8');
  assert.is(
    outcome(() => makeSigner(file)),
    'conflict',
  );
  assert.is(readFileSync(file, 'utf8'), before);
  assert.is(
    outcome(() => makeSigner(join(dir, 'none/key.pem'))),
    'unavailable',
  );
  assert.is(
    outcome(() => readSigner(join(dir, 'none'))),
    'not_found',
  );
  assert.is(
    outcome(() => readSigner(dir)),
    'invalid_request',
  );
  for (const text of ['', 'x', before.slice(0, 60), before.replace('PRIVATE', 'PUBLIC')])
    assert.is(
      outcome(() => signerOf(text)),
      'invalid_request',
    );
});

test.run();
