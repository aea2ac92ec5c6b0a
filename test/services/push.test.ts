// A notice from a skill to a browser that nobody looks at: the local API, the way out and a push service, each of them
// real but for the internet between the last two, which is here; and uplink, whose list of browsers is a stand-in's.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { serveFetch } from '../../firmware/skills/fetching.ts';
import { checkManifest } from '../../firmware/skills/manifest.ts';
import { type Bus, connect, type Served } from '../../firmware/system/bus.ts';
import { logger } from '../../firmware/system/log.ts';
import { uplink1 } from '../../firmware/uplink/contract.ts';
import { standIn } from '../fetch/standin.ts';
import { receiver } from '../lab/pushed.ts';
import { until } from '../lab/wait.ts';
import { owner, startHub, type TestHub } from './hub.ts';

const test = suite('notices on browsers');
const manifest = (id: string, title: string) =>
  checkManifest({
    id,
    version: '1.0.0',
    capabilities: {
      visual: true,
      ui: { title, titles: { ru: 'Крыльцо' }, modes: ['modal'], schema: 'ui/v0' },
    },
  });
const tells = `export const skill = { start: (ctx) => ({ endpoints: [
  { method: 'POST', path: '/v1/tell', answer: ({ owner_id, body }) => {
    ctx.tell(owner_id, body.topic ?? 'ui.notify', body.payload);
    return { body: { ok: true } };
  } },
] }) };`;

let hub: TestHub;
let bus: Bus;
let uplink: Served<typeof uplink1>;
let host: Awaited<ReturnType<typeof standIn>>;
/** What came to the push service, by its path. */
const came: { path: string; body: Buffer }[] = [];
let answer = 201;
/** A code for a new passkey that nobody has told the owner of. */
let untold = { owner_id: '', expires_at: 0n };
const paired = ['phone1', 'phone2'];
const phone = receiver();
const keys = { p256dh: phone.p256dh, auth: phone.auth };
const put = (as: object, more: object = {}) =>
  hub.ask('PUT', '/api/push', {
    as,
    body: { endpoint: 'https://push.example.org/phone1', keys, language: 'en', ...more },
  });
const tell = async (payload: object, topic?: string) => {
  const r = await hub.ask('POST', '/skills/porch/v1/tell', { as: owner, body: { payload, topic } });
  assert.is(r.status, 200, JSON.stringify(r.body));
};

test.before(async () => {
  hub = await startHub({ installed: [{ manifest: manifest('porch', 'Porch'), code: { text: tells } }] });
  bus = await connect(hub.bus.address);
  host = await standIn({ 'push.example.org': ['93.184.216.34'] }, (q, r) => {
    const parts: Buffer[] = [];
    q.on('data', (d) => parts.push(d)).on('end', () => {
      came.push({ path: q.url!, body: Buffer.concat(parts) });
      r.writeHead(answer).end();
    });
  });
  await serveFetch(bus, {
    config: { skills: hub.env.INGLE_SKILLS, data: hub.data, contact: '' },
    way: host.way,
    log: logger('fetch'),
  });
  const browser = (id: string) => ({ id, label: id, paired_at: 0n, seen_at: 0n });
  uplink = await bus.serve(uplink1, {
    ListBrowsers: () => ({ browsers: paired.map(browser) }),
    ListPeople: () => ({ people: [] }),
    Untold({ told }: { told: bigint }) {
      if (told === untold.expires_at) untold = { owner_id: '', expires_at: 0n };
      return untold;
    },
  } as never);
  hub.startSkill('porch');
  await hub.available('porch');
});
test.after(async () => {
  bus?.close();
  await host?.stop();
  await hub.stop();
});

test('a browser that turned them on is sent a notice that it alone can read; a toast is for who looks', async () => {
  const before = await hub.ask('GET', '/api/push', { as: owner });
  assert.match(before.body.key, /^B[\w-]{86}$/);
  assert.is(before.body.endpoint, null);
  assert.is((await put(owner)).status, 200);
  assert.is(
    (await hub.ask('GET', '/api/push', { as: owner })).body.endpoint,
    'https://push.example.org/phone1',
  );
  await tell({ text: 'For who looks' }, 'ui.toast');
  await tell({ title: { en: 'The post', ru: 'Почта' } });
  await until(() => came.length === 1, 'a notice');
  assert.is(came[0]!.path, '/phone1');
  assert.equal(phone.read(came[0]!.body), {
    title: 'Porch',
    body: 'The post',
    path: '/#open.porch',
    language: 'en',
  });
});

