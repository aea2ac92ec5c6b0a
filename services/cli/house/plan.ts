// What a house is to be: its folders, ports and addresses, and what its processes are told of them.
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hostOf } from '../../../firmware/system/config.ts';
import type { Say } from '../say.ts';

export interface HouseOptions {
  /** Folder of all state; default `.ingle` in the present folder. */
  data?: string;
  /** Port of root on this computer; default 8080. */
  port?: number;
  /** Address root listens on; default 127.0.0.1, and 0.0.0.0 when `origin` or `api` is given. */
  host?: string;
  /** Address browsers use; default `http://localhost:<port>`. */
  origin?: string;
  /** Public origin of root's API where a host of its own serves the application; default `origin`. */
  api?: string;
  /** Use a root elsewhere and start none here. */
  root?: string;
  /** Where the local API listens: default 127.0.0.1, and the port of last time. */
  apiAt?: { host?: string | undefined; port?: number | undefined };
  /** Added to every process's environment. */
  env?: Record<string, string>;
  say?: Say;
}

// dist/ lies beside services/ in a checkout; this file runs from either.
const here = dirname(fileURLToPath(import.meta.url));
export const dist = join(resolve(here, '../../..'), 'dist');
export const skills = join(dist, 'skills');

export type Plan = ReturnType<typeof planOf>;

export function planOf(o: HouseOptions) {
  const data = resolve(o.data ?? '.ingle');
  const port = o.port ?? 8080;
  const host = o.host ?? (o.origin || o.api ? '0.0.0.0' : '127.0.0.1');
  const origin = o.root ?? o.origin ?? `http://localhost:${port}`;
  const apiHost = o.apiAt?.host ?? '127.0.0.1';
  return {
    /** Folder of all state, and of the hub's. */
    data,
    hub: join(data, 'hub'),
    /** The log of a process. */
    logOf: (name: string) => join(data, 'log', `${name.replace(/\W+/g, '-')}.log`),
    /** Of root: where it listens, whether it is here, and who calls it by which address. */
    port,
    host,
    isRootHere: !o.root,
    local: `http://${host === '0.0.0.0' ? '127.0.0.1' : host}:${port}`,
    origin,
    rootApi: o.api ?? origin,
    rootUrl: o.root ?? `http://localhost:${port}`,
    /** Of the local API; without a port it takes the one of last time. */
    apiHost,
    apiPort: o.apiAt?.port,
    apiOf: (apiPort: number) => `http://${hostOf(apiHost)}:${apiPort}`,
  };
}

/** What every process is told. @param kept bus names of what is kept running */
export function environmentOf(
  p: Plan,
  at: { bus: string; runtime: string; apiPort: number; kept: readonly string[] },
  env: HouseOptions['env'],
): Record<string, string> {
  const given = ['INGLE_LOG', 'INGLE_LANG', 'INGLE_NAME'].flatMap((name) =>
    process.env[name] ? [[name, process.env[name]]] : [],
  );
  return {
    NODE_ENV: 'production',
    INGLE_BUS_ADDRESS: at.bus,
    INGLE_CONFIG: join(p.data, 'config.json'),
    INGLE_DATA: p.hub,
    INGLE_RUNTIME: at.runtime,
    INGLE_ROOT: p.rootUrl,
    INGLE_API_HOST: p.apiHost,
    INGLE_API_PORT: String(at.apiPort),
    INGLE_SKILLS: skills,
    INGLE_KEPT: at.kept.join(' '),
    ...Object.fromEntries(given),
    ...env,
  };
}

/** What root is told besides. */
export function rootEnvironmentOf(p: Plan, o: HouseOptions): Record<string, string> {
  return {
    INGLE_ROOT_PORT: String(p.port),
    INGLE_ROOT_HOST: p.host,
    INGLE_ROOT_ORIGIN: p.origin,
    INGLE_ROOT_API: p.rootApi,
    // The hub reaches root on this computer, whatever browsers call it.
    INGLE_ROOT_AUDIENCE: [p.rootUrl, o.env?.['INGLE_ROOT']].filter(Boolean).join(','),
    INGLE_ROOT_DATA: join(p.data, 'root'),
    INGLE_ROOT_SPA: p.rootApi === p.origin ? join(dist, 'spa') : '',
    // This server speaks plain HTTP; where browsers use https, a proxy stands in front.
    INGLE_ROOT_PROXIES: (o.api ?? o.origin)?.startsWith('https:') ? '1' : '0',
  };
}
