// The timer and alarm of the house: when an alarm rings, what ends it, and what is said of both.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { compileIntents, recognize } from '../../firmware/intent/match.ts';
import { builtinActions, type Ways } from '../../firmware/scenario/builtin.ts';
import { MOST_BESIDE } from '../../firmware/scenario/engine.ts';
import type { Value } from '../../firmware/scenario/expression.ts';
import { policyOf } from '../../firmware/scenario/household.ts';
import { localizedText } from '../../firmware/scenario/localized.ts';
import type { Quotas } from '../../firmware/scenario/quotas.ts';
import { houseRules } from '../../firmware/scenario/rules.ts';
import { nextTimeOfDay, tellLengths, tellTimes } from '../../firmware/scenario/time-of-day.ts';
import { type HandClock, handClock, type Lab, openLab, settle } from './lab.ts';
import { stored } from './stored.ts';

const test = suite('timers and alarms');
const zone = 'Europe/Berlin';
const at = (iso: string) => Date.parse(iso);
const next = (time: string, now: string, date = '') => {
  const found = nextTimeOfDay({ time, date }, { zone, now: at(now) });
  return found === null ? null : new Date(found).toISOString();
};

test('a time of day comes today if it is still to come, else tomorrow', () => {
  assert.is(next('07:30', '2026-11-28T06:00+01:00'), '2026-11-28T06:30:00.000Z');
  assert.is(next('07:30', '2026-11-28T07:30+01:00'), '2026-11-29T06:30:00.000Z');
  assert.is(next('00:00', '2026-11-28T23:59+01:00'), '2026-11-28T23:00:00.000Z');
});

test('it is a time on the wall where the hub is, also over a change of the clocks', () => {
  assert.is(next('07:30', '2026-10-24T22:00+02:00'), '2026-10-25T06:30:00.000Z', 'the clocks go back');
  assert.is(next('07:30', '2027-03-27T22:00+01:00'), '2027-03-28T05:30:00.000Z', 'they go forward');
  assert.is(next('02:30', '2026-10-24T22:00+02:00'), '2026-10-25T00:30:00.000Z', 'of two the first');
  const leftOut = next('02:30', '2027-03-27T22:00+01:00')!;
  assert.ok(leftOut.startsWith('2027-03-28T01:'), `of none, right after the change: ${leftOut}`);
});

test('a time on a date that is over does not come', () => {
  const now = '2026-11-28T12:00+01:00';
  assert.is(next('07:30', now, '2026-12-04'), '2026-12-04T06:30:00.000Z');
  assert.is(next('07:30', now, '2027-02-14'), '2027-02-14T06:30:00.000Z');
  assert.is(next('07:30', now, '2026-11-28'), null);
  assert.is(next('07:30', now, '2029-01-01'), null);
  assert.is(next('07:30', now, '2028-02-29'), null, 'the next 29 February is more than a year away');
  assert.throws(() => next('24:30', now), /HH:MM/);
  assert.throws(() => next('07:30', now, 'friday'), /YYYY-MM-DD/);
});

test('times are told from where the person stands', () => {
  const now = at('2026-11-28T12:00+01:00');
  const times = ['2026-11-28T20:00Z', '2026-11-29T06:30Z', '2026-12-04T08:00Z'].map(at);
  const told = (language: 'en' | 'ru') => tellTimes(times, { zone, now, language });
  assert.is(told('en'), 'today at 21:00, tomorrow at 07:30, on 4 December at 09:00');
  assert.is(told('ru'), 'сегодня в 21:00, завтра в 07:30, 4 декабря в 09:00');
});

test('lengths are told in words, as long as they are', () => {
  assert.is(tellLengths([10, 5400, 61], 'en'), '10 seconds, 1 hour 30 minutes, 1 minute 1 second');
  assert.is(tellLengths([10, 172_800 + 3600, 120], 'ru'), '10 секунд, 2 дня 1 час, 2 минуты');
});

const rules = compileIntents(houseRules);
const now = '2026-11-28T20:04';
const understood = (text: string) => {
  const r = recognize(rules, text, { now });
  return r && [r.intent, r.slots];
};

