// Waking by a phrase: who is listened to, what goes wrong, and that off is off.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { openAttention } from '../../firmware/scenario/attention.ts';
import { until } from '../lab/wait.ts';
import { quiet } from './lab.ts';

const test = suite('waking by a phrase');

const open = new Set<{ stop(): void }>();
test.after.each(() => {
  for (const a of open) a.stop();
  open.clear();
});

function room(o: { fault?: IngleError } = {}) {
  const is = { fault: o.fault, asked: [] as string[], woken: [] as string[] };
  let waits: ((heard: boolean) => void) | undefined;
  const attention = openAttention({
    ...{ lang: 'en', phrase: 'okay computer', log: quiet },
    ear: {
      async awaitPhrase({ seconds, phrase }) {
        is.asked.push(phrase === '' ? 'end' : seconds === 0 ? 'look' : 'wait');
        waits?.(false);
        waits = undefined;
        if (phrase === '') return { heard: false };
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
