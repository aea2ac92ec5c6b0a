// timeout: 240 s
// Rooms over real sockets, with npm's y-websocket as the client.
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import WebSocket from 'ws';
import { WebsocketProvider } from 'y-websocket';
import * as Y from 'yjs';
import type { Principal } from '../../firmware/documents/acl.ts';
import { readContent } from '../../firmware/documents/content.ts';
import { encodeAwareness, encodeStep1, encodeStep2, encodeUpdate } from '../../firmware/documents/message.ts';
import { encodeStates } from '../../firmware/documents/presence.ts';
import { tried, until, within } from '../lab/wait.ts';
import { principal, startHub, type TestHub } from './hub.ts';

const test = suite<{ hub: TestHub }>('sync');
test.before(async (c) => {
  c.hub = await startHub({ skills: ['hub_status'] });
});
/** Each has a clock (awareness) that keeps the process alive until the document is destroyed. */
const docs: Y.Doc[] = [];
test.after(async (c) => {
  await c.hub.stop();
  for (const doc of docs) doc.destroy();
});

type Closed = { code: number; reason: string };

/** A provider as the owner's browser runs it. */
function join(hub: TestHub, room: string, as?: Partial<Principal>) {
  const doc = new Y.Doc();
  const provider = new WebsocketProvider(`${hub.base.replace('http', 'ws')}/sync`, room, doc, {
    WebSocketPolyfill: hub.webSocket(as),
    disableBc: true,
    maxBackoffTime: 500,
  });
  docs.push(doc);
  const closed = new Promise<Closed>((resolve) => provider.on('closed', (c: Closed) => resolve(c)));
  const synced = () =>
    until(
      tried(() => provider.synced),
      `sync of ${room}`,
    );
  return { doc, provider, closed, synced, content: () => readContent(doc), end: () => provider.destroy() };
}

/** A bare socket, for what no provider would send. */
async function bare(hub: TestHub, room: string, as: Partial<Principal> = {}) {
  const ws = new WebSocket(`${hub.base.replace('http', 'ws')}/sync/${room}`, {
    headers: { 'x-service-token': hub.token(), 'x-ingle-principal': principal(as) },
  });
  const heard: Uint8Array[] = [];
  ws.on('message', (m: Buffer) => heard.push(m));
  ws.on('error', () => {});
  const gone = new Promise<number>((resolve) => ws.on('close', (code) => resolve(code)));
  await new Promise((resolve) => ws.on('open', resolve));
  return {
    ...{ ws, heard },
    get closed(): Promise<number> {
      return within(gone, `a socket of ${room} to be closed`);
    },
  };
}

test("y-websocket's provider reads a skill's view and state, in every spelling of the room", async ({
  hub,
}) => {
  for (const room of [
    'o1/hub_status/state:main',
    'owner/o1/hub_status/state:main',
    encodeURIComponent('o1/hub_status/state:main'),
  ]) {
    const a = join(hub, room, {});
    await a.synced();
    const state = await until(
      tried(() => (a.content()['cpu'] ? a.content() : undefined)),
      'a state',
    );
    assert.ok(Array.isArray(state['samples']));
    a.end();
  }
  const view = join(hub, 'o1/hub_status/view:main', {});
  await view.synced();
  assert.is(view.content()['schema'], 'ui/v0.1');
  view.end();
});

test('a room of `me` is one of whoever asks, each to their own, and a room token knows none', async ({
  hub,
}) => {
  const mine = join(hub, 'me/hub_status/state:main', {});
  await mine.synced();
  assert.ok(mine.content()['cpu'] !== undefined);
  const key = (owner: string) => `${owner}/hub_status/state:device/phone77`;
  const own = join(hub, key('me'), { browser: 'phone77' });
  const named = join(hub, key('o1'), { browser: 'phone77' });
  await Promise.all([own.synced(), named.synced()]);
  own.doc.getMap('content').set('by', 'me');
  await until(
    tried(() => named.content()['by'] === 'me'),
    'what was written there',
  );
  // Somebody else's is another one, and the owner's is not theirs to open.
  const guest = { owner_id: 'p2', household: 'o1', role: 'adult', browser: 'phone77' } as const;
  const foreign = join(hub, key('o1'), guest);
  const theirs = join(hub, key('me'), guest);
  assert.is((await foreign.closed).code, 4403);
  assert.is((await theirs.closed).code, 4403, 'an admin skill is not for guests');
  // Of anybody else's it opens nothing, however it is spelled.
  for (const room of ['me//hub_status/state:main', 'me/me/hub_status/state:main', 'me', 'me/'])
    assert.is(await (await bare(hub, room)).closed, 4400, room);
  assert.is(await (await bare(hub, 'owner/me/hub_status/state:main')).closed, 4403);
  for (const one of [mine, own, named, foreign, theirs]) one.end();
});

