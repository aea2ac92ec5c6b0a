// What a device file says (image/devices/<name>.yaml) and the hub reads (/usr/share/ingle/device.json). Pure.
import * as T from 'typebox';
import { SAYS } from '../protocol/endpoint/check.ts';
import type { Brand } from '../text/brand.ts';
import { type Complete, type Issue, readFields } from './check.ts';
import { leastContrast, paletteOf, readable, weakest } from './colour.ts';
import { countries } from './countries.ts';
import { faultOfSshKey } from './ssh-key.ts';

const debian = '^[a-z0-9][a-z0-9+.-]+$';
const address =
  '^(https://[\\w.-]+(:\\d+)?|http://(localhost|127\\.[\\d.]+|10\\.[\\d.]+|192\\.168\\.[\\d.]+|[\\w-]+\\.(local|internal|test))(:\\d+)?)(/[\\w./~-]*)?$';
const httpsOnly = 'an https:// address (http:// for localhost, private addresses, .local, .internal, .test)';
const letter = '(?=[\\s\\S]*(?![\\u115f\\u1160\\u3164\\uffa0])[\\p{L}\\p{N}])';

type Options = { description?: string; default?: string };
/** A text of a form, and what to say of another. */
const text = (pattern: string, says: string, more: Options = {}) =>
  T.String({ pattern, [SAYS]: says, ...more });
/** What a maker may leave out has a default. */
const optional = (pattern: string, says: string, absent: string, description: string) =>
  T.Optional(text(pattern, says, { default: absent, description }));
const flag = (absent: boolean, description?: string) =>
  T.Optional(T.Boolean({ default: absent, ...(description ? { description } : {}) }));
const group = <P extends T.TProperties>(fields: P, description?: string) =>
  T.Optional(
    T.Object(fields, { additionalProperties: false, default: {}, ...(description ? { description } : {}) }),
  );
const list = <S extends T.TSchema>(of: S, description: string, absent: string[] = [], more = {}) =>
  T.Optional(T.Array(of, { uniqueItems: true, default: absent, description, ...more }));
/**
 * Words that are read: not of spaces or of Hangul's fillers only, which are letters nobody sees, and with no space at
 * the ends. `none` is what may stand for none.
 */
const visible = (length: string, says: string, absent: string, description: string, none: '' | '^$|' = '') =>
  T.Optional(
    T.String({
      allOf: [
        { pattern: `^[^\\p{C}]{${length}}$`, [SAYS]: says },
        { pattern: `${none}^${letter}`, [SAYS]: 'it has no letter and no digit' },
        { pattern: `${none}^\\S(?:[\\s\\S]*\\S)?$`, [SAYS]: 'it begins or ends with a space' },
      ],
      default: absent,
      description,
    }),
  );
const colour = (scheme: string) =>
  optional(
    '^(#[0-9a-fA-F]{6})?$',
    'a colour like "#a8431a" (quote it, # begins a comment)',
    '',
    `Accent of the ${scheme} scheme; without it the pages keep their own.`,
  );
const words = () =>
  group({
    title: visible('1,80', 'a title of 1 to 80 characters', '', 'Title of the setup pages.'),
    support: visible('0,200', 'a line of at most 200 characters', '', 'A line under them.', '^$|'),
  });

/** Ways into setup that a maker may leave out. */
export const channelNames = ['softap', 'ble', 'serial', 'bot'] as const;
export type Channel = (typeof channelNames)[number];

