// timeout: 240 s
// kill -9 of ingle-api and of a skill while requests, commands and streams go on: nothing that was acknowledged is lost,
// nothing is done twice, and what a stream leaves out is told. `INGLE_SEED=<n>` draws another schedule.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import WebSocket from 'ws';
import { WebsocketProvider } from 'y-websocket';
import * as Y from 'yjs';
import { type JsonObject, readContent } from '../../firmware/documents/content.ts';
import type { House } from '../../services/cli/house/house.ts';
import { startHouse } from '../lab/house.ts';
import { tried, until } from '../lab/wait.ts';
import { principal } from './hub.ts';

const SEED = Number(process.env['INGLE_SEED'] ?? 20261124);
const KILLS = 8;

/**
 * What each did is in its state, in the order in which it was done. Asked to, one is killed when its change has been sent
 * and its answer has not.
 */
const counter = `export const skill = { start: (ctx) => ({ endpoints: [
  { method: 'POST', path: '/v1/add', answer: ({ body }) => ({ body: { op: body.op }, state(s) {
    if (body.dies) queueMicrotask(() => process.kill(process.pid, 'SIGKILL'));
    return { ops: [...(s.ops ?? []), body.op] };
  } }) },
  { method: 'GET', path: '/v1/ops', answer: ({ owner_id }) => ({ body: { ops: ctx.state(owner_id).ops ?? [] } }) },
] }) };`;
const skills = ['tally', 'ledger'];

/** Numbers from 0 to 1 (a linear congruential generator, as of POSIX's rand). */
function drawn(seed: number): () => number {
  let at = seed;
  return () => {
    at = (at * 1103515245 + 12345) % 2 ** 31;
    return at / 2 ** 31;
  };
}
/** Requests as they were made, to be made again. */
const changes = new Map<string, Change>();
const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

const test = suite<{ house: House }>('what is killed');
const docs: Y.Doc[] = [];
test.before(async (c) => {
  const manifest = (id: string) => ({
    id,
    version: '1.0.0',
    capabilities: { visual: true, ui: { title: id, modes: ['modal' as const], schema: 'ui/v0' as const } },
  });
  c.house = await startHouse({
    installed: skills.map((id) => ({ manifest: manifest(id), code: { text: counter } })),
  });
});
test.after(async (c) => {
  await c.house?.stop();
  for (const doc of docs) doc.destroy();
});

const headersOf = (house: House) => ({
  'x-service-token': readFileSync(join(house.data, 'hub/api/token'), 'utf8').trim(),
  'x-ingle-principal': principal(),
});
const ask = (house: House, method: string, path: string, body?: object, more: Record<string, string> = {}) =>
  fetch(house.api + path, {
    method,
    headers: { ...headersOf(house), ...more },
    ...(body ? { body: JSON.stringify(body) } : {}),
    signal: AbortSignal.timeout(15_000),
  });
const add = (house: House, skill: string, { op, dies }: Change) =>
  ask(house, 'POST', `/skills/${skill}/v1/add`, { op, dies }, { 'idempotency-key': op });
/** What was done, by the skill's own word. */
const opsOf = (house: House, skill: string) =>
  until(
    tried(async () => {
      const r = await ask(house, 'GET', `/skills/${skill}/v1/ops`);
      return r.status === 200 && ((await r.json()) as { ops: string[] }).ops;
    }),
    `what ${skill} has done`,
  );

interface Change {
  op: string;
  dies: boolean;
}
/** Whether a change ends the skill's process; so often that it does not stay off (firmware/skills/budget.ts). */
function fatal(most: number, random: () => number): (skill: string) => boolean {
  const left = new Map(skills.map((id) => [id, most]));
  return (skill) => {
    if (left.get(skill) === 0 || random() > 0.3) return false;
    left.set(skill, left.get(skill)! - 1);
    return true;
  };
}

/** What clients asked for: acknowledged, or given up without an answer. */
interface Asked {
  acknowledged: Map<string, string>;
  open: Map<string, string>;
}

