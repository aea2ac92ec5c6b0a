// The scenarios of the house, each by itself: what it says, asks of skills, plans and waits for. `alarm.test.ts` has timers.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { builtinActions, type Ways } from '../../firmware/scenario/builtin.ts';
import type { Start } from '../../firmware/scenario/engine.ts';
import type { Value } from '../../firmware/scenario/expression.ts';
import { localizedText } from '../../firmware/scenario/localized.ts';
import { effective } from '../../firmware/scenario/merge.ts';
import type { Op } from '../../firmware/scenario/records.ts';
import type { Store } from '../../firmware/system/store.ts';
import { type HandClock, handClock, type Lab, openLab, settle } from './lab.ts';
import { stored } from './stored.ts';

const test = suite('the scenarios of the house at work');
const newest = new Map(
  stored().prototypes.map(({ id, versions }) => [id, [...versions.values()].at(-1)!.prototype]),
);
const [minute, hour] = [60_000, 3_600_000];

interface Home {
  /** Skills by slot. */
  slots?: Record<string, string>;
  params?: Record<string, unknown>;
  /** What is said to the hub, one after the other; nothing after that. */
  hears?: string[];
  /** What actions of skills answer; an error's code for one that fails. */
  answers?: Record<string, Value>;
  health?: Value;
  clock?: HandClock;
  store?: Store;
}

/** A scenario in a home whose words and deeds are written down. */
async function home(id: string, o: Home = {}) {
  const did: string[] = [];
  const hears = [...(o.hears ?? [])];
  const clock = o.clock ?? handClock();
  let lab: Lab;
  let locale = 'en';
  const ways = {
    ...{ now: clock.wall, zone: 'UTC' },
    async speak(text) {
      did.push(`says ${text}`);
      return { interrupted: false, text: '' };
    },
    async listen() {
      const text = hears.shift() ?? '';
      return { heard: text !== '', text };
    },
    print: (text) => void did.push(`prints ${text}`),
    notify: async ({ title, body }) =>
      void did.push(`phone: ${localizedText(title, locale)}: ${localizedText(body, locale)}`),
    async skill({ skill, action, args }) {
      did.push(`${skill}.${action} ${JSON.stringify(args)}`);
      const answer = o.answers?.[`${skill}.${action}`] ?? {};
      if (typeof answer === 'string') throw new IngleError(answer as 'conflict', 'No.');
      return answer;
    },
    takes: async () => undefined,
    async schedule({ scenario_id, at, user }) {
      did.push(`plans ${scenario_id} in ${(at - clock.wall()) / hour} h for ${user}`);
    },
    health: async () => o.health ?? {},
  } as Partial<Ways> as Ways;
  // The lab counts what is asked of its records.
  const records = {
    memory: (prefix: string) => lab.records.memory(prefix),
    write: (ops: readonly Op[]) => lab.records.write(ops),
  };
  const table = builtinActions(ways, records, async () => []);
  const actions = Object.fromEntries(table.names().map((name) => [name, table.find(name)!]));
  lab = await openLab({ clock, actions, slots: o.slots ?? {}, ...(o.store ? { store: o.store } : {}) });
  const { scenario } = effective(newest.get(id)!, { rewriteVersion: 1, params: o.params ?? {} });
  const { steps, ...more } = scenario;
  return {
    ...{ lab, did, clock, store: lab.store },
    async start(ctx: Record<string, Value> = {}, start: Partial<Start> = {}) {
      locale = String(ctx['locale'] ?? 'en');
      const row = await lab.start(steps, more, { user: 'ann', ctx: { locale, ...ctx }, ...start });
      await settle();
      return row.run_id;
    },
    state: async (run_id: string) => (await lab.records.run(run_id))!.state,
  };
}
/** What one run did that needs no time. */
async function done(id: string, o: Home = {}, ctx: Record<string, Value> = {}): Promise<string[]> {
  const h = await home(id, o);
  const run_id = await h.start(ctx);
  const row = await h.lab.records.run(run_id);
  assert.is(row!.state, 'DONE', JSON.stringify(row!.error));
  await h.store.close();
  return h.did;
}

const list: Value = {
  items: [
    { name: 'Milk', open: true },
    { name: 'Bread', open: true },
    { name: 'Salt', got: true },
  ],
};
const sunny: { [key: string]: Value } = {
  temp_c: 20.6,
  sky: { i18n: { en: 'Sunny', ru: 'Ясно' } },
  simulated: false,
};