test('alarms and what cancels them are said in many ways', () => {
  for (const [text, slots] of [
    ['Wake me at 7:30', { time: '07:30' }],
    ['set an alarm for seven', { time: '07:00' }],
    ['Set the alarm for tomorrow at seven', { time: '07:00', day: '2026-11-29' }],
    ['wake me up at half past six on friday', { time: '06:30', day: '2026-12-04' }],
    ['разбуди меня в 7:30', { time: '07:30' }],
    ['Поставь будильник на семь', { time: '07:00' }],
    ['разбуди меня завтра в половине восьмого', { time: '07:30', day: '2026-11-29' }],
  ] as const)
    assert.equal(understood(text), ['set_alarm', slots], text);
  for (const [text, slots] of [
    ['cancel the timer', { cancel: 'timer' }],
    ['Stop the alarm', { cancel: 'alarm' }],
    ['dismiss the alarm', { cancel: 'alarm' }],
    ['turn my alarms off', { cancel: 'alarm', all: true }],
    ['turn off all of my alarms', { cancel: 'alarm', all: true }],
    ['cancel the alarm for tomorrow', { cancel: 'alarm', day: '2026-11-29' }],
    ['cancel the alarm for friday at nine', { cancel: 'alarm', day: '2026-12-04', time: '09:00' }],
    ['cancel the alarm for 7:30', { cancel: 'alarm', time: '07:30' }],
    ['отмени таймер', { cancel: 'timer' }],
    ['удали будильник', { cancel: 'alarm' }],
    ['отмени будильник на завтра', { cancel: 'alarm', day: '2026-11-29' }],
    ['выключи все будильники', { cancel: 'alarm', all: true }],
    ['отмени все мои будильники', { cancel: 'alarm', all: true }],
    ['отмени будильник на 7:30', { cancel: 'alarm', time: '07:30' }],
  ] as const)
    assert.equal(understood(text), ['cancel_alarm', slots], text);
  for (const text of [
    'wake me in ten minutes',
    'set an alarm in ten minutes',
    'Set an alarm for ten minutes',
    'alarm in ten minutes',
    'разбуди меня через десять минут',
    'пожалуйста, разбуди через десять минут',
    'Поставь будильник через десять минут',
    'будильник через десять минут',
  ])
    assert.equal(understood(text), ['set_timer', { length: 600 }], text);
  assert.equal(understood('set an alarm for ten'), ['set_alarm', { time: '10:00' }]);
  assert.equal(understood('разбуди меня через полчаса'), ['set_timer', { length: 1800 }]);
  assert.equal(understood('stop'), ['voice.stop', {}]);
});

const { versions } = stored().prototypes.find((p) => p.id === 'home/timer_alarm')!;
const { prototype } = versions.get('1.1.0')!;

/** A hub with this one scenario, a hand on its clock, and everybody's words written down. */
async function hub(
  clock: HandClock = handClock(at('2026-11-28T20:04+01:00')),
  { before, quotas, speak }: { before?: Lab; quotas?: Quotas; speak?: () => Promise<void> } = {},
) {
  const said: string[] = [];
  let lab: Lab;
  const ways = {
    ...{ now: clock.wall, zone },
    async speak(text: string) {
      said.push(text);
      await speak?.();
      return { interrupted: false, text: '' };
    },
    // Somebody who hears the alarm for 07:30 says stop.
    async listen({ seconds }: { seconds: number }) {
      if (said.at(-1)!.includes('07:30')) return { heard: true, text: 'stop' };
      await new Promise<void>((done) => clock.after(seconds * 1000, done));
      return { heard: false, text: '' };
    },
    notify: async ({ body }: { body: Value }) => void said.push(`phone: ${localizedText(body, 'en')}`),
    end: async (activity: string, user: string) =>
      (await lab.runs.stopByActivity(activity, user)).flatMap((s) => s.begun),
  } as Partial<Ways> as Ways;
  const table = builtinActions(ways, { memory: async () => ({}), write: async () => {} }, async () => []);
  const actions = Object.fromEntries(table.names().map((name) => [name, table.find(name)!]));
  lab = await openLab({
    clock,
    actions,
    limits: { max_concurrent_per_scenario: 1 },
    ...(before ? { store: before.store } : {}),
    ...(quotas ? { quotas } : {}),
  });
  if (before) await lab.runs.recover();
  const say = async (text: string, user = 'ann', locale = 'en') => {
    const [intent, slots] = understood(text)!;
    said.length = 0;
    const { steps, ...more } = prototype;
    const ctx = { ...(slots as Record<string, Value>), locale };
    await lab.start(steps, more, { user, ctx, ...policyOf(prototype, `intent:${intent}`) });
    await settle();
    return said.join(' ');
  };
  /** What is answered while the hub listens: once it does no more. */
  async function answered(text: string) {
    await say(text);
    await clock.pass(11_000);
    return said.find((s) => s.includes('cancelled') || s.includes('no such'));
  }
  return { lab, clock, said, say, answered };
}