test('a watched state moves by itself', async ({ hub }) => {
  const a = join(hub, 'o1/hub_status/state:main', {});
  await a.synced();
  const samples = () => (a.content()['samples'] as unknown[]).length;
  const before = samples();
  await until(
    tried(() => samples() >= before + 2),
    'two more samples',
  );
  a.end();
});

test('two tabs of a browser see what the other writes, and a third after a restart', async ({ hub }) => {
  const room = 'o1/hub_status/state:device/phone1';
  const a = join(hub, room, {});
  const b = join(hub, room, {});
  await Promise.all([a.synced(), b.synced()]);
  a.doc.getMap('content').set('theme', 'dark');
  await until(
    tried(() => b.content()['theme'] === 'dark'),
    'the other tab',
  );
  b.doc.getMap('content').set('size', 2);
  await until(
    tried(() => a.content()['size'] === 2),
    'the first tab',
  );
  // What the other tab has seen is on disk: killing the service at this moment loses none of it.
  await hub.kill('api');
  a.doc.getMap('content').set('offline', true);
  await hub.startApi();
  await until(
    tried(() => b.content()['offline'] === true),
    'the change made meanwhile',
  );
  a.end();
  b.end();
  const c = join(hub, room, {});
  await c.synced();
  assert.equal(c.content(), { theme: 'dark', size: 2, offline: true });
  c.end();
  await hub.available('hub_status');
});

test('presence passes between the sockets of a room and ends with them', async ({ hub }) => {
  const a = join(hub, 'o1/hub_status/state:main', {});
  const b = join(hub, 'o1/hub_status/state:main', { browser: 'phone2' });
  await Promise.all([a.synced(), b.synced()]);
  a.provider.awareness.setLocalState({ name: 'a' });
  await until(
    tried(() => b.provider.awareness.getStates().has(a.doc.clientID)),
    'presence',
  );
  a.end();
  await until(
    tried(() => !b.provider.awareness.getStates().has(a.doc.clientID)),
    'absence',
  );
  b.end();
});

test('who may not join is told why, closed for good, and nobody else notices', async ({ hub }) => {
  const witness = join(hub, 'o1/hub_status/state:main', {});
  await witness.synced();
  const past = { elevated_until: 1 };
  const rows: [room: string, as: Partial<Principal>, code: number][] = [
    ['o2/hub_status/state:main', {}, 4403],
    ['owner/o2/hub_status/state:main', {}, 4403],
    ['o1/commands/state:device/phone1', { owner_id: 'o2' }, 4403],
    ['o1/hub_status/view:main', { role: 'kid' }, 4403],
    ['o1/hub_status/view:main', past, 4401],
    ['o1/hub_status/state:main', past, 4401],
    ['o1/nobody/view:main', {}, 4404],
    ['o1/desktop/view:ab/A', {}, 4404],
    ['o1/hub_status/other:main', {}, 4400],
    ['%ff', {}, 4400],
    ['', {}, 4400],
  ];
  const warn = console.warn;
  const said: string[] = [];
  console.warn = (text: string) => said.push(text);
  for (const [room, as, code] of rows) {
    const a = join(hub, room, as);
    const c = await a.closed;
    assert.is(c.code, code, `${room} ${JSON.stringify(as)} ${c.reason}`);
    assert.match(c.reason, /^[a-z_]+: /);
    assert.equal(a.content(), {});
    a.end();
  }
  console.warn = warn;
  assert.is(said.filter((s) => /Permission denied/.test(s)).length, rows.length);
  assert.ok(witness.provider.wsconnected);
  witness.end();
});

test('without the token a socket is not even opened', async ({ hub }) => {
  const codes = await Promise.all(
    [null, 'wrong'].map(
      (t) =>
        new Promise((resolve) => {
          const Socket = hub.webSocket({}, t) as unknown as typeof WebSocket;
          const ws = new Socket(`${hub.base.replace('http', 'ws')}/sync/o1/hub_status/view:main`);
          ws.on('unexpected-response', (_q, r) => resolve(r.statusCode));
          ws.on('open', () => resolve('open'));
          ws.on('error', () => {});
        }),
    ),
  );
  assert.equal(codes, [401, 401]);
});