test('good night: lights go off, and who wants to be woken is', async () => {
  const lamps = { slots: { light: 'lamps' } };
  assert.equal(await done('home/good_night', { ...lamps, hears: ['yes'] }), [
    ...['lamps.off {}', 'says Shall I wake you?'],
    ...['plans home/morning_briefing in 8 h for ann', 'says Good night.'],
  ]);
  const no = ['says Разбудить вас?', 'says Спокойной ночи.'];
  assert.equal(await done('home/good_night', { hears: ['нет'] }, { locale: 'ru' }), no);
  assert.equal(await done('home/good_night', {}, { locale: 'ru' }), no, 'who says nothing sleeps on');
  assert.equal(
    await done('home/good_night', {
      ...lamps,
      params: { ask: false },
      answers: { 'lamps.off': 'unavailable' },
    }),
    ['lamps.off {}', 'says Good night.'],
    'without the lights it is night all the same',
  );
});

test('leaving home: what need not be on goes off, and the list comes along', async () => {
  const slots = { light: 'lamps', heating: 'stove', shopping: 'shopping' };
  assert.equal(await done('home/leaving_home', { slots, answers: { 'shopping.items': list } }), [
    ...['lamps.off {}', 'stove.set {"degrees":17}', 'shopping.items {}'],
    ...['phone: To buy: Milk, Bread', 'says See you later.'],
  ]);
  const none = await done('home/leaving_home', { slots, answers: { 'shopping.items': { items: [] } } });
  assert.equal(none.slice(2), ['shopping.items {}', 'says See you later.']);
  assert.equal(await done('home/leaving_home', { slots, params: { list: false, degrees: 15 } }), [
    ...['lamps.off {}', 'stove.set {"degrees":15}', 'says See you later.'],
  ]);
  const broken = Object.fromEntries(
    ['lamps.off', 'stove.set', 'shopping.items'].map((a) => [a, 'unavailable']),
  );
  assert.is((await done('home/leaving_home', { slots, answers: broken })).at(-1), 'says See you later.');
  assert.equal(await done('home/leaving_home', {}, { locale: 'ru' }), ['says До встречи.']);
});

test('radio: plays until it is told to stop, the time is over, or another station is wanted', async () => {
  const slots = { player: 'tuner' };
  const told = await home('home/radio', { slots, params: { station: 'news' } });
  const run = await told.start();
  await told.lab.say('external.radio.stop', {});
  assert.is(await told.state(run), 'DONE');
  assert.equal(told.did, ['tuner.play {"station":"news"}', 'tuner.stop {}']);

  const late = await home('home/radio', { slots });
  await late.start({ station: 'jazz' });
  await late.clock.pass(3 * hour - 1);
  assert.equal(late.did, ['tuner.play {"station":"jazz"}']);
  await late.clock.pass(1);
  assert.equal(late.did, ['tuner.play {"station":"jazz"}', 'tuner.stop {}']);

  const other = await home('home/radio', { slots });
  const first = await other.start({ station: 'jazz' });
  const second = await other.start({ station: 'news' });
  assert.equal([await other.state(first), await other.state(second)], ['CANCELED', 'RUNNING']);
  assert.equal(other.did, [
    ...['tuner.play {"station":"jazz"}', 'tuner.stop {}', 'tuner.play {"station":"news"}'],
  ]);
  await other.lab.runs.stopByActivity('radio', 'ann');
  await settle();
  assert.equal([await other.state(second), other.did.at(-1)], ['CANCELED', 'tuner.stop {}']);
});

test('weather: told in words of each language, as made up where it is, and what cannot be had is said', async () => {
  const slots = { weather: 'weather' };
  const said = (answer: Value, locale: string) =>
    done('home/weather_on_request', { slots, answers: { 'weather.state': answer } }, { locale });
  assert.is((await said(sunny, 'en')).at(-1), 'says It is 21 degrees: sunny.');
  assert.is((await said(sunny, 'ru')).at(-1), 'says Градусов: 21, ясно.');
  const made = { ...sunny, simulated: true };
  assert.is((await said(made, 'en')).at(-1), 'says This weather is made up. It is 21 degrees: sunny.');
  const lost = await home('home/weather_on_request', { slots, answers: { 'weather.state': 'unavailable' } });
  const run = await lost.start();
  await lost.clock.pass(10_000);
  assert.is(await lost.state(run), 'DONE');
  assert.equal(lost.did, [
    ...Array(3).fill('weather.state {}'),
    'says The weather cannot be had now. Try again later.',
  ]);
});

