// Signing keys: what they sign verifies as RAUC verifies, renewals hold, and none is ever made in the repository.
import { randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { run } from '../../firmware/system/exec.ts';
import {
  developmentKeys,
  type Keys,
  keysFor,
  makeKeys,
  retireKeys,
  rolloverKeys,
  rotateKeys,
  showKeys,
} from '../../image/keys.ts';

const test = suite('signing keys');
const dir = mkdtempSync(join(tmpdir(), 'ingle-keys-'));
const data = join(dir, 'bundle');
writeFileSync(data, 'what a hub is to run');
test.after(() => rmSync(dir, { recursive: true, force: true }));

async function sign(k: Keys): Promise<string> {
  const out = join(dir, `${Math.random()}.cms`);
  const args = [
    'cms',
    '-sign',
    '-binary',
    '-outform',
    'DER',
    '-in',
    data,
    '-signer',
    k.cert,
    '-inkey',
    k.key,
  ];
  const r = await run('openssl', [...args, '-out', out]);
  assert.is(r.code, 0, r.stderr);
  return out;
}
/** As RAUC does: the signature against the keyring alone, for the purpose. */
async function verifies(signature: string, keyring: string, ...more: string[]): Promise<boolean> {
  const args = ['cms', '-verify', '-binary', '-inform', 'DER', '-in', signature, '-content', data];
  const r = await run('openssl', [
    ...args,
    '-CAfile',
    keyring,
    '-no-CApath',
    '-no-CAstore',
    '-purpose',
    'smimesign',
    ...more,
  ]);
  return r.code === 0;
}
const copyOf = (file: string) => {
  const copy = join(dir, `${Math.random()}.pem`);
  writeFileSync(copy, readFileSync(file));
  return copy;
};

test('what is signed verifies with its keyring, and with no other', async () => {
  const [mine, other] = [await makeKeys(join(dir, 'a')), await makeKeys(join(dir, 'b'))];
  const signature = await sign(mine);
  assert.ok(await verifies(signature, mine.keyring));
  assert.not.ok(await verifies(signature, other.keyring));
});

test('private keys are for their owner alone', () => {
  for (const f of ['ca.key', 'signing.key'])
    assert.is(statSync(join(dir, 'a', f)).mode & 0o077, 0, `${f} is readable by others`);
  assert.is(statSync(join(dir, 'a')).mode & 0o077, 0);
  assert.not.match(readFileSync(join(dir, 'a', 'keyring.pem'), 'utf8'), /PRIVATE/);
});

test('the signing certificate says what it is for, and is no CA', async () => {
  const r = await run('openssl', ['x509', '-in', join(dir, 'a', 'signing.pem'), '-noout', '-text']);
  const text = r.stdout.toString();
  assert.match(text, /CA:FALSE/);
  assert.match(text, /Digital Signature/);
  assert.match(text, /Code Signing/);
  assert.match(text, /Public-Key: \(3072 bit\)/);
});

test('keys that are there are never written over', async () => {
  const before = readFileSync(join(dir, 'a', 'ca.key'), 'utf8');
  try {
    await makeKeys(join(dir, 'a'));
    assert.unreachable();
  } catch (e) {
    assert.is((e as { code: string }).code, 'conflict');
  }
  assert.is(readFileSync(join(dir, 'a', 'ca.key'), 'utf8'), before);
});

test('after a rotation a device that knows the old keyring takes the new signature', async () => {
  const k = await makeKeys(join(dir, 'r'));
  const onDevice = copyOf(k.keyring);
  const first = readFileSync(k.cert, 'utf8');
  await rotateKeys(k.dir);
  assert.is.not(readFileSync(k.cert, 'utf8'), first);
  assert.ok(await verifies(await sign(k), onDevice));
});

test('a hub whose clock is behind takes what a renewed certificate signs', async () => {
  const k = await makeKeys(join(dir, 'clock'));
  await rotateKeys(k.dir);
  const clock = `${Date.parse('2024-06-01') / 1000}`;
  assert.ok(await verifies(await sign(k), k.keyring, '-attime', clock));
});

test('a new CA comes in three steps, and no device is left behind at any', async () => {
  const k = await makeKeys(join(dir, 'ca'));
  const old = copyOf(k.keyring);
  await rolloverKeys(k.dir);
  const both = copyOf(k.keyring);
  assert.is(readFileSync(both, 'utf8').match(/BEGIN CERT/g)?.length, 2);
  const bridge = await sign(k);
  assert.ok(await verifies(bridge, old), 'a device with the old keyring takes the update that brings both');
  assert.throws(() => retireKeys(k.dir), /old CA still signs/);
  await rotateKeys(k.dir);
  const next = await sign(k);
  assert.ok(await verifies(next, both));
  assert.not.ok(await verifies(next, old));
  retireKeys(k.dir);
  assert.ok(await verifies(next, k.keyring));
  assert.not.ok(await verifies(bridge, k.keyring), 'what the old CA signed is refused at last');
});

test('show names what signs, its CA and fingerprints, and no secret', () => {
  const text = showKeys(join(dir, 'a')).join('\n');
  assert.match(text, /^signs {4}Ingle updates \d{4}/);
  assert.match(text, /its CA {3}Ingle update CA/);
  assert.match(text, /SHA-256 ([0-9A-F]{2}:){31}/);
  assert.not.match(text, /PRIVATE/);
});

test('no key is made in a repository, by whatever way the path leads there', async () => {
  const checkout = join(dir, 'checkout');
  mkdirSync(join(checkout, '.git'), { recursive: true });
  symlinkSync(checkout, join(dir, 'link'));
  for (const path of [
    checkout,
    join(checkout, 'deep/er'),
    join(dir, 'link/keys'),
    join(dir, 'x/../checkout/k'),
  ]) {
    try {
      await makeKeys(path);
      assert.unreachable(path);
    } catch (e) {
      assert.is((e as { code: string }).code, 'forbidden', path);
    }
    assert.not.ok(existsSync(join(path, 'ca.key')));
  }
});

test('a build without keys makes development keys once, and says so', async () => {
  const top = join(dir, 'top');
  const home = process.env['HOME'];
  process.env['HOME'] = join(dir, 'nobody');
  try {
    const said: string[] = [];
    const k = await keysFor(top, undefined, (line) => said.push(line));
    assert.ok(k.development);
    assert.match(said.join('\n'), /DEVELOPMENT KEYS[\s\S]*Never ship/);
    assert.ok(k.dir.startsWith(join(top, '.cache')));
    const cert = readFileSync(k.cert, 'utf8');
    assert.is(readFileSync((await developmentKeys(top)).cert, 'utf8'), cert);
    assert.match(showKeys(k.dir).join(), /DEVELOPMENT \(DO NOT SHIP\)/);
    const given = await keysFor(top, join(dir, 'a'), () => assert.unreachable());
    assert.not.ok(given.development);
  } finally {
    process.env['HOME'] = home;
  }
});

const missing = ['/usr/bin/rauc', '/usr/bin/mksquashfs'].find((f) => !existsSync(f));
if (missing) console.log(`SKIP RAUC itself does not verify a bundle: there is no ${missing}`);
(missing ? test.skip : test)(
  'RAUC signs a bundle by these keys and takes it with the keyring alone',
  async () => {
    const [k, other] = [await makeKeys(join(dir, 'rauc')), await makeKeys(join(dir, 'rauc2'))];
    const content = join(dir, 'content');
    mkdirSync(content, { recursive: true });
    writeFileSync(join(content, 'rootfs.img'), randomBytes(65_536));
    writeFileSync(
      join(content, 'manifest.raucm'),
      '[update]\ncompatible=generic\nversion=1.2.3\n[bundle]\nformat=verity\n[image.rootfs]\nfilename=rootfs.img\n',
    );
    const bundle = join(dir, 'x.raucb');
    const made = await run('rauc', ['bundle', `--cert=${k.cert}`, `--key=${k.key}`, content, bundle]);
    assert.is(made.code, 0, made.stderr);
    const info = (keyring: string) =>
      run('rauc', ['info', `--keyring=${keyring}`, '--output-format=json', bundle]);
    const good = await info(k.keyring);
    assert.is(good.code, 0, good.stderr);
    assert.match(good.stdout.toString(), /"version":"1\.2\.3"/);
    assert.is.not((await info(other.keyring)).code, 0);
  },
);

test.run();
