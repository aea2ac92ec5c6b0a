// What hub_status measured, as its state says it: numbers, and the words for them.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import {
  type Link,
  type Measured,
  measuredState,
  neverRefreshed,
  refreshedAt,
} from '../../services/skills/hub_status/state.ts';

const at = 86_400_000;
const measured: Measured = {
  name: 'Attic',
  reading: {
    uptime: 3,
    cpu: 12.5,
    memory: { percent: 25, used_kib: 1_000_000, total_kib: 4_000_000 },
    samples: [{ at, cpu: 12.5, memory: 25 }],
  },
  link: { connected: true, channels: 2, pending: 1 } as Link,
  units: [
    { unit: 'ingle-uplink', bus: 'io.ingle.Uplink1', skill: '', running: true },
    { unit: 'ingle-skill@3', bus: 'io.ingle.Skill1.slot3', skill: 'lamp', running: false },
  ],
  kept: [],
  versions: { ingle: '1.0.0', node: '20.9.0', kernel: '6.1', sqlite: '-' },
};
// biome-ignore lint/suspicious/noExplicitAny: looked at field by field in assertions
const told = (o: Partial<Measured> = {}): any => measuredState({ ...measured, ...o });

const uptimes: [seconds: number, text: string][] = [
  [0, '0 min 0 s'],
  [3599, '59 min 59 s'],
  [3600, '1 h 0 min'],
  [3 * 3600 + 62, '3 h 1 min'],
  [86_399, '23 h 59 min'],
  [86_400, '1 d 0 h 0 min'],
  [2 * 86_400 + 7260, '2 d 2 h 1 min'],
];
for (const [uptime, text] of uptimes)
  test(`${uptime} s since the start are told as ${text}`, () =>
    assert.is(told({ reading: { ...measured.reading, uptime } }).uptime.text.i18n.en, text));

test('memory is told in gigabytes, with the comma of the language', () => {
  const { en, ru } = told().memory.text.i18n;
  assert.match(en, /1 .*4\.1 /);
  assert.match(ru, /4,1/);
});

test('a link that is up, down or not known is told', () => {
  const { text: up, ...counted } = told().link;
  assert.equal(counted, { connected: true, sockets: 2, pending: 1 });
  const down = told({ link: { connected: false, channels: 0, pending: 0 } as Link }).link;
  assert.is.not(down.text.i18n.en, up.i18n.en);
  assert.equal(told({ link: undefined }).link, down);
});

test('each service is named for a person, and one that somebody keeps running is missed', () => {
  const { services, health } = told();
  assert.equal(
    services.map((s: { unit: string; running: boolean }) => [s.unit, s.running]),
    [
      ['ingle-uplink', true],
      ['lamp (ingle-skill@3)', false],
    ],
  );
  assert.is(health.alert, '');
  assert.match(told({ kept: ['io.ingle.Skill1.slot3'] }).health.alert.i18n.en, /lamp \(ingle-skill@3\)/);
});

test('refreshes are counted from the first', () => {
  const first = refreshedAt('2026-11-25T10:00:00.000Z', neverRefreshed());
  assert.is(first['count'], 1);
  assert.is(refreshedAt('2026-11-25T10:00:00.000Z', first)['count'], 2);
  assert.is(refreshedAt('2026-11-25T10:00:00.000Z', undefined)['count'], 1);
});

test.run();
