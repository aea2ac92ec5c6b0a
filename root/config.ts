// How this root runs: flags (`--port 8080`), INGLE_ROOT_* of the environment, or a file of JSON (settings.ts).
import { parseArgs } from 'node:util';
import { secureOrigin } from '../firmware/protocol/page.ts';
import type { Address } from './metrics-server.ts';
import { networkOf } from './proxies.ts';
import { CONFIG_VARIABLE, openSettings } from './settings.ts';

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
  /**
   * Address of a Redis (`redis://user:password@host:port`) by which several processes of root know of each other; '' for
   * one process. They share a `database`. `INGLE_ROOT_REDIS`.
   */
  redis: string;
  /** Where the other processes reach this one, host:port. `INGLE_ROOT_PEER`. */
  peer: string;
  /** What a balancer calls this process, by which hubs and browsers are steered to it; '' for no steering. `INGLE_ROOT_NAME`. */
  name: string;
  /** Where it listens for them; `peer` unless given. `INGLE_ROOT_PEER_LISTEN`. */
  peerListen: Address | null;
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
  /** Networks of these proxies: headers of other peers do not count. Empty: of every peer they do. `INGLE_ROOT_TRUSTED_PROXIES`. */
  trustedProxies: string[];
  /** Files of the certificate (with its chain) and its key in PEM, for TLS without a proxy; '' for none. `INGLE_ROOT_TLS_CERT`, `INGLE_ROOT_TLS_KEY`. */
  tlsCert: string;
  tlsKey: string;
  /** Header in which the proxy in front hands over a hub's verified TLS certificate (URL-encoded PEM). `INGLE_ROOT_MTLS_HEADER`. */
  mtlsHeader: string;
  /** Failed codes a minute, over everybody, from which proof of work is asked for. `INGLE_ROOT_SURGE`. */
  surge: number;
  /** Wrong typed codes in ten minutes, over everybody, after which a code is taken only near its hub. `INGLE_ROOT_GUESSES`. */
  guesses: number;
  /** Seconds between sweeps of what is over. `INGLE_ROOT_SWEEP`. */
  sweep: number;
  /**
   * Seconds: SIGTERM lets answers under way finish for so long (at most 30), and asks who is connected to come back at a
   * random time within it; 0 ends at once. `INGLE_ROOT_DRAIN`.
   */
  drain: number;
  /** Form of the log's lines. `INGLE_ROOT_LOG`. */
  log: 'json' | 'text';
  /** Collector of traces (OTLP over HTTP), '' for none. `INGLE_ROOT_TRACES`. */
  traces: string;
  /** Where metrics are served, apart from `host` and `port`; null for nowhere. `INGLE_ROOT_METRICS`. */
  metrics: Address | null;
}

const names = [
  'port',
  'host',
  'data',
  'database',
  'redis',
  'peer',
  'peer-listen',
  'name',
  'origin',
  'api',
  'audience',
  'spa',
  'proxies',
  'mtls-header',
  'surge',
  'guesses',
  'sweep',
  'metrics',
  'drain',
  'log',
  'traces',
  'trusted-proxies',
  'tls-cert',
  'tls-key',
] as const;

/** What `--help` prints. */
export const usage = `Usage: node main.js [--port 8080] [--host 127.0.0.1] [--data .ingle/root] [--database postgresql://...]
  [--redis redis://... --peer 10.0.0.2:8081 [--peer-listen 0.0.0.0:8081] [--name node1]]
  [--origin https://hub.example]
  [--api https://root.example] [--audience http://192.168.1.2:8080,...] [--spa dist/spa] [--proxies 0]
  [--mtls-header name] [--surge 6] [--guesses 10] [--sweep 30]
  [--trusted-proxies 10.0.0.0/8,...] [--tls-cert chain.pem --tls-key key.pem] [--drain 0] [--log text|json]
  [--metrics 127.0.0.1:9464] [--traces http://127.0.0.1:4318] [--config root.json]
Every flag can be given as INGLE_ROOT_<NAME> in the environment, or as a key of the JSON object in --config:
{"port": 8080}. A flag overrides the environment, and the environment overrides the file.

Its records, with --data or --database as above; root may run but for restore:
  node main.js backup FILE                    writes all of them to a new file
  node main.js restore FILE                   fills an empty database from it
  node main.js migrate --to postgresql://...  moves them from the file in --data to PostgreSQL
  node main.js rotate-keys [--revoke]         signs with new keys from now on; with --revoke, those before count no more`;

