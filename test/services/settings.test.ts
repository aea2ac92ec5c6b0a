// timeout: 240 s
// The skill `settings` as its owner meets it: a real ingle-api and real skill processes; Wi-Fi, sound and uplink are
// stand-ins on the bus that keep what was asked.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { audio1 } from '../../firmware/audio/contract.ts';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { type Bus, connect } from '../../firmware/system/bus.ts';
import { readConfig } from '../../firmware/system/config.ts';
import { inLanguage, languages } from '../../firmware/text/i18n.ts';
import { validateView } from '../../firmware/ui/schema.ts';
import { uplink1 } from '../../firmware/uplink/contract.ts';
import { wifi1 } from '../../firmware/wifi/contract.ts';
import { hubState, verdictOf, volumesOf } from '../../services/skills/settings/describe.ts';
import { type Shown, settingsView } from '../../services/skills/settings/view.ts';
import { tried, until } from '../lab/wait.ts';
import { startHub, type TestHub } from './hub.ts';

const test = suite<{ hub: TestHub; bus: Bus; asked: string[]; house: ReturnType<typeof house> }>('settings');

/** What the stand-ins tell. */
const house = () => ({
  ssid: 'Home',
  join: { ok: false, reason: 'wrong_password' },
  volume: 0.4,
  browsers: [
    { id: 'b1', label: 'Phone {{state.x}}', paired_at: 1764000000n, seen_at: 1764000100n },
    { id: 'b2', label: 'Laptop', paired_at: 1764000000n, seen_at: 1764000100n },
  ],
});

async function serve(bus: Bus, h: ReturnType<typeof house>, asked: string[]): Promise<void> {
  const note =
    <A extends object, R>(name: string, work: (a: A) => R) =>
    (a: A) => {
      asked.push(`${name} ${JSON.stringify(a, (_, v) => (typeof v === 'bigint' ? Number(v) : v))}`);
      return work(a);
    };
  const station = () => (h.ssid ? { station: { ssid: h.ssid, addresses: [], interface: 'wlan0' } } : {});
  const wifi = {
    Status: () => ({
      radios: 1,
      softap: 'off',
      station: 'connected',
      country: '00',
      detail: { ...station(), known: 1 },
    }),
    Scan: () => ({ networks: [{ ssid: 'Café', signal: 70, security: 'wpa2' }], age_s: 0 }),
    Connect: note('Connect', ({ ssid }: { ssid: string }) => {
      if (h.join.ok) h.ssid = ssid;
      return h.join;
    }),
    Forget: note('Forget', () => {
      h.ssid = '';
      return {};
    }),
  };
  await bus.serve(wifi1, wifi as never);
  const device = { type: 'usb', muted: false, connected: true, score: 1, usable: true };
  const audio = {
    Enumerate: () => ({
      sinks: [
        { ...device, id: 'out1', name: 'Box', volume: h.volume },
        { ...device, id: 'out2', name: 'HDMI', volume: 1 },
      ],
      sources: [{ ...device, id: 'in1', name: 'Mic', volume: 1 }],
    }),
    LoadProfile() {
      throw new IngleError('not_found', 'none');
    },
    SetVolume: note('SetVolume', ({ volume }: { volume: number }) => {
      h.volume = volume;
      return {};
    }),
    SaveProfile: note('SaveProfile', () => {
      throw new IngleError('not_found', 'There is no sink of that name.');
    }),
    Probe: note('Probe', () => ({
      ...{ state: 'READY_WITH_LIMITS', reason: 'too_quiet', sink_id: '', source_id: '', confirmed: false },
    })),
  };
  await bus.serve(audio1, audio as never);
  const find = (id: string) => {
    const found = h.browsers.find((b) => b.id === id);
    if (!found) throw new IngleError('not_found', 'There is no such browser.');
    return found;
  };
  const uplink = {
    Status: () => ({
      ...{
        connected: true,
        root: 'http://localhost:1',
        owner_id: 'o1',
        subnet_id: 's1',
        hub_id: 'hub-7',
        keys: '',
      },
      ...{ expires_at: 4000000000n, browsers: 2, channels: 0, pending: 0, insecure: false, last_error: '' },
    }),
    ListBrowsers: () => ({ browsers: h.browsers }),
    RenameBrowser: note('RenameBrowser', ({ id, label }: { id: string; label: string }) => {
      find(id).label = label;
      return {};
    }),
    ForgetBrowser: note('ForgetBrowser', ({ id }: { id: string }) => {
      h.browsers.splice(h.browsers.indexOf(find(id)), 1);
      return {};
    }),
  };
  await bus.serve(uplink1, uplink as never);
}