test('several alarms wait at once, each is told, rings at its time and leaves the others alone', async () => {
  const { said, say, clock, lab } = await hub();
  assert.is(await say('wake me at 7:30'), 'The alarm is set: tomorrow at 07:30.');
  assert.is(await say('set an alarm for nine in the evening'), 'The alarm is set: today at 21:00.');
  assert.is(await say('поставь таймер на десять минут', 'ann', 'ru'), 'Таймер поставлен: 10 минут.');
  assert.is(lab.runs.size, 3);
  said.length = 0;
  await clock.pass(11 * 60_000);
  assert.is(said[0], 'Время вышло. Скажите «стоп».');
  said.length = 0;
  await clock.pass(47 * 60_000);
  assert.is(said.length, 6, 'five times, and on the phone');
  assert.is(said[0], 'The alarm for 21:00. Say stop.');
  assert.is(said[5], 'phone: The alarm for 21:00 rang, and nobody said stop.');
  said.length = 0;
  await clock.pass(at('2026-11-29T07:29+01:00') - clock.wall());
  assert.equal(said, []);
  await clock.pass(60_000);
  assert.equal(said, ['The alarm for 07:30. Say stop.'], 'once, as somebody says stop');
  assert.is(lab.runs.size, 0);
});

test('an alarm is cancelled by whoever set it, and it is said which', async () => {
  const { say, clock, said, lab } = await hub();
  assert.is(await say('cancel the alarm'), 'There is no such alarm.');
  for (const text of ['wake me at 7:30', 'wake me at eight', 'set a timer for ten minutes']) await say(text);
  await say('wake me at six', 'bob');
  assert.is(await say('cancel the alarm for 7:45'), 'There is no such alarm.');
  assert.is(await say('cancel the alarm for 7:30'), 'The alarm is cancelled: tomorrow at 07:30.');
  await say('wake me at 7:15');
  assert.is(
    await say('выключи будильники', 'ann', 'ru'),
    'Будильник отменён: завтра в 07:15, завтра в 08:00.',
  );
  assert.is(await say('отмени таймер', 'ann', 'ru'), 'Таймер отменён: 10 минут.');
  assert.is(await say('отмени таймер', 'ann', 'ru'), 'Такого таймера нет.');
  said.length = 0;
  await clock.pass(24 * 3_600_000);
  assert.is(said[0], 'The alarm for 06:00. Say stop.', 'that of somebody else rings');
  assert.is(said.at(-1)!.startsWith('phone: The alarm for 06:00'), true, 'and no other');
  assert.is(lab.runs.size, 0);
});

test('an alarm that rings is ended by a sentence too', async () => {
  const { say, said, clock, lab } = await hub();
  await say('set an alarm for nine in the evening');
  await clock.pass(56 * 60_000 + 1000);
  assert.is(said.at(-1), 'The alarm for 21:00. Say stop.');
  await say('stop the alarm');
  await clock.pass(60_000);
  assert.equal(said, ['The alarm is cancelled: today at 21:00.']);
  assert.is(lab.runs.size, 0);
});

