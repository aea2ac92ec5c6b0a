// timeout: 400 s
// A tap is a command in a document; whatever is killed, it is done once.
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { WebsocketProvider } from 'y-websocket';
import * as Y from 'yjs';
import type { Principal } from '../../firmware/documents/acl.ts';
import { archiveSchema } from '../../firmware/documents/archive.ts';
import { acceptId } from '../../firmware/documents/command-journal.ts';
import { type JsonObject, readContent } from '../../firmware/documents/content.ts';
import { connect } from '../../firmware/system/bus.ts';
import { openStore } from '../../firmware/system/store.ts';
import { tried, until } from '../lab/wait.ts';
import { owner, startHub, type TestHub } from './hub.ts';

const test = suite<{ hub: TestHub }>('commands');
test.before(async (c) => {
  c.hub = await startHub({ skills: ['hub_status'] });
});
/** Each has a clock (awareness) that keeps the process alive until the document is destroyed. */
const docs: Y.Doc[] = [];
test.after(async (c) => {
  await c.hub.stop();
  for (const doc of docs) doc.destroy();
});

function device(hub: TestHub, as: Partial<Principal> = {}, name = 'phone1') {
  const doc = new Y.Doc();
  const provider = new WebsocketProvider(
    `${hub.base.replace('http', 'ws')}/sync`,
    `o1/commands/state:device/${name}`,
    doc,
    {
      WebSocketPolyfill: hub.webSocket({ browser: name, ...as }),
      disableBc: true,
      maxBackoffTime: 300,
    },
  );
  docs.push(doc);
  return {
    doc,
    provider,
    write(id: string, entry: unknown = refresh(id)): void {
      doc.getMap('content').set(id, entry);
    },
    entry: (id: string) => readContent(doc)[id] as JsonObject | undefined,
    finished(id: string): Promise<JsonObject> {
      return until(
        tried(() => {
          const e = readContent(doc)[id] as JsonObject | undefined;
          return ['done', 'failed'].includes(String(e?.['status'])) ? e : undefined;
        }),
        `the end of ${id}`,
      );
    },
  };
}
const post = (id: string, path: string, body: unknown = {}) => ({
  id,
  at: Date.now(),
  skill_id: 'hub_status',
  action: { type: 'http.post', path, body },
  status: 'pending',
});
const refresh = (id: string) => post(id, '/skills/hub_status/v1/refresh');
const count = async (hub: TestHub): Promise<number> =>
  (await hub.ask('GET', '/skills/hub_status/v1/state', { as: {} })).body.refresh.count;

test('a tap becomes a command, is done, and shows as a change of the state', async ({ hub }) => {
  const d = device(hub);
  const before = await count(hub);
  d.write('tap-1');
  const e = await d.finished('tap-1');
  assert.is(e['status'], 'done');
  assert.is((e['result'] as JsonObject)['status'], 200);
  assert.is(await count(hub), before + 1);
  d.provider.destroy();
});

test('a command that is wrong, forbidden or has no taker fails in words, and the others go on', async ({
  hub,
}) => {
  const d = device(hub);
  await until(
    tried(() => d.provider.synced),
    'sync',
  );
  const rows: [id: string, entry: unknown, code: string][] = [
    ['bad-1', 'text', 'invalid_request'],
    ['bad-2', { id: 'other' }, 'invalid_request'],
    ['bad-3', { ...refresh('bad-3'), action: { type: 'exec', path: '/bin/sh' } }, 'invalid_request'],
    ['bad-4', post('bad-4', '/api/status'), 'forbidden'],
    ['bad-5', post('bad-5', '/skills/../api/status'), 'not_found'],
    ['bad-6', post('bad-6', '/skills/nobody/v1/x'), 'not_found'],
    ['bad-7', post('bad-7', '/skills/hub_status/v1/none'), 'not_found'],
    ['bad-8', post('bad-8', '/v1/icons/pin', { skill_id: 7 }), 'invalid_request'],
  ];
  d.doc.transact(() => {
    for (const [id, entry] of rows) d.write(id, entry);
    d.write('good-1', post('good-1', '/v1/icons/pin', { skill_id: 'hub_status', pinned: true }));
    d.write('not a good id !', refresh('x'));
  });
  for (const [id, , code] of rows) {
    const e = await d.finished(id);
    assert.is(e['status'], 'failed', id);
    assert.is((e['error'] as JsonObject)['error'], code, id);
    assert.is(typeof (e['error'] as JsonObject)['message'], 'string');
  }
  assert.is((await d.finished('good-1'))['status'], 'done');
  await until(
    tried(() => d.entry('not a good id !') === undefined),
    'the impossible id to go',
  );
  assert.is((await hub.ask('GET', '/v1/icons', { as: {} })).body[0].pinned, true);
  d.provider.destroy();
});

test('a command cannot reach an admin skill past the elevation of who wrote it', async ({ hub }) => {
  const before = await count(hub);
  for (const [name, as, code] of [
    ['phone3', { elevated_until: 1 }, 'assertion_required'],
    ['phone4', { role: 'kid' }, 'forbidden'],
  ] as [string, Partial<Principal>, string][]) {
    const d = device(hub, as, name);
    d.write(`cmd-${name}`);
    const e = await d.finished(`cmd-${name}`);
    assert.is((e['error'] as JsonObject)['error'], code);
    d.provider.destroy();
  }
  assert.is(await count(hub), before);
});

