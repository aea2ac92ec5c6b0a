// Device files: what is good makes a device.json, what is not is told by line, path and what is allowed.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { contrast, leastContrast, readable, weakest } from '../../firmware/device/colour.ts';
import { checkDevice } from '../../firmware/device/device.ts';
import { checkSecret } from '../../firmware/setup/console-secret.ts';
import { deviceJson, findDevice, parseDevice, readDevice } from '../../image/device.ts';

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
  ['no YAML', 'model: [x\n', 2, /./],
  ['a list', '- 1\n', 1, /a device file is a group of fields/],
];
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