test.before(async (c) => {
  c.hub = await startHub({ skills: ['settings', 'weather'], env: { INGLE_NAME: 'Кухня' } });
  c.asked = [];
  c.house = house();
});
test.after(async (c) => {
  c.bus?.close();
  await c.hub.stop();
});

const post = (hub: TestHub, path: string, body: object = {}, as = {}) =>
  hub.ask('POST', `/skills/settings/v1/${path}`, { as, body });
const state = async (hub: TestHub) => (await hub.ask('GET', '/skills/settings/v1/state', { as: {} })).body;

test('a hub without these services says so in each part, and shows the rest', async ({ hub }) => {
  await post(hub, 'refresh');
  const s = await state(hub);
  for (const part of ['wifi', 'sound', 'browsers', 'hub'])
    assert.match(s.trouble[part].i18n.en, /^This hub has no such service/, part);
  assert.equal([s.name, s.language], ['Кухня', 'en']);
  assert.ok([501, 503].includes((await post(hub, 'wifi/scan')).status));
});

test('what there is is shown: the network, the pair in use, the browsers, this hub', async (c) => {
  c.bus = await connect(c.hub.bus.address);
  await serve(c.bus, c.house, c.asked);
  await post(c.hub, 'refresh');
  const s = await state(c.hub);
  assert.is(s.wifi.text.i18n.en, 'Joined: Home');
  assert.equal([s.sound.sink, s.sound.source, s.sound.volume], ['out1', 'in1', '40']);
  assert.equal(
    s.browsers.map((b: { name: string }) => b.name),
    ['Phone {{state.x}}', 'Laptop'],
  );
  assert.equal([s.hub.id, s.hub.root.i18n.en], ['hub-7', 'connected']);
  assert.match(s.hub.until.i18n.en, /2096/);
  const panel = (await c.hub.ask('GET', '/skills/settings/v1/ui/panel', { as: {} })).body as string;
  assert.match(panel, 'Phone {{state.x}}');
});

test('only the owner with a passkey checked lately changes or sees anything', async ({ hub, asked }) => {
  asked.length = 0;
  for (const path of ['wifi/join', 'wifi/forget', 'browsers/forget', 'sound/volume', 'ask']) {
    assert.is((await post(hub, path, {}, { role: 'adult' })).status, 403, path);
    assert.is((await post(hub, path, {}, { elevated_until: 1 })).body.error, 'assertion_required', path);
  }
  const language = (as: object) => hub.ask('POST', '/api/node/language', { as, body: { value: 'ru' } });
  assert.is((await language({ role: 'adult' })).status, 403);
  assert.is((await language({ elevated_until: 1 })).status, 401);
  assert.equal(asked, []);
});

