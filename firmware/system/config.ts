// What a device maker or a developer sets: /etc/ingle/config.json, then INGLE_* of the environment.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The hub's configuration; every field has a default. */
export interface Config {
  /** Public address of the root service, no slash at the end. `INGLE_ROOT`. */
  root_url: string;
  /** Where services keep state: one folder each below it. `INGLE_DATA`. */
  data: string;
  /** Where sockets and other things of this boot lie. `INGLE_RUNTIME`. */
  runtime: string;
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
  /** The messaging bot: its token (empty = no bot) and the messenger's API. `INGLE_BOT_TOKEN`, `INGLE_BOT_API`. */
  bot: { token: string; api: string };
}

const defaults: Config = {
  root_url: 'http://localhost:8080',
  data: '/var/lib/ingle',
  runtime: '/run/ingle',
  api: { host: '127.0.0.1', port: 8777 },
  name: 'Ingle',
  model: 'generic',
  wifi_country: '00',
  serial: '',
  label: null,
  language: 'en',
  insecure_sealed_secret: false,
  console_secret: '',
  bot: { token: '', api: 'https://api.telegram.org' },
};

/** Reads the configuration. A file that is there but wrong is an error; a file that is not there is fine. */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const file = env['INGLE_CONFIG'] ?? '/etc/ingle/config.json';
  let given: Partial<Config> = {};
  try {
    given = JSON.parse(readFileSync(file, 'utf8')) as Partial<Config>;
  } catch (e) {
    if ((e as NodeJS.ErrnoException).code !== 'ENOENT') throw new Error(`${file}: ${(e as Error).message}`);
  }
  const c: Config = {
    ...defaults,
    ...given,
    api: { ...defaults.api, ...given.api },
    bot: { ...defaults.bot, ...given.bot },
  };
  if (env['INGLE_ROOT']) c.root_url = env['INGLE_ROOT'];
  if (env['INGLE_DATA']) c.data = env['INGLE_DATA'];
  if (env['INGLE_RUNTIME']) c.runtime = env['INGLE_RUNTIME'];
  if (env['INGLE_API_HOST']) c.api.host = env['INGLE_API_HOST'];
  if (env['INGLE_API_PORT']) c.api.port = Number(env['INGLE_API_PORT']);
  if (env['INGLE_NAME']) c.name = env['INGLE_NAME'];
  if (env['INGLE_LANG']) c.language = env['INGLE_LANG'];
  if (env['INGLE_BOT_TOKEN']) c.bot.token = env['INGLE_BOT_TOKEN'];
  if (env['INGLE_BOT_API']) c.bot.api = env['INGLE_BOT_API'];
  c.root_url = c.root_url.replace(/\/+$/, '');
  return c;
}

/** The folder of one service's state. */
export function dataOf(c: Config, service: string): string {
  return join(c.data, service);
}

/** This build's version, set by the bundler; `0.0.0-dev` when run from sources. */
export const version: string = typeof INGLE_VERSION === 'string' ? INGLE_VERSION : '0.0.0-dev';
declare const INGLE_VERSION: string | undefined;