export const deviceSchema = T.Object(
  {
    model: text('^[a-z0-9][a-z0-9-]{0,30}$', 'lower-case letters, digits and -, at most 31', {
      description: "Model, and RAUC's compatible: a bundle of another model is refused.",
    }),
    hostname: optional(
      '^(?=.{1,80}$)([a-z0-9]|\\{(serial4?|mac6?)\\})([a-z0-9-]|\\{(serial4?|mac6?)\\})*$',
      'lower-case letters, digits, - and {serial}, {serial4}, {mac}, {mac6}',
      'ingle-{serial4}',
      'Pattern of the host name: {serial}, {serial4} (its last four), {mac}, {mac6} are filled in at boot.',
    ),
    brand: group({
      name: visible('1,24', 'a product name of 1 to 24 characters', 'Ingle', 'Product name.'),
      colours: group({ light: colour('light'), dark: colour('dark') }),
      texts: group({ en: words(), ru: words() }),
    }),
    root_url: text(address, httpsOnly, {
      description: 'Public address of the root service its owners pair through.',
    }),
    app_url: optional(
      '^$|^(https://[\\w.-]+|http://localhost)(:\\d+)?$',
      'the https:// origin of the application, without a path',
      '',
      "Origin of the owner's application, if it is pinned: the hub then enrols for no other.",
    ),
    language: T.Optional(
      T.Enum(['en', 'ru'], {
        default: 'en',
        description: 'Language of what the hub says and prints, until its owner chooses.',
      }),
    ),
    country: T.Optional(
      T.String({
        allOf: [
          { pattern: '^([A-Z]{2}|00)$', [SAYS]: 'two capital letters of ISO 3166-1, or "00" in quotes' },
          {
            enum: [...countries],
            [SAYS]: 'the radios know no rules of such a country; ISO 3166-1, or "00" in quotes',
          },
        ],
        default: '00',
        description: "Regulatory country of the radios (ISO 3166-1 alpha-2); 00 is the world's common part.",
      }),
    ),
    channels: list(
      T.Enum([...channelNames]),
      'Ways into setup; what is left out stays closed.',
      [...channelNames],
      {
        minItems: 1,
        [SAYS]: { minItems: 'nobody could set the device up' },
      },
    ),
    update: group({
      url: optional(
        `^$|${address}`,
        httpsOnly,
        '',
        'Where <url>/<channel>/<model>.json lies; empty: no server is asked.',
      ),
      channel: optional(
        '^[a-z][a-z0-9-]{0,20}$',
        'lower-case letters, digits and -, such as stable',
        'stable',
        'Channel of updates.',
      ),
      keys: list(
        text('^[\\w./-]+\\.(pem|crt)$', 'a PEM file beside this one'),
        'PEM files of CAs trusted for updates, beside the device file; none: the CA that signs this build.',
      ),
      min_version: optional(
        '^\\d+\\.\\d+\\.\\d+(-[\\w.]+)?$',
        'a version like 1.2.0',
        '0.0.0',
        'Older versions than this are refused.',
      ),
    }),
    label: T.Optional(
      T.Enum(['required', 'optional', 'none'], {
        default: 'optional',
        description:
          "Whether each device has a label with its own PSK and PIN; required: the factory's test asks for it.",
      }),
    ),
    console: group({
      secret: optional(
        '^$|^scrypt\\$[\\w-]{22}\\$[\\w-]{43}$',
        'a hash as "npm run image -- secret" prints it, never the secret itself',
        '',
        'Hash of the console secret; empty: the console asks for none.',
      ),
      terminals: list(
        text('^tty[A-Za-z]*\\d+$', 'a terminal such as ttyS0 or tty1'),
        'Terminals with our console.',
        ['ttyS0', 'tty1'],
      ),
    }),
    ssh: group(
      {
        enabled: flag(false),
        keys: list(text('^[^\\p{C}]{1,8000}$', 'a public key of OpenSSH'), 'Lines of .pub files.'),
      },
      'Off unless a maker turns it on; keys only, never passwords.',
    ),
    hardware: group(
      { wifi: flag(true), bluetooth: flag(true), speaker: flag(true), microphone: flag(true) },
      "What the factory's self-test must find.",
    ),
    packages: list(text(debian, 'a Debian package name'), 'Debian packages beside ours.'),
    modules: list(
      text('^[a-z0-9_]+$', 'a kernel module as lsmod names it'),
      'Kernel modules kept and loaded at boot beside those found by their device.',
    ),
    firmware: list(
      text(debian, 'a Debian firmware package, or common'),
      'Debian packages with chip firmware; common stands for those of the generic image.',
      ['common'],
    ),
  },
  {
    additionalProperties: false,
    [SAYS]: { type: 'a device file is a group of fields; the least is model and root_url' },
    $id: 'urn:ingle:schema:device',
    title: 'Ingle device file',
    description: 'image/devices/<name>.yaml: what a device is. image/README.md tells more of each field.',
  },
);

/** A device as the image is made for it; every field is there, addresses have no slash at the end. */
export interface Device extends Omit<Complete<T.Static<typeof deviceSchema>>, 'brand'> {
  brand: Brand;
}

/** What the schema does not say: contrast, bytes, the inside of a key, and fields that need one another. */
function crossIssues({ brand, ssh }: Complete<T.Static<typeof deviceSchema>>): Issue[] {
  const issues: Issue[] = [];
  for (const scheme of ['light', 'dark'] as const) {
    const accent = brand.colours[scheme].toLowerCase();
    if (accent === '') continue;
    const { ratio, ground } = weakest(accent, scheme);
    if (ratio < leastContrast)
      issues.push({
        path: `brand.colours.${scheme}`,
        says: `is read at ${ratio.toFixed(1)}:1 with ${ground}: at least ${leastContrast}:1, as ${readable(accent, scheme)} would be`,
      });
  }
  // The network's name is it, a hyphen and four characters, of at most 32 bytes (IEEE 802.11).
  if (new TextEncoder().encode(brand.name).length > 27)
    issues.push({
      path: 'brand.name',
      says: `is ${brand.name}: at most 27 bytes of UTF-8, as it names the access point`,
    });
  for (const [i, key] of ssh.keys.entries()) {
    const fault = faultOfSshKey(key);
    if (fault)
      issues.push({ path: `ssh.keys[${i}]`, says: `is ${JSON.stringify(key).slice(0, 60)}: ${fault}` });
  }
  return issues;
}

/** Reads the value of a device file. Where `issues` is not empty the device is not to be used. */
export function checkDevice(value: unknown): { device: Device; issues: Issue[] } {
  const { file, issues } = readFields(deviceSchema, value);
  issues.push(...crossIssues(file));
  const named = (path: string) => issues.some((i) => i.path.startsWith(path));
  if (file.ssh.enabled && file.ssh.keys.length === 0 && !named('ssh.keys'))
    issues.push({ path: 'ssh.keys', says: 'is empty: nobody could log in, as there are no passwords' });
  const { brand, ...f } = file;
  const palette = (scheme: 'light' | 'dark') => {
    const accent = brand.colours[scheme].toLowerCase();
    return accent === '' ? null : paletteOf(accent, scheme);
  };
  const texts: Brand['texts'] = {};
  for (const language of ['en', 'ru'] as const) {
    const { title, support } = brand.texts[language];
    const own = { ...(title ? { title } : {}), ...(support ? { support } : {}) };
    if (Object.keys(own).length > 0) texts[language] = own;
  }
  const device: Device = {
    ...f,
    root_url: f.root_url.replace(/\/+$/, ''),
    update: { ...f.update, url: f.update.url.replace(/\/+$/, '') },
    brand: { name: brand.name, light: palette('light'), dark: palette('dark'), texts },
  };
  return { device, issues };
}