test("a browser cannot write a skill's documents, nor another device's", async ({ hub }) => {
  const reader = join(hub, 'o1/hub_status/state:main', {});
  await reader.synced();
  const warn = console.warn;
  console.warn = () => {};
  for (const [room, as] of [
    ['o1/hub_status/state:main', {}],
    ['o1/hub_status/view:main', {}],
    ['o1/commands/state:device/phone2', {}],
    ['o1/hub_status/state:device/phone2', {}],
  ] as [string, Partial<Principal>][]) {
    const a = join(hub, room, as);
    await a.synced();
    a.doc.getMap('content').set('forged', true);
    assert.is((await a.closed).code, 4403, room);
    a.end();
    const b = join(hub, room, as);
    await b.synced();
    assert.is(b.content()['forged'], undefined, room);
    b.end();
  }
  console.warn = warn;
  assert.is(reader.content()['forged'], undefined);
  assert.ok(reader.provider.wsconnected);
  reader.end();
});

/** Writes 50 kB at a time, each when the one before has been stored and shown, until the hub has had enough. */
async function grow(s: Awaited<ReturnType<typeof bare>>, content: () => object): Promise<number> {
  const doc = new Y.Doc();
  doc.on('update', (u: Uint8Array) => s.ws.send(encodeUpdate(u)));
  let over = false;
  s.closed.then(() => (over = true));
  for (let i = 0; i < 8 && !over; i++) {
    doc.getMap('content').set(`k${i}`, 'x'.repeat(50_000));
    await until(
      tried(() => over || Object.hasOwn(content(), `k${i}`)),
      `part ${i}`,
    );
  }
  return s.closed;
}

