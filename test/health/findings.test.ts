// Each fault a doctor can meet becomes one finding with the next step; a healthy hub has none.
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type CheckName,
  checkNames,
  diagnose,
  type Facts,
  type WifiSeen,
  worst,
} from '../../firmware/health/findings.ts';
import { unwell } from '../../firmware/health/health.ts';
import { faults, resultCode } from '../../firmware/health/selftest.ts';
import { healthTexts } from '../../firmware/text/health.ts';
import { translator } from '../../firmware/text/i18n.ts';

const test = suite('findings');
const now = 1_800_000_000;
const GB = 2 ** 30;
const unit = (name: string, over: object = {}) => ({
  name: `${name}.service`,
  failed: false,
  starting: false,
  restarts: 0,
  ...over,
});
const wifi = (over: Partial<WifiSeen> = {}) => ({
  value: { radios: 1, softap: 'off', ap: '', station: 'off', ssid: '', ...over } as const,
});
const well: Facts = {
  units: { value: [unit('ingle-uplink')] },
  houseStarting: false,
  bus: { value: { wanted: ['io.ingle.Uplink1'], taken: ['io.ingle.Uplink1'], skills: new Map() } },
  api: { value: true, url: 'http://127.0.0.1:8777' },
  root: { value: { ms: 12, ours: true, at: now }, url: 'https://root.example' },
  link: {
    value: { connected: true, enrolled: true, browsers: 1, expires_at: now + 80 * 86_400, last_error: '' },
  },
  clock: { now, synchronised: true, built: now - 1e6 },
  disk: { value: { free: 6 * GB, total: 8 * GB }, path: '/var/lib/ingle' },
  slots: { value: { booted: 'a', states: { a: 'good', b: 'good' } } },
  update: { value: { version: '1.2.0', state: 'idle', failed: '' } },
  audio: { value: { sinks: 1, sources: 1, usableSinks: 1, usableSources: 1 } },
  wifi: wifi({ station: 'connected', ssid: 'Home' }),
  bluetooth: { value: ['hci0'] },
  rootTls: { value: now + 60 * 86_400 },
  stores: { value: [] },
  storesCount: 5,
  label: { serial: 'H2-0001', secrets: true, policy: 'required' },
  hardware: { wifi: true, bluetooth: true, speaker: true, microphone: true },
};
const none = { wifi: false, bluetooth: false, speaker: false, microphone: false };
const quiet = { value: { sinks: 0, sources: 0, usableSinks: 0, usableSources: 0 } };
const link = (over: object) => ({
  value: {
    connected: true,
    enrolled: true,
    browsers: 0,
    expires_at: now + 80 * 86_400,
    last_error: '',
    ...over,
  },
});

test('a hub that is well has nothing but ok', () => {
  for (const f of diagnose(well)) assert.is(f.level, 'ok', f.check);
  assert.equal(unwell(well, true), []);
});

