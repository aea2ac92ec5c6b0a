// timeout: 240 s
// The skill `logs` as its owner meets it: a real ingle-api, real skill processes and a real supervisor over a stand-in
// of the journal.
import type { ChildProcess } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { WebsocketProvider } from 'y-websocket';
import * as Y from 'yjs';
import { readContent } from '../../firmware/documents/content.ts';
import { toBase64url } from '../../firmware/protocol/bytes.ts';
import { checkManifest } from '../../firmware/skills/manifest.ts';
import { packSkill } from '../../firmware/skills/package.ts';
import { inLanguage, languages } from '../../firmware/text/i18n.ts';
import { validateView } from '../../firmware/ui/schema.ts';
import { eventsOf, everything, filterOf, rowOf, tailOf } from '../../services/skills/logs/lines.ts';
import { logsView } from '../../services/skills/logs/view.ts';
import { ended } from '../lab/child.ts';
import { tried, until } from '../lab/wait.ts';
import { file, manifest, signerOfSeed } from '../skills/archive.ts';
import { type FakeSystemd, fakeJournal, fakeSystemd, supervise } from '../supervisor/systemd.ts';
import { startHub, type TestHub } from './hub.ts';

interface Context {
  hub: TestHub;
  systemd: FakeSystemd;
  journal: ReturnType<typeof fakeJournal>;
  supervisor: ChildProcess;
}
const test = suite<Context>('logs');
const maker = signerOfSeed(7);
const asking = (id: string) => ({ ...manifest(id, '1.0.0'), permissions: { grants: ['journal' as const] } });
/** A skill that asks the supervisor whatever it is told to. */
const nosy = {
  text: `const none = { doc: '', errors: [] };
  const own = { name: 'io.ingle.Supervisor1', bus: 'io.ingle.Supervisor1', path: '/io/ingle/Supervisor1', doc: '',
    signals: {}, properties: {}, methods: { Journal: { ...none, in: { units: 'as', level: 's', lines: 'u', after: 's' },
      out: { lines: [{ unit: 's', at: 'd', level: 's', text: 's' }], cursor: 's', cut: 'b', own: 'as' } } } };
  export const skill = { start: (ctx) => ({ endpoints: [{ method: 'POST', path: '/v1/pry', answer: async () => {
    const said = await ctx.client(own).Journal({ units: [], level: 'debug', lines: 5, after: '' });
    return { body: { lines: said.lines.length } }; } }] }) };`,
};
const entry = {
  __REALTIME_TIMESTAMP: '1764000000000000',
  _SYSTEMD_UNIT: 'ingle-audio.service',
  PRIORITY: '6',
};
const said = [
  { ...entry, MESSAGE: 'audio: no devices', PRIORITY: '4', __CURSOR: 's=a;i=1' },
  { ...entry, MESSAGE: 'box: refreshToken=abcDEF123456', __CURSOR: 's=a;i=2' },
  {
    ...entry,
    _SYSTEMD_UNIT: 'init.scope',
    UNIT: 'ingle-uplink.service',
    MESSAGE: 'Started it.',
    __CURSOR: 's=a;i=3',
  },
];

test.before(async (c) => {
  c.hub = await startHub({
    skills: ['logs'],
    installed: ['nosy', 'trusty'].map((id) => ({ manifest: checkManifest(asking(id)), code: nosy })),
  });
  c.systemd = await fakeSystemd(c.hub.bus.address, ['ingle-api', 'ingle-audio']);
  c.journal = fakeJournal();
  c.journal.say(said);
  c.supervisor = await supervise(c);
});
test.after(async (c) => {
  c.systemd.stop();
  c.journal.remove();
  await ended(c.supervisor, 'SIGKILL', 'the supervisor');
  await c.hub.stop();
});

const get = (hub: TestHub, path: string, as = {}, headers = {}) =>
  hub.ask('GET', `/skills/logs${path}`, { as, headers });

test('lines of all services come with their unit and without secrets, by level and number', async ({
  hub,
  journal,
}) => {
  const r = await get(hub, '/v1/logs?level=debug&tail=7');
  assert.equal(r.body.lines, [
    { unit: 'ingle-audio', at: 1764000000, level: 'warn', text: 'audio: no devices' },
    { unit: 'ingle-audio', at: 1764000000, level: 'info', text: 'box: refreshToken=[removed]' },
    { unit: 'ingle-uplink', at: 1764000000, level: 'info', text: 'Started it.' },
  ]);
  const asked = journal.asked();
  assert.is(asked[asked.indexOf('-p') + 1], '7');
  assert.is(asked[asked.indexOf('-n') + 1], '7');
  assert.ok(asked.includes('ingle-uplink.service') && asked.includes('ingle-skill@3.service'));
  assert.not.ok(asked.includes('ssh.service'));
  const found = await get(hub, '/v1/logs?text=STARTED');
  assert.equal([found.body.lines.length, found.body.lines[0].unit], [1, 'ingle-uplink']);
  assert.equal((await get(hub, '/v1/logs?tail=1&text=a')).body.cut, true);
});

