// Waking by a phrase: who is listened to, what goes wrong, and that off is off.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { openAttention } from '../../firmware/scenario/attention.ts';
import type { Language } from '../../firmware/text/i18n.ts';
import { until } from '../lab/wait.ts';
import { quiet } from './lab.ts';

const test = suite('waking by a phrase');

const open = new Set<{ stop(): void }>();
test.after.each(() => {
  for (const a of open) a.stop();
  open.clear();
});

function room(o: { fault?: IngleError } = {}) {
  const is = { fault: o.fault, lang: 'en' as Language, asked: [] as string[], woken: [] as string[] };
  /** What a look waits for, where it takes its time. */
  let looked: Promise<void> | undefined;
  let waits: ((heard: boolean) => void) | undefined;
  const attention = openAttention({
    ...{ wanted: () => ({ lang: is.lang, phrase: 'okay computer' }), log: quiet },
    ear: {
      async awaitPhrase({ seconds, phrase }) {
        is.asked.push(phrase === '' ? 'end' : seconds === 0 ? 'look' : 'wait');
        waits?.(false);
        waits = undefined;
        if (phrase === '') return { heard: false };
        if (seconds === 0) await looked;
        if (is.fault) throw is.fault;
        if (seconds === 0) return { heard: false };
        return new Promise((resolve) => {
          waits = (heard) => resolve({ heard });
        });
      },
    },
    voice: {
      async wake({ user, role, locale }, lang) {
        is.woken.push(`${user} ${role} ${locale} ${lang}`);
        throw new IngleError('conflict', 'The hub listens already.');
      },
      over: async () => {},
    },
    someone: async () => ({ user: 'o1', role: 'adult' }),
  });
  open.add(attention);
  return {
    attention,
    is,
    isWaiting: () => waits !== undefined,
    /** Looks take their time from now on. @returns what ends that */
    late() {
      let end: () => void = () => {};
      looked = new Promise((resolve) => {
        end = resolve;
      });
      return () => end();
    },
    async said(heard = true) {
      await until(() => waits !== undefined, 'the ear');
      const w = waits!;
      waits = undefined;
      w(heard);
    },
  };
}

test('the phrase wakes the hub for the owner with the rights of an adult, and it waits again, whatever came of it', async () => {
  const { attention, is, said, isWaiting } = room();
  await attention.turn(true);
  await said();
  await until(() => is.woken.length === 1 && isWaiting(), 'the next wait');
  await said(false);
  await until(isWaiting, 'the next wait');
  assert.equal(is.woken, ['o1 adult en en']);
  assert.equal(is.asked, ['look', 'wait', 'wait', 'wait']);
});

test('off, nobody waits any more, and what is heard late wakes nobody', async () => {
  const { attention, is, isWaiting } = room();
  await attention.turn(true);
  await until(isWaiting, 'the ear');
  await attention.turn(false);
  assert.is(isWaiting(), false);
  assert.is(attention.attending().on, false);
  assert.equal(is.asked, ['look', 'wait', 'end']);
  assert.equal(is.woken, []);
});

test('off is off where on was under way, and the last word counts', async () => {
  const { attention, is, isWaiting, late } = room();
  const done = late();
  const all = [attention.turn(true), attention.turn(false)];
  await until(() => is.asked.length === 1, 'the look');
  done();
  await Promise.all(all);
  assert.equal([isWaiting(), attention.attending().on], [false, false]);
  await Promise.all([attention.turn(true), attention.turn(false), attention.turn(true)]);
  await until(isWaiting, 'the ear');
  assert.is(attention.attending().on, true);
});

test('off, while it looks whether it can be heard again, opens nothing', async () => {
  const { attention, is, isWaiting, late } = room({ fault: new IngleError('unavailable', 'no sound') });
  attention.begin();
  await until(() => attention.attending().trouble !== '', 'the trouble');
  const done = late();
  is.fault = undefined;
  await until(() => is.asked.at(-1) === 'look', 'the look');
  await attention.turn(false);
  done();
  await new Promise((resolve) => setTimeout(resolve, 5));
  assert.is(isWaiting(), false);
  assert.is(is.asked.at(-1), 'end');
});

test('a service that stops leaves it on for the next start, and another language counts at the next wait', async () => {
  const { attention, is, said, isWaiting } = room();
  await attention.turn(true);
  await until(isWaiting, 'the ear');
  is.lang = 'ru';
  await said(false);
  await said();
  await until(() => is.woken.length === 1, 'to be woken');
  assert.equal(is.woken, ['o1 adult ru ru']);
  attention.stop();
  assert.equal([attention.attending().on, isWaiting()], [true, false]);
});

test('what cannot be heard here is not turned on; what fails later is told and tried again', async () => {
  const lacks = new IngleError('not_supported', 'no model');
  const { attention, is, isWaiting } = room({ fault: lacks });
  assert.is(await attention.turn(true).catch((e) => e), lacks);
  assert.is(attention.attending().on, false);
  // At a start it is on by the owner's choice.
  attention.begin();
  await until(() => attention.attending().trouble === 'not_supported', 'the trouble');
  is.fault = undefined;
  await until(isWaiting, 'the next try');
  assert.equal(attention.attending(), { on: true, phrase: 'okay computer', trouble: '' });
});

test.run();
