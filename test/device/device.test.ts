// gate: in, it starts none of the programs that its imports know
// Device files: what is good makes a device.json, what is not is told by line, path and what is allowed.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { contrast, leastContrast, readable, weakest } from '../../firmware/device/colour.ts';
import { checkDevice } from '../../firmware/device/device.ts';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { checkSecret } from '../../firmware/setup/console-secret.ts';
import { faultsOf as blame, deviceJson, findDevice, parseDevice, readDevice } from '../../image/device.ts';
import { unknownPackages } from '../../image/mmdebstrap.ts';
import { busyFor } from '../lab/busy.ts';

const test = suite('device files');
const least = 'model: x1\nroot_url: https://r.example\n';
const faultsOf = (text: string) => parseDevice(text, 'x.yaml').faults;

test('every device file of the repository is good', () => {
  const files = readdirSync('image/devices').filter((f) => f.endsWith('.yaml'));
  assert.ok(files.includes('generic.yaml') && files.length >= 2);
  for (const f of files) assert.is(readDevice(join('image/devices', f)).name, f.replace('.yaml', ''));
});

test('two lines are a device; all else has a default', () => {
  const { device, faults } = parseDevice(least, 'x.yaml');
  assert.equal(faults, []);
  assert.is(device.hostname, 'ingle-{serial4}');
  assert.equal(device.channels, ['softap', 'ble', 'serial', 'bot']);
  assert.is(device.brand.name, 'Ingle');
  assert.is(device.brand.light, null);
  assert.is(device.ssh.enabled, false);
});

test('device.json reads back as the device, one field a line', () => {
  const { device } = readDevice(findDevice('.', 'example'));
  const text = deviceJson(device);
  assert.equal(JSON.parse(text), device);
  assert.match(text, /^ {2}"hostname": "hearth-\{mac6\}",$/m);
  assert.equal(checkDevice({ ...JSON.parse(text), brand: {} }).issues, []);
});

test("the example's console secret is the one its comment tells", async () => {
  assert.ok(await checkSecret('hearth', readDevice(findDevice('.', 'example')).device.console.secret));
});

const wrong: [what: string, text: string, line: number, words: RegExp][] = [
  [
    'a model in capitals',
    'model: Hub\nroot_url: https://r.example\n',
    1,
    /model is "Hub": lower-case letters/,
  ],
  ['no root', 'model: x\n', 1, /root_url is missing: an https:/],
  ['an application with a path', `${least}app_url: https://a.example/x\n`, 3, /app_url .*without a path/],
  ['plain http', 'model: x\nroot_url: http://r.example\n', 2, /root_url is .*https/],
  ['a field nobody knows', `${least}colour: red\n`, 3, /colour is not known: allowed are model, hostname/],
  ['a deep one', `${least}update:\n  server: x\n`, 4, /update.server is not known: allowed are url, channel/],
  [
    'a channel there is not',
    `${least}channels: [softap,\n  smoke]\n`,
    4,
    /channels\[1\] is "smoke": one of softap/,
  ],
  ['one twice', `${least}channels: [ble, ble]\n`, 3, /channels\[1\] is "ble" twice/],
  ['no channel at all', `${least}channels: []\n`, 3, /channels is empty/],
  ['a country by name', `${least}country: Germany\n`, 3, /country is "Germany": two capital letters/],
  ['a number for a text', `${least}hostname: 7\n`, 3, /hostname is 7, not a text/],
  ['a host name with a space', `${least}hostname: "my hub"\n`, 3, /hostname is "my hub": lower-case/],
  [
    'a secret that is no hash',
    `${least}console:\n  secret: hunter2\n`,
    4,
    /console.secret .*never the secret/,
  ],
  ['SSH without keys', `${least}ssh:\n  enabled: true\n`, 3, /ssh.keys is empty/],
  ['a word for a flag', `${least}ssh:\n  enabled: "no"\n`, 4, /ssh.enabled is "no": true or false/],
  ['a list that is none', `${least}packages: vim\n`, 3, /packages is "vim", not a list/],
  ['a package with a space', `${least}packages: ["a b"]\n`, 3, /packages\[0\] .*Debian package/],
  ['a group that is a list', `${least}brand: [1]\n`, 3, /brand is \[1\], not a group of name, colours/],
  [
    'a pale colour',
    `${least}brand:\n  colours:\n    light: "#ffaa00"\n`,
    5,
    /4\.5:1, as #[0-9a-f]{6} would be/,
  ],
  [
    'a name longer than an access point may have',
    `${least}brand:\n  name: ${'Очаг'.repeat(5)}\n`,
    4,
    /brand.name .*27 bytes/,
  ],
  ['a colour by name', `${least}brand:\n  colours:\n    dark: red\n`, 5, /brand.colours.dark is "red"/],
  ['a line break in a title', `${least}brand:\n  texts:\n    en: {title: "a\\nb"}\n`, 5, /texts.en.title/],
  ['an old version that is none', `${least}update: {min_version: "1"}\n`, 3, /update.min_version .*1\.2\.0/],
  ['a key twice', `${least}model: y\n`, 3, /unique/],
  ['a key twice in a group', `${least}update:\n  url: ""\n  url: ""\n`, 5, /url stands there twice/],
  ['a country there is not', `${least}country: XX\n`, 3, /country is "XX": .*ISO 3166-1/],
  ['a name of spaces', `${least}brand:\n  name: "   "\n`, 4, /brand.name is " {3}": it has no letter/],
  ['a name nobody sees', `${least}brand:\n  name: "\u3164\u115f"\n`, 4, /brand.name .*no letter/],
  ['a name with a space before it', `${least}brand:\n  name: " Hearth"\n`, 4, /begins or ends with a space/],
  ['a blank title', `${least}brand:\n  texts:\n    en: {title: " "}\n`, 5, /texts.en.title .*no letter/],
  ['an empty title', `${least}brand:\n  texts:\n    en: {title: ""}\n`, 5, /texts.en.title .*1 to 80/],
  ['a blank line of support', `${least}brand:\n  texts:\n    ru: {support: " . "}\n`, 5, /texts.ru.support/],
  ['an alias', `model: &m x1\nroot_url: https://r.example\nhostname: *m\n`, 3, /\*m is an alias/],
  ['a list within itself', `${least}packages: &p [*p]\n`, 3, /\*p is an alias/],
  ['no YAML', 'model: [x\n', 2, /./],
  ['a list', '- 1\n', 1, /a device file is a group of fields/],
];
/** A public key of OpenSSH of these fields (RFC 4251, 5). */
const key = (type: string, ...fields: (string | Buffer)[]) =>
  `${type} ${Buffer.concat(
    [type, ...fields].map((f) => {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(Buffer.from(f).length);
      return Buffer.concat([length, Buffer.from(f)]);
    }),
  ).toString('base64')}`;
