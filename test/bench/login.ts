// Full logins a second: a session, a device code of the hub, the code typed, a challenge, and the passkey's assertion
// checked, each with what it writes on the disk. Root on SQLite and root on PostgreSQL of this machine, in turn; the limit
// is the bare check of an assertion in a loop. What is measured has core 0 (PostgreSQL goes where the system puts it).
import { spawnSync } from 'node:child_process';
import { fromBase64url } from '../../firmware/protocol/bytes.ts';
import { challengeOf } from '../../firmware/protocol/pairing/assertion.ts';
import type { authenticator } from '../lab/authenticator.ts';
import { type Asking, keepAlive } from '../lab/keepalive.ts';
import { startPostgres } from '../lab/postgres.ts';
import { type Hub, newAddress, newHub, newTab, type RootProcess, startRoot } from '../root/kit.ts';
import { cpuMs, median, quantile } from './_sides.ts';

const ROUNDS = Number(process.env['ROUNDS'] ?? 3);
const SECONDS = Number(process.env['SECONDS'] ?? 5);
/** Logins under way at once. */
const AT_ONCE = 16;
/** Owners who sign in, each with a hub: a hub has at most 600 proofs a minute. */
const OWNERS = 128;
const pin = ['taskset', '-c', '0'];

interface Owner {
  hub: Hub;
  keys: ReturnType<typeof authenticator>;
}
/** An owner with a hub and a passkey. */
async function newOwner(root: RootProcess): Promise<Owner> {
  const hub = await newHub(root);
  const tab = await newTab(root);
  for (const r of [await tab.verify(await hub.code()), await tab.register()])
    if (r.status !== 200) throw new Error(JSON.stringify(r.body));
  return { hub, keys: tab.keys };
}

type Http = ReturnType<typeof keepAlive>;

/** One login of an owner, as a browser and its hub go through it. */
async function login(root: RootProcess, http: Http, { hub, keys }: Owner): Promise<void> {
  const from = { 'x-forwarded-for': newAddress(), 'content-type': 'application/json' };
  async function post(path: string, body: object, headers: Record<string, string>) {
    const asked: Asking = {
      method: 'POST',
      path,
      headers: { ...headers, ...from },
      body: JSON.stringify(body),
    };
    const r = await http.ask(asked);
    if (r.status !== 200) throw new Error(`${path}: ${r.status} ${r.text}`);
    return { body: JSON.parse(r.text), cookie: r.headers['set-cookie']?.split(';')[0] ?? '' };
  }
  const opened = await post('/v1/session', {}, { origin: root.origin });
  const { sid } = opened.body as { sid: string };
  const { cookie } = opened;
  const mine = { origin: root.origin, cookie };
  const code = await post('/v1/owner/login/device-code', {}, await hub.headers('device-code'));
  await post('/v1/owner/login/verify', { sid, device_code: code.body.device_code }, mine);
  const asked = await post('/v1/owner/webauthn/login/challenge', { sid }, mine);
  const options = asked.body.publicKeyCredentialRequestOptions;
  const challenge = await challengeOf({
    purpose: 'login',
    context: sid,
    bytes: fromBase64url(options.challenge),
  });
  const credential = keys.get({ ...options, challenge });
  await post('/v1/owner/webauthn/login/finish', { sid, credential }, mine);
}

interface Figures {
  rate: number;
  cpu: number;
  p50: number;
  p99: number;
}

async function open(name: string, env: Record<string, string>) {
  const root = await startRoot(env, pin);
  const owners: Owner[] = [];
  for (let i = 0; i < OWNERS; i++) owners.push(await newOwner(root));
  let next = 0;
  async function measure(ms: number): Promise<Figures> {
    const took: number[] = [];
    const [began, cpu] = [performance.now(), cpuMs(root.pid())];
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        const http = keepAlive(root.port);
        while (performance.now() - began < ms) {
          const at = performance.now();
          await login(root, http, owners[next++ % OWNERS]!);
          took.push(performance.now() - at);
        }
        http.close();
      }),
    );
    return {
      rate: took.length / ((performance.now() - began) / 1000),
      cpu: (cpuMs(root.pid()) - cpu) / took.length,
      p50: quantile(took, 0.5),
      p99: quantile(took, 0.99),
    };
  }
  await measure(2000);
  console.log(`${name}: ${OWNERS} owners enrolled`);
  return { name, measure, stop: () => root.stop() };
}

/** Checks of an assertion a second by the bare library, in a process of its own on the same core. */
function bare(): number {
  const args = [...pin, process.execPath, '--import', 'tsx', 'test/bench/_verify.ts', String(SECONDS * 1000)];
  const r = spawnSync(args[0]!, args.slice(1), { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  if (r.status !== 0) throw new Error('the bare check failed');
  return Number(r.stdout);
}

spawnSync('taskset', ['-cp', '1', String(process.pid)]);
const database = await startPostgres({ flush: true });
const sides = [
  await open('SQLite', {}),
  await open('PostgreSQL', { INGLE_ROOT_DATABASE: database.url('postgres') }),
];
const results = sides.map((): Figures[] => []);
const limit: number[] = [];
for (let round = 0; round < ROUNDS; round++) {
  for (const k of round % 2 ? [1, 0] : [0, 1]) {
    const f = await sides[k]!.measure(SECONDS * 1000);
    results[k]!.push(f);
    console.log(`${sides[k]!.name} ${f.rate.toFixed(1)}/s, p99 ${f.p99.toFixed(1)} ms`);
  }
  limit.push(bare());
  console.log(`bare check ${limit.at(-1)!.toFixed(1)}/s`);
}
for (const s of sides) await s.stop();
await database.stop();
const of = (k: number, key: keyof Figures) => Number(median(results[k]!.map((f) => f[key])).toFixed(2));
const [ours, peer] = [of(0, 'rate'), Number(median(limit).toFixed(2))];
console.log(
  JSON.stringify({
    bench: 'login',
    ours,
    peer,
    unit: 'logins/s',
    ratio: Number((ours / peer).toFixed(4)),
    postgres: of(1, 'rate'),
    postgres_to_sqlite: Number((of(1, 'rate') / ours).toFixed(3)),
    rounds: ROUNDS,
    at_once: AT_ONCE,
    ...{ ours_cpu_ms: of(0, 'cpu'), ours_p50_ms: of(0, 'p50'), ours_p99_ms: of(0, 'p99') },
    ...{ postgres_cpu_ms: of(1, 'cpu'), postgres_p50_ms: of(1, 'p50'), postgres_p99_ms: of(1, 'p99') },
  }),
);
process.exit(0);