test('alarms survive a restart, and can be cancelled after it; one that was missed rings when the hub is back', async () => {
  const { say, lab, clock } = await hub();
  await say('wake me at eight');
  await say('set an alarm for nine in the evening');
  const after = await hub(clock.restart(2 * 3_600_000), { before: lab });
  await settle();
  assert.is(after.said[0], 'The alarm for 21:00. Say stop.');
  await after.clock.pass(60_000);
  assert.is(await after.say('cancel my alarms'), 'The alarm is cancelled: tomorrow at 08:00.');
});

test('while one rings, "stop the alarm" is said of it and of no other', async () => {
  const { say, answered, clock, lab } = await hub();
  for (const text of ['set an alarm for nine in the evening', 'wake me on friday at 9:00']) await say(text);
  await say('set a timer for two hours');
  await clock.pass(56 * 60_000 + 1000);
  assert.is(await answered('stop the alarm'), 'The alarm is cancelled: today at 21:00.');
  assert.is(lab.runs.size, 2);
  assert.is(await say('stop the alarm'), 'The alarm is cancelled: on 4 December at 09:00.');
  assert.is(await say('stop the timer'), 'The timer is cancelled: 2 hours.');
});

test('all of them are cancelled while one rings, where that is said', async () => {
  const { say, answered, clock, lab } = await hub();
  for (const text of ['set an alarm for nine in the evening', 'wake me at eight']) await say(text);
  await clock.pass(56 * 60_000 + 1000);
  assert.is(
    await answered('cancel all my alarms'),
    'The alarm is cancelled: today at 21:00, tomorrow at 08:00.',
  );
  assert.is(lab.runs.size, 0);
});

test('an alarm is found by its time on whatever day it is, and by its day, also while it rings', async () => {
  const { say, answered, clock, lab } = await hub();
  await say('set an alarm for nine in the evening');
  await clock.pass(56 * 60_000 + 20_000);
  assert.is(
    await answered('cancel the alarm for nine in the evening'),
    'The alarm is cancelled: today at 21:00.',
  );
  await say('wake me on friday at 6:30');
  assert.is(await say('cancel the alarm for 6:30'), 'The alarm is cancelled: on 4 December at 06:30.');
  for (const text of ['wake me at eight', 'wake me at six', 'wake me on friday at eight']) await say(text);
  assert.is(
    await say('cancel the alarm for tomorrow'),
    'The alarm is cancelled: tomorrow at 06:00, tomorrow at 08:00.',
  );
  assert.is(await say('cancel the alarm for friday at nine'), 'There is no such alarm.');
  assert.is(
    await say('cancel the alarm for friday at eight'),
    'The alarm is cancelled: on 4 December at 08:00.',
  );
  assert.is(lab.runs.size, 0);
});

test('an alarm that rings late after a power cut is still the one for its time', async () => {
  const { say, lab, clock } = await hub();
  await say('set an alarm for nine in the evening');
  const after = await hub(clock.restart(26 * 3_600_000), { before: lab });
  await settle();
  assert.is(after.said[0], 'The alarm for 21:00. Say stop.');
  assert.is(
    await after.answered('cancel the alarm for nine in the evening'),
    'The alarm is cancelled: on 28 November at 21:00.',
  );
  assert.is(after.lab.runs.size, 0);
});

test('an alarm rings on its day, however many days away that is, and so does a timer', async () => {
  const { say, said, clock } = await hub();
  await say('wake me on friday at 7:30');
  await say('set a timer for nine days');
  said.length = 0;
  await clock.pass(7 * 86_400_000);
  assert.equal(said, ['The alarm for 07:30. Say stop.']);
  await clock.pass(3 * 86_400_000);
  assert.is(said[1], 'Time is up. Say stop.');
});