test('each browser speaks for itself, and who is no browser, or a guest, has none', async () => {
  assert.is(
    (
      await put(
        { ...owner, browser: 'phone2' },
        { endpoint: 'https://push.example.org/phone2', language: 'ru' },
      )
    ).status,
    200,
  );
  assert.is((await put({ ...owner, role: 'guest' })).status, 403);
  assert.is((await hub.ask('GET', '/api/push')).status, 403);
  assert.is((await hub.ask('DELETE', '/api/push')).status, 403);
  came.length = 0;
  await tell({ title: { en: 'The post', ru: 'Почта' } });
  await until(() => came.length === 2, 'two notices');
  const titles = came.map((c) => (phone.read(c.body) as { title: string }).title).sort();
  assert.equal(titles, ['Porch', 'Крыльцо']);
  assert.is((await hub.ask('DELETE', '/api/push', { as: { ...owner, browser: 'phone2' } })).status, 200);
  came.length = 0;
  await tell({ title: 'Once' });
  await until(() => came.length > 0, 'a notice');
  assert.equal(
    came.map((c) => c.path),
    ['/phone1'],
  );
});

test('the owner is told of a code that lets a new passkey in: behind the bell, and on their browsers', async () => {
  came.length = 0;
  const expires_at = BigInt(Math.floor(Date.now() / 1000) + 600);
  untold = { owner_id: owner.owner_id, expires_at };
  uplink.emit('Recovering', untold);
  await until(() => came.length === 1, 'a notice');
  const { title, body, path } = phone.read(came[0]!.body) as Record<string, string>;
  assert.match(`${title} ${body}`, /A code for a new passkey was made.* for 10 minutes/s);
  assert.match(path!, /settings/);
  await until(() => untold.expires_at === 0n, 'it to be taken');
  // Told late, it does not ask for what helps no more.
  untold = { owner_id: owner.owner_id, expires_at: BigInt(Math.floor(Date.now() / 1000) - 5) };
  uplink.emit('Recovering', untold);
  await until(() => came.length === 2, 'a late notice');
  assert.match((phone.read(came[1]!.body) as { body: string }).body, /\nIt has expired\./);
  await until(() => untold.expires_at === 0n, 'it to be taken');
});

test('what the owner was to be told while the local API was away, they are told when it is back', async () => {
  await hub.kill('api');
  came.length = 0;
  untold = { owner_id: owner.owner_id, expires_at: BigInt(Math.floor(Date.now() / 1000) + 600) };
  uplink.emit('Recovering', untold);
  await hub.startApi();
  await until(() => came.length === 1, 'a notice');
  assert.match((phone.read(came[0]!.body) as { body: string }).body, /A code for a new passkey/);
  await until(() => untold.expires_at === 0n, 'it to be taken');
  await hub.available('porch');
});

test('what is no subscription is refused with its place, and changes nothing', async () => {
  for (const more of [
    { endpoint: 'http://push.example.org/' },
    { endpoint: 'https://' },
    { keys: { ...keys, p256dh: 'A'.repeat(87) } },
    { keys: { ...keys, auth: 'short' } },
    { keys: { p256dh: keys.p256dh } },
    { language: 'de' },
    { more: 1 },
  ]) {
    const r = await put(owner, more);
    assert.is(r.status, 400, JSON.stringify(more));
    assert.is(r.body.error, 'invalid_request');
  }
  assert.is(
    (await hub.ask('GET', '/api/push', { as: owner })).body.endpoint,
    'https://push.example.org/phone1',
  );
});

test('after kill -9 the key and who wants notices are the same', async () => {
  const { key } = (await hub.ask('GET', '/api/push', { as: owner })).body;
  await hub.kill('api');
  await hub.startApi();
  await hub.available('porch');
  const after = (await hub.ask('GET', '/api/push', { as: owner })).body;
  assert.equal(after, { key, endpoint: 'https://push.example.org/phone1' });
  came.length = 0;
  await tell({ title: 'Still here' });
  await until(() => came.length === 1, 'a notice');
});

test('a browser that its owner forgot, or that takes none any more, is sent nothing', async () => {
  answer = 410;
  await tell({ title: 'Too late' });
  await until(
    async () => (await hub.ask('GET', '/api/push', { as: owner })).body.endpoint === null,
    'the end of the subscription',
  );
  answer = 201;
  await put(owner);
  paired.length = 0;
  came.length = 0;
  await tell({ title: 'For nobody' });
  await until(
    async () => (await hub.ask('GET', '/api/push', { as: owner })).body.endpoint === null,
    'the browser gone',
  );
  assert.equal(came, []);
});

test.run();