test('a network is looked for, chosen and joined; why it was not stands on the screen with the next step', async ({
  hub,
  asked,
  house,
}) => {
  asked.length = 0;
  assert.is((await post(hub, 'wifi/scan')).status, 200);
  assert.is((await state(hub)).networks[0].text, 'Café · 70 % · wpa2');
  assert.is((await post(hub, 'wifi/choose', { value: '0' })).status, 200);
  assert.is((await state(hub)).ssid, 'Café');
  assert.is((await post(hub, 'wifi/choose', { value: '7' })).status, 400);
  for (const body of [
    { ssid: '' },
    { ssid: 'é'.repeat(17) },
    { ssid: 'a', psk: 'short' },
    { ssid: 'a', psk: 7 },
    {},
  ])
    assert.is((await post(hub, 'wifi/join', body)).status, 400, JSON.stringify(body));
  assert.is((await post(hub, 'wifi/join', { ssid: 'Café', psk: 'correct horse' })).status, 200);
  const failed = await until(
    tried(async () => {
      const { note } = (await state(hub)).wifi;
      return /was not joined/.test(note.i18n?.en) && note;
    }),
    'the failure',
  );
  assert.match(failed.i18n.en, /password is wrong.*goes back to the networks it knows/);
  assert.equal(asked, ['Connect {"ssid":"Café","psk":"correct horse","hidden":false,"security":""}']);
  house.join = { ok: true, reason: '' };
  await post(hub, 'wifi/join', { ssid: 'Hidden', psk: 'correct horse' });
  await until(
    tried(async () => (await state(hub)).wifi.text.i18n.en === 'Joined: Hidden'),
    'the new network',
  );
  assert.match(asked[1]!, '"hidden":true');
});

test('the password of a network is kept in no document and no journal', async ({ hub }) => {
  assert.not.match(JSON.stringify(await state(hub)), 'correct horse');
  const folder = join(hub.data, 'api');
  const files = readdirSync(folder).filter((file) => file.startsWith('api.db'));
  assert.ok(files.length >= 4, files.join(' '));
  for (const file of files) assert.not.ok(readFileSync(join(folder, file)).includes('correct horse'), file);
});

test('volume, pair and test reach the sound service, and what it refuses is told', async ({ hub, asked }) => {
  asked.length = 0;
  assert.is((await post(hub, 'sound/volume', { value: '75' })).status, 200);
  assert.is((await state(hub)).sound.volume, '75');
  assert.is((await post(hub, 'sound/volume', { value: '101' })).status, 400);
  assert.is((await post(hub, 'sound/pair', { of: 'sink', value: 'gone' })).status, 404);
  assert.is((await post(hub, 'sound/test')).status, 200);
  await until(
    tried(async () => /failed\. Too quiet/.test((await state(hub)).sound.note.i18n?.en)),
    'the verdict',
  );
  assert.equal(
    asked.map((a) => a.split(' ')[0]),
    ['SetVolume', 'SaveProfile', 'Probe'],
  );
});

test('a browser is renamed, and forgotten only after a second yes', async ({ hub, asked }) => {
  asked.length = 0;
  assert.is((await post(hub, 'browsers/rename', { id: 'b2', label: 'Old laptop' })).status, 200);
  await post(hub, 'ask', { what: 'browser', id: 'b2' });
  assert.is((await state(hub)).asking.i18n.en, 'Forget "Old laptop"?');
  await post(hub, 'ask');
  assert.is((await state(hub)).asking, '');
  assert.equal(asked.length, 1, 'asking alone forgets nothing');
  assert.is((await post(hub, 'browsers/forget', { id: 'b2' })).status, 200);
  assert.equal((await state(hub)).browsers.length, 1);
  assert.is((await post(hub, 'browsers/forget', { id: 'b2' })).status, 404);
});

test("the language an owner chose is the next start's, over the configuration, and a faulty file is passed over", async ({
  hub,
}) => {
  assert.is((await hub.ask('POST', '/api/node/language', { as: {}, body: { value: 'ru' } })).status, 200);
  assert.is((await hub.ask('POST', '/api/node/language', { as: {}, body: { value: 'xx' } })).status, 400);
  assert.is((await state(hub)).language, 'ru');
  const file = join(hub.data, 'skills/choices.json');
  const language = () => readConfig({ ...hub.env, INGLE_CONFIG: '/nonexistent' }).language;
  assert.is(language(), 'ru');
  for (const text of ['', '{"language":', 'null', '{"language":"xx"}', '{"language":{"a":1}}', '[7]']) {
    writeFileSync(file, text);
    assert.is(language(), 'en', text);
  }
});