/** Changes by requests, each asked again under its key until it is acknowledged; some are given up after one try. */
async function requests(house: House, name: string, random: () => number, asked: Asked, over: () => boolean) {
  const dies = fatal(1, random);
  for (let n = 0; !over(); n++) {
    const op = `${name}-${n}`;
    const skill = skills[Math.floor(random() * skills.length)]!;
    const isPatient = random() < 0.8;
    const change = { op, dies: dies(skill) };
    asked.open.set(op, skill);
    changes.set(op, change);
    for (;;) {
      const r = await add(house, skill, change).catch(() => undefined);
      if (r?.status === 200) {
        assert.equal(await r.json().catch(() => ({ op })), { op });
        asked.open.delete(op);
        asked.acknowledged.set(op, skill);
        break;
      }
      // What was right must not be refused because something died.
      if (r && ![503, 408, 429].includes(r.status)) throw new Error(`${op}: ${r.status} ${await r.text()}`);
      if (!isPatient) break;
      await pause(50);
    }
  }
}

/** Changes by commands of one device, whose document is synced again each time the API is there. */
async function commands(house: House, name: string, random: () => number, asked: Asked, over: () => boolean) {
  const doc = new Y.Doc();
  docs.push(doc);
  class Socket extends WebSocket {
    constructor(url: string, protocols?: string[]) {
      super(url, protocols, { headers: headersOf(house) });
    }
  }
  const provider = new WebsocketProvider(
    `${house.api.replace('http', 'ws')}/sync`,
    'o1/commands/state:device/phone1',
    doc,
    {
      WebSocketPolyfill: Socket as unknown as typeof globalThis.WebSocket,
      disableBc: true,
      maxBackoffTime: 300,
    },
  );
  const dies = fatal(2, random);
  for (let n = 0; !over(); n++) {
    const id = `${name}-${n}`;
    const skill = skills[Math.floor(random() * skills.length)]!;
    const action = {
      type: 'http.post',
      path: `/skills/${skill}/v1/add`,
      body: { op: id, dies: dies(skill) },
    };
    asked.open.set(id, skill);
    doc.getMap('content').set(id, { id, at: Date.now(), skill_id: skill, action, status: 'pending' });
    const end = await until(
      tried(() => {
        const e = readContent(doc)[id] as JsonObject | undefined;
        return ['done', 'failed'].includes(String(e?.['status'])) ? e : undefined;
      }),
      `the end of ${id}`,
    );
    assert.is(end['status'], 'done', JSON.stringify(end));
    asked.open.delete(id);
    asked.acknowledged.set(id, skill);
  }
  provider.destroy();
}

/** Events from outside, each told once, whether it is acknowledged or not. */
async function events(house: House, acknowledged: Set<number>, over: () => boolean): Promise<void> {
  for (let n = 1; !over(); n++) {
    const r = await ask(house, 'POST', '/api/observe/ingest', {
      events: [{ topic: 'external.count', payload: n }],
    }).catch(() => undefined);
    if (r?.status === 200) acknowledged.add(n);
    await pause(60);
  }
}

type Heard = number | 'gap';

/** Reads the stream as a browser does: begun anew wherever it broke off, with the id of what came last. */
async function listen(house: House, heard: Heard[], over: AbortSignal): Promise<void> {
  let last = '';
  while (!over.aborted)
    try {
      const r = await fetch(`${house.api}/api/observe/stream?topic=external.`, {
        headers: { ...headersOf(house), ...(last ? { 'last-event-id': last } : {}) },
        signal: over,
      });
      let rest = '';
      for await (const chunk of r.body!.pipeThrough(
        new TextDecoderStream(),
      ) as unknown as AsyncIterable<string>) {
        const blocks = (rest + chunk).split('\n\n');
        rest = blocks.pop()!;
        for (const block of blocks) {
          const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1];
          last = field('id') ?? last;
          if (field('event') === 'gap') heard.push('gap');
          if (field('event') === 'event')
            heard.push((JSON.parse(field('data')!) as { payload: number }).payload);
        }
      }
    } catch {
      await pause(50);
    }
}