test('malformed, huge and fast messages close their own socket only', async ({ hub }) => {
  const room = 'o1/hub_status/state:device/phone1';
  const witness = join(hub, room, {});
  await witness.synced();
  const send = async (...messages: (Uint8Array | string)[]): Promise<number> => {
    const s = await bare(hub, room);
    for (const m of messages) s.ws.send(m);
    return s.closed;
  };
  const far = new Y.Doc();
  far.getMap('content').set('a', 1);
  const vector = Y.encodeStateVector(far);
  far.getMap('content').set('a', 2);
  const large = new Y.Doc();
  for (let i = 0; i < 8; i++) large.getMap('content').set(`k${i}`, 'x'.repeat(50_000));
  assert.is(await send('text'), 4400);
  assert.is(await send(new Uint8Array([])), 4400);
  assert.is(await send(new Uint8Array([9, 9, 9])), 4400);
  assert.is(await send(encodeUpdate(new Uint8Array([1, 2, 3]))), 4400);
  const nothing = encodeStep2(Y.encodeStateAsUpdate(new Y.Doc()));
  const outOfOrder = encodeUpdate(Y.encodeStateAsUpdate(far, vector));
  assert.is(await send(nothing, outOfOrder), 4400, 'an update out of order');
  assert.is(await grow(await bare(hub, room), witness.content), 4413, 'a document that grows too large');
  assert.ok(
    [1006, 1009].includes(await send(encodeUpdate(Y.encodeStateAsUpdate(large)))),
    'a message too large',
  );
  // Faster than they are read, also where the hub is slow. Where the rest of a flood is still on its way, the line is cut
  // before the code arrives.
  const flooding = await bare(hub, room);
  while (flooding.ws.readyState === WebSocket.OPEN) {
    for (let i = 0; i < 400; i++) flooding.ws.send(encodeStep1(new Uint8Array([0])), () => {});
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.ok([4529, 1006].includes(await flooding.closed), 'too many messages');
  const seeds = fc.sample(fc.uint8Array({ minLength: 1, maxLength: 80 }), 40);
  await Promise.all(
    seeds.map(async (bytes) => {
      const s = await bare(hub, room);
      s.ws.send(bytes);
      s.ws.send(new Uint8Array([77]));
      assert.ok((await s.closed) >= 4400);
    }),
  );
  assert.ok(witness.provider.wsconnected, 'the other socket of the room stays');
  witness.doc.getMap('content').set('still', 'here');
  const after = join(hub, room, {});
  await until(
    tried(() => after.content()['still'] === 'here'),
    'the change',
  );
  witness.end();
  after.end();
});

test('what was written while away and goes on being written on the way back arrives whole', async ({
  hub,
}) => {
  const room = 'o1/hub_status/state:device/phone7';
  const doc = new Y.Doc();
  const content = doc.getMap('content');
  content.set('while away', 1);
  const before = Y.encodeStateVector(doc);
  content.set('on the way back', 2);
  const s = await bare(hub, room, { browser: 'phone7' });
  // The newer change goes ahead of the answer to the hub's step 1.
  s.ws.send(encodeUpdate(Y.encodeStateAsUpdate(doc, before)));
  s.ws.send(encodeStep2(Y.encodeStateAsUpdate(doc)));
  const reader = join(hub, room, { browser: 'phone7' });
  await until(
    tried(() => reader.content()['while away'] === 1),
    'both changes',
  );
  assert.equal(reader.content(), { 'while away': 1, 'on the way back': 2 });
  assert.is(s.ws.readyState, WebSocket.OPEN);
  s.ws.close();
  reader.end();
});

test('a right to an admin skill that runs out closes its sockets', async ({ hub }) => {
  const warn = console.warn;
  console.warn = () => {};
  // A right long enough for this machine to join within it.
  for (let span = 4; ; span *= 2) {
    const end = Math.floor(Date.now() / 1000) + span;
    const a = join(hub, 'o1/hub_status/state:main', { elevated_until: end });
    let joined = false;
    a.provider.on('sync', (is: boolean) => (joined ||= is));
    assert.is((await a.closed).code, 4401);
    a.end();
    if (joined) break;
  }
  console.warn = warn;
});

test('a browser joins by a room token as its params, for that room and as itself', async ({ hub }) => {
  const room = 'o1/hub_status/state:device/phone9';
  const ask = (body: object, as: Partial<Principal> = { browser: 'phone9' }) =>
    hub.ask('POST', '/docs/token', { as, body });
  const { status, body } = await ask({ room: `owner/${room}` });
  assert.equal([status, body.room], [200, room]);
  assert.ok(body.expires_at - Date.now() <= 300_000);
  const open = (at: string, params: Record<string, string>) => {
    const doc = new Y.Doc();
    docs.push(doc);
    return new WebsocketProvider(`${hub.base.replace('http', 'ws')}/sync`, at, doc, {
      WebSocketPolyfill: WebSocket as unknown as typeof globalThis.WebSocket,
      disableBc: true,
      params,
    });
  };
  const a = open(room, body.params);
  await until(() => a.synced, 'a join by token');
  a.doc.getMap('content').set('by', 'token');
  const b = join(hub, room, { browser: 'phone9' });
  await until(
    tried(() => b.content()['by'] === 'token'),
    'the change',
  );
  for (const p of [a, b]) 'end' in p ? p.end() : p.destroy();
  const refused = (at: string, token: string) =>
    new Promise((resolve) => {
      const ws = new WebSocket(`${hub.base.replace('http', 'ws')}/sync/${at}?token=${token}`);
      ws.on('unexpected-response', (_q, r) => resolve(r.statusCode));
      ws.on('open', () => resolve('open'));
      ws.on('error', () => {});
    });
  const { token } = body.params as { token: string };
  assert.is(await refused('o1/hub_status/state:device/phone8', token), 401);
  assert.is(await refused(room, `${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`), 401);
  assert.is(await refused(room, ''), 401);
  // Who may not join gets no token either.
  assert.is((await ask({ room: 'o2/hub_status/state:main' })).status, 403);
  assert.is((await ask({ room: 'o1/nobody/state:main' })).status, 404);
  assert.is((await ask({ room: 'o1/hub_status/state:main' }, { elevated_until: 1 })).status, 401);
});

test('what a reader writes is gone from its own document when it has been told so', async ({ hub }) => {
  const warn = console.warn;
  console.warn = () => {};
  const a = join(hub, 'o1/hub_status/view:main', {});
  await a.synced();
  const before = a.content();
  a.doc.transact(() => {
    a.doc.getMap('content').set('schema', 'forged');
    a.doc.getMap('content').delete('layout');
  });
  assert.is((await a.closed).code, 4403);
  console.warn = warn;
  assert.equal(a.content(), before);
  a.end();
});

test('nobody speaks for a client of another socket', async ({ hub }) => {
  const room = 'o1/hub_status/state:main';
  const a = join(hub, room, {});
  const witness = join(hub, room, { browser: 'phone2' });
  await Promise.all([a.synced(), witness.synced()]);
  a.provider.awareness.setLocalState({ name: 'a' });
  const name = () => witness.provider.awareness.getStates().get(a.doc.clientID)?.['name'];
  await until(
    tried(() => name() === 'a'),
    'presence',
  );
  const forger = await bare(hub, room, { browser: 'phone3' });
  const say = (client: number, state: object | null) =>
    forger.ws.send(encodeAwareness(encodeStates([{ client, clock: 1000, json: JSON.stringify(state) }])));
  say(a.doc.clientID, { name: 'forged' });
  say(a.doc.clientID, null);
  say(7, { name: 'itself' });
  say(a.doc.clientID, { name: 'forged' });
  await until(
    tried(() => witness.provider.awareness.getStates().get(7)?.['name'] === 'itself'),
    'what it says of itself',
  );
  assert.is(name(), 'a');
  forger.ws.terminate();
  await until(
    tried(() => !witness.provider.awareness.getStates().has(7)),
    'its absence',
  );
  assert.is(name(), 'a');
  a.end();
  witness.end();
});

test('workspaces are counted and sized while somebody is in them, for their owner alone', async ({ hub }) => {
  const here = join(hub, 'o1/hub_status/view:main', {});
  await here.synced();
  const workspaces = async (owner_id: string) =>
    (await hub.ask('GET', '/api/node/workspaces', { as: { owner_id } })).body.workspaces;
  type Found = { prefix: string; members: number; documents: number; bytes: number };
  const view = async () =>
    (await workspaces('o1')).find((w: Found) => w.prefix === 'o1/hub_status/view') as Found;
  const there = await view();
  assert.ok(there.members >= 1 && there.bytes > 100 && there.documents === 1, JSON.stringify(there));
  assert.equal(Object.keys(there).sort(), ['bytes', 'documents', 'members', 'prefix']);
  here.end();
  await until(async () => (await view()).members < there.members, 'the member to be gone');
  for (const w of await workspaces('o')) assert.not.match(w.prefix, /^o1/);
});

test('a view that a browser lays over a skill’s is opened by it alone, with the tree the hub made of it', async ({
  hub,
}) => {
  const ask = (as: Partial<Principal>) =>
    hub.ask('POST', '/v1/open', { as, body: { skill_id: 'hub_status', mode: 'panel' } });
  const room = 'o1/hub_status/view:device/phone1';
  const mine = join(hub, room, {});
  await mine.synced();
  mine.doc.getMap('content').set('schema', 'ui/v0');
  mine.doc.getMap('content').set('layout', { type: 'title', text: '{{state.name}}' });
  await until(() => Object(mine.content()['tree']).main?.[0]?.is === 'title', 'the tree');
  assert.is((await ask({})).body.view, room);
  assert.is((await ask({ browser: 'phone2' })).body.view, 'o1/hub_status/view:main');
  const denied = join(hub, room, { browser: 'phone2' });
  await denied.synced();
  denied.doc.getMap('content').set('layout', { type: 'empty' });
  await denied.closed;
  denied.end();
  assert.is((mine.content()['layout'] as { type: string }).type, 'title');
  mine.doc.transact(() => {
    for (const k of ['schema', 'layout']) mine.doc.getMap('content').delete(k);
  });
  await until(async () => (await ask({})).body.view === 'o1/hub_status/view:main', 'the skill’s own view');
  mine.end();
});

test('a preview opens by its token for its owner alone, and another token opens nothing', async ({ hub }) => {
  const view = { schema: 'ui/v0.1', layout: { type: 'progress', value: '{{state.done}}' } };
  const body = { skill_id: 'hub_status', view, state: { done: 7 } };
  const made = await hub.ask('POST', '/v1/preview', { as: {}, body });
  assert.is(made.status, 200, JSON.stringify(made.body));
  const { token, fragment, expires_at, problems } = made.body;
  assert.equal([fragment, problems], [`#preview.${token}`, []]);
  assert.ok(expires_at > Date.now() / 1000 + 3500);
  assert.is((await hub.ask('POST', '/v1/preview', { as: { role: 'adult' }, body })).status, 403);
  const asked = { skill_id: 'hub_status', mode: 'panel', preview: token };
  const keys = (await hub.ask('POST', '/v1/open', { as: {}, body: asked })).body;
  assert.is(keys.view, `o1/hub_status/view:preview/${token}`);
  assert.is(keys.state, `o1/hub_status/state:preview/${token}`);
  const [v, st] = [join(hub, keys.view, {}), join(hub, keys.state, {})];
  await Promise.all([v.synced(), st.synced()]);
  assert.is(Object(v.content()['tree']).main[0].is, 'progress');
  assert.is(st.content()['done'], 7);
  const stranger = join(hub, keys.view, { owner_id: 'o2' });
  assert.is((await stranger.closed).code, 4403);
  for (const p of [v, st, stranger]) p.end();
  const other = { ...asked, preview: `${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}` };
  assert.is((await hub.ask('POST', '/v1/open', { as: {}, body: other })).status, 404);
  const none = join(hub, `o1/hub_status/view:preview/${other.preview}`, {});
  assert.is((await none.closed).code, 4404);
  none.end();
});

test.run();
