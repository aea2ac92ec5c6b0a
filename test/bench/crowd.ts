// As many hubs as browsers on one root, in steps up to 10,000 of each (`-- crowd <most>` for fewer): how long a frame takes
// to the hub and back, at rest and beside 2,000 frames a second of others, and what root holds; then root is killed and
// started again, and all have to come back. Writes the curves to test/bench/crowd.svg where `--plot` is given.
import { type ChildProcess, execFileSync, fork, spawnSync } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { digest } from '../../root/digest.ts';
import { sqlRecords } from '../../root/records/sql.ts';
import { openTokens } from '../../root/tokens.ts';
import { openDatabase, type RootProcess, startRoot } from '../root/kit.ts';
import type { Member, Order, Report } from './_crowd.ts';
import { svg } from './_curve.ts';
import { memory } from './_sides.ts';
import { steps } from './_steps.ts';

const LOAD = 2000;
const SECONDS = 5;
/** Until all of a step are connected, and until all are back, milliseconds. */
const COME_MS = 600_000;

const { values, positionals } = parseArgs({ allowPositionals: true, options: { plot: { type: 'boolean' } } });
/** Each connection is a descriptor of root's, which has some more. */
const descriptors = Number(execFileSync('sh', ['-c', 'ulimit -Hn'], { encoding: 'utf8' })) || 1e6;
const asked = Number(positionals[0] ?? 10_000);
const MOST = Math.min(asked, Math.floor((descriptors - 100) / 2));
if (MOST < asked)
  console.log(`this machine allows ${descriptors} descriptors a process: at most ${MOST} pairs`);
const counts = [250, 1000, 2500, 5000].filter((n) => n < MOST).concat(MOST);
const step = steps({ write: (line) => console.log(line) });

/** Hubs and browsers as pairing and login would leave them, each browser with a route to its hub. */
async function enrolled(root: RootProcess, n: number): Promise<{ hubs: Member[]; browsers: Member[] }> {
  const db = await openDatabase(root);
  const tokens = await openTokens(sqlRecords(db), root.origin);
  const now = Math.floor(Date.now() / 1000);
  const [hubs, browsers]: [Member[], Member[]] = [[], []];
  const rows: { table: string; values: (string | number)[] }[] = [];
  for (let i = 0; i < n; i++) {
    const { privateKey } = generateKeyPairSync('ed25519');
    const sign_pub = privateKey.export({ format: 'jwk' }).x!;
    const [hub_id, owner_id, subnet_id] = ['hub', 'own', 'net'].map((kind) => `${kind}_crowd${i}`) as [
      string,
      string,
      string,
    ];
    const { certificate } = await tokens.issueCertificate({
      hub_id,
      owner_id,
      subnet_id,
      sign_pub,
      e2e_pub: '',
    });
    rows.push({
      table: 'hub (hub_id, owner_id, subnet_id, sign_pub, e2e_pub, created, kept, seen)',
      values: [hub_id, owner_id, subnet_id, sign_pub, '', now, 1, now],
    });
    const [sid, cookie, key] = [0, 1, 2].map(() => randomBytes(16).toString('base64url')) as [
      string,
      string,
      string,
    ];
    const t = await tokens.issueSession({ sid, owner_id, subnet_id, browser_key_id: key });
    rows.push({
      table:
        'session_web (sid, cookie, stage, owner_id, subnet_id, hub_id, browser_key_id, jti, last_seen, exp)',
      values: [sid, digest(cookie), 'AUTH', owner_id, subnet_id, hub_id, key, t.jti, now, t.exp],
    });
    rows.push({
      table: 'route (sid, hub_id, e2e, generation, last_seen)',
      values: [sid, hub_id, 'on', 0, now],
    });
    const from = (net: number) => ({ 'x-forwarded-for': `${net}.${i >> 8}.${i & 255}.1` });
    const caps = { version: '0', e2e: ['noise-ik'], ui: ['ui/v0'], features: [] };
    hubs.push({
      ...{ namespace: '/hub', sid, audience: root.origin, headers: from(10) },
      auth: { hub_id, certificate },
      hello: ['hub.online', { hub_id, subnet_id, caps }],
      key: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
    });
    browsers.push({
      ...{ namespace: '/owner', sid, audience: '', headers: { ...from(11), cookie: `ingle=${cookie}` } },
      auth: { token: t.jwt, sid },
      hello: ['owner.online', { sid, session_jwt: t.jwt, browser_key_id: key }],
    });
  }
  await db.transaction(async (tx) => {
    for (const { table, values } of rows)
      await tx.run(`INSERT INTO ${table} VALUES (${values.map(() => '?').join(', ')})`, ...values);
  });
  await db.close();
  return { hubs, browsers };
}

