// Requests a second, and p99, of the local API beside Fastify: GET /api/status with the token checked, as ingle-api
// answers it in a house that runs, and a POST with a body of 1 KiB that is checked by its schema. The measured server
// has core 0, wrk core 1; rounds alternate; medians are given.
// On a machine with other work the processor time of a request tells more than its rate.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemApi } from '../../firmware/system/api.ts';
import { ensureToken } from '../../firmware/system/token.ts';
import { freePort } from '../../services/cli/house/runtime.ts';
import { child } from '../lab/child.ts';
import { startHouse } from '../lab/house.ts';
import { tried, until } from '../lab/wait.ts';
import { body, order } from './_api.ts';
import { peersFolder } from './_peers.ts';
import { cpuMs, median } from './_sides.ts';

const { compile } = await import('../compile.mjs' as string);

const ROUNDS = Number(process.env['ROUNDS'] ?? 5);
const SECONDS = Number(process.env['SECONDS'] ?? 4);
const CONNECTIONS = 32;

interface Target {
  url: string;
  token: string;
  pid: number;
}
const folder = mkdtempSync(join(tmpdir(), 'ingle-bench-'));
const script = join(folder, 'post.lua');
writeFileSync(
  script,
  `wrk.method = "POST"\nwrk.body = ${JSON.stringify(body())}\nwrk.headers["content-type"] = "application/json"\n`,
);

/** One round of wrk. @throws Error when anything but 200 came */
function round({ url, token, pid }: Target, isPost: boolean) {
  const more = isPost ? ['-s', script] : [];
  const before = cpuMs(pid);
  const { stdout, stderr } = spawnSync(
    'taskset',
    [
      '-c',
      '1',
      'wrk',
      '-t1',
      `-c${CONNECTIONS}`,
      `-d${SECONDS}s`,
      '--timeout',
      '20s',
      '--latency',
      ...more,
    ].concat('-H', `x-service-token: ${token}`, url),
    { encoding: 'utf8' },
  );
  const said = (form: RegExp) => form.exec(stdout)?.slice(1) ?? [];
  const [requests] = said(/(\d+) requests in/);
  const [rate] = said(/Requests\/sec:\s+([\d.]+)/);
  const [p99, unit] = said(/99%\s+([\d.]+)(us|ms|s)/);
  if (!rate || !p99 || /Non-2xx|Socket errors/.test(stdout)) throw new Error(`wrk: ${stdout}${stderr}`);
  return {
    rate: Number(rate),
    p99: Number(p99) * { us: 0.001, ms: 1, s: 1000 }[unit as 'us' | 'ms' | 's'],
    cpu: ((cpuMs(pid) - before) * 1000) / Number(requests),
  };
}

async function alone(args: string[], port: number, path: string, token: string): Promise<Target> {
  const server = child('taskset', ['-c', '0', process.execPath, ...args]);
  const url = `http://127.0.0.1:${port}${path}`;
  await until(
    tried(async () => (await fetch(url, { headers: { 'x-service-token': token } })).status > 0),
    `the server at ${url}`,
  );
  return { url, token, pid: server.pid! };
}

const house = await startHouse();
const api = house.pid('api')!;
spawnSync('taskset', ['-acp', '0', String(api)]);
const tokenFile = join(folder, 'token');
const token = ensureToken(tokenFile);
const [a, b] = [await freePort('127.0.0.1'), await freePort('127.0.0.1')];
const compiled: string = (await compile(['test/bench/_api.ts'])).get('test/bench/_api.ts');
const ours = {
  get: {
    url: `${house.api}/api/status`,
    token: readFileSync(join(house.data, 'hub/api/token'), 'utf8').trim(),
    pid: api,
  },
  post: await alone([compiled, `${a}`, tokenFile], a, '/api/order', token),
};
const schemas = JSON.stringify({ order, status: systemApi.status.answer });
const args = ['test/bench/_fastify.mjs', peersFolder(), `${b}`, token, schemas];
const fastify = await alone(args, b, '/api/status', token);
const peer = { get: fastify, post: { ...fastify, url: fastify.url.replace('status', 'order') } };

const kinds = ['get', 'post'] as const;
const sides = { ours, peer };
const all: Record<string, ReturnType<typeof round>[]> = {};
for (let n = 0; n <= ROUNDS; n++)
  for (const kind of kinds)
    for (const side of n % 2 ? (['peer', 'ours'] as const) : (['ours', 'peer'] as const)) {
      const r = round(sides[side][kind], kind === 'post');
      // The first round warms the compilers.
      if (n > 0) all[`${side}_${kind}`] = [...(all[`${side}_${kind}`] ?? []), r];
    }
const figure = (name: string, what: 'rate' | 'p99' | 'cpu', digits: number) =>
  Number(median(all[name]!.map((r) => r[what])).toFixed(digits));
const rates = Object.fromEntries(Object.keys(all).map((name) => [name, figure(name, 'rate', 0)]));
const figures = Object.fromEntries(
  Object.keys(all).flatMap((name) => [
    [`${name}_p99_ms`, figure(name, 'p99', 2)],
    [`${name}_cpu_us`, figure(name, 'cpu', 1)],
  ]),
);
/** The median of what each round's pair has, `what` of `over` to that of `under`. */
const ratio = (over: string, under: string, what: 'rate' | 'cpu') =>
  Number(median(all[over]!.map((r, n) => r[what] / all[under]![n]![what])).toFixed(3));
await house.stop();
rmSync(folder, { recursive: true, force: true });
console.log(
  JSON.stringify({
    bench: 'api',
    ours: rates['ours_get'],
    peer: rates['peer_get'],
    unit: 'requests/s',
    ratio: Number((rates['ours_get']! / rates['peer_get']!).toFixed(3)),
    target: '>= 2.5',
    post_ours: rates['ours_post'],
    post_peer: rates['peer_post'],
    post_ratio: Number((rates['ours_post']! / rates['peer_post']!).toFixed(3)),
    post_target: '>= 2',
    rounds: ROUNDS,
    // The same of the pairs that ran one after the other.
    pair_ratio: ratio('ours_get', 'peer_get', 'rate'),
    post_pair_ratio: ratio('ours_post', 'peer_post', 'rate'),
    // How often ours answers in the processor time in which the peer answers once.
    cpu_ratio: ratio('peer_get', 'ours_get', 'cpu'),
    post_cpu_ratio: ratio('peer_post', 'ours_post', 'cpu'),
    ...figures,
  }),
);
process.exit(0);