test('an alarm that is said twice rings once', async () => {
  const { say, said, clock, lab } = await hub();
  await say('wake me at 7:30');
  assert.is(await say('wake me at 7:30'), 'The alarm is set: tomorrow at 07:30.');
  assert.is(lab.runs.size, 1);
  said.length = 0;
  await clock.pass(24 * 3_600_000);
  assert.equal(said, ['The alarm for 07:30. Say stop.']);
});

test('what is being confirmed can be cancelled', async () => {
  let spoken = () => {};
  const words = [Promise.resolve(), new Promise<void>((done) => (spoken = done))].reverse();
  const { say, said, clock, lab } = await hub(undefined, { speak: async () => words.shift() });
  assert.is(await say('wake me at 7:30'), 'The alarm is set: tomorrow at 07:30.');
  await say('cancel the alarm', 'ann');
  spoken();
  await settle();
  assert.equal(said, ['The alarm is cancelled: tomorrow at 07:30.']);
  await clock.pass(24 * 3_600_000);
  assert.is(lab.runs.size, 0);
  assert.is(said.length, 1);
});

test('with as many alarms as there may be, they are cancelled by a sentence all the same', async () => {
  const { say, lab } = await hub();
  for (let i = 0; i < MOST_BESIDE; i++) await say(`set a timer for ${i + 10} minutes`);
  assert.is(lab.runs.size, MOST_BESIDE);
  await say('set a timer for nine hours').then(
    () => assert.unreachable(),
    (e) => assert.is(e.code, 'conflict'),
  );
  assert.match(await say('cancel the timer'), /^The timer is cancelled: 10 minutes/);
  assert.is(lab.runs.size, 0);
});

test('two timers of one length are told once', async () => {
  const { say, lab } = await hub();
  for (let i = 0; i < 2; i++) await say('set a timer for an hour and a half');
  assert.is(await say('cancel my timers'), 'The timer is cancelled: 1 hour 30 minutes.');
  assert.is(lab.runs.size, 0);
});

test('a hub that does not know the time says so, and sets no alarm; a timer needs no time', async () => {
  const { say, said, clock, lab } = await hub(handClock(at('1970-01-01T00:05Z')));
  const words = 'The hub does not know the time yet. Connect it to the network, and say it again.';
  assert.is(await say('wake me at 7:30'), words);
  assert.is(lab.runs.size, 0);
  assert.is(await say('set a timer for ten seconds'), 'The timer is set: 10 seconds.');
  await clock.pass(10_000);
  assert.is(said.at(-1), 'Time is up. Say stop.');
});

test('"It is set" is said of what rings: no timer of 500 days', async () => {
  const { say, lab } = await hub();
  assert.is(await say('set a timer for 500 days'), 'A timer waits for 365 days at most. Say a shorter time.');
  assert.is(lab.runs.size, 0);
  assert.is(await say('set a timer for 365 days'), 'The timer is set: 365 days.');
  assert.is(lab.runs.size, 1);
});

test('what cannot be confirmed is set all the same', async () => {
  const { say, said, lab, clock } = await hub(undefined, { quotas: { tts: { user: { day: 1 } } } });
  assert.is(await say('wake me at eight'), '');
  assert.is(await say('set a timer for ten minutes'), '');
  assert.is(lab.runs.size, 2);
  await clock.pass(11 * 60_000);
  assert.is(said.at(-1), 'phone: Time is up: 10 minutes.');
});

test('what has no time in its name is cancelled without a word of one', async () => {
  const { say, lab } = await hub();
  const old = versions.get('1.0.0')!.prototype;
  await lab.start(old.steps, old, { user: 'ann' });
  await lab.start([{ do: 'delay', for: '1h', activityId: 'alarm/2' }], {}, { user: 'ann' });
  await settle();
  assert.is(await say('cancel the timer'), 'The timer is cancelled.');
  assert.is(await say('cancel the alarm'), 'The alarm is cancelled.');
  assert.is(lab.runs.size, 0);
});

test('a time that is over is told as such', async () => {
  const { say, lab } = await hub();
  assert.is(
    await say('wake me today at seven in the morning'),
    'This time is over, or more than a year away. Say another one.',
  );
  assert.is(lab.runs.size, 0);
});

test.run();
