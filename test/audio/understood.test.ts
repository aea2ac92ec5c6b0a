// timeout: 300 s
// What can be said is what is understood: kept grammars, words that no dictionary has, models of other languages, and
// how many sayings in a noisy room are recognised, rejected and wrongly accepted.
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  confidenceOf,
  fitOf,
  grammarHash,
  LEAST_CONFIDENCE,
  LEAST_FIT,
  scoredOf,
  segmentsOf,
} from '../../firmware/audio/grammar.ts';
import { arpabet } from '../../firmware/audio/pronounce.ts';
import { compileIntents } from '../../firmware/intent/match.ts';
import { speechGrammar } from '../../firmware/intent/speech.ts';
import type { IngleError } from '../../firmware/protocol/errors.ts';
import { openGrammars } from '../../services/audio/grammars.ts';
import { openModels } from '../../services/audio/model.ts';
import { transcribe, understood } from '../../services/audio/recognition.ts';
import { count, meaning, noCount, openEar } from './counted.ts';
import { besides, inRoom, phrases, said, voices } from './sayings.ts';

const english = '/usr/share/pocketsphinx/model/en-us';
const missing = ['/usr/bin/espeak-ng', '/usr/bin/pocketsphinx_batch', english]
  .filter((f) => !existsSync(f))
  .join(', ');
if (missing) console.log(`\nSKIP no speech here: ${missing}`);
const test = suite<{ folder: string }>('what is said and understood');
const it = missing ? test.skip : test;
test.before((c) => {
  c.folder = mkdtempSync(join(tmpdir(), 'ingle-understood-'));
});
test.after(({ folder }) => rmSync(folder, { recursive: true, force: true }));

const clean = async (text: string, voice = 'en-us'): Promise<Int16Array> =>
  Int16Array.from(await said(text, voice, 120), (v) => Math.round(v * 32_767));
const refusal = (work: () => unknown): IngleError => {
  try {
    work();
  } catch (e) {
    return e as IngleError;
  }
  throw new Error('it was not refused');
};
const grammarOf = (patterns: string[], language: 'en' | 'ru' = 'en') => {
  const rules = [{ intent: 'a', patterns: { [language]: patterns } }];
  return speechGrammar(compileIntents({ rules }), { language });
};

test('a sentence is weighed beside phones in any order, by its length', () => {
  const sentence = scoredOf('play the radio (said -5200)\n');
  assert.equal(sentence, { text: 'play the radio', score: -5200 });
  assert.equal(scoredOf(' (said -17)'), { text: '', score: -17 });
  assert.equal(scoredOf(''), { text: '', score: Number.NEGATIVE_INFINITY });
  assert.is(confidenceOf(sentence, { text: 'X_AA', score: -4000 }, 2), -6);
  assert.is(confidenceOf(sentence, { text: 'X_AA', score: -4000 }, 4), -3);
  assert.is(
    confidenceOf({ text: '', score: 0 }, { text: 'X_AA', score: -4000 }, 4),
    Number.NEGATIVE_INFINITY,
  );
  assert.ok(LEAST_CONFIDENCE < 0);
});

test('of a phrase each word must fit its own place', () => {
  const said = segmentsOf(
    'a S 0 T -9 A -9 L -9 0 -50 -337 <sil> 10 -100 0 okay 30 -600 0 computer 60 -9 -337 <sil> 70\n',
  );
  assert.equal(said[2], { word: 'computer', from: 30, to: 60, score: -600 });
  assert.is(said.length, 4);
  const phones = segmentsOf('a S 0 T -9 A -9 L -9 0 -50 0 X_N 10 -100 0 X_AA 30 -150 0 X_B 45 -150 0 X_D 75');
  // The second word covers all of one phone and half of another: -225 beside -600, in 30 frames.
  assert.is(fitOf(said, phones), -12.5);
  assert.is(fitOf(said.slice(0, 2), phones), 0);
  assert.is(fitOf(segmentsOf(''), phones), Number.NEGATIVE_INFINITY);
  assert.ok(LEAST_FIT < 0);
});

test('words in IPA are phones of the English model, and a sound it lacks is told', () => {
  assert.is(arpabet('zˈɪɡbiː'), 'Z IH G B IY');
  assert.is(arpabet('tʃˈeɪndʒɚ'), 'CH EY N JH ER');
  assert.is(arpabet('θɹˈoʊ'), 'TH R OW');
  assert.is(arpabet('ǃa'), undefined);
  assert.is(arpabet(' '), undefined);
});

it('of ten phrases in a room most are recognised, and of six sentences of nobody’s hardly any is taken for one', async () => {
  const ear = await openEar();
  const [mine, others, unbounded] = [noCount(), noCount(), noCount()];
  try {
    const some = phrases.filter((_, i) => i % 4 === 3).slice(0, 10);
    for (const [i, text] of some.entries()) {
      const { text: heard } = await ear.hear(
        inRoom(await said(text, voices[2 * (i % 2)]!), 20, 1000 + 2 * i),
      );
      count(mine, heard, meaning(text));
    }
    for (const [i, text] of besides.slice(0, 6).entries()) {
      const { text: heard, best } = await ear.hear(inRoom(await said(text, voices[i % 3]!), 20, 2000 + i));
      count(others, heard, undefined);
      count(unbounded, best, undefined);
    }
  } finally {
    ear.close();
  }
  console.log(`\nFIGURE voice_small ${JSON.stringify({ mine, others, unbounded })}`);
  assert.ok(mine.recognised >= 7, JSON.stringify(mine));
  assert.ok(mine.wrong <= 2, JSON.stringify(mine));
  assert.ok(others.wrong <= 1, JSON.stringify(others));
  assert.ok(unbounded.wrong >= 3, 'without the bound they would be taken for phrases');
});

