// What a device maker or a developer sets: the device's own description (/usr/share/ingle/device.json), what the
// factory gave this one (/run/ingle/identity), /etc/ingle/config.json, then INGLE_* of the environment.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Channel, Device } from '../device/device.ts';
import { type Brand, noBrand } from '../text/brand.ts';
import { type Language, languages } from '../text/i18n.ts';

/** The hub's configuration; every field has a default. */
export interface Config {
  /** Public address of the root service, no slash at the end. `INGLE_ROOT`. */
  root_url: string;
  /** The application's origin, if the maker or the owner pins it: an enrolment that names another is refused. `INGLE_APP_URL`. */
  app_url: string;
  /** Where services keep state: one folder each below it. `INGLE_DATA`. */
  data: string;
  /** The skills of the read-only root: a bundle each, and which slots are theirs for good. `INGLE_SKILLS`. */
  skills: string;
  /** Where sockets and other things of this boot lie. `INGLE_RUNTIME`. */
  runtime: string;
  /** Bus names of what somebody keeps running and the bus cannot start, as `npm start` does. `INGLE_KEPT`, blanks between. */
  kept: readonly string[];
  /** Why skills from packages have no sandbox here; empty: they have one. `INGLE_UNCONFINED`. */
  unconfined: '' | 'missing' | 'unusable';
  /** The local API's address. `INGLE_API_HOST`, `INGLE_API_PORT`. */
  api: { host: string; port: number };
  /** Name of the hub as its owner sees it. `INGLE_NAME`. */
  name: string;
  /** Device model, as the maker names it. */
  model: string;
  /** Regulatory country of the radios (ISO 3166-1 alpha-2) until one is set; 00 = world. */
  wifi_country: string;
  /** Serial number the maker gave; empty: the machine's own id. */
  serial: string;
  /** Setup secrets printed on the device's label, in place of one-time ones. */
  label: { psk: string; pin: string } | null;
  /** BCP 47 tag for texts the hub speaks or prints. `INGLE_LANG`. */
  language: string;
  /** INSECURE, for debugging: the hub makes the channel secret and sends it through root (ARCHITECTURE D35). */
  insecure_sealed_secret: boolean;
  /** Hash of the console secret (firmware/setup/console-secret.ts); empty: the serial line asks for none. */
  console_secret: string;
  /** Whom a service on the internet may turn to about this hub's requests: a URL or an e-mail address. `INGLE_CONTACT`. */
  contact: string;
  /** The messaging bot: its token (empty = no bot) and the messenger's API. `INGLE_BOT_TOKEN`, `INGLE_BOT_API`. */
  bot: { token: string; api: string };
  /** Ways into setup that the maker leaves open. */
  channels: readonly Channel[];
  /** The maker's name, colours and words. */
  brand: Brand;
  /** Where updates come from (empty url: no server is asked), and the oldest version that is taken. */
  update: { url: string; channel: string; min_version: string };
  /** What the self-test of the factory line must find. */
  hardware: Device['hardware'];
  /**
   * Data channels straight to browsers (ARCHITECTURE D159): whether there are any, STUN servers (`stun:host:port`; each
   * learns the addresses of hub and browser, so there are none by default), and the UDP ports they use, the first and the
   * last, which the unit of ingle-uplink allows. `INGLE_DIRECT`: on or off.
   */
  direct: { on: boolean; stun: readonly string[]; ports: readonly [number, number] };
  /** How often a member of the subnet is expected to be heard, seconds. `INGLE_SUBNET_HEARTBEAT`. */
  subnet_heartbeat: number;
  /** What this hub has, as scenarios' constraints name it: has:mic, has:speaker, region:eu. `INGLE_HAS`, blanks between. */
  has: readonly string[];
  /** Whether a device has a label with secrets of its own. */
  label_policy: Device['label'];
  /** How many scenarios go on at one time, and what they may take in a day and a week (firmware/scenario). */
  scenario: { limits: ScenarioLimits; quotas: Record<string, unknown> };
  /**
   * Where runs of scenarios are told as traces, by OpenTelemetry's OTLP over HTTP (empty url: nowhere; `/v1/traces` is
   * added), and headers the collector wants. The unit of ingle-scenario reaches this machine only: for a collector
   * elsewhere, give it a drop-in with `IPAddressAllow=`.
   */
  telemetry: { otlp: { url: string; headers: Readonly<Record<string, string>> } };
  /**
   * Folders of the recogniser's models, one a language (`INGLE_SPEECH_EN`, `INGLE_SPEECH_RU`), and the phrase that wakes
   * the hub in each: of four syllables at least, or too much else wakes it.
   */
  speech: { models: { en: string; ru: string }; wake: { en: string; ru: string } };
  /** Whether the hub listens for that phrase. */
  wake_by_phrase: boolean;
}