/** A process of clients, what it last said, and its orders. */
function side(port: number, members: Member[]) {
  const child: ChildProcess = fork('test/bench/_crowd.ts', { execArgv: ['--import', 'tsx'] });
  const state = { up: 0, refused: 0 };
  let measured: (r: Extract<Report, { p99: number }>) => void = () => {};
  child.on('message', (r: Report) => {
    if ('up' in r) Object.assign(state, r);
    else measured(r);
  });
  const order = (o: Order) => void child.send(o);
  order({ port, members });
  return {
    state,
    to: (n: number) => order({ to: n }),
    measure: (load: number) =>
      new Promise<Extract<Report, { p99: number }>>((resolve) => {
        measured = resolve;
        order({ measure: { seconds: SECONDS, load } });
      }),
    stop: () => child.kill('SIGKILL'),
  };
}

const wait = (ms: number) => new Promise((r) => setTimeout(r, ms));

spawnSync('taskset', ['-cp', '1', String(process.pid)]);
const root = await startRoot({}, ['taskset', '-c', '0']);
const { hubs, browsers } = await step(`${MOST} hubs and browsers are put on record`, () =>
  enrolled(root, MOST),
);
// Routes are read at the start.
await root.kill();
await root.again();
const both = [side(root.port, hubs), side(root.port, browsers)] as const;
const [, theirs] = both;
const share = (n: number) => Math.min(...both.map((s) => s.state.up)) / n;
/** Waits until all are connected. @returns the course: seconds and share */
async function all(n: number): Promise<[number, number][]> {
  const course: [number, number][] = [];
  for (const began = Date.now(); ; ) {
    const seconds = (Date.now() - began) / 1000;
    course.push([seconds, share(n)]);
    if (share(n) === 1 || seconds * 1000 > COME_MS) return course;
    await wait(200);
  }
}

const figures: { n: number; idle: number; loaded: number; bytes: number; lost: number }[] = [];
for (const n of counts) {
  for (const s of both) s.to(n);
  const course = await step(`${n} hubs and ${n} browsers connect`, () => all(n));
  if (course.at(-1)![1] < 1) throw new Error(`only ${(share(n) * 100).toFixed(2)} % are connected`);
  await theirs.measure(0);
  const idle = await theirs.measure(0);
  const loaded = await theirs.measure(LOAD);
  figures.push({
    n,
    idle: idle.p99,
    loaded: loaded.p99,
    bytes: memory(root.pid()),
    lost: idle.lost + loaded.lost,
  });
  console.log(JSON.stringify(figures.at(-1), (_, v) => (typeof v === 'number' ? Number(v.toFixed(2)) : v)));
}
const before = both.reduce((sum, s) => sum + s.state.refused, 0);
await root.kill();
for (; share(MOST) > 0; ) await wait(50);
const killed = Date.now();
await root.again();
const ready = (Date.now() - killed) / 1000;
const back = await step('all come back to a root that was killed', () => all(MOST));
const storm = back.map(([s, part]): [number, number] => [s + ready, 100 * part]);
const refused = both.reduce((sum, s) => sum + s.state.refused, 0) - before;
const after = await theirs.measure(LOAD);
for (const s of both) s.stop();
await root.stop();
if (values.plot)
  writeFileSync(
    'test/bench/crowd.svg',
    svg(
      [
        {
          ...{ title: 'A frame to the hub and back', x: 'hubs, and as many browsers', y: 'p99, ms' },
          curves: [
            { name: 'at rest', points: figures.map((f) => [f.n, f.idle]) },
            { name: `${LOAD} frames/s`, points: figures.map((f) => [f.n, f.loaded]) },
          ],
        },
        {
          ...{ title: `${MOST} pairs come back`, x: 'seconds since root was killed', y: '% back' },
          curves: [{ name: 'hub and browser', points: [[0, 0], ...storm] }],
        },
      ],
      'Round trips by the number of hubs and browsers, and how all come back after root was killed',
    ),
  );
const last = figures.at(-1)!;
const two = (n: number) => Number(n.toFixed(2));
console.log(
  JSON.stringify({
    bench: 'crowd',
    ours: two(last.loaded),
    peer: two(last.idle),
    unit: 'ms p99',
    ratio: Number((two(last.loaded) / two(last.idle)).toFixed(4)),
    pairs: MOST,
    smallest_p99_ms: two(figures[0]!.loaded),
    bytes_a_pair: Math.round((last.bytes - figures[0]!.bytes) / Math.max(1, last.n - figures[0]!.n)),
    lost: figures.reduce((sum, f) => sum + f.lost, after.lost),
    back_percent: two(storm.at(-1)![1]),
    back_seconds: two(storm.at(-1)![0]),
    tries_in_vain: refused,
    after_p99_ms: two(after.p99),
  }),
);
process.exit(storm.at(-1)![1] === 100 ? 0 : 1);
