// Both sides of the benches `relay`, `idle` and `flood`: our root with signed-in browsers, and the bare forwarder.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { digest } from '../../root/digest.ts';
import { sqlRecords } from '../../root/records/sql.ts';
import { openTokens } from '../../root/tokens.ts';
import { freePort } from '../../services/cli/house/runtime.ts';
import { call, type Hub, newHub, openDatabase, startRoot, until } from '../root/kit.ts';
import type { Flooder } from './_flooder.ts';
import { type Line, openLine } from './_line.ts';

export interface Side {
  name: 'ours' | 'peer' | 'raw';
  port: number;
  pid: number;
  hubs: Line[];
  browsers: { sid: string; hub: number; line: Line; papers: Flooder }[];
  stop(): Promise<void>;
}

/** Core that the measured server alone runs on; the generator takes the other. */
const pin = ['taskset', '-c', '0'];

/** Connects in groups, so that neither side's backlog overflows. */
async function inGroups<T>(n: number, work: (i: number) => Promise<T>, group = 50): Promise<T[]> {
  const out: T[] = [];
  for (let i = 0; i < n; i += group)
    out.push(...(await Promise.all(Array.from({ length: Math.min(group, n - i) }, (_, k) => work(i + k)))));
  return out;
}

/** Root with `count` browsers over `hubs` hubs, every route bound. `atRest` runs before the browsers connect. */
export async function ours(
  count: number,
  hubs: number,
  atRest?: (pid: number) => Promise<void>,
): Promise<Side> {
  const root = await startRoot({}, pin);
  const identities: Hub[] = [];
  for (let i = 0; i < hubs; i++) identities.push(await newHub(root));
  // Sessions as a login would leave them; passkeys are not what is measured here.
  const db = await openDatabase(root);
  const tokens = await openTokens(sqlRecords(db), root.origin);
  const now = Math.floor(Date.now() / 1000);
  const tabs: { sid: string; cookie: string; token: string; key: string; hub: number }[] = [];
  for (let i = 0; i < count; i++) {
    const h = identities[i % hubs]!;
    const [sid, cookie, key] = [0, 1, 2].map(() => randomBytes(16).toString('base64url')) as [
      string,
      string,
      string,
    ];
    const t = await tokens.issueSession({
      sid,
      owner_id: h.owner_id,
      subnet_id: h.subnet_id,
      browser_key_id: key,
    });
    tabs.push({ sid, cookie, token: t.jwt, key, hub: i % hubs });
    await db.run(
      `INSERT INTO session_web (sid, cookie, stage, owner_id, subnet_id, hub_id, browser_key_id, jti, last_seen, exp)
       VALUES (?, ?, 'AUTH', ?, ?, ?, ?, ?, ?, ?)`,
      ...[sid, digest(cookie), h.owner_id, h.subnet_id, h.hub_id, key, t.jti, now, t.exp],
    );
  }
  await db.close();
  let bound = 0;
  const lines = await inGroups(hubs, async (i) => {
    const h = identities[i]!;
    const auth = { hub_id: h.hub_id, certificate: h.certificate, proof: await h.proof('socket') };
    const line = await openLine(root.port, '/hub', auth, h.from);
    line.onMessage = (_, m) => {
      const text = m.toString();
      if (text.startsWith('42/hub,["pairing.request"')) {
        const { sid } = JSON.parse(text.slice(7))[1] as { sid: string };
        line.text(`42/hub,${bound++}["pairing.accept",${JSON.stringify({ sid })}]`);
      }
    };
    line.text(`42/hub,["hub.online",${JSON.stringify(h.online())}]`);
    return line;
  });
  await atRest?.(root.pid());
  const browsers = await inGroups(count, async (i) => {
    const t = tabs[i]!;
    const from = { 'x-forwarded-for': `10.9.${i >> 8}.${i & 255}`, cookie: `ingle=${t.cookie}` };
    let isUp = () => {};
    const up = new Promise<void>((resolve) => {
      isUp = resolve;
    });
    const hear = (l: Line, m: Buffer) => {
      const text = m.toString();
      // A status asks for its acknowledgement: 42/owner,<id>["status",...]
      const id = /^42\/owner,(\d+)\["status"/.exec(text)?.[1];
      if (id) l.text(`43/owner,${id}[]`);
      if (text.includes('"route":"bound"')) isUp();
    };
    const line = await openLine(root.port, '/owner', { token: t.token, sid: t.sid }, from, hear);
    const greeting = `42/owner,["owner.online",${JSON.stringify({ sid: t.sid, session_jwt: t.token, browser_key_id: t.key })}]`;
    line.text(greeting);
    const r = await call(
      root,
      'POST',
      '/v1/browser/pairing/offer',
      { sid: t.sid },
      { ...from, authorization: `Bearer ${t.token}` },
    );
    if (r.status !== 200) throw new Error(JSON.stringify(r.body));
    await up;
    const auth = { token: t.token, sid: t.sid };
    const papers = { namespace: '/owner', auth, headers: from, sid: t.sid, greeting };
    return { sid: t.sid, hub: t.hub, line, papers };
  });
  return { name: 'ours', port: root.port, pid: root.pid(), hubs: lines, browsers, stop: () => root.stop() };
}

type Open = (count: number, hubs: number, atRest?: (pid: number) => Promise<void>) => Promise<Side>;

/** The bare forwarder with the same connections. */
export const peer: Open = (...o) => forwarder('peer', 'test/bench/_forwarder.ts', ...o);
/** uWebSockets.js alone with the same connections. */
export const raw: Open = (...o) => forwarder('raw', 'test/bench/_raw.ts', ...o);

async function forwarder(
  name: Side['name'],
  file: string,
  count: number,
  hubs: number,
  atRest?: (pid: number) => Promise<void>,
): Promise<Side> {
  const port = await freePort('127.0.0.1');
  // As it would be installed: what a compiler in its process leaves behind would be there for its connections to use.
  const { compile } = await import('../compile.mjs' as string);
  const args = [...pin, process.execPath, (await compile([file])).get(file)];
  const child: ChildProcess = spawn(args[0]!, args.slice(1), {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, PORT: String(port) },
  });
  await until(() =>
    fetch(`http://127.0.0.1:${port}/health/ready`).then(
      (r) => r.ok,
      () => false,
    ),
  );
  const lines = await inGroups(hubs, (i) => openLine(port, '/hub', { hub_id: `hub${i}` }));
  await atRest?.(child.pid!);
  const browsers = await inGroups(count, async (i) => {
    const sid = randomBytes(16).toString('base64url');
    const auth = { sid, hub_id: `hub${i % hubs}` };
    const line = await openLine(port, '/owner', auth);
    const papers = { namespace: '/owner', auth, headers: {}, sid, greeting: '' };
    return { sid, hub: i % hubs, line, papers };
  });
  return {
    name,
    port,
    pid: child.pid!,
    hubs: lines,
    browsers,
    async stop() {
      child.kill('SIGKILL');
    },
  };
}

/** CPU time a process has used, ms. */
export function cpuMs(pid: number): number {
  const f = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return (Number(f[11]) + Number(f[12])) * 10;
}

/** Proportional set size of a process, bytes. */
export function memory(pid: number): number {
  return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))![1]) * 1024;
}

export function median(values: number[]): number {
  const s = [...values].sort((a, b) => a - b);
  return s.length % 2 ? s[(s.length - 1) / 2]! : (s[s.length / 2 - 1]! + s[s.length / 2]!) / 2;
}
export function quantile(values: number[], q: number): number {
  const s = [...values].sort((a, b) => a - b);
  return s[Math.min(s.length - 1, Math.floor(q * s.length))]!;
}