test('what cannot be asked for is told, and reaches no program', async ({ hub, journal }) => {
  const before = journal.asked().length;
  for (const q of ['level=loud', 'tail=0', 'tail=1001', 'tail=x', 'unit=-u', `text=${'x'.repeat(201)}`])
    assert.equal((await get(hub, `/v1/logs?${q}`)).status, 400, q);
  assert.is((await get(hub, '/v1/logs?unit=ssh')).status, 404);
  const cursor = { 'last-event-id': '--vacuum-size=1' };
  assert.is((await get(hub, '/v1/logs/stream', {}, cursor)).status, 400);
  assert.is(journal.asked().length, before);
});

test('only the owner with a passkey checked lately sees any of it', async ({ hub }) => {
  for (const path of ['/v1/logs', '/v1/logs/stream', '/v1/state', '/v1/ui/panel']) {
    assert.is((await get(hub, path, { role: 'adult' })).status, 403, path);
    assert.is((await get(hub, path, { elevated_until: 1 })).body.error, 'assertion_required', path);
  }
});

test('a reader of the stream that comes back is given what came since, and waits while nothing did', async ({
  hub,
  journal,
}) => {
  const first = await get(hub, '/v1/logs/stream?tail=2');
  assert.is(first.headers.get('content-type'), 'text/event-stream; charset=utf-8');
  const id = /^id: (.*)$/m.exec(first.body)![1]!;
  assert.is(id, 's=a;i=3');
  journal.say([]);
  const waiting = get(hub, '/v1/logs/stream', {}, { 'last-event-id': id });
  await until(() => journal.asked().includes(`--after-cursor=${id}`), 'the journal to be asked after it');
  journal.say([{ ...entry, MESSAGE: 'now', __CURSOR: 's=a;i=4' }]);
  const next = (await waiting).body as string;
  assert.equal(
    [...next.matchAll(/^data: (.*)$/gm)].map((m) => JSON.parse(m[1]!).text),
    ['now'],
  );
  assert.match(next, /^id: s=a;i=4$/m);
  journal.say(said);
});

test('the screen filters, follows while somebody looks, and leaves nothing in the document afterwards', async ({
  hub,
  journal,
}) => {
  const post = (path: string, body: object) => hub.ask('POST', `/skills/logs/v1/${path}`, { as: {}, body });
  const state = async () => (await get(hub, '/v1/state')).body;
  const brief = async () => inLanguage((await state()).brief, 'en');
  assert.is((await post('filter', { set: 'level', value: 'warn' })).status, 200);
  assert.is((await state()).filter.level, 'warn');
  assert.is((await state()).rows.length, 3, 'the stand-in filters nothing');
  assert.is((await post('filter', { set: 'text', value: 'devices' })).status, 200);
  assert.equal(
    (await state()).rows.map((r: { text: string }) => r.text),
    ['audio: no devices'],
  );
  assert.is((await post('filter', { set: 'text', value: 'nothing like it' })).status, 200);
  assert.is((await state()).found, '');
  assert.is((await post('filter', { set: 'level', value: 'loud' })).status, 400);
  assert.is(
    await brief(),
    'No errors among the newest lines',
    'the tile tells of all lines, not of those found',
  );
  journal.say([...said, { ...entry, MESSAGE: 'audio: broken', PRIORITY: '3', __CURSOR: 's=a;i=5' }]);
  await post('filter', { set: 'text', value: '' });
  assert.is(await brief(), '1 error among the newest lines');
  journal.say(said);
  await post('filter', {});
  const doc = new Y.Doc();
  const room = new WebsocketProvider(`${hub.base.replace('http', 'ws')}/sync`, 'o1/logs/state:main', doc, {
    WebSocketPolyfill: hub.webSocket({}),
    disableBc: true,
  });
  const rows = () => (readContent(doc)['rows'] ?? []) as { text: string }[];
  await until(() => rows().length === 3, 'the lines');
  journal.say([{ ...entry, MESSAGE: 'one more', __CURSOR: 's=a;i=9' }]);
  await until(() => rows()[0]?.text === 'one more', 'the newest line on top');
  room.destroy();
  // Its clock would keep this process.
  doc.destroy();
  await until(
    tried(async () => (await state()).rows.length === 0),
    'the lines to be taken out of the document',
  );
  journal.say(said);
});