test('an id that comes again is answered and not done again; with another command it is a conflict', async ({
  hub,
}) => {
  const before = await count(hub);
  const a = device(hub);
  a.write('twice');
  const first = await a.finished('twice');
  a.doc.getMap('content').set('twice', { ...refresh('twice') });
  await until(
    tried(
      () =>
        (a.entry('twice')?.['finished_at'] ?? 0) !== first['finished_at'] &&
        a.entry('twice')?.['status'] === 'done',
    ),
    'the first answer again',
  );
  assert.equal(a.entry('twice')?.['result'], first['result']);
  a.write('twice', post('twice', '/skills/hub_status/v1/refresh', { other: true }));
  const refused = await until(
    tried(() => {
      const e = a.entry('twice');
      return e?.['status'] === 'failed' ? e : undefined;
    }),
    'the conflict',
  );
  assert.is((refused['error'] as JsonObject)['error'], 'conflict');
  assert.is(await count(hub), before + 1);
  a.provider.destroy();
});

test('an id is of one document: what another browser wrote under it is neither answered nor hindered', async ({
  hub,
}) => {
  const before = await count(hub);
  const a = device(hub);
  a.write('same');
  await a.finished('same');
  const b = device(hub, {}, 'phone5');
  b.write('same', post('same', '/v1/icons/pin', { skill_id: 'hub_status', pinned: true }));
  assert.equal((await b.finished('same'))['result'], { status: 200, body: { ok: true } });
  const c = device(hub, {}, 'phone6');
  c.write('same');
  assert.is((await c.finished('same'))['status'], 'done');
  assert.is(await count(hub), before + 2);
  for (const d of [a, b, c]) d.provider.destroy();
});

test('what an older build took in under the id as it came is not done again', async ({ hub }) => {
  const before = await count(hub);
  const d = device(hub);
  await until(
    tried(() => d.provider.synced),
    'sync',
  );
  await hub.kill('api');
  const store = await openStore(join(hub.data, 'api/api.db'), archiveSchema);
  const { id, at, skill_id, action } = refresh('former');
  const command = { id, at, skill_id, action };
  const document = 'o1/commands/state:device/phone1';
  await acceptId(store, { owner_id: 'o1', id, document, principal: owner, command }, at / 1000);
  await store.close();
  await hub.startApi();
  await hub.available('hub_status');
  d.write('former', refresh('former'));
  assert.is((await d.finished('former'))['status'], 'done');
  assert.is(await count(hub), before + 1);
  d.provider.destroy();
});

test('a command of a screen may speak on the bus below "ui." alone', async ({ hub }) => {
  const bus = await connect(hub.bus.address);
  const heard: unknown[] = [];
  await bus.subscribe('ui.other', (_t, p) => heard.push(p));
  const d = device(hub);
  const say = (id: string, topic: string) => ({
    ...refresh(id),
    action: { type: 'bus.publish', topic, payload: { a: 1 } },
  });
  d.write('say-1', say('say-1', 'ui.other'));
  d.write('say-2', say('say-2', 'scenario.cancel.7'));
  // What the contract of a topic does not carry, what only a skill says, and a skill that takes no actions.
  d.write('say-4', say('say-4', 'ui.action'));
  d.write('say-5', say('say-5', 'ui.toast'));
  const action = { type: 'bus.publish', topic: 'ui.action', payload: { action_id: 'x' } };
  d.write('say-6', { ...refresh('say-6'), action });
  for (const [id, code] of [
    ['say-4', 'invalid_request'],
    ['say-5', 'forbidden'],
    ['say-6', 'not_found'],
  ] as const)
    assert.is(((await d.finished(id))['error'] as JsonObject)['error'], code, id);
  assert.is((await d.finished('say-1'))['status'], 'done');
  assert.is((await d.finished('say-2'))['status'], 'failed');
  // A NUL would cost the hub its place on the bus.
  d.write('say-3', {
    ...refresh('say-3'),
    action: { type: 'bus.publish', topic: 'ui.a', payload: { 'a\0': 'b' } },
  });
  assert.is(((await d.finished('say-3'))['error'] as JsonObject)['error'], 'invalid_request');
  await until(
    tried(() => heard.length === 1),
    'the event',
  );
  assert.equal(heard, [{ a: 1 }]);
  d.provider.destroy();
  bus.close();
});

test('a command waits for a skill that is away', async ({ hub }) => {
  const before = await count(hub);
  await hub.kill('hub_status');
  const d = device(hub);
  d.write('patient');
  await until(
    tried(() => d.entry('patient')?.['status'] === 'running'),
    'the command to wait',
  );
  hub.startSkill('hub_status');
  assert.is((await d.finished('patient'))['status'], 'done');
  assert.is(await count(hub), before + 1);
  d.provider.destroy();
});

test('whatever is killed at whatever moment, each command is done once and none is lost', async ({ hub }) => {
  const before = await count(hub);
  const d = device(hub);
  await until(
    tried(() => d.provider.synced),
    'sync',
  );
  const ids: string[] = [];
  const rounds = 8;
  for (let round = 0; round < rounds; round++) {
    for (let i = 0; i < 4; i++) {
      const id = `storm-${round}-${i}`;
      ids.push(id);
      d.write(id);
    }
    await new Promise((r) => setTimeout(r, Math.random() * 60));
    const victim = round % 2 ? 'hub_status' : 'api';
    await hub.kill(victim);
    if (round === rounds - 1) await hub.kill(victim === 'api' ? 'hub_status' : 'api');
    for (const name of ['api', 'hub_status']) {
      const child = hub.children.get(name)!;
      if (child.exitCode === null && child.signalCode === null) continue;
      if (name === 'api') await hub.startApi();
      else hub.startSkill(name);
    }
  }
  for (const id of ids) assert.is((await d.finished(id))['status'], 'done', id);
  await hub.available('hub_status');
  assert.is(await count(hub), before + ids.length);
  console.log(`FIGURE commands_under_kill ${ids.length} done once, ${rounds + 1} kills`);
  d.provider.destroy();
});

test.run();