it('a kept grammar is found by its name, also by the next process, and another one takes its place', async ({
  folder,
}) => {
  const models = openModels({ en: english, ru: '' });
  const at = join(folder, 'kept');
  const grammars = openGrammars(at, models);
  const first = grammarOf(['turn on the lamp', 'what time is it now']);
  const hash = grammarHash('en', first.grammar);
  assert.is(refusal(() => grammars.find('en', hash)).code, 'not_found');
  assert.equal(await grammars.keep({ lang: 'en', ...first }), { unknown: [] });
  const kept = openGrammars(at, models).find('en', hash);
  const o = { model: models('en'), runtime: folder };
  assert.is(await understood(await clean('turn on the lamp'), kept, o), 'turn on the lamp');
  assert.is(await understood(await clean('the neighbours have bought a new car'), kept, o), '');
  const second = grammarOf(['open the gate']);
  await grammars.keep({ lang: 'en', ...second });
  assert.is(refusal(() => grammars.find('en', hash)).code, 'not_found');
  assert.is(refusal(() => grammars.find('en', '')).code, 'not_found');
  const next = grammars.find('en', grammarHash('en', second.grammar));
  assert.is(await understood(await clean('turn on the lamp'), next, o), '');
});

it('a word that no dictionary has is understood as espeak-ng reads it', async ({ folder }) => {
  const models = openModels({ en: english, ru: '' });
  const grammars = openGrammars(join(folder, 'spelled'), models);
  const g = grammarOf(['open the zigbee settings', 'call nastya', 'what time is it now']);
  assert.equal(await grammars.keep({ lang: 'en', ...g }), { unknown: [] });
  const kept = grammars.find('en', grammarHash('en', g.grammar));
  const o = { model: models('en'), runtime: folder };
  assert.is(await understood(await clean('open the zigbee settings'), kept, o), 'open the zigbee settings');
});

it('garbage for a grammar is refused in words, and leaves the last one', async ({ folder }) => {
  const grammars = openGrammars(join(folder, 'bad'), openModels({ en: english, ru: '' }));
  const good = grammarOf(['good night']);
  await grammars.keep({ lang: 'en', ...good });
  for (const [grammar, words] of [
    [good.grammar, ['Good']],
    [good.grammar, ['good night']],
    [good.grammar, ['a\nb']],
    ['x'.repeat(300_001), ['good']],
    [good.grammar, Array(10_001).fill('good')],
    ['no grammar', ['good']],
  ] as [string, string[]][]) {
    const e = await grammars.keep({ lang: 'en', grammar, words }).then(
      () => undefined,
      (x) => x,
    );
    assert.is(e?.code, 'invalid_request', `${grammar.slice(0, 20)} ${words[0]}`);
  }
  assert.ok(grammars.find('en', grammarHash('en', good.grammar)));
});

it('Russian without a model says what is missing, step by step', ({ folder }) => {
  const at = join(folder, 'ru-missing');
  const say = (ru: string) => refusal(() => openModels({ en: english, ru })('ru'));
  for (const [error, part] of [
    [say(''), 'speech.models.ru'],
    [say(at), 'is not there'],
  ] as const) {
    assert.is(error.code, 'not_supported');
    assert.match(error.message, part);
  }
  mkdirSync(at);
  assert.match(say(at).message, 'no acoustic model');
  symlinkSync(join(english, 'en-us'), join(at, 'acoustic'));
  assert.match(say(at).message, 'no dictionary');
  writeFileSync(join(at, 'ru.dic'), 'да D AA\n');
  const model = openModels({ en: english, ru: at })('ru');
  assert.equal(model, { language: 'ru', acoustic: join(at, 'acoustic'), dictionary: join(at, 'ru.dic') });
});

it('Russian with a model in a folder is understood; its unknown words are told by name', async ({
  folder,
}) => {
  // English phones that come near: what is shown is that a folder's model is loaded and used.
  const at = join(folder, 'ru');
  mkdirSync(at);
  symlinkSync(join(english, 'en-us'), join(at, 'acoustic'));
  const words = {
    ...{ включи: 'F K L Y UW CH IY', свет: 'S V Y EH T', поставь: 'P AA S T AA F', таймер: 'T AY M EH R' },
    ...{ спокойной: 'S P AA K OY N AY', ночи: 'N OW CH IY' },
  };
  writeFileSync(
    join(at, 'ru.dic'),
    `${Object.entries(words)
      .map(([w, p]) => `${w} ${p}`)
      .join('\n')}\n`,
  );
  const models = openModels({ en: english, ru: at });
  const grammars = openGrammars(join(folder, 'ru-kept'), models);
  const far = grammarOf(['включи свет', 'открой ворота'], 'ru');
  assert.equal(await grammars.keep({ lang: 'ru', ...far }), { unknown: ['открой', 'ворота'] });
  const g = grammarOf(['включи свет', 'поставь таймер', 'спокойной ночи'], 'ru');
  assert.equal(await grammars.keep({ lang: 'ru', ...g }), { unknown: [] });
  const o = { model: models('ru'), runtime: folder };
  const list = ['включи свет', 'поставь таймер', 'спокойной ночи'];
  for (const text of list.slice(0, 2)) assert.is(await transcribe(await clean(text, 'ru'), list, o), text);
  const kept = grammars.find('ru', grammarHash('ru', g.grammar));
  assert.is(await understood(await clean('поставь таймер', 'ru'), kept, o), 'поставь таймер');
});

test.run();