test('without a supervisor the screen says so, and goes on when it is back', async (c) => {
  const { hub } = c;
  await ended(c.supervisor, 'SIGKILL', 'the supervisor');
  await hub.ask('POST', '/skills/logs/v1/filter', { as: {}, body: { set: 'unit', value: '' } });
  const now = (await get(hub, '/v1/state')).body;
  assert.match(now.trouble.i18n.en, /^Nobody keeps the log here/);
  assert.ok([503, 501].includes((await get(hub, '/v1/logs')).status));
  c.supervisor = await supervise(c);
  await hub.ask('POST', '/skills/logs/v1/live', { as: {}, body: { on: true } });
  assert.is((await get(hub, '/v1/state')).body.trouble, '');
});

test('a package by anybody but the maker that asks for the journal is refused before it is kept', async ({
  hub,
}) => {
  const key = toBase64url(maker.key);
  const packed = (signer?: typeof maker) =>
    packSkill([file('manifest.json', JSON.stringify(asking('spy'))), file('skill.js', nosy.text)], signer)
      .bytes;
  await hub.ask('POST', '/api/skills/publishers', { as: {}, body: { key, name: 'Me' } });
  await hub.ask('POST', '/api/skills/developer', { as: {}, body: { on: true } });
  for (const raw of [packed(maker), packed(signerOfSeed(8)), packed()]) {
    const r = await hub.ask('POST', '/api/skills/prepare', { as: {}, raw });
    assert.equal([r.status, r.body.error], [403, 'forbidden']);
    assert.match(r.body.message, /"journal" \(permissions\.grants\).*maker/);
  }
  const list = (await hub.ask('GET', '/api/skills', { as: {} })).body.skills as { skill_id: string }[];
  assert.not.ok(list.some((s) => s.skill_id === 'spy'));
  // The same key, once the verified root names it.
  mkdirSync(join(hub.env.INGLE_SKILLS, 'publishers'), { recursive: true });
  writeFileSync(join(hub.env.INGLE_SKILLS, 'publishers/maker.json'), JSON.stringify({ key, name: 'Maker' }));
  const r = await hub.ask('POST', '/api/skills/prepare', { as: {}, raw: packed(maker) });
  assert.is(r.status, 200, JSON.stringify(r.body));
});

test("a skill whose folder asks for the journal has it by the maker's key alone, until that is revoked", async ({
  hub,
}) => {
  const list = (more: object) =>
    writeFileSync(
      join(hub.data, 'skills/publishers.json'),
      JSON.stringify({ publishers: [], first: {}, ...more }),
    );
  const key = toBase64url(maker.key);
  list({ first: { trusty: key } });
  for (const id of ['nosy', 'trusty']) {
    hub.startSkill(id);
    await hub.available(id);
  }
  const pry = (id: string) => hub.ask('POST', `/skills/${id}/v1/pry`, { as: {} });
  assert.equal([(await pry('nosy')).status, (await pry('nosy')).body.error], [403, 'forbidden']);
  assert.equal((await pry('trusty')).body, { lines: 3 });
  list({ first: { trusty: key, nosy: toBase64url(signerOfSeed(8).key) } });
  assert.is((await pry('nosy')).status, 403);
  list({ first: { trusty: key }, publishers: [{ key, name: 'Maker', revoked: true }] });
  assert.is((await pry('trusty')).status, 403);
});

test('its view is valid in every state and every language', () => {
  for (const trouble of [true, false])
    for (const empty of [true, false]) {
      const view = logsView({ units: ['ingle-api', 'ingle-skill@3'], live: empty, trouble, empty });
      assert.equal(validateView(view), []);
      const texts = view.meta!['texts'] as Record<string, unknown>;
      for (const [, key] of JSON.stringify(view).matchAll(/\{\{meta\.texts\.(\w+)\}\}/g))
        for (const l of languages) assert.type(inLanguage(texts[key!], l), 'string', `${key} in ${l}`);
    }
});

test('a line becomes a row and an event; what a filter may be is bounded', () => {
  const line = { unit: 'ingle-api', at: 0, level: 'info', text: 'x'.repeat(500) };
  const row = rowOf(line, (l) => l);
  assert.equal([row['time'], String(row['text']).length], ['', 301]);
  assert.is(eventsOf({ lines: [], cut: false, cursor: '' }), 'retry: 1000\n\n');
  const events = eventsOf({ lines: [{ ...line, text: 'a\nid: 7\n\ndata: b' }], cut: true, cursor: 'c' });
  assert.equal(
    events.match(/^(id|event|data): ?\S*/gm)!.map((l) => l.slice(0, 11)),
    ['event: gap', 'data: {"rea', 'event: log', 'data: {"uni', 'id: c'],
  );
  assert.equal(filterOf(everything, { text: ' a ' }), { level: 'info', unit: '', text: 'a' });
  assert.throws(() => filterOf(everything, { unit: 'a;b' }));
  assert.is(tailOf(null, 5), 5);
});

test.run();
