// What the speech grammar lets be said is what is understood, and what cannot be said is told.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { MAX_PHRASES, phraseGrammar } from '../../firmware/audio/grammar.ts';
import { compileIntents, recognize } from '../../firmware/intent/match.ts';
import { seeded } from '../../firmware/intent/sample.ts';
import { MAX_GRAMMAR, speechGrammar, speechPhrases } from '../../firmware/intent/speech.ts';
import type { Language } from '../../firmware/text/i18n.ts';
import { busyFor } from '../lab/busy.ts';
import { household, now } from './household.ts';

const test = suite('speech of intents');
const compiled = compileIntents(household);

/** A JSGF grammar as its rules, each as tokens. */
function rulesOf(grammar: string): Map<string, string[]> {
  const [head, name, ...lines] = grammar.trimEnd().split('\n');
  assert.is(head, '#JSGF V1.0;');
  assert.is(name, 'grammar intents;');
  return new Map(
    lines.map((line) => {
      const [, rule, body] = /^(?:public )?(<[a-z0-9_]+>) = (.+);$/.exec(line) ?? [];
      assert.ok(rule && body, line);
      return [rule, body.split(' ')];
    }),
  );
}

/** One sentence of a grammar by chance. Alternatives without brackets bind weaker than what stands in a row. */
function spoken(rules: Map<string, string[]>, random: () => number): string {
  let tokens: string[] = [];
  let at = 0;
  const alternatives = (end?: string): (() => string[])[] => {
    const of: (() => string[])[] = [];
    let row: (() => string[])[] = [];
    const close = () => {
      const parts = row;
      assert.ok(parts.length > 0, 'an alternative has words');
      of.push(() => parts.flatMap((p) => p()));
      row = [];
    };
    for (; at < tokens.length; ) {
      const token = tokens[at++]!;
      if (token === end) break;
      if (token === '|') close();
      else if (token === '(' || token === '[') {
        const inner = alternatives(token === '(' ? ')' : ']');
        row.push(() =>
          token === '[' && random() < 0.5 ? [] : inner[Math.floor(random() * inner.length)]!(),
        );
      } else if (token.startsWith('<')) row.push(() => expand(token));
      else row.push(() => [token]);
    }
    close();
    return of;
  };
  const expand = (rule: string): string[] => {
    const kept = [tokens, at] as const;
    tokens = rules.get(rule)!;
    at = 0;
    const of = alternatives();
    [tokens, at] = kept;
    return of[Math.floor(random() * of.length)]!();
  };
  return expand('<intent>').join(' ');
}

test('a sentence of the grammar is understood, in English and in Russian', () => {
  for (const language of ['en', 'ru'] as const satisfies Language[]) {
    const { grammar, words } = speechGrammar(compiled, { language });
    assert.ok(grammar.length < MAX_GRAMMAR, String(grammar.length));
    const rules = rulesOf(grammar);
    const known = new Set(words);
    const random = seeded(5);
    let none = 0;
    for (let i = 0; i < 1500; i++) {
      const sentence = spoken(rules, random);
      for (const w of sentence.split(' ')) assert.ok(known.has(w), w);
      if (recognize(compiled, sentence, { now })) continue;
      // Of dates alone: a month that does not have the day.
      assert.ok(/thirt|twenty nin|тридцат|двадцать девят/.test(sentence), sentence);
      none++;
    }
    assert.ok(none < 60, String(none));
    console.log(`\nFIGURE intents_grammar_${language} ${grammar.length} characters, ${words.length} words`);
  }
});

test('a pattern with a free slot is told as unspoken, or said without it', () => {
  const c = compileIntents({
    rules: [
      { intent: 'a', pattern: 'remind me to {what}' },
      { intent: 'b', pattern: 'start a timer [called {name}]' },
      { intent: 'c', pattern: 'play (jazz|{title})' },
      { intent: 'd', pattern: 'channel 5' },
      { intent: 'e', pattern: 'volume {n:number} [%]' },
      { intent: 'f', pattern: 'включи свет' },
      { intent: 'g', pattern: 'open the {x:doors}' },
    ],
    lists: { doors: [{ out: 1, says: { ru: ['дверь'] } }] },
  });
  const { grammar, unspoken } = speechGrammar(c);
  assert.equal(
    unspoken.map(({ rule, why, partly }) => [rule, why, partly]),
    [
      [0, 'free', false],
      [1, 'free', true],
      [2, 'free', true],
      [3, 'word', false],
      [6, 'word', false],
    ],
  );
  const [, , intents] = grammar.split('\n');
  assert.is(intents, 'public <intent> = start a timer | play jazz | volume <number>;');
  const other = speechGrammar(c, { language: 'ru' });
  assert.is(other.grammar, '#JSGF V1.0;\ngrammar intents;\npublic <intent> = включи свет;\n');
  assert.equal(other.unspoken, []);
});

test('words the recogniser does not know fall away, with what needs them', () => {
  const c = compileIntents({
    rules: [
      { intent: 'a', pattern: 'switch on the (lamp|zigbee)' },
      { intent: 'b', pattern: 'pair zigbee' },
    ],
  });
  const { grammar, words, unspoken } = speechGrammar(c, { knows: (w) => w !== 'zigbee' });
  assert.ok(grammar.includes('public <intent> = switch on the lamp;'));
  assert.equal(words, ['switch', 'on', 'the', 'lamp']);
  assert.equal(
    unspoken.map(({ rule, why }) => [rule, why]),
    [[1, 'word']],
  );
});

test('nothing that can be said is no grammar, and a large one stops at its bound', () => {
  assert.equal(speechGrammar(compileIntents({ rules: [{ intent: 'a', pattern: '{x}' }] })).grammar, '');
  const rules = Array.from({ length: 5000 }, (_, i) => ({
    intent: 'a',
    pattern:
      [...String(i)].map((d) => 'abcdefghij'[Number(d)]).join(' ') +
      ' and a rather long sentence after it to fill the grammar',
  }));
  const { grammar, unspoken } = speechGrammar(compileIntents({ rules }));
  assert.ok(grammar.length < MAX_GRAMMAR + 1000);
  assert.ok(unspoken.length > 0 && unspoken.every((u) => u.why === 'full'));
});

test('a recogniser that is given phrases gets some of every pattern, within its bounds', () => {
  const { phrases, isWhole } = speechPhrases(compiled);
  assert.is(phrases.length, MAX_PHRASES);
  assert.not(isWhole);
  assert.ok(phraseGrammar(phrases).length > 0);
  for (const p of phrases) assert.ok(recognize(compiled, p, { now }), p);
  const many = Array.from({ length: 2000 }, (_, i) => ({
    intent: 'a',
    pattern: `[please] turn on ${'abcdefghij'[i % 10]} ${'abcdefghij'[i % 7]} for {n:number}`,
  }));
  const of = compileIntents({ rules: many });
  const { ms, gave } = busyFor(() => speechPhrases(of));
  assert.ok(gave.phrases.length > 30);
  assert.ok(ms < 1000, `${ms} ms`);
  const small = compileIntents({ rules: [{ intent: 'a', pattern: '(turn|switch) on [the] light' }] });
  assert.equal(speechPhrases(small), {
    phrases: ['turn on light', 'turn on the light', 'switch on light', 'switch on the light'],
    isWhole: true,
  });
});

test.run();