/** What is done in place of serving. */
export type Command =
  | { name: 'backup' | 'restore'; file: string }
  | { name: 'migrate'; to: string }
  | { name: 'rotate-keys'; revoke: boolean };

function commandOf([name, file, ...more]: string[], to: string, revoke: boolean): Command | undefined {
  if (name !== 'migrate' && to !== '') throw new Error('--to belongs to the command migrate.');
  if (name !== 'rotate-keys' && revoke) throw new Error('--revoke belongs to the command rotate-keys.');
  if (name === undefined) return undefined;
  if (name === 'rotate-keys') {
    if (file !== undefined) throw new Error('rotate-keys takes --revoke, and nothing else.');
    return { name, revoke };
  }
  if (name === 'backup' || name === 'restore') {
    if (!file || more.length > 0) throw new Error(`${name} takes the name of one file.`);
    return { name, file };
  }
  if (name !== 'migrate')
    throw new Error(`There is no command "${name}". One of: backup, restore, migrate, rotate-keys.`);
  if (to === '' || file !== undefined)
    throw new Error('migrate takes --to, the address of a PostgreSQL database, and nothing else.');
  return { name, to };
}

/** @throws Error with a sentence for the operator: Node's own advises how to pass what is no use here. */
function flagsOf(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        help: { type: 'boolean' },
        to: { type: 'string' },
        revoke: { type: 'boolean' },
        config: { type: 'string' },
        ...Object.fromEntries(names.map((n) => [n, { type: 'string' as const }])),
      },
    });
  } catch (e) {
    const { code, message } = e as NodeJS.ErrnoException;
    if (code !== 'ERR_PARSE_ARGS_UNKNOWN_OPTION') throw e;
    throw new Error(`There is no option ${/'[^']*'/.exec(message)?.[0]}. --help lists all there are.`);
  }
}

/** @throws Error with a sentence for the operator when a value makes no sense. */
export function readConfig(
  argv: readonly string[],
  env: NodeJS.ProcessEnv,
): RootConfig & { help: boolean; command: Command | undefined } {
  const { values, positionals } = flagsOf(argv);
  const given = values as Record<string, string | boolean | undefined>;
  const file = String(given['config'] ?? env[CONFIG_VARIABLE] ?? '');
  const { text, maybeEmpty, list, whole, said } = openSettings(names, given, env, file);
  const port = whole('port', 8080, 65535);
  const tls = { tlsCert: text('tls-cert', ''), tlsKey: text('tls-key', '') };
  if ((tls.tlsCert === '') !== (tls.tlsKey === ''))
    throw new Error('--tls-cert and --tls-key belong together: give both, or neither.');
  const scheme = tls.tlsCert === '' ? 'http' : 'https';
  const origin = securely(said('origin'), text('origin', `${scheme}://localhost:${port}`));
  const api = securely(said('api'), text('api', origin));
  const trustedProxies = list('trusted-proxies');
  if (!trustedProxies.every((n) => networkOf(n)))
    throw new Error(`${said('trusted-proxies')} takes networks like 10.0.0.0/8, with commas between them.`);
  const database = databaseOf(text('database', ''), said('database'));
  return {
    help: given['help'] === true,
    command: commandOf(positionals, databaseOf(String(given['to'] ?? ''), '--to'), given['revoke'] === true),
    host: text('host', '127.0.0.1'),
    port,
    data: text('data', '.ingle/root'),
    database,
    ...clusterOf(text, said, database),
    origin,
    api,
    audience: list('audience').map((a) => originOf(a, said('audience'))),
    spa: maybeEmpty('spa', api === origin ? 'dist/spa' : ''),
    // Whoever names the proxies has one.
    proxies: whole('proxies', trustedProxies.length > 0 ? 1 : 0, 10),
    trustedProxies,
    ...tls,
    mtlsHeader: text('mtls-header', '').toLowerCase(),
    surge: whole('surge', 6, 1e9),
    guesses: whole('guesses', 10, 1e9),
    sweep: Math.max(1, whole('sweep', 30, 3600)),
    log: oneOf(['text', 'json'] as const, text('log', 'text'), said('log')),
    drain: whole('drain', 0, 60),
    traces: collectorOf(text('traces', ''), said('traces')),
    metrics: addressOf(text('metrics', ''), said('metrics')),
  };
}