test('quiet hours: down for the night and up in the morning, also over a restart, and up when they are stopped', async () => {
  const slots = { sound: 'speaker' };
  const night = await home('home/quiet_hours', { slots, params: { night: 10 } });
  await night.start();
  assert.equal(night.did, ['says Quiet hours begin.', 'speaker.set {"percent":10}']);
  await night.clock.pass(4 * hour);
  await night.lab.runs.stop();
  const { store } = night;
  const after = await home('home/quiet_hours', { slots, store, clock: night.clock.restart(hour) });
  await after.lab.runs.recover();
  await after.clock.pass(4 * hour - 1);
  assert.equal(after.did, []);
  await after.clock.pass(1);
  assert.equal(after.did, ['speaker.set {"percent":60}']);

  const loud = await home('home/quiet_hours', { slots });
  const run = await loud.start();
  await loud.lab.runs.order(run, 'stop');
  await settle();
  assert.equal(loud.did.slice(1), ['speaker.set {"percent":15}', 'speaker.set {"percent":60}']);
  assert.is(await loud.state(run), 'CANCELED');
});

test('shopping by voice: thing after thing, until somebody says stop or nothing', async () => {
  const slots = { list: 'shopping' };
  const asks = 'says What is to buy?';
  const put = (name: string) => `shopping.put ${JSON.stringify({ name })}`;
  const bye = 'says It is on the list.';
  assert.equal(await done('home/shopping_list_voice', { slots, hears: ['Milk ', 'oat bread', 'Stop'] }), [
    ...[asks, put('Milk'), asks, put('oat bread'), asks, bye],
  ]);
  assert.equal(await done('home/shopping_list_voice', { slots }), [asks, bye]);
  assert.equal(await done('home/shopping_list_voice', { slots }, { thing: 'Eggs' }), [put('Eggs'), bye]);
  assert.equal(await done('home/shopping_list_voice', { slots, hears: ['хлеб', 'стоп'] }, { locale: 'ru' }), [
    ...['says Что купить?', put('хлеб'), 'says Что купить?', 'says Записано.'],
  ]);
});

test('medicine: reminded three times, then told by phone; confirmed, it is noted', async () => {
  const remind = 'says It is time for your medicine. The red one';
  const params = { medicine: 'The red one' };
  const alone = await home('home/medicine_reminder', { params });
  const run = await alone.start();
  for (const times of [1, 2, 3]) {
    assert.equal(alone.did, Array(times).fill(remind));
    await alone.clock.pass(10 * minute);
  }
  assert.is(
    alone.did.at(-1),
    'phone: Medicine was not confirmed: Reminders without an answer: 3. The red one',
  );
  assert.is(await alone.state(run), 'DONE');
  const taken = await home('home/medicine_reminder', { params });
  const other = await taken.start();
  await taken.clock.pass(11 * minute);
  await taken.lab.runs.happened(other);
  await settle();
  assert.equal(taken.did, [remind, remind, 'says Thank you, it is noted.']);
  assert.is(await taken.state(other), 'DONE');
});

test('health of the hub: silent while all is well, told by phone and console else, and then for six hours no more', async () => {
  assert.equal(await done('home/hub_health_alert', { health: { alert: '' } }), []);
  const alert = { i18n: { en: 'The disk is full.', ru: 'Диск полон.' } };
  const ill = await home('home/hub_health_alert', { health: { alert } });
  const run = await ill.start({ locale: 'ru' });
  assert.equal(ill.did, ['phone: Хаб требует внимания: Диск полон.', 'prints Диск полон.']);
  await ill.clock.pass(6 * hour - 1);
  assert.is(await ill.state(run), 'RUNNING');
  await ill.clock.pass(1);
  assert.is(await ill.state(run), 'DONE');
});

test('morning: a greeting by name, the weather and the list, of which any may be missing', async () => {
  const slots = { weather: 'weather', shopping: 'shopping' };
  const answers = { 'weather.state': sunny, 'shopping.items': list };
  assert.equal(await done('home/morning_briefing', { slots, answers }), [
    ...['says Good morning.', 'weather.state {}', 'says It is 21 degrees: sunny.'],
    ...['shopping.items {}', 'says To buy: Milk, Bread.'],
  ]);
  const user = { id: 'ann', name: 'Ann' };
  assert.equal(await done('home/morning_briefing', {}, { user }), ['says Good morning, Ann.']);
  const told = await home('home/morning_briefing');
  await told.lab.records.write([{ op: 'memory', key: 'user.ann.name', value: 'Анечка' }]);
  await told.start({ user, locale: 'ru' });
  assert.equal(told.did, ['says Доброе утро, Анечка.'], 'the name they told comes first');
  const made = await done('home/morning_briefing', {
    slots,
    answers: { 'weather.state': { ...sunny, simulated: true } },
  });
  assert.is(made[2], 'says This weather is made up. It is 21 degrees: sunny.');
  const off = await done('home/morning_briefing', {
    slots,
    answers,
    params: { weather: false, shopping: false },
  });
  assert.equal(off, ['says Good morning.']);
});

test.run();
