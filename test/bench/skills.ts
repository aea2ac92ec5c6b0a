// What skills cost a hub: memory (PSS) that one adds which sleeps, idles or is looked at, a ready hub with
// twelve of them asleep, and the time from a tap to a live screen of one that sleeps, beside a bare Node process. The
// hub's own programs run with the hub's flags under a D-Bus daemon that starts slots as systemd would; twelve skills
// are installed from packages by the API. Rounds of both sides alternate; medians are given, and the least.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import WebSocket from 'ws';
import { WebsocketProvider } from 'y-websocket';
import * as Y from 'yjs';
import { readContent } from '../../firmware/documents/content.ts';
import { toBase64url, utf8 } from '../../firmware/protocol/bytes.ts';
import { skillBusName } from '../../firmware/skills/contract.ts';
import { packSkill } from '../../firmware/skills/package.ts';
import { SLOTS } from '../../firmware/skills/slots.ts';
import { connect } from '../../firmware/system/bus.ts';
import { uplink1 } from '../../firmware/uplink/contract.ts';
import { freePort } from '../../services/cli/house/runtime.ts';
import { hostFlags } from '../../services/cli/house/snapshot.ts';
import { privateBus } from '../lab/bus.ts';
import { child, ended } from '../lab/child.ts';
import { tried, until } from '../lab/wait.ts';
import { file, signerOfSeed } from '../skills/archive.ts';
import { steps } from './_steps.ts';

const { build } = await import('../../services/cli/build.mjs' as string);
await build();

const ROUNDS = Number(process.env['ROUNDS'] ?? 15);
/** As many as find a place beside those of the image. */
const SKILLS =
  SLOTS - readdirSync('dist/skills', { withFileTypes: true }).filter((e) => e.isDirectory()).length;
/** How long a process is left alone before its memory is read, milliseconds. */
const REST_MS = Number(process.env['REST_MS'] ?? 5000);

const unit = ['ingle-.service.d/node.conf', 'ingle-skill@.service']
  .map((file) => readFileSync(`systemd/units/${file}`, 'utf8'))
  .join('\n');
const FLAGS = /NODE_FLAGS=([^"]+)"/.exec(unit)![1]!.split(' ');
const malloc = Object.fromEntries(
  [...unit.matchAll(/(MALLOC_\w+)=(\S+)/g)].map(([, k, v]): [string, string] => [k!, v!]),
);
/** What slots have of malloc's settings, and a bare process beside them. */
const slotMalloc = { ...malloc, GLIBC_TUNABLES: /GLIBC_TUNABLES=(\S+)/.exec(unit)![1]! };

const ids = Array.from({ length: SKILLS }, (_, i) => `bench_${String.fromCharCode(97 + i)}`);
const manifest = (id: string) => ({
  id,
  version: '1.0.0',
  capabilities: { visual: true, ui: { title: id, modes: ['modal'], schema: 'ui/v0' } },
});
/** A counter with a screen, as `ingle skill build` makes it; who looks sees that it is there by the number of its process. */
const code = `exports.skill = { start: (ctx) => ({
  attached: (owner) => ctx.setView(owner, { schema: 'ui/v0', layout: { type: 'text', text: 'Counter' } }),
  watched: (owner, viewers) => viewers && ctx.setState(owner, { live: process.pid }),
  endpoints: [{ method: 'POST', path: '/v1/add', answer: () => ({ body: {}, state: (s) => ({ n: (s.n ?? 0) + 1 }) }) }],
}) };`;

const median = (all: readonly number[]) => [...all].sort((a, b) => a - b)[Math.floor(all.length / 2)]!;
const MB = (bytes: number) => Number((bytes / 1e6).toFixed(1));
const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));
/** Memory of a process, bytes: its PSS, and its own pages in it (proc(5), smaps_rollup). */
function memoryOf(pid: number): { pss: number; own: number } {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  const of = (what: string) => 1024 * Number(new RegExp(`^${what}:\\s+(\\d+) kB$`, 'm').exec(text)![1]);
  return { pss: of('Pss'), own: of('Private_Clean') + of('Private_Dirty') };
}
const pss = (pid: number) => memoryOf(pid).pss;
/** Of what processes share, all their parts. */
const sharedBy = (pids: readonly number[]) =>
  pids.reduce((n, pid) => n + memoryOf(pid).pss - memoryOf(pid).own, 0);
const sum = (all: readonly number[]) => all.reduce((a, b) => a + b, 0);