/** Acknowledged events that a stream left out without a word, and those that came twice or out of order. */
function unsaid(heard: readonly Heard[], acknowledged: ReadonlySet<number>): string[] {
  const faults: string[] = [];
  let before = 0;
  let isTold = true;
  for (const h of heard) {
    if (h === 'gap') {
      isTold = true;
      continue;
    }
    if (h <= before) faults.push(`${h} after ${before}`);
    for (let n = before + 1; !isTold && n < h; n++) if (acknowledged.has(n)) faults.push(`${n} is left out`);
    before = h;
    isTold = false;
  }
  return faults;
}

test('a stream that leaves out, repeats or turns round is noticed, and a told gap is none', () => {
  const all = new Set([1, 2, 3, 4, 5]);
  assert.equal(unsaid([1, 2, 3, 4, 5], all), []);
  assert.equal(unsaid([1, 'gap', 4, 5], all), []);
  assert.equal(unsaid([1, 4, 5], new Set([1, 4, 5])), []);
  assert.equal(unsaid([1, 4, 5], all), ['2 is left out', '3 is left out']);
  assert.equal(unsaid([1, 2, 2, 3], all), ['2 after 2']);
});

test('whoever is killed, what was acknowledged is there once, and nothing is there twice', async ({
  house,
}) => {
  const random = drawn(SEED);
  const asked: Asked = { acknowledged: new Map(), open: new Map() };
  const taken = new Set<number>();
  const heard: Heard[] = [];
  const ended = new AbortController();
  let isOver = false;
  const over = () => isOver;
  for (const id of skills) await opsOf(house, id);
  const clients = [
    requests(house, 'a', drawn(SEED + 1), asked, over),
    requests(house, 'b', drawn(SEED + 2), asked, over),
    commands(house, 'c', drawn(SEED + 3), asked, over),
    events(house, taken, over),
  ];
  const failed = Promise.all(clients).catch((e) => e as Error);
  const listening = listen(house, heard, ended.signal);
  const said: string[] = [];
  try {
    for (let n = 0; n < KILLS; n++) {
      const name = random() < 0.5 ? 'api' : `skill ${skills[Math.floor(random() * skills.length)]!}`;
      await until(() => house.pid(name) !== undefined, `${name} to run`);
      // In the middle of what the clients do, at another step each time.
      const done = asked.acknowledged.size;
      await until(() => asked.acknowledged.size > done, 'something to be acknowledged');
      await pause(random() * 250);
      said.push(name);
      house.kill(name);
    }
    const done = asked.acknowledged.size;
    await until(() => asked.acknowledged.size > done + 5, 'all to go on');
    const next = heard.length;
    await until(() => heard.length > next + 2, 'the stream to go on');
    isOver = true;
    const e = await failed;
    if (e instanceof Error) throw e;
    // And nothing of it was only in memory.
    for (const name of ['api', ...skills.map((id) => `skill ${id}`)]) house.kill(name);
    for (const skill of skills) {
      const ops = await opsOf(house, skill);
      assert.is(new Set(ops).size, ops.length, `${skill} has done something twice: ${ops}`);
      for (const [op, by] of asked.acknowledged)
        if (by === skill) assert.ok(ops.includes(op), `${op} was acknowledged and is lost`);
      for (const op of ops)
        assert.is(asked.acknowledged.get(op) ?? asked.open.get(op), skill, `nobody asked ${skill} for ${op}`);
      // Said again under its key it is what it was.
      const [again] = [...asked.acknowledged]
        .filter(([op, by]) => by === skill && !op.startsWith('c'))
        .at(-1)!;
      assert.is((await add(house, skill, changes.get(again)!)).status, 200);
      assert.equal(await opsOf(house, skill), ops);
    }
    assert.equal(unsaid(heard, taken), []);
    assert.ok(!said.includes('api') || heard.includes('gap'), 'a journal that was lost is told');
  } catch (e) {
    throw new Error(`${(e as Error).message}\nINGLE_SEED=${SEED}; killed: ${said.join(', ')}`);
  } finally {
    isOver = true;
    ended.abort();
    await listening;
  }
  console.log(
    `FIGURE killed acknowledged ${asked.acknowledged.size}, given up ${asked.open.size}, events ${taken.size}`,
  );
});

test.run();