/** Runs that go on at one time: in all, of one scenario, on one hub of the subnet. */
export interface ScenarioLimits {
  max_concurrent_total: number;
  max_concurrent_per_scenario: number;
  max_concurrent_per_node: number;
}

const defaults: Config = {
  root_url: 'http://localhost:8080',
  app_url: '',
  data: '/var/lib/ingle',
  skills: '/usr/lib/ingle/skills',
  runtime: '/run/ingle',
  kept: [],
  unconfined: '',
  api: { host: '127.0.0.1', port: 8777 },
  name: 'Ingle',
  model: 'generic',
  wifi_country: '00',
  serial: '',
  label: null,
  language: 'en',
  insecure_sealed_secret: false,
  console_secret: '',
  contact: '',
  bot: { token: '', api: 'https://api.telegram.org' },
  channels: ['softap', 'ble', 'serial', 'bot'],
  brand: noBrand,
  update: { url: '', channel: 'stable', min_version: '0.0.0' },
  hardware: { wifi: false, bluetooth: false, speaker: false, microphone: false },
  direct: { on: true, stun: [], ports: [50_400, 50_431] },
  subnet_heartbeat: 30,
  has: ['has:mic', 'has:speaker'],
  label_policy: 'optional',
  scenario: {
    limits: { max_concurrent_total: 4, max_concurrent_per_scenario: 1, max_concurrent_per_node: 4 },
    quotas: {},
  },
  telemetry: { otlp: { url: '', headers: {} } },
  speech: {
    models: { en: '/usr/share/pocketsphinx/model/en-us', ru: '' },
    wake: { en: 'okay computer', ru: 'слушай компьютер' },
  },
  wake_by_phrase: false,
};

/** A JSON file as it stands. One that is not there (or whose error is `fine`) is `undefined`. */
function readJson<T>(file: string, fine = 'ENOENT'): Partial<T> | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Partial<T>;
  } catch (e) {
    const { code } = e as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === fine) return undefined;
    throw new Error(`${file}: ${(e as Error).message}`);
  }
}

/** What the image says of the device. It was checked when the image was made, and is verified at each boot. */
function ofDevice(d: Partial<Device> | undefined): Partial<Config> {
  if (!d) return {};
  const { model, root_url, app_url, language, country, channels, brand, update, hardware, label } = d;
  const given = {
    model,
    root_url,
    app_url,
    language,
    channels,
    brand,
    hardware,
    wifi_country: country,
    console_secret: d.console?.secret,
    name: brand?.name,
    has: hardware && [
      ...(hardware.microphone ? ['has:mic'] : []),
      ...(hardware.speaker ? ['has:speaker'] : []),
      ...(country && country !== '00' ? [`region:${country.toLowerCase()}`] : []),
    ],
    update: update && { url: update.url, channel: update.channel, min_version: update.min_version },
    label_policy: label,
  };
  return Object.fromEntries(Object.entries(given).filter(([, v]) => v !== undefined)) as Partial<Config>;
}

/** What ingle-identity found on the factory partition; only setup may read the label's secrets. */
function ofFactory(runtime: string): Partial<Config> {
  const { serial } = readJson<{ serial: string }>(join(runtime, 'identity', 'device.json')) ?? {};
  const { psk, pin } =
    readJson<{ psk: string; pin: string }>(join(runtime, 'identity', 'label.json'), 'EACCES') ?? {};
  return { ...(serial ? { serial } : {}), ...(psk && pin ? { label: { psk, pin } } : {}) };
}

/** Where the owner's choices lie that every service may know; ingle-api writes it, and services take it when they start. */
export const choicesOf = (c: Pick<Config, 'data'>): string => join(c.data, 'skills', 'choices.json');

/** What an owner may choose for the whole hub. */
export type Choices = Partial<Pick<Config, 'language' | 'name' | 'wake_by_phrase'>>;

/** What the owner has chosen. A file with a fault counts for nothing: no service fails to start for it. */
export function readChoices(c: Pick<Config, 'data'>): Choices {
  try {
    const { language, name, wake_by_phrase } = readJson<Config>(choicesOf(c)) ?? {};
    return {
      ...(languages.includes(language as Language) ? { language: language! } : {}),
      ...(typeof wake_by_phrase === 'boolean' ? { wake_by_phrase } : {}),
      ...(typeof name === 'string' && name !== '' && name.length <= 64 ? { name } : {}),
    };
  } catch {
    return {};
  }
}

/** The hub's name now: an owner's choice counts at once, also where a service has started before it. */
export const nameOf = (c: Pick<Config, 'data' | 'name'>): string => readChoices(c).name ?? c.name;