const step = steps();
const data = mkdtempSync(join(tmpdir(), 'ingle-bench-skills-'));
const activation = join(data, 'activation');
mkdirSync(activation);
const at = (service: string) => resolve(`dist/services/${service}/main.js`);
const [apiPort, rootPort] = [await freePort('127.0.0.1'), await freePort('127.0.0.1')];
const rootUrl = `http://localhost:${rootPort}`;
const settings = {
  ...malloc,
  NODE_ENV: 'production',
  INGLE_DATA: join(data, 'hub'),
  INGLE_RUNTIME: join(data, 'run'),
  INGLE_SKILLS: resolve('dist/skills'),
  INGLE_API_PORT: `${apiPort}`,
  INGLE_CONFIG: '/nonexistent',
  INGLE_ROOT: rootUrl,
  INGLE_LOG: 'error',
};
/** Skills sleep soon here, so that many rounds take minutes. The daemon gives them their settings, as systemd does. */
const bus = await privateBus({
  servicedir: activation,
  env: { ...settings, ...slotMalloc, HOME: data, INGLE_IDLE_MS: '3000' },
});
const env = { ...settings, INGLE_BUS_ADDRESS: bus.address };
const rootEnv = {
  INGLE_ROOT_PORT: `${rootPort}`,
  INGLE_ROOT_ORIGIN: rootUrl,
  INGLE_ROOT_API: rootUrl,
  INGLE_ROOT_AUDIENCE: rootUrl,
  INGLE_ROOT_DATA: join(data, 'root'),
  INGLE_ROOT_SPA: '',
};
const host = [process.execPath, ...FLAGS, ...(await hostFlags(resolve('dist'))), at('skill-host')].join(' ');
for (let n = 1; n <= SLOTS; n++)
  writeFileSync(
    join(activation, `${skillBusName(n)}.service`),
    `[D-BUS Service]\nName=${skillBusName(n)}\nExec=${host} ${n}\n`,
  );
const run = (args: string[], more: Record<string, string> = {}) =>
  child(process.execPath, args, {
    env: { PATH: process.env['PATH'], HOME: data, ...env, ...more },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
/** Processes of slots: slot -> pid; those of this run are told by their data folder. */
const awake = (): Map<number, number> => {
  const found = new Map<number, number>();
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name)))
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      const i = words.indexOf(at('skill-host'));
      if (i > 0 && readFileSync(`/proc/${pid}/environ`, 'utf8').includes(data))
        found.set(Number(words[i + 1]), Number(pid));
    } catch {}
  return found;
};
const asleep = () => until(() => awake().size === 0, 'every skill to sleep');

const root = run([resolve('dist/root/main.js')], rootEnv);
const uplink = run([...FLAGS, at('uplink')]);
const api = run([...FLAGS, at('api')]);
const base = `http://127.0.0.1:${apiPort}`;
let owner_id = '';
const headers = () => ({
  'x-service-token': readFileSync(join(env.INGLE_DATA, 'api/token'), 'utf8').trim(),
  'x-ingle-principal': toBase64url(
    utf8(JSON.stringify({ owner_id, browser: 'phone', role: 'owner', elevated_until: 4e9 })),
  ),
});
async function ask(method: string, path: string, body?: Uint8Array | object): Promise<unknown> {
  const r = await fetch(base + path, {
    ...{ method, headers: headers() },
    ...(body ? { body: (body instanceof Uint8Array ? body : JSON.stringify(body)) as string } : {}),
  });
  if (!r.ok) throw new Error(`${method} ${path}: ${r.status} ${await r.text()}`);
  return r.json();
}

class Socket extends WebSocket {
  constructor(url: string, protocols?: string[]) {
    super(url, protocols, { headers: headers() });
  }
}
/** A look at a skill's screen, as the application takes it: it asks for the keys of its documents and joins them. */
async function look(id: string) {
  const keys = (await ask('POST', '/v1/open', { skill_id: id, mode: 'modal' })) as Record<string, string>;
  const docs = ['view', 'state'].map((name) => {
    const doc = new Y.Doc();
    const provider = new WebsocketProvider(`${base.replace('http', 'ws')}/sync`, keys[name]!, doc, {
      WebSocketPolyfill: Socket as unknown as typeof globalThis.WebSocket,
      disableBc: true,
    });
    return { doc, provider };
  });
  const state = docs[1]!.doc;
  const before = () => readContent(state)['live'];
  return {
    /** Settles when the process that runs now has changed the screen. */
    live: (old: unknown) =>
      new Promise<unknown>((done) => {
        const see = () => {
          const now = before();
          if (now !== undefined && now !== old) done(now);
        };
        state.on('update', see);
        see();
      }),
    end() {
      for (const { doc, provider } of docs) {
        provider.destroy();
        doc.destroy();
      }
    },
  };
}

/** Milliseconds until a process that only says something has said it. */
async function bareStart(): Promise<number> {
  const began = performance.now();
  const c = spawn(process.execPath, [...FLAGS, bare], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: slotMalloc,
  });
  await new Promise((said) => c.stdout.once('data', said));
  const took = performance.now() - began;
  c.kill('SIGKILL');
  await new Promise((gone) => c.once('close', gone));
  return took;
}
const bare = join(data, 'bare.mjs');
writeFileSync(bare, "process.stdout.write('up');\nsetInterval(() => {}, 1e6);\n");

