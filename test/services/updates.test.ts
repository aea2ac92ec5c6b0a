// timeout: 240 s
// Updates as the owner meets them: the routes of the local API and the built-in skill, over a real ingle-update beside
// a stand-in of RAUC.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { inLanguage, languages } from '../../firmware/text/i18n.ts';
import { validateView } from '../../firmware/ui/schema.ts';
import { type UpdateState, updateTable } from '../../firmware/update/machine.ts';
import { describe, unsupported } from '../../services/skills/updates/describe.ts';
import { updatesView } from '../../services/skills/updates/view.ts';
import { tried, until } from '../lab/wait.ts';
import { startUpdate, type UpdateHub } from '../update/hub.ts';
import { startHub, type TestHub } from './hub.ts';

const test = suite<{ hub: TestHub; box: UpdateHub }>('updates for the owner');
test.before(async (c) => {
  c.hub = await startHub({ skills: ['updates'] });
  c.box = await startUpdate({ address: c.hub.bus.address, serve: false });
});
test.after(async (c) => {
  await c.box.stop();
  await c.hub.stop();
});

const orders = ['check', 'download', 'verify', 'install', 'restart', 'cancel', 'rollback'];

test('a hub that runs from a checkout says so, on the screen and over the API', async ({ hub }) => {
  const s = await hub.ask('GET', '/api/admin/update/status', { as: {} });
  assert.equal([s.status, s.body.state], [200, 'unsupported']);
  const r = await hub.ask('POST', '/api/admin/update/check', { as: {} });
  assert.equal([r.status, r.body.error], [501, 'not_supported']);
  const state = (await hub.ask('GET', '/skills/updates/v1/state', { as: {} })).body;
  assert.is(state.headline.i18n.en, 'This hub runs from a checkout; updates come with git.');
  const icon = (await hub.ask('GET', '/v1/icons', { as: {} })).body[0];
  assert.equal([icon.skill_id, icon.title, icon.ownerOnly], ['updates', 'Updates', true]);
});

test('orders are for the owner with a passkey checked lately, or local control', async ({ hub }) => {
  const late = { elevated_until: Math.floor(Date.now() / 1000) - 1 };
  for (const what of orders) {
    const path = `/api/admin/update/${what}`;
    for (const role of ['adult', 'kid', 'guest', 'admin'] as const)
      assert.is((await hub.ask('POST', path, { as: { role } })).status, 403, `${role} ${what}`);
    const r = await hub.ask('POST', path, { as: late });
    assert.equal([r.status, r.body.error], [401, 'assertion_required'], what);
    assert.is((await fetch(hub.base + path, { method: 'POST' })).status, 401);
    assert.is((await hub.ask('GET', path)).status, 405);
  }
  assert.is((await hub.ask('GET', '/api/admin/update/status', { as: { role: 'kid' } })).status, 403);
  assert.is((await hub.ask('GET', '/api/admin/update/status', { as: late })).status, 200, 'looking is free');
  assert.is((await hub.ask('GET', '/api/admin/update/stream', { as: late })).status, 401);
  assert.is((await hub.ask('POST', '/skills/updates/v1/install', { as: { role: 'kid' } })).status, 403);
  assert.is((await hub.ask('POST', '/api/admin/update/format', { as: {} })).status, 404);
});

test('wrong bodies are told as wrong', async ({ hub, box }) => {
  await box.begin();
  const post = (what: string, body: unknown) =>
    hub.ask('POST', `/api/admin/update/${what}`, { as: {}, body });
  assert.is((await post('install', { source: 7 })).status, 400);
  assert.is((await post('install', { source: '/etc/passwd' })).status, 400);
  assert.is((await post('install', { restart: 'soon' })).status, 400);
  assert.is((await post('restart', { when: 'never' })).status, 400);
  assert.is((await post('check', { channel: '../..' })).status, 400);
  assert.is((await post('rollback', { more: 1 })).status, 400);
  assert.is((await post('restart', {})).status, 409);
});

