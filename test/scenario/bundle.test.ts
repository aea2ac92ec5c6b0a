// A version of a prototype as one signed file.
import { gunzipSync } from 'node:zlib';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type ErrorCode, IngleError } from '../../firmware/protocol/errors.ts';
import { packPrototype, readPrototype } from '../../firmware/scenario/bundle.ts';
import type { Prototype } from '../../firmware/scenario/schema.ts';
import { checkPackage, packSkill } from '../../firmware/skills/package.ts';
import {
  mayFollow,
  nobody,
  parseOwned,
  printOwned,
  withFirst,
  withRevoked,
} from '../../firmware/skills/publishers.ts';
import { gzip, lamp, signerOfSeed } from '../skills/archive.ts';
import { stored } from './stored.ts';

const test = suite('packages of scenarios');
const signer = signerOfSeed(1);
const keyOf = (s: typeof signer) => Buffer.from(s.key).toString('base64url');
const p: Prototype = {
  id: 'home/hello',
  version: '1.0.0',
  dslVersion: '1',
  name: { en: 'Hello', ru: 'Привет' },
  steps: [{ id: 'greet', do: 'say', text: { en: 'Hello', ru: 'Привет' } }],
};
async function refused(
  work: Promise<unknown> | (() => unknown),
  code: ErrorCode,
  words: RegExp,
): Promise<void> {
  try {
    await (typeof work === 'function' ? work() : work);
  } catch (e) {
    assert.instance(e, IngleError);
    assert.is((e as IngleError).code, code, (e as IngleError).message);
    assert.match((e as IngleError).message, words);
    return;
  }
  assert.unreachable('it was taken');
}

test('what was packed is read back, with who signed it', async () => {
  const { bytes, meta } = packPrototype(p, '# Hello\n', signer);
  assert.is(meta.format, 'ingle-scenario/1');
  assert.equal(
    meta.files.map((f) => f.path),
    ['readme.md', 'scenario.json'],
  );
  const read = await readPrototype(bytes, nobody);
  assert.equal(read.prototype, p);
  assert.is(read.readme, '# Hello\n');
  assert.is(read.publisher!.key, keyOf(signer));
  assert.is(read.trust, 'unknown');
  assert.equal(
    packPrototype(p, '# Hello\n', signer).bytes,
    bytes,
    'the same files and key give the same package',
  );
  assert.is((await readPrototype(packPrototype(p, 'x').bytes, nobody)).trust, 'unsigned');
});

test('every scenario of the house travels, and comes back as it was', async () => {
  let largest = 0;
  for (const { id, versions } of stored().prototypes)
    for (const { prototype, readme } of versions.values()) {
      const { bytes, meta } = packPrototype(prototype, readme, signer);
      largest = Math.max(largest, bytes.length);
      assert.is(meta.id, id);
      const read = await readPrototype(bytes, nobody);
      assert.equal([read.prototype, read.readme], [prototype, readme]);
    }
  console.log(`FIGURE scenario.package.largest ${largest} bytes`);
});

test('a package of one kind is none of the other, and a signature for one is none for the other', async () => {
  const skill = packSkill(lamp(), signer).bytes;
  const scenario = packPrototype(p, 'x', signer).bytes;
  await refused(
    readPrototype(skill, nobody),
    'not_supported',
    /format ingle-skill\/1; this hub knows ingle-scenario\/1/,
  );
  await refused(
    checkPackage(scenario, nobody),
    'not_supported',
    /format ingle-scenario\/1; this hub knows ingle-skill\/1/,
  );
  const { bytes } = packPrototype(p, 'x', {
    key: signer.key,
    sign: (m) => signer.sign(Buffer.from(Buffer.from(m).toString().replace('ingle-scenario', 'ingle-skill'))),
  });
  await refused(readPrototype(bytes, nobody), 'forbidden', /signature is wrong/);
});

test('whatever byte is changed, nothing is taken', async () => {
  const archive = new Uint8Array(gunzipSync(packPrototype(p, '# Hello\n', signer).bytes));
  let tried = 0;
  for (let at = 0; at < archive.length; at += 13) {
    const other = archive.slice();
    other[at]! ^= 1 << (at % 7);
    const found = await readPrototype(gzip(other), nobody).then(
      () => 'taken',
      (e) => (e instanceof IngleError ? 'refused' : String(e)),
    );
    assert.is(found, 'refused', `byte ${at}`);
    tried++;
  }
  assert.ok(tried > 200);
});

test('a scenario stays with who published it first, and a revoked key is worth nothing', async () => {
  const { bytes } = packPrototype(p, 'x', signer);
  const others = withFirst(nobody, 'home/hello', keyOf(signerOfSeed(2)));
  await refused(readPrototype(bytes, others), 'forbidden', /The scenario "home\/hello" has come from/);
  await refused(readPrototype(packPrototype(p, 'x').bytes, others), 'forbidden', /not signed/);
  await refused(readPrototype(bytes, withRevoked(nobody, keyOf(signer))), 'forbidden', /revoked/);
  const of = (ids: string[]) => ({ ...nobody, publishers: [{ key: keyOf(signer), name: 'Acme', ids }] });
  assert.is((await readPrototype(bytes, of(['home/*']))).trust, 'trusted');
  await refused(
    readPrototype(bytes, of(['hello'])),
    'forbidden',
    /not trusted with a scenario called "home\/hello"/,
  );
  // The owner's file keeps both kinds of ids.
  const owned = withFirst(
    { publishers: of(['home/*', 'lamp*']).publishers, first: new Map([['lamp', keyOf(signer)]]) },
    'home/hello',
    keyOf(signer),
  );
  assert.equal(parseOwned(printOwned(owned)), owned);
});

test('versions do not go back, and one version has one content', async () => {
  const release = async (version: string, readme: string) => {
    const { meta, digest } = await readPrototype(
      packPrototype({ ...p, version }, readme, signer).bytes,
      nobody,
    );
    return { version: meta.version, digest };
  };
  const now = await release('1.1.0', 'x');
  mayFollow(now, await release('1.2.0', 'x'));
  mayFollow(now, now);
  await refused(async () => mayFollow(now, await release('1.0.0', 'x')), 'conflict', /older/);
  await refused(async () => mayFollow(now, await release('1.1.0', 'y')), 'conflict', /other content/);
});

test('what is no scenario is not packed', async () => {
  await refused(
    () => packPrototype({ ...p, steps: [{ id: 'a' }] }, 'x'),
    'invalid_request',
    /\/steps\/0 does nothing/,
  );
  await refused(
    () => packPrototype({ ...p, steps: [{ include: 'a.yaml#b' }] }, 'x'),
    'invalid_request',
    /a\.yaml#b/,
  );
  await refused(() => packPrototype({ ...p, doc: 'x'.repeat(2000) }, 'x'), 'invalid_request', /\/doc/);
});

test.run();