/** What the hub's lasting processes take, once they have had their rest. */
const rested = async () => {
  await pause(REST_MS);
  return hubPss();
};
const hubPss = () => ({ api: pss(api.pid!), uplink: pss(uplink.pid!) });
const said = (what: string, bytes: number) => console.log(`FIGURE skills ${what} ${MB(bytes)} MB`);

try {
  await step('start the hub', async () => {
    await until(
      tried(async () => (await fetch(`${base}/health/ready`)).ok),
      'the API',
    );
    const asker = await connect(bus.address);
    const client = asker.client(uplink1);
    await until(
      tried(async () => void (await client.Enrol({})) === undefined),
      'the hub to be enrolled',
    );
    ({ owner_id } = await client.Status({}));
    asker.close();
  });
  await step('skills of the image fall asleep', asleep);
  const signer = signerOfSeed(1);
  const beforeAny = await step('rest', rested);
  await step(`install ${SKILLS} skills`, async () => {
    await ask('POST', '/api/skills/publishers', { key: toBase64url(signer.key), name: 'Bench' });
    for (const id of ids) {
      const files = [file('manifest.json', JSON.stringify(manifest(id))), file('skill.js', code)];
      await ask('POST', '/api/skills/install', packSkill(files, signer).bytes);
    }
    for (const id of ids)
      await until(
        tried(async () => (await ask('POST', `/skills/${id}/v1/add`)) !== undefined),
        id,
      );
  });
  await step('they fall asleep', asleep);
  const ready = await step('rest', rested);
  const sleeping = sum([...awake().values()].map(pss));
  // What is shared is not paid twice: others have Node's pages anyway.
  const lasting = [process.pid, root.pid!, uplink.pid!, api.pid!];
  const sharedBefore = sharedBy(lasting);
  const adds = (pid: number) => memoryOf(pid).own + sharedBy([...lasting, pid]) - sharedBefore;

  const memory = await step('one awake, then watched', async () => {
    const [id = ''] = ids;
    // Kept awake by asking: an idle one goes after its time.
    await ask('POST', `/skills/${id}/v1/add`);
    await pause(2000);
    const idle = sum([...awake().values()].map(adds));
    const seen = await look(id);
    await seen.live(undefined);
    await pause(REST_MS);
    const watched = sum([...awake().values()].map(adds));
    const more = hubPss().api - ready.api;
    seen.end();
    await asleep();
    const node = child(process.execPath, [...FLAGS, bare], { stdio: 'ignore', env: slotMalloc });
    await pause(REST_MS);
    const peer = adds(node.pid!);
    await ended(node, 'SIGKILL', 'the bare process');
    return { idle, watched, more, peer };
  });

  const times: { ours: number[]; peer: number[] } = { ours: [], peer: [] };
  await step(`${ROUNDS} taps and bare starts`, async () => {
    const live = new Map<string, unknown>();
    for (let n = 0; n < ROUNDS + 2; n++) {
      const id = ids[n % SKILLS]!;
      await asleep();
      const tap = async () => {
        const began = performance.now();
        const seen = await look(id);
        live.set(id, await seen.live(live.get(id)));
        const took = performance.now() - began;
        seen.end();
        return took;
      };
      // Each is looked at once first, so that what it shows is known.
      const [ours, peer] =
        n % 2
          ? [await tap(), await bareStart()]
          : await bareStart().then(async (p) => [await tap(), p] as const);
      if (n >= 2) {
        times.ours.push(ours);
        times.peer.push(peer);
      }
    }
  });

  const all = ready.api + ready.uplink;
  said('asleep, all', sleeping);
  said(`the API's growth by a skill that is installed`, (ready.api - beforeAny.api) / SKILLS);
  said('awake and idle', memory.idle);
  said('watched', memory.watched);
  said('the API, more for one that is watched', memory.more);
  said('a bare Node process', memory.peer);
  said(`ingle-api with ${SKILLS} skills asleep`, ready.api);
  said('ingle-uplink', ready.uplink);
  const [ours, peer] = [median(times.ours), median(times.peer)];
  console.log(
    JSON.stringify({
      bench: 'skills',
      ours: Number(ours.toFixed(1)),
      peer: Number(peer.toFixed(1)),
      unit: 'ms from tap to live',
      ratio: Number((ours / peer).toFixed(3)),
      target: '<= 1.3',
      ours_least: Number(Math.min(...times.ours).toFixed(1)),
      peer_least: Number(Math.min(...times.peer).toFixed(1)),
      asleep_mb: MB(sleeping),
      idle_mb: MB(memory.idle),
      watched_mb: MB(memory.watched),
      awake_target_mb: 14,
      bare_mb: MB(memory.peer),
      api_uplink_mb: MB(all),
    }),
  );
} finally {
  for (const c of [api, uplink, root]) await ended(c, 'SIGTERM', 'a service').catch(() => {});
  await bus.stop();
  rmSync(data, { recursive: true, force: true });
}