test('whether its phrase wakes the hub is shown as it is chosen, and the place is given to the weather', async ({
  hub,
}) => {
  const file = join(hub.data, 'skills/choices.json');
  for (const [wake_by_phrase, on] of [
    [true, 'on'],
    [false, 'off'],
  ] as const) {
    writeFileSync(file, JSON.stringify({ wake_by_phrase }));
    const { phrase } = await state(hub);
    assert.is(phrase.on, on);
    assert.match(phrase.label.i18n.en, /“[a-z ]+”/i);
  }
  const place = { name: 'The hut', lat: 59.9, lon: 10.7 };
  const r = await hub.ask('POST', '/skills/weather/v1/place', { as: {}, body: place });
  assert.equal([r.status, r.body], [200, place]);
  assert.is((await hub.ask('GET', '/skills/weather/v1/state', { as: {} })).body.place, place.name);
});

test('every button, choice and form of the screen leads to a path that is there, and takes what it sends', async ({
  hub,
}) => {
  const found = new Set<string>();
  const walk = (node: unknown): void => {
    if (node === null || typeof node !== 'object') return;
    const { type, path } = node as { type?: string; path?: string };
    if (type === 'http.post') found.add(path!);
    for (const v of Object.values(node)) walk(v);
  };
  for (const what of ['browser', 'network'] as const)
    walk(settingsView({ ...shown, asking: { what, id: 'b1' } }));
  for (const path of ['/api/node/language', '/api/voice/phrase', '/skills/weather/v1/place'])
    assert.ok(found.delete(path), path);
  assert.equal([...found].map((path) => path.replace('/skills/settings/v1/', '')).sort(), [
    ...['ask', 'browsers/forget', 'browsers/rename', 'sound/pair', 'sound/test', 'sound/volume'],
    ...['wifi/choose', 'wifi/forget', 'wifi/join', 'wifi/scan'],
  ]);
  for (const path of found) {
    const r = await hub.ask('POST', path, { as: {}, body: {} });
    assert.not(
      [404, 405].includes(r.status) && /There is nothing/.test(r.body.message),
      `${path} ${r.status}`,
    );
  }
});

const shown: Shown = {
  trouble: { wifi: false, sound: false, browsers: false, hub: false },
  networks: 40,
  joined: true,
  radio: true,
  sinks: ['a'],
  sources: [],
  volumes: [0, 33],
  browsers: Array.from({ length: 64 }, (_, i) => `b${i}`),
  asking: { what: 'browser', id: 'b1' },
};
const off = { wifi: true, sound: true, browsers: true, hub: true };
test('its view is valid in every state and every language', () => {
  const states: Shown[] = [
    shown,
    { ...shown, trouble: off },
    { ...shown, radio: false, networks: 0, browsers: [], asking: { what: 'network', id: '' } },
  ];
  for (const s of states) {
    const view = settingsView(s);
    assert.equal(validateView(view), []);
    const texts = view.meta!['texts'] as Record<string, unknown>;
    for (const [, key] of JSON.stringify(view).matchAll(/\{\{meta\.texts\.(\w+)\}\}/g))
      for (const l of languages) assert.type(inLanguage(texts[key!], l), 'string', `${key} in ${l}`);
  }
});

test('what is told is in words: verdicts, a certificate that ran out, the volume that is set', () => {
  const probed = { state: 'READY', reason: 'ok', sink_id: 'a', source_id: 'b', confirmed: false };
  assert.match(verdictOf(probed).i18n.ru, /работают/);
  for (const reason of ['too_quiet', 'no_devices', 'no_estimate', 'unheard of'])
    assert.not.match(verdictOf({ ...probed, reason, sink_id: '' }).i18n.en, /undefined|\{/, reason);
  const link = { connected: false, hub_id: '', expires_at: 10n } as never;
  const told = JSON.stringify(hubState(link, 11));
  assert.match(told, /has run out/);
  assert.equal(volumesOf(33), [0, 25, 33, 50, 75, 100]);
});

test.run();