/** Whether a host of its own serves the application: its pages then ask root from another origin. */
export function isSplit(config: Pick<RootConfig, 'origin' | 'api'>): boolean {
  return config.api !== config.origin;
}

function securely(said: string, address: string): string {
  const origin = secureOrigin(address);
  if (!origin) throw new Error(`${said} must be https: passkeys work on http://localhost and on https only.`);
  return origin;
}

/** Its own words stay out of the error: the address holds a password. */
function databaseOf(address: string, flag: string): string {
  if (address !== '' && !(/^postgres(ql)?:\/\//.test(address) && URL.canParse(address)))
    throw new Error(
      `${flag} takes the address of a PostgreSQL database: postgresql://user:password@host/name.`,
    );
  return address;
}

type OfCluster = 'redis' | 'peer' | 'peer-listen' | 'name';
type Setting = (name: OfCluster, otherwise: string) => string;

function clusterOf(
  text: Setting,
  said: (name: OfCluster) => string,
  database: string,
): Pick<RootConfig, 'redis' | 'peer' | 'peerListen' | 'name'> {
  const [redis, peer, name] = [text('redis', ''), text('peer', ''), text('name', '')];
  if (!/^[\w-]{0,32}$/.test(name))
    throw new Error(`${said('name')} takes a name of letters, digits, - and _, at most 32: node1.`);
  if (redis === '' && peer === '' && name === '') return { redis, peer, name, peerListen: null };
  // Its own words stay out of the error: the address holds a password.
  if (!(/^rediss?:\/\//.test(redis) && URL.canParse(redis)))
    throw new Error(`${said('redis')} takes the address of a Redis: redis://user:password@host:port.`);
  if (database === '') throw new Error('--redis is for several processes, which share a --database.');
  if (!addressOf(peer, said('peer')))
    throw new Error('--redis needs --peer, where the other processes reach this one: 10.0.0.2:8081.');
  return { redis, peer, name, peerListen: addressOf(text('peer-listen', peer), said('peer-listen')) };
}

function originOf(address: string, said: string): string {
  if (!URL.canParse(address) || !/^https?:\/\/[^/]+\/?$/.test(address))
    throw new Error(`${said} takes origins like https://root.example, with commas between them.`);
  return new URL(address).origin;
}

function oneOf<T extends string>(all: readonly T[], value: string, said: string): T {
  const found = all.find((one) => one === value);
  if (!found) throw new Error(`${said} is one of: ${all.join(', ')}.`);
  return found;
}

function collectorOf(text: string, said: string): string {
  if (text !== '' && !(URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)))
    throw new Error(`${said} takes the address of a collector: http://127.0.0.1:4318.`);
  return text;
}

function addressOf(text: string, said: string): Address | null {
  if (text === '') return null;
  const [, host = '', port = ''] = /^(\[[\da-f:]+\]|[\w.-]+):(\d{1,5})$/i.exec(text) ?? [];
  if (host === '' || Number(port) < 1 || Number(port) > 65535)
    throw new Error(`${said} takes an address and a port: 127.0.0.1:9464.`);
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) };
}
