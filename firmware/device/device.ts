// What a device file says (image/devices/<name>.yaml) and the hub reads (/usr/share/ingle/device.json). Pure.
import type { Brand } from '../text/brand.ts';
import { flag, type Issue, list, object, oneOf, text, where } from './check.ts';
import { leastContrast, paletteOf, readable, weakest } from './colour.ts';
import { countries } from './countries.ts';
import { faultOfSshKey } from './ssh-key.ts';

/** Ways into setup that a maker may leave out. */
export const channelNames = ['softap', 'ble', 'serial', 'bot'] as const;
export type Channel = (typeof channelNames)[number];

/** A device as the image is made for it; every field is there. */
export interface Device {
  /** Model, and RAUC's `compatible`: a bundle of another model is refused. */
  model: string;
  /** Pattern of the host name: `{serial}`, `{serial4}` (its last four), `{mac}`, `{mac6}` are filled in at boot. */
  hostname: string;
  brand: Brand;
  /** Public address of the root service, no slash at the end. */
  root_url: string;
  /** Origin of the owner's application, if it is pinned: the hub then enrols for no other. Empty: root names it, once. */
  app_url: string;
  /** Language of what the hub says and prints, until its owner chooses. */
  language: 'en' | 'ru';
  /** Regulatory country of the radios (ISO 3166-1 alpha-2); 00 = the world's common denominator. */
  country: string;
  channels: Channel[];
  update: {
    /** Where `<url>/<channel>/<model>.json` lies; empty: no server is asked. */
    url: string;
    channel: string;
    /** PEM files of CAs trusted for updates, beside the device file; none: the CA that signs this build. */
    keys: string[];
    /** Older versions than this are refused. */
    min_version: string;
  };
  /** Whether each device has a label with its own PSK and PIN: a device without one then fails the factory's test. */
  label: 'required' | 'optional' | 'none';
  console: {
    /** Hash of the console secret (firmware/setup/console-secret.ts); empty: the console asks for none. */
    secret: string;
    /** Terminals with our console. */
    terminals: string[];
  };
  /** Off unless a maker turns it on; keys only, never passwords. */
  ssh: { enabled: boolean; keys: string[] };
  /** What the factory's self-test must find. */
  hardware: { wifi: boolean; bluetooth: boolean; speaker: boolean; microphone: boolean };
  /** Debian packages beside ours. */
  packages: string[];
  /** Kernel modules kept and loaded at boot beside those found by their device. */
  modules: string[];
  /** Debian packages with chip firmware; `common` stands for those of the generic image. */
  firmware: string[];
}

const debian = /^[a-z0-9][a-z0-9+.-]+$/;
const address =
  /^(https:\/\/[\w.-]+(:\d+)?|http:\/\/(localhost|127\.[\d.]+|10\.[\d.]+|192\.168\.[\d.]+|[\w-]+\.(local|internal|test))(:\d+)?)(\/[\w./~-]*)?$/;