const lives = new Map([['io.ingle.Skill1.slot3', 'weather']]);
const broken: [what: string, over: Partial<Facts>, check: CheckName, level: string, words: RegExp][] = [
  [
    'a failed unit',
    { units: { value: [unit('ingle-wifi', { failed: true })] } },
    'units',
    'bad',
    /ingle-wifi\.service failed\. See why: journalctl -u ingle-wifi/,
  ],
  [
    'a failed skill',
    {
      units: { value: [unit('ingle-skill@3', { failed: true })] },
      bus: { value: { wanted: [], taken: [], skills: lives } },
    },
    'units',
    'bad',
    /weather \(ingle-skill@3\.service\) failed\. See why: journalctl -u ingle-skill@3/,
  ],
  ['a silent systemd', { units: { why: 'timeout' } }, 'units', 'warn', /timeout/],
  [
    'a missing service',
    { bus: { value: { wanted: [...lives.keys()], taken: [], skills: lives } } },
    'bus',
    'bad',
    /^weather \(ingle-skill@3\) missing.*journalctl -u ingle-skill@3;/,
  ],
  ['no bus', { bus: { why: 'ENOENT' } }, 'bus', 'bad', /systemctl status dbus/],
  ['a silent API', { api: { why: 'ECONNREFUSED' } }, 'api', 'bad', /ECONNREFUSED/],
  ['a root out of reach', { root: { why: 'ENOTFOUND' } }, 'root', 'bad', /ENOTFOUND.*does the name resolve/],
  ['a portal', { root: { value: { ms: 1, ours: false, at: null } } }, 'root', 'bad', /sign-in page/],
  [
    'a lost link',
    { link: link({ connected: false, last_error: 'certificate' }) },
    'link',
    'bad',
    /certificate/,
  ],
  ['a new hub', { link: link({ connected: false, enrolled: false }) }, 'link', 'warn', /ingle login/],
  [
    'a wrong clock',
    { root: { value: { ms: 1, ours: true, at: now - 4000 } } },
    'clock',
    'bad',
    /off by 4000 s/,
  ],
  ['a clock of the past', { clock: { now: 0, synchronised: null, built: now } }, 'clock', 'bad', /1970/],
  ['a clock nobody set', { clock: { ...well.clock, synchronised: false } }, 'clock', 'warn', /port 123/],
  ['a full disk', { disk: { value: { free: 31e6, total: GB }, path: '/x' } }, 'disk', 'bad', /vacuum/],
  [
    'a disk that fills',
    { disk: { value: { free: 1e8, total: 8 * GB }, path: '/x' } },
    'disk',
    'warn',
    /du -x \/x/,
  ],
  [
    'a bad slot',
    { slots: { value: { booted: 'a', states: { a: 'bad', b: 'good' } } } },
    'slots',
    'bad',
    /newest bundle/,
  ],
  [
    'one slot alone',
    { slots: { value: { booted: 'a', states: { a: 'good', b: 'bad' } } } },
    'slots',
    'warn',
    /nothing to fall back/,
  ],
  [
    'an update that fell back',
    { update: { value: { version: '1', state: 'idle', failed: 'not healthy' } } },
    'update',
    'warn',
    /not healthy/,
  ],
  ['no speaker', { audio: quiet }, 'audio', 'bad', /no speaker/],
  ['no speaker where none is promised', { audio: quiet, hardware: none }, 'audio', 'warn', /no speaker/],
  ['a silent sound service', { audio: { why: 'timeout' }, hardware: none }, 'audio', 'bad', /ingle-sound/],
  ['no radio', { wifi: wifi({ radios: 0 }) }, 'wifi', 'bad', /firmware/],
  [
    'no radio where none is promised',
    { wifi: wifi({ radios: 0 }), hardware: none },
    'wifi',
    'warn',
    /firmware/,
  ],
  ['no Bluetooth', { bluetooth: { value: [] } }, 'bluetooth', 'bad', /dmesg/],
  [
    'a certificate near its end',
    { link: link({ expires_at: now + 5 * 86_400 }) },
    'certificate',
    'warn',
    /5 more days/,
  ],
  [
    'a certificate past it',
    { link: link({ expires_at: now - 5 * 86_400 }) },
    'certificate',
    'bad',
    /expired 5 days ago/,
  ],
  [
    "a root's certificate near its end",
    { rootTls: { value: now + 2 * 86_400 } },
    'root_tls',
    'warn',
    /operator/,
  ],
  [
    "a root's certificate that is wrong",
    { rootTls: { why: 'CERT_HAS_EXPIRED' } },
    'root_tls',
    'bad',
    /CERT_HAS_EXPIRED/,
  ],
  [
    'a damaged file',
    { stores: { value: [{ file: 'a/a.db', why: 'malformed', unread: false }] } },
    'stores',
    'bad',
    /a\/a\.db is damaged/,
  ],
  [
    'a file that is not ours to read',
    { stores: { value: [{ file: 'wifi', why: 'EACCES', unread: true }] } },
    'stores',
    'warn',
    /sudo ingle doctor/,
  ],
  ['no label', { label: { serial: '', secrets: false, policy: 'required' } }, 'label', 'bad', /factory line/],
];
for (const [what, over, check, level, words] of broken)
  test(`${what} is one finding (${level}) and says what to do`, () => {
    const findings = diagnose({ ...well, ...over });
    const f = findings.find((x) => x.check === check)!;
    assert.is(f.level, level);
    for (const language of ['en', 'ru'] as const) {
      const text = translator(healthTexts, language)(f.text, f.values);
      assert.not.match(text, /\{\w+\}/, `every value of ${f.text} is filled in`);
      if (language === 'en') assert.match(text, words);
    }
    if (level === 'bad') assert.is(worst(findings), 'bad');
  });

const coming = (name: string, restarts = 0) => ({
  units: { value: [unit('ingle-uplink'), unit(name, { starting: true, restarts })] },
});
const onItsWay: [what: string, over: Partial<Facts>, check: CheckName, level: string, words: RegExp][] = [
  [
    'the API',
    { ...coming('ingle-api'), api: { why: 'ECONNREFUSED' } },
    'api',
    'warn',
    /^ingle-api is starting/,
  ],
  [
    'sound',
    { ...coming('ingle-audio'), audio: { why: 'NoReply' } },
    'audio',
    'warn',
    /^ingle-audio is starting/,
  ],
  [
    'the uplink',
    {
      ...coming('ingle-uplink'),
      bus: { value: { wanted: ['io.ingle.Uplink1'], taken: [], skills: new Map() } },
    },
    'bus',
    'warn',
    /^ingle-uplink is starting/,
  ],
  [
    'a service that died before',
    { ...coming('ingle-api', 3), api: { why: 'ECONNREFUSED' } },
    'api',
    'bad',
    /^ingle-api died and is starting again, 3 times so far.*journalctl -u ingle-api/,
  ],
  [
    'another service than the silent one',
    { ...coming('ingle-bot'), api: { why: 'ECONNREFUSED' } },
    'api',
    'bad',
    /does not answer/,
  ],
  [
    'a house',
    { houseStarting: true, bus: { why: 'ENOENT' } },
    'bus',
    'warn',
    /npm start is still starting it/,
  ],
  [
    "a house's root",
    { houseStarting: true, root: { why: 'ECONNREFUSED' } },
    'root',
    'warn',
    /still starting/,
  ],
];
for (const [what, over, check, level, words] of onItsWay)
  test(`${what} that is starting is told as that, not as silent`, () => {
    const f = diagnose({ ...well, ...over }).find((x) => x.check === check)!;
    assert.is(f.level, level);
    assert.match(translator(healthTexts, 'en')(f.text, f.values), words);
    // It is not well yet, whatever it is called.
    if (check !== 'root') assert.equal(unwell({ ...well, ...over }, true), [check]);
  });