const ed25519 = key('ssh-ed25519', Buffer.alloc(32, 7));
const point = (bytes: number) => Buffer.concat([Buffer.from([4]), Buffer.alloc(bytes - 1, 9)]);
const rsa = (bits: number) =>
  key('ssh-rsa', Buffer.from([1, 0, 1]), Buffer.concat([Buffer.from([0]), Buffer.alloc(bits / 8, 0xff)]));
const goodKeys = [
  ed25519,
  `${ed25519} somebody@somewhere, in words`,
  key('ecdsa-sha2-nistp256', 'nistp256', point(65)),
  key('ecdsa-sha2-nistp521', 'nistp521', point(133)),
  key('sk-ssh-ed25519@openssh.com', Buffer.alloc(32, 7), 'ssh:'),
  key('sk-ecdsa-sha2-nistp256@openssh.com', 'nistp256', point(65), 'ssh:'),
  rsa(2048),
  rsa(4096),
];
const badKeys: [what: string, key: string, words: RegExp][] = [
  ['one cut short', ed25519.slice(0, -8), /is broken: copy the whole line/],
  ['one with a letter lost', ed25519.replace('AAAA', 'AAA'), /is broken/],
  ['one with something behind it', `${ed25519}AAAA`, /is broken/],
  ['a type without a key', 'ssh-ed25519', /is broken/],
  ['words', 'ssh-ed25519 not!base64', /is broken/],
  ['a key of another type', ed25519.replace('ssh-ed25519', 'ssh-rsa'), /says ssh-rsa and holds another/],
  ['31 bytes', key('ssh-ed25519', Buffer.alloc(31)), /is broken/],
  ['a point of another curve', key('ecdsa-sha2-nistp256', 'nistp256', point(97)), /is broken/],
  ['a compressed point', key('ecdsa-sha2-nistp256', 'nistp256', Buffer.alloc(65, 2)), /is broken/],
  ['one with a sign at its end', `${ed25519}!`, /is broken/],
  ['a security key of no application', key('sk-ssh-ed25519@openssh.com', Buffer.alloc(32), ''), /is broken/],
  ['a curve of another name', key('ecdsa-sha2-nistp256', 'nistp384', point(65)), /is broken/],
  [
    'a security key without its application',
    key('sk-ssh-ed25519@openssh.com', Buffer.alloc(32)),
    /is broken/,
  ],
  ['short RSA', rsa(1024), /1024 bits: at least 2048/],
  ['DSA', key('ssh-dss', 'x'), /begins with one of ssh-ed25519/],
  ['options before it', `no-pty ${ed25519}`, /begins with one of/],
  ['a private key', '-----BEGIN OPENSSH PRIVATE KEY-----', /private key; the public one is in the \.pub/],
];
const withKey = (k: string) => `${least}ssh:\n  enabled: true\n  keys:\n    - ${JSON.stringify(k)}\n`;
for (const [what, k, words] of badKeys) wrong.push([`as an SSH key ${what}`, withKey(k), 6, words]);
test('every kind of public key that OpenSSH makes is taken', () => {
  for (const k of goodKeys) assert.equal(faultsOf(withKey(k)), [], k);
});