const httpsOnly = 'an https:// address (http:// for localhost, private addresses, .local, .internal, .test)';
const colour = text(/^(#[0-9a-f]{6})?$/i, 'a colour like "#a8431a" (quote it, # begins a comment)', '');
/** Hangul's fillers are letters nobody sees. */
const invisible = /[\u115f\u1160\u3164\uffa0]/g;
/** Words that are read: not of spaces only, and none at the ends, where nobody sees them. */
const visible = (value: string) => {
  if (!/[\p{L}\p{N}]/u.test(value.replace(invisible, ''))) return 'it has no letter and no digit';
  return value === value.trim() ? undefined : 'it begins or ends with a space';
};
/** What a maker may leave out, but not leave blank. */
const phrase = (least: 0 | 1, most: number, allowed: string) =>
  where(text(new RegExp(`^[^\\p{C}]{${least},${most}}$`, 'u'), allowed, ''), (v) =>
    v === '' ? undefined : visible(v),
  );
const words = object({
  title: phrase(1, 80, 'a title of 1 to 80 characters'),
  support: phrase(0, 200, 'a line of at most 200 characters'),
});

const file = object({
  model: text(/^[a-z0-9][a-z0-9-]{0,30}$/, 'lower-case letters, digits and -, at most 31'),
  hostname: text(
    /^(?=.{1,80}$)([a-z0-9]|\{(serial4?|mac6?)\})([a-z0-9-]|\{(serial4?|mac6?)\})*$/,
    'lower-case letters, digits, - and {serial}, {serial4}, {mac}, {mac6}',
    'ingle-{serial4}',
  ),
  brand: object({
    name: where(text(/^[^\p{C}]{1,24}$/u, 'a product name of 1 to 24 characters', 'Ingle'), visible),
    colours: object({ light: colour, dark: colour }),
    texts: object({ en: words, ru: words }),
  }),
  root_url: text(address, httpsOnly),
  app_url: text(
    /^$|^(https:\/\/[\w.-]+|http:\/\/localhost)(:\d+)?$/,
    'the https:// origin of the application, without a path',
    '',
  ),
  language: oneOf(['en', 'ru'], 'en'),
  country: where(
    text(/^([A-Z]{2}|00)$/, 'two capital letters of ISO 3166-1, or "00" in quotes', '00'),
    (v) =>
      countries.has(v)
        ? undefined
        : 'the radios know no rules of such a country; ISO 3166-1, or "00" in quotes',
  ),
  channels: list(oneOf(channelNames), channelNames),
  update: object({
    url: text(new RegExp(`^$|${address.source}`), httpsOnly, ''),
    channel: text(/^[a-z][a-z0-9-]{0,20}$/, 'lower-case letters, digits and -, such as stable', 'stable'),
    keys: list(text(/^[\w./-]+\.(pem|crt)$/, 'a PEM file beside this one')),
    min_version: text(/^\d+\.\d+\.\d+(-[\w.]+)?$/, 'a version like 1.2.0', '0.0.0'),
  }),
  label: oneOf(['required', 'optional', 'none'], 'optional'),
  console: object({
    secret: text(
      /^$|^scrypt\$[\w-]{22}\$[\w-]{43}$/,
      'a hash as "npm run image -- secret" prints it, never the secret itself',
      '',
    ),
    terminals: list(text(/^tty[A-Za-z]*\d+$/, 'a terminal such as ttyS0 or tty1'), ['ttyS0', 'tty1']),
  }),
  ssh: object({
    enabled: flag(false),
    keys: list(where(text(/^[^\p{C}]{1,8000}$/u, 'a public key of OpenSSH'), faultOfSshKey)),
  }),
  hardware: object({ wifi: flag(true), bluetooth: flag(true), speaker: flag(true), microphone: flag(true) }),
  packages: list(text(debian, 'a Debian package name')),
  modules: list(text(/^[a-z0-9_]+$/, 'a kernel module as lsmod names it')),
  firmware: list(text(debian, 'a Debian firmware package, or common'), ['common']),
});

/** Reads the value of a device file. Where `issues` is not empty the device is not to be used. */
export function checkDevice(value: unknown): { device: Device; issues: Issue[] } {
  const issues: Issue[] = [];
  if (value === null || typeof value !== 'object' || Array.isArray(value))
    issues.push({ path: '', says: 'a device file is a group of fields; the least is model and root_url' });
  const { brand, ...f } = file(value, '', issues);
  const palette = (scheme: 'light' | 'dark') => {
    const accent = brand.colours[scheme].toLowerCase();
    if (accent === '') return null;
    const { ratio, ground } = weakest(accent, scheme);
    if (ratio < leastContrast)
      issues.push({
        path: `brand.colours.${scheme}`,
        says: `is read at ${ratio.toFixed(1)}:1 with ${ground}: at least ${leastContrast}:1, as ${readable(accent, scheme)} would be`,
      });
    return paletteOf(accent, scheme);
  };
  // The network's name is it, a hyphen and four characters, of at most 32 bytes (IEEE 802.11).
  if (new TextEncoder().encode(brand.name).length > 27)
    issues.push({
      path: 'brand.name',
      says: `is ${brand.name}: at most 27 bytes of UTF-8, as it names the access point`,
    });
  if (f.channels.length === 0)
    issues.push({ path: 'channels', says: 'is empty: nobody could set the device up' });
  if (f.ssh.enabled && f.ssh.keys.length === 0)
    issues.push({ path: 'ssh.keys', says: 'is empty: nobody could log in, as there are no passwords' });
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
