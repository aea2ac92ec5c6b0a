// What is said in a household is understood, and what is not is told as not understood.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { compileIntents, recognize } from '../../firmware/intent/match.ts';
import { english, household, now, russian, type Said } from './household.ts';

const test = suite('intents of a household');
const compiled = compileIntents(household);
const understood = ([text]: Said) => {
  const r = recognize(compiled, text, { now });
  return r && [text, r.intent, r.slots];
};

test('forty phrases in English mean what they say', () => {
  assert.is(english.length, 40);
  assert.equal(english.map(understood), [...english]);
});

test('twenty phrases in Russian mean what they say', () => {
  assert.is(russian.length, 20);
  assert.equal(russian.map(understood), [...russian]);
});

test('what nobody taught means nothing', () => {
  for (const text of ['', '?!', 'open the pod bay doors', 'set a timer', 'открой дверь', 'timer for', '🙂'])
    assert.is(recognize(compiled, text, { now }), undefined, text);
});

test('a language leaves the patterns of the other one out', () => {
  assert.is(recognize(compiled, 'который час', { now, language: 'ru' })?.intent, 'time.tell');
  assert.is(recognize(compiled, 'который час', { now, language: 'en' }), undefined);
});

test('a duration is seconds, with its ISO form and its words beside it', () => {
  const r = recognize(compiled, 'таймер на полтора часа', { now })!;
  assert.equal(r.slots, { length: 5400 });
  assert.equal(r.said, { length: { type: 'duration', words: 'полтора часа', iso: 'PT1H30M' } });
});

test.run();