test('a device file made to be slow is refused within a second', () => {
  const many = (n: number, line: (i: number) => string) =>
    Array.from({ length: n }, (_, i) => line(i)).join('\n');
  const bomb = `a0: &a0 [x,x,x,x,x,x,x,x,x]\n${many(9, (i) => `a${i + 1}: &a${i + 1} [${Array(9).fill(`*a${i}`).join()}]`)}\n`;
  const slow: Record<string, string> = {
    'a billion words by aliases': bomb,
    'aliases by the thousand': `${least}packages:\n${many(600, (i) => ` - &k${i} k${i}`)}\n${many(600, (i) => ` - *k${i}`)}\n`,
    'brackets nobody closes': `${least}packages: ${'['.repeat(190)}`,
    'brackets by the thousand': `${least}packages: ${'['.repeat(14_000)}`,
    'groups in groups': `${least}packages: ${'{a: '.repeat(3_000)}`,
    'lists in lists': `${least}packages:\n${'- '.repeat(7_000)}`,
    'keys in keys': `${least}${'a: '.repeat(5_000)}`,
    'anchors on anchors': `${least}packages: ${'&a '.repeat(5_000)}`,
    'tags on tags': `${least}packages: ${'!!str '.repeat(2_600)}`,
    'keys by the thousand': `${least}${many(1_900, (i) => `k${i}: 1`)}\n`,
    megabytes: `${least}${many(200_000, (i) => `k${i}: 1`)}\n`,
  };
  for (const [what, text] of Object.entries(slow)) {
    const { ms, gave: faults } = busyFor(() => faultsOf(text));
    assert.ok(faults.length > 0 && faults.length <= 52, `${what}: ${faults.length} faults`);
    for (const f of faults) assert.match(f, /^x\.yaml(:\d+)?: /, what);
    assert.ok(ms < 1000, `${what} took ${ms.toFixed()} ms`);
  }
});

test('a file deeper or longer than any is told so in words', () => {
  assert.match(faultsOf(`${least}packages: ${'['.repeat(14_000)}`).join(), /at most 100 groups deep/);
  assert.match(faultsOf(`${least}packages:\n${'- '.repeat(7_000)}`).join(), /at most 100 groups deep/);
  assert.match(faultsOf(`${least}# ${'x'.repeat(20_000)}`).join(), /at most 16384 bytes; this one has/);
});

test('packages, firmware and modules that do not exist are told by the line that names them', () => {
  const text = `${least}packages:\n  - vim\n  - no-such-package\nfirmware: [common, firmware-none]\nmodules: [i2c_dev, no_such]\n`;
  const { device, at } = parseDevice(text, 'x.yaml');
  const d = { name: 'x', file: 'x.yaml', device, keyring: '', at };
  const told = (details: object) => {
    const e = blame(d, new IngleError('invalid_request', 'the builder says', { ...details }));
    return (e as Error).message.split('\n');
  };
  assert.equal(told({ packages: ['firmware-none', 'no-such-package'] }), [
    'x.yaml:5: packages[1] is "no-such-package": Debian trixie has no such package',
    'x.yaml:6: firmware[1] is "firmware-none": Debian trixie has no such package',
  ]);
  assert.equal(told({ modules: ['no_such'] }), [
    'x.yaml:7: modules[1] is "no_such": the kernel has no such module',
  ]);
  assert.equal(told({ packages: ['of-ours'] }), ['the builder says']);
  assert.equal(
    unknownPackages("E: Unable to locate package a-b\nE: Package 'c+' has no installation candidate\nE: a-b"),
    ['a-b', 'c+'],
  );
});

for (const [what, text, line, words] of wrong)
  test(`${what} is refused, with its line and what is allowed`, () => {
    const faults = faultsOf(text);
    const told = faults.find((f) => words.test(f));
    assert.ok(told, faults.join('\n'));
    assert.match(told, new RegExp(`^x\\.yaml:${line}: `));
  });

test('all faults of a file are told at once', () => {
  assert.is(faultsOf('model: X\nroot_url: no\ncountry: de\n').length, 3);
});

test('a device nobody knows is answered with those there are', () => {
  assert.throws(() => findDevice('.', 'toaster'), /generic/);
  assert.throws(() => readDevice('/nowhere.yaml'), /ENOENT/);
});

test('whatever the value, the check answers and never throws', () => {
  fc.assert(
    fc.property(fc.anything(), (value) => {
      const { issues } = checkDevice(value);
      for (const i of issues) assert.ok(i.says.length > 5);
      assert.ok(issues.length > 0);
    }),
  );
});

test('a colour that is offered is one that is taken, whatever the wish', () => {
  const hex = fc.integer({ min: 0, max: 0xffffff }).map((n) => `#${n.toString(16).padStart(6, '0')}`);
  for (const scheme of ['light', 'dark'] as const)
    fc.assert(
      fc.property(hex, (wish) => {
        const offered = readable(wish, scheme);
        assert.ok(weakest(offered, scheme).ratio >= leastContrast, `${wish} -> ${offered}`);
        if (weakest(wish, scheme).ratio >= leastContrast) assert.is(offered, wish);
      }),
    );
});

test('contrast is that of WCAG', () => {
  assert.is(contrast('#000000', '#ffffff'), 21);
  assert.is(contrast('#777777', '#ffffff').toFixed(2), '4.48');
});

test.run();
