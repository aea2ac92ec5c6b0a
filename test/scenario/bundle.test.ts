// A version of a prototype as one signed file.
import { gunzipSync } from 'node:zlib';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type ErrorCode, IngleError } from '../../firmware/protocol/errors.ts';
import { packPrototype, readPrototype } from '../../firmware/scenario/bundle.ts';
import { localizedText } from '../../firmware/scenario/localized.ts';
import { type Prototype, packedIdForm } from '../../firmware/scenario/schema.ts';
import { checkPackage, packed, packSkill } from '../../firmware/skills/package.ts';
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
/** The kind of scenarios, that takes any file. */
const anyKind = {
  ...{ format: 'ingle-scenario/1', idForm: packedIdForm, idIs: 'an id', main: 'scenario.json' },
  required: [],
  mayHave: undefined,
  identity: () => ({ id: 'home/hello', version: '1.0.0' }),
};
const hello = { en: '# Hello\n' };
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
  const { bytes, meta } = packPrototype(p, hello, signer);
  assert.is(meta.format, 'ingle-scenario/1');
  assert.equal(
    meta.files.map((f) => f.path),
    ['readme.md', 'scenario.json'],
  );
  const read = await readPrototype(bytes, nobody);
  assert.equal(read.prototype, p);
  assert.equal(read.readme, hello);
  assert.is(read.publisher!.key, keyOf(signer));
  assert.is(read.trust, 'unknown');
  assert.equal(packPrototype(p, hello, signer).bytes, bytes, 'the same files and key give the same package');
  assert.is((await readPrototype(packPrototype(p, { en: 'x' }).bytes, nobody)).trust, 'unsigned');
});

test('a readme has languages beside English, which the signature covers too', async () => {
  const readme = { ...hello, ru: '# Привет\n', 'pt-br': '# Olá\n' };
  const { bytes, meta } = packPrototype(p, readme, signer);
  assert.equal(
    meta.files.map((f) => f.path),
    ['readme.md', 'readme.pt-br.md', 'readme.ru.md', 'scenario.json'],
  );
  const read = await readPrototype(bytes, nobody);
  assert.equal(read.readme, readme);
  assert.is(read.publisher!.key, keyOf(signer));
  assert.is(localizedText(read.readme, 'ru-RU'), '# Привет\n');
  assert.is(localizedText(read.readme, 'de'), '# Hello\n', 'who has none reads English');
  const archive = new Uint8Array(gunzipSync(bytes));
  archive[Buffer.from(archive).lastIndexOf('Привет\n')]! ^= 1;
  await refused(readPrototype(gzip(archive), nobody), 'invalid_request', /readme\.ru\.md is not what/);
});

test('what names no language is no readme, in a package that is made and in one that is read', async () => {
  for (const language of ['toolong', 'RU', '../ru', '../../etc', 'ru/..', '.', '', 'ru.', '-', '__proto__'])
    await refused(
      () =>
        packPrototype(
          p,
          Object.fromEntries([
            ['en', 'x'],
            [language, 'x'],
          ]),
          signer,
        ),
      'invalid_request',
      /must be a path|has no place in this kind of package/,
    );
  await refused(() => packPrototype(p, { ru: 'x' }, signer), 'invalid_request', /has no readme\.md/);
  // A package that was made by hand, and is whole else.
  const scenario = Buffer.from(`${JSON.stringify(p)}\n`);
  for (const path of ['readme.toolong.md', 'readme.en.md', 'readme..md', 'readme.ru.md.md', 'notes.md']) {
    const files = [
      { path: 'readme.md', bytes: Buffer.from('x') },
      { path, bytes: Buffer.from('x') },
      { path: 'scenario.json', bytes: scenario },
    ];
    const { bytes } = packed(anyKind, { id: 'home/hello', version: '1.0.0' }, files, signer);
    await refused(readPrototype(bytes, nobody), 'invalid_request', /has no place in this kind of package/);
  }
});

test('all readmes of a package together are bounded', async () => {
  const half = 'x'.repeat(130 * 1024);
  const fits = packPrototype(p, { en: half, ru: 'x' }, signer).bytes;
  assert.is((await readPrototype(fits, nobody)).readme['ru'], 'x');
  const { bytes } = packPrototype(p, { en: half, ru: half }, signer);
  await refused(readPrototype(bytes, nobody), 'too_large', /readmes together/);
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
  const scenario = packPrototype(p, { en: 'x' }, signer).bytes;
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
  const { bytes } = packPrototype(
    p,
    { en: 'x' },
    {
      key: signer.key,
      sign: (m) =>
        signer.sign(Buffer.from(Buffer.from(m).toString().replace('ingle-scenario', 'ingle-skill'))),
    },
  );
  await refused(readPrototype(bytes, nobody), 'forbidden', /signature is wrong/);
});

test('whatever byte is changed, nothing is taken', async () => {
  const archive = new Uint8Array(gunzipSync(packPrototype(p, hello, signer).bytes));
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
  const { bytes } = packPrototype(p, { en: 'x' }, signer);
  const others = withFirst(nobody, 'home/hello', keyOf(signerOfSeed(2)));
  await refused(readPrototype(bytes, others), 'forbidden', /The scenario "home\/hello" has come from/);
  await refused(readPrototype(packPrototype(p, { en: 'x' }).bytes, others), 'forbidden', /not signed/);
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
      packPrototype({ ...p, version }, { en: readme }, signer).bytes,
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
    () => packPrototype({ ...p, steps: [{ id: 'a' }] }, { en: 'x' }),
    'invalid_request',
    /\/steps\/0 does nothing/,
  );
  await refused(
    () => packPrototype({ ...p, steps: [{ include: 'a.yaml#b' }] }, { en: 'x' }),
    'invalid_request',
    /a\.yaml#b/,
  );
  await refused(
    () => packPrototype({ ...p, doc: 'x'.repeat(2000) }, { en: 'x' }),
    'invalid_request',
    /\/doc/,
  );
});

test.run();