test('the owner checks, installs and sees it happen, and the API takes nothing new before the restart', async ({
  hub,
  box,
}) => {
  box.server.offer({ version: '1.1.0' }, { more: { notes: 'Quieter at night' } });
  const abort = new AbortController();
  const stream = await fetch(`${hub.base}/api/admin/update/stream`, {
    headers: { 'x-service-token': hub.token() },
    signal: abort.signal,
  });
  let said = '';
  const reading = (async () => {
    for await (const chunk of stream.body as unknown as AsyncIterable<Uint8Array>) said += Buffer.from(chunk);
  })().catch(() => {});
  const state = async () => (await hub.ask('GET', '/skills/updates/v1/state', { as: {} })).body;
  const press = (what: string) => hub.ask('POST', `/skills/updates/v1/${what}`, { as: {} });

  assert.is((await state()).headline.i18n.en, 'Up to date');
  assert.is((await press('check')).status, 200);
  const offered = await state();
  assert.equal(
    [offered.headline.i18n.en, offered.notes, offered.version],
    ['Version 1.1.0 is available', 'Quieter at night', '1.0.0'],
  );
  const s = (await hub.ask('GET', '/api/admin/update/status', { as: {} })).body;
  assert.equal([s.state, s.offer.version, s.can.includes('install')], ['available', '1.1.0', true]);
  assert.is((await press('install')).status, 200);
  await until(
    tried(async () => (await state()).state === 'installed'),
    'the installation',
  );
  const again = await press('install');
  assert.equal([again.status, again.body.error], [409, 'conflict']);
  assert.is((await press('night')).status, 200);
  assert.ok(['waiting', 'draining', 'restarting'].includes((await state()).state));
  if ((await state()).state === 'waiting') await hub.ask('POST', '/api/admin/update/restart', { as: {} });
  await box.restartAsked();
  const refused = await hub.ask('POST', '/v1/icons/pin', {
    as: {},
    body: { skill_id: 'updates', pinned: true },
  });
  assert.equal([refused.status, refused.body.error], [503, 'unavailable']);
  assert.ok(Number(refused.headers.get('retry-after')) > 0);
  assert.is((await hub.ask('GET', '/v1/icons', { as: {} })).status, 200, 'reading goes on');
  await until(
    tried(() => /update\.state/.test(said) && /"state":"restarting"/.test(said)),
    'the events',
  );
  abort.abort();
  await reading;
  await box.reboot();
  const done = await until(
    tried(async () => {
      const now = await state();
      return now.result ? now : undefined;
    }),
    'the result',
  );
  assert.match(done.result.i18n.en, /^Updated from 1\.0\.0 to 1\.1\.0/);
  assert.is(done.previous, '1.0.0');
  const pin = await until(
    tried(async () => {
      const r = await hub.ask('POST', '/v1/icons/pin', {
        as: {},
        body: { skill_id: 'updates', pinned: true },
      });
      return r.status === 200 ? r : undefined;
    }),
    'writes again',
  );
  assert.equal(pin.body, { ok: true });
});

test('its view is valid in every state and every language', () => {
  const told = (Object.keys(updateTable) as UpdateState[]).map((state) => ({
    state,
    version: '1.0.0',
    slot: 'a',
    detail: {
      checked_at: 1,
      offer: { version: '1.1.0', size: 5, notes: 'x' },
      target: '1.1.0',
      percent: 40,
      step: 'Copying',
      error: { reason: 'bad_signature', text: '', at: 1 },
      result: { ok: false, kind: 'update', from: '1', to: '2', reason: 'not_healthy', text: 'x', at: 1 },
      previous: { slot: 'rootfs.1', version: '0.9.0' },
      can: orders.concat('night'),
    },
  }));
  for (const t of [...told, unsupported('0.1.0')]) {
    const { state, shown } = describe(t);
    const view = updatesView(shown);
    assert.equal(validateView(view), []);
    assert.not.match(JSON.stringify(state), /\{\w+\}|undefined/, t.state);
    const texts = view.meta!['texts'] as Record<string, unknown>;
    for (const [, key] of JSON.stringify(view.layout).matchAll(/\{\{meta\.texts\.(\w+)\}\}/g))
      for (const l of languages) assert.type(inLanguage(texts[key!], l), 'string', `${key} in ${l}`);
    // What is not a number, a version or notes is there for every reader.
    for (const [name, value] of Object.entries(state))
      if (['headline', 'step', 'checked', 'trouble', 'result'].includes(name) && value !== '')
        assert.ok(inLanguage(value, 'ru') !== inLanguage(value, 'en'), `${t.state}: ${name}`);
  }
});

test.run();