test('a house that is starting and answers is well', () => {
  assert.is(worst(diagnose({ ...well, houseStarting: true })), 'ok');
});

const radios: [over: Partial<WifiSeen>, level: string, en: string, ru: RegExp][] = [
  [{}, 'ok', 'one radio; no network joined, no access point open', /сеть не подключена/],
  [
    { radios: 2, softap: 'on', ap: 'Ingle-A7F3' },
    'ok',
    '2 radios; the access point Ingle-A7F3 is open',
    /Ingle-A7F3 открыта/,
  ],
  [
    { radios: 2, softap: 'starting', ap: 'Ingle-A7F3' },
    'ok',
    '2 radios; the access point is opening',
    /открывается/,
  ],
  [{ station: 'connected', ssid: 'Home' }, 'ok', 'one radio; joined to Home', /подключён к Home/],
  [
    { radios: 2, station: 'connected', ssid: 'Home', softap: 'on', ap: 'Ingle' },
    'ok',
    '2 radios; joined to Home, the access point Ingle is open',
    /к Home, точка доступа Ingle открыта/,
  ],
  [
    { station: 'addressing', ssid: 'Home', softap: 'paused' },
    'ok',
    'one radio; joining Home',
    /подключается к Home/,
  ],
  [
    { station: 'lost', ssid: 'Home' },
    'warn',
    'Home is out of reach; the hub keeps looking for it. Another network: ingle setup restart',
    /вне досягаемости/,
  ],
];
for (const [over, level, en, ru] of radios)
  test(`Wi-Fi in words: ${en}`, () => {
    const f = diagnose({ ...well, wifi: wifi(over) }).find((x) => x.check === 'wifi')!;
    assert.is(f.level, level);
    assert.is(translator(healthTexts, 'en')(f.text, f.values), en);
    assert.match(translator(healthTexts, 'ru')(f.text, f.values), ru);
  });

test('what is not part of an installation is passed over', () => {
  const bare: Facts = { ...well };
  for (const part of ['units', 'slots', 'update', 'audio', 'wifi', 'rootTls'] as const) delete bare[part];
  const findings = diagnose(bare as Facts);
  assert.is(findings.length, checkNames.length);
  assert.is(findings.filter((f) => f.level === 'skip').length, 6);
  assert.is(worst(findings), 'ok');
});

test('a version is not well while a service is silent, has failed, or the link is lost', () => {
  const rows: [Partial<Facts>, CheckName[]][] = [
    [{ units: { value: [unit('x', { failed: true })] } }, ['units']],
    [{ bus: { why: 'gone' } }, ['bus']],
    [{ api: { why: 'gone' } }, ['api']],
    [{ link: { why: 'gone' } }, ['link']],
    [{ link: link({ connected: false }) }, ['link']],
    [{ audio: undefined }, ['audio']],
    [{ wifi: { why: 'timeout' } }, ['wifi']],
    // A hub that never reached its root, and one without radio or speaker, run as well as they did before.
    [{ link: link({ connected: false, enrolled: false }) }, []],
    [{ audio: quiet, wifi: wifi({ radios: 0 }) }, []],
  ];
  for (const [over, names] of rows) assert.equal(unwell({ ...well, ...over }, true), names);
  const house: Facts = { ...well, units: undefined, audio: undefined, wifi: undefined };
  assert.equal(unwell(house, false), []);
  assert.equal(unwell(house, true), ['units', 'audio', 'wifi']);
});

test('a result code names every fault, or is of this device and version alone', () => {
  const device = { model: 'x', serial: 'H2-1', version: '1.0.0' };
  const part = (fault: keyof typeof faults | '') => ({ part: 'wifi' as const, fault, values: {} });
  assert.is(resultCode([part('W2'), part(''), part('S1')], device), 'FAIL-W2-S1');
  fc.assert(
    fc.property(fc.string(), fc.string(), (a, b) => {
      const code = (serial: string) => resultCode([part('')], { ...device, serial });
      assert.match(code(a), /^PASS-[0-9A-HJKMNP-TV-Z]{4}$/);
      if (a === b) assert.is(code(a), code(b));
    }),
  );
  const t = translator(healthTexts, 'en');
  for (const text of Object.values(faults)) assert.ok(t(text).length > 5);
});

test.run();
