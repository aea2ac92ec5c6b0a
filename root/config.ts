// How this root runs: INGLE_ROOT_* of the environment, or the flag of the same name (`--port 8080`).
import { parseArgs } from 'node:util';
import { secureOrigin } from '../firmware/protocol/page.ts';

export interface RootConfig {
  /** Address and port to listen on. `INGLE_ROOT_HOST`, `INGLE_ROOT_PORT`. */
  host: string;
  port: number;
  /** Folder of the database. `INGLE_ROOT_DATA`. */
  data: string;
  /**
   * Address of a PostgreSQL database (`postgresql://user:password@host/name`) that keeps the records in place of a file
   * in `data`; '' for the file. `INGLE_ROOT_DATABASE`.
   */
  database: string;
  /** Public origin of the application, no slash at the end; its host is the WebAuthn rpID. `INGLE_ROOT_ORIGIN`. */
  origin: string;
  /**
   * Public origin of root's own API and sockets, no slash at the end; `origin` unless a host of its own serves the
   * application. `INGLE_ROOT_API`.
   */
  api: string;
  /** Further origins at which hubs reach this root, beside `api`: their proofs name the one they use. `INGLE_ROOT_AUDIENCE`. */
  audience: string[];
  /** Folder of the built application; '' serves none, as when `api` differs from `origin`. `INGLE_ROOT_SPA`. */
  spa: string;
  /** How many proxies in front are ours: the client is that many entries from the right of X-Forwarded-For. `INGLE_ROOT_PROXIES`. */
  proxies: number;
  /** Header in which the proxy in front hands over a hub's verified TLS certificate (URL-encoded PEM). `INGLE_ROOT_MTLS_HEADER`. */
  mtlsHeader: string;
  /** Failed codes a minute, over everybody, from which proof of work is asked for. `INGLE_ROOT_SURGE`. */
  surge: number;
  /** Wrong typed codes in ten minutes, over everybody, after which a code is taken only near its hub. `INGLE_ROOT_GUESSES`. */
  guesses: number;
  /** Seconds between sweeps of what is over. `INGLE_ROOT_SWEEP`. */
  sweep: number;
}

const names = [
  'port',
  'host',
  'data',
  'database',
  'origin',
  'api',
  'audience',
  'spa',
  'proxies',
  'mtls-header',
  'surge',
  'guesses',
  'sweep',
] as const;

/** What `--help` prints. */
export const usage = `Usage: node main.js [--port 8080] [--host 127.0.0.1] [--data .ingle/root] [--database postgresql://...]
  [--origin https://hub.example]
  [--api https://root.example] [--audience http://192.168.1.2:8080,...] [--spa dist/spa] [--proxies 0]
  [--mtls-header name] [--surge 6] [--guesses 10] [--sweep 30]
Every flag can be given as INGLE_ROOT_<NAME> in the environment.

Its records, with --data or --database as above; root may run but for restore:
  node main.js backup FILE                    writes all of them to a new file
  node main.js restore FILE                   fills an empty database from it
  node main.js migrate --to postgresql://...  moves them from the file in --data to PostgreSQL`;

/** What is done in place of serving. */
export type Command = { name: 'backup' | 'restore'; file: string } | { name: 'migrate'; to: string };

function commandOf([name, file, ...more]: string[], to: string): Command | undefined {
  if (name === undefined) {
    if (to !== '') throw new Error('--to is of the command migrate.');
    return undefined;
  }
  if (name === 'backup' || name === 'restore') {
    if (!file || more.length > 0) throw new Error(`${name} takes the name of one file.`);
    return { name, file };
  }
  if (name !== 'migrate') throw new Error(`There is no command "${name}". One of: backup, restore, migrate.`);
  if (to === '' || file !== undefined)
    throw new Error('migrate takes --to, the address of a PostgreSQL database, and nothing else.');
  return { name, to };
}

/** @throws Error with a sentence for the operator when a value makes no sense. */
export function readConfig(
  argv: readonly string[],
  env: NodeJS.ProcessEnv,
): RootConfig & { help: boolean; command: Command | undefined } {
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: {
      help: { type: 'boolean' },
      to: { type: 'string' },
      ...Object.fromEntries(names.map((n) => [n, { type: 'string' as const }])),
    },
  });
  const given = values as Record<string, string | boolean | undefined>;
  const text = (name: (typeof names)[number], otherwise: string) => {
    const v = given[name] ?? env[`INGLE_ROOT_${name.toUpperCase().replace('-', '_')}`];
    return typeof v === 'string' && v !== '' ? v : otherwise;
  };
  const whole = (name: (typeof names)[number], otherwise: number, most: number) => {
    const n = Number(text(name, String(otherwise)));
    if (!Number.isInteger(n) || n < 0 || n > most)
      throw new Error(`--${name} must be a whole number from 0 to ${most}.`);
    return n;
  };
  const port = whole('port', 8080, 65535);
  const origin = securely('origin', text('origin', `http://localhost:${port}`));
  const api = securely('api', text('api', origin));
  return {
    help: given['help'] === true,
    command: commandOf(positionals, databaseOf(String(given['to'] ?? ''), '--to')),
    host: text('host', '127.0.0.1'),
    port,
    data: text('data', '.ingle/root'),
    database: databaseOf(text('database', '')),
    origin,
    api,
    audience: text('audience', '')
      .split(',')
      .filter((a) => a.trim() !== '')
      .map((a) => originOf(a.trim())),
    spa: String(given['spa'] ?? env['INGLE_ROOT_SPA'] ?? (api === origin ? 'dist/spa' : '')),
    proxies: whole('proxies', 0, 10),
    mtlsHeader: text('mtls-header', '').toLowerCase(),
    surge: whole('surge', 6, 1e9),
    guesses: whole('guesses', 10, 1e9),
    sweep: Math.max(1, whole('sweep', 30, 3600)),
  };
}

/** Whether a host of its own serves the application: its pages then ask root from another origin. */
export function isSplit(config: Pick<RootConfig, 'origin' | 'api'>): boolean {
  return config.api !== config.origin;
}

function securely(name: 'origin' | 'api', address: string): string {
  const origin = secureOrigin(address);
  if (!origin)
    throw new Error(`--${name} must be https: passkeys work on http://localhost and on https only.`);
  return origin;
}

/** Its own words stay out of the error: the address holds a password. */
function databaseOf(address: string, flag = '--database'): string {
  if (address !== '' && !(/^postgres(ql)?:\/\//.test(address) && URL.canParse(address)))
    throw new Error(
      `${flag} takes the address of a PostgreSQL database: postgresql://user:password@host/name.`,
    );
  return address;
}

function originOf(address: string): string {
  if (!URL.canParse(address) || !/^https?:\/\/[^/]+\/?$/.test(address))
    throw new Error('--audience takes origins like https://root.example, with commas between them.');
  return new URL(address).origin;
}