/** Reads the configuration. A file that is there but wrong is an error; a file that is not there is fine. */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const device = ofDevice(readJson<Device>(env['INGLE_DEVICE'] ?? '/usr/share/ingle/device.json'));
  const given = readJson<Config>(env['INGLE_CONFIG'] ?? '/etc/ingle/config.json') ?? {};
  const factory = ofFactory(env['INGLE_RUNTIME'] ?? given.runtime ?? defaults.runtime);
  const c: Config = {
    ...defaults,
    ...device,
    ...factory,
    ...given,
    api: { ...defaults.api, ...given.api },
    bot: { ...defaults.bot, ...given.bot },
    direct: { ...defaults.direct, ...given.direct },
    update: { ...defaults.update, ...device.update, ...given.update },
    scenario: {
      limits: { ...defaults.scenario.limits, ...given.scenario?.limits },
      quotas: given.scenario?.quotas ?? {},
    },
    telemetry: { otlp: { ...defaults.telemetry.otlp, ...given.telemetry?.otlp } },
    speech: {
      models: { ...defaults.speech.models, ...given.speech?.models },
      wake: { ...defaults.speech.wake, ...given.speech?.wake },
    },
  };
  if (c.telemetry.otlp.url !== '' && !/^https?:\/\/[^/]/.test(c.telemetry.otlp.url))
    throw new Error('telemetry.otlp.url must be an http or https address, as http://localhost:4318');
  if (env['INGLE_ROOT']) c.root_url = env['INGLE_ROOT'];
  if (env['INGLE_APP_URL']) c.app_url = env['INGLE_APP_URL'];
  if (env['INGLE_DATA']) c.data = env['INGLE_DATA'];
  Object.assign(c, readChoices(c));
  if (env['INGLE_SKILLS']) c.skills = env['INGLE_SKILLS'];
  if (env['INGLE_RUNTIME']) c.runtime = env['INGLE_RUNTIME'];
  if (env['INGLE_KEPT']) c.kept = env['INGLE_KEPT'].split(' ');
  if (env['INGLE_UNCONFINED']) c.unconfined = env['INGLE_UNCONFINED'] === 'missing' ? 'missing' : 'unusable';
  if (env['INGLE_API_HOST']) c.api.host = env['INGLE_API_HOST'];
  if (env['INGLE_API_PORT']) c.api.port = Number(env['INGLE_API_PORT']);
  if (env['INGLE_NAME']) c.name = env['INGLE_NAME'];
  // The owner's own name for it goes before whatever it was called when it was started.
  c.name = nameOf(c);
  if (env['INGLE_LANG']) c.language = env['INGLE_LANG'];
  if (env['INGLE_DIRECT']) c.direct.on = env['INGLE_DIRECT'] !== 'off';
  if (env['INGLE_SUBNET_HEARTBEAT']) c.subnet_heartbeat = Number(env['INGLE_SUBNET_HEARTBEAT']);
  if (env['INGLE_HAS'] !== undefined) c.has = env['INGLE_HAS'].split(' ').filter((s) => s !== '');
  if (env['INGLE_CONTACT']) c.contact = env['INGLE_CONTACT'];
  if (env['INGLE_SPEECH_EN']) c.speech.models.en = env['INGLE_SPEECH_EN'];
  if (env['INGLE_SPEECH_RU']) c.speech.models.ru = env['INGLE_SPEECH_RU'];
  if (env['INGLE_BOT_TOKEN']) c.bot.token = env['INGLE_BOT_TOKEN'];
  if (env['INGLE_BOT_API']) c.bot.api = env['INGLE_BOT_API'];
  c.root_url = c.root_url.replace(/\/+$/, '');
  if (URL.canParse(c.app_url)) c.app_url = new URL(c.app_url).origin;
  return c;
}

/** Where a client reaches what listens at `host`; an IPv6 address stands in brackets (RFC 3986, 3.2.2). */
export const hostOf = (host: string) =>
  host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host;

/** The version the image says it is (os-release(5), IMAGE_VERSION); empty on a computer that runs none. */
export function imageVersion(env: NodeJS.ProcessEnv = process.env): string {
  try {
    const text = readFileSync(env['INGLE_OS_RELEASE'] ?? '/etc/os-release', 'utf8');
    return /^IMAGE_VERSION="?([^"\n]+)"?$/m.exec(text)?.[1] ?? '';
  } catch {
    return '';
  }
}

/** The folder of one service's state. */
export function dataOf(c: Config, service: string): string {
  return join(c.data, service);
}

/** This build's version, set by the bundler; `0.0.0-dev` when run from sources. */
export const version: string = typeof INGLE_VERSION === 'string' ? INGLE_VERSION : '0.0.0-dev';
declare const INGLE_VERSION: string | undefined;
/** Version of the SQLite that is built in, for those who tell it without loading it. */
export const sqlite: string = typeof INGLE_SQLITE === 'string' ? INGLE_SQLITE : '-';
declare const INGLE_SQLITE: string | undefined;
