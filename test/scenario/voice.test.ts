// The conversation: its table, and what it does of it, with an ear that hears what a test says.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { grammarHash } from '../../firmware/audio/grammar.ts';
import { compileIntents } from '../../firmware/intent/match.ts';
import { speechGrammar } from '../../firmware/intent/speech.ts';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { openSayable } from '../../firmware/scenario/sayable.ts';
import { type Interruption, openVoice, STOP } from '../../firmware/scenario/voice.ts';
import { type VoiceEvent, type VoiceState, voiceTable } from '../../firmware/scenario/voice-states.ts';
import { until } from '../lab/wait.ts';
import { quiet } from './lab.ts';

const test = suite('a conversation by voice');

test('each state takes these events and no others', () => {
  const rows: [VoiceState, VoiceEvent, VoiceState][] = [
    ['IDLE', 'wake', 'LISTENING'],
    ['LISTENING', 'heard', 'ACTING'],
    ['LISTENING', 'unclear', 'REFUSING'],
    ['LISTENING', 'silent', 'IDLE'],
    ['LISTENING', 'stop', 'IDLE'],
    ['LISTENING', 'fault', 'IDLE'],
    ['ACTING', 'started', 'ANSWERING'],
    ['ACTING', 'refused', 'REFUSING'],
    ['ACTING', 'told', 'IDLE'],
    ['ACTING', 'stop', 'IDLE'],
    ['ACTING', 'fault', 'IDLE'],
    ...(['ANSWERING', 'REFUSING'] as const).flatMap((s): [VoiceState, VoiceEvent, VoiceState][] => [
      [s, 'wake', 'LISTENING'],
      [s, 'heard', 'ACTING'],
      [s, 'unclear', 'IDLE'],
      [s, 'told', 'IDLE'],
      [s, 'stop', 'IDLE'],
      [s, 'fault', 'IDLE'],
    ]),
  ];
  const is = Object.entries(voiceTable).flatMap(([s, of]) => Object.entries(of).map(([e, to]) => [s, e, to]));
  assert.equal(new Set(is.map(String)), new Set(rows.map(String)));
});

/** What a test leaves waiting for an answer ends with it. */
const open = new Set<{ stop(): void }>();
test.after.each(() => {
  for (const v of open) v.stop();
  open.clear();
});
const asker = { user: 'o1', role: 'owner' };
type Hold<T> = { resolve(v: T): void; reject(e: unknown): void };

/** A conversation whose ear waits for the test. */
function parlour(learns: Promise<void> = Promise.resolve()) {
  const log = {
    states: [] as string[],
    told: [] as string[],
    stopped: [] as string[],
    ...{ hushed: 0, heard: 0 },
    acted: [] as string[],
  };
  let hearing: Hold<{ heard: boolean; text: string }> | undefined;
  let telling: Hold<Interruption> | undefined;
  const ends = new Map<string, () => void>();
  const silent = new Set<string>();
  let runs = 0;
  const voice = openVoice({
    log: quiet,
    ear: {
      setGrammar: async () => ({ unknown: [] }),
      hear: () => {
        log.heard++;
        return new Promise((resolve, reject) => (hearing = { resolve, reject }));
      },
      tell: ({ text }) => {
        log.told.push(text);
        return new Promise((resolve, reject) => (telling = { resolve, reject }));
      },
      hush: async () => {
        log.hushed++;
        telling?.resolve({ interrupted: false, text: '' });
        hearing?.resolve({ heard: false, text: '' });
      },
    },
    sayable: {
      by: async (_, work) => {
        await learns;
        return work('hash');
      },
      ...{ unknown: () => [], changed() {} },
    },
    async act(text, _, starting) {
      log.acted.push(text);
      if (text === 'forbidden') throw new IngleError('forbidden', 'Not for you.');
      if (text === 'stop') return { intent: STOP, scenario_id: '', run_id: '' };
      if (text === 'idle words') return { intent: 'nobody', scenario_id: '', run_id: '' };
      const run_id = `r${++runs}`;
      starting(run_id);
      return { intent: 'i', scenario_id: 'home/s', run_id };
    },
    ended: (run_id) => new Promise<void>((resolve) => ends.set(run_id, resolve)),
    isSilent: async (run_id) => silent.has(run_id),
    stopRun: async (run_id) => {
      log.stopped.push(run_id);
      ends.get(run_id)?.();
    },
    tell: (_, { state }) => void log.states.push(state as string),
  });
  open.add(voice);
  return {
    voice,
    log,
    silent,
    end: (run_id: string) => ends.get(run_id)!(),
    async hears(text: string, heard = true) {
      await until(() => hearing !== undefined, 'the ear');
      const h = hearing!;
      hearing = undefined;
      h.resolve({ heard, text });
    },
    async breaks(e: IngleError) {
      await until(() => hearing !== undefined, 'the ear');
      hearing!.reject(e);
    },
    async spoken(said: Interruption = { interrupted: false, text: '' }) {
      await until(() => telling !== undefined, 'speech');
      const t = telling!;
      telling = undefined;
      t.resolve(said);
    },
  };
}

test('what is said starts a scenario, which speaks, and then the hub rests', async () => {
  const { voice, log, hears, end, spoken } = parlour();
  const woken = voice.wake(asker, 'en');
  assert.is(voice.state, 'LISTENING');
  await hears('set a timer');
  assert.equal(await woken, {
    heard: true,
    text: 'set a timer',
    intent: 'i',
    scenario_id: 'home/s',
    run_id: 'r1',
  });
  assert.ok(voice.isOf('r1') && !voice.isOf('r2'));
  const answer = voice.speak('The timer is set.', 'en', []);
  await spoken();
  assert.equal(await answer, { interrupted: false, text: '' });
  assert.is(voice.state, 'ANSWERING');
  end('r1');
  await voice.over();
  assert.equal(log.states, ['LISTENING', 'ACTING', 'ANSWERING', 'IDLE']);
  assert.not(voice.isOf('r1'));
});

test('words that interrupt an answer are done; unknown ones make the hub silent; "stop" ends the scenario', async () => {
  for (const [text, state] of [
    ['other words', 'ANSWERING'],
    ['', 'IDLE'],
    ['stop', 'IDLE'],
  ] as const) {
    const { voice, log, hears, spoken } = parlour();
    const woken = voice.wake(asker, 'en');
    await hears('set a timer');
    await woken;
    await until(() => voice.state === 'ANSWERING', 'the answer');
    const answer = voice.speak('A long story.', 'en', []);
    await spoken({ interrupted: true, text });
    assert.is((await answer).interrupted, true);
    await until(() => voice.state === state, `${text}: ${state}`);
    assert.equal(log.acted, text ? ['set a timer', text] : ['set a timer']);
    assert.equal(log.stopped, text === 'stop' ? ['r1'] : []);
  }
});

test('an answer that a scenario waits for is its own', async () => {
  const { voice, log, hears, spoken } = parlour();
  const woken = voice.wake(asker, 'en');
  await hears('good night');
  await woken;
  await until(() => voice.state === 'ANSWERING', 'the answer');
  const answer = voice.speak('Shall I wake you?', 'en', ['yes', 'no']);
  await spoken({ interrupted: true, text: 'yes' });
  assert.equal(await answer, { interrupted: true, text: 'yes' });
  assert.is(voice.state, 'ANSWERING');
  assert.equal(log.acted, ['good night']);
});

test('what is not understood, not there or not allowed is said, each in its words', async () => {
  for (const [text, says] of [
    ['', 'I did not understand that.'],
    ['idle words', 'I understood you, but nothing here does that yet.'],
    ['forbidden', 'That does not work now.'],
  ] as const) {
    const { voice, log, hears, spoken } = parlour();
    const woken = voice.wake(asker, 'en').catch((e) => e);
    await hears(text);
    await spoken();
    await voice.over();
    assert.equal(log.told, [says]);
    const turn = await woken;
    if (text === 'forbidden') assert.is(turn.code, 'forbidden');
    else assert.is(turn.run_id, '');
    assert.is(log.states.at(-1), 'IDLE');
  }
});

test('nobody speaks, and the hub says nothing; a broken ear is told to who woke it', async () => {
  const { voice, log, hears, breaks } = parlour();
  const woken = voice.wake(asker, 'en');
  await voice.wake(asker, 'en').then(
    () => assert.unreachable(),
    (e) => assert.is(e.code, 'conflict'),
  );
  await hears('', false);
  assert.equal(await woken, { heard: false, text: '', intent: '', scenario_id: '', run_id: '' });
  assert.is(voice.state, 'IDLE');
  assert.equal(log.told, []);
  const again = voice.wake(asker, 'en').catch((e) => e);
  await breaks(new IngleError('not_supported', 'No model.'));
  assert.is((await again).code, 'not_supported');
  assert.is(voice.state, 'IDLE');
});

test('a tap while it speaks gives the word back, and stopping ends it all', async () => {
  const { voice, log, hears } = parlour();
  const woken = voice.wake(asker, 'en');
  await hears('set a timer');
  await woken;
  await until(() => voice.state === 'ANSWERING', 'the answer');
  const answer = voice.speak('A long story.', 'en', []);
  const again = voice.wake(asker, 'en').catch((e) => e);
  await until(() => voice.state === 'LISTENING', 'the second wake');
  assert.is(log.hushed, 1);
  assert.equal(await answer, { interrupted: false, text: '' });
  voice.stop();
  assert.is(voice.state, 'IDLE');
  assert.is((await again).code, 'timeout');
  assert.is(log.hushed, 2);
  assert.equal(log.acted, ['set a timer']);
});

test('one that is stopped while the sound service learns what can be said opens no microphone', async () => {
  let learnt = () => {};
  const { voice, log } = parlour(new Promise((done) => (learnt = done)));
  const woken = voice.wake(asker, 'en').catch((e) => e.code);
  voice.stop();
  learnt();
  assert.is(await woken, 'timeout');
  await new Promise((done) => setImmediate(done));
  assert.equal([log.heard, voice.state], [0, 'IDLE']);
});

test('"stop" leaves an alarm alone that was set a moment before', async () => {
  const { voice, log, hears, spoken, silent } = parlour();
  const woken = voice.wake(asker, 'en');
  await hears('wake me at seven');
  await woken;
  await until(() => voice.state === 'ANSWERING', 'the answer');
  silent.add('r1');
  const again = voice.wake(asker, 'en');
  await hears("what's the weather");
  await again;
  await until(() => voice.state === 'ANSWERING', 'the weather');
  void voice.speak('A long story.', 'en', []);
  await spoken({ interrupted: true, text: 'stop' });
  await voice.over();
  assert.equal(log.stopped, ['r2']);
});

test('the sound service gets a grammar when it has another, once, and without words it cannot pronounce', async () => {
  const sent: { grammar: string; words: string[] }[] = [];
  let rules = compileIntents({ rules: [{ intent: 'a', patterns: { en: ['light on', 'xyzzy on'] } }] });
  let kept = '';
  const sayable = openSayable({
    speech: (language, knows) => speechGrammar(rules, { language, knows }),
    async send({ lang, grammar, words }) {
      sent.push({ grammar, words });
      const unknown = words.filter((w) => w === 'xyzzy');
      if (unknown.length === 0) kept = grammarHash(lang, grammar);
      return { unknown };
    },
  });
  const ask = () =>
    sayable.by('en', async (hash) => {
      if (hash !== kept) throw new IngleError('not_found', 'Another grammar.');
      return 'heard';
    });
  assert.is(await ask(), 'heard');
  assert.is(sent.length, 2);
  assert.ok(sent[0]!.words.includes('xyzzy') && !sent[1]!.grammar.includes('xyzzy'));
  assert.equal(sayable.unknown('en'), ['xyzzy']);
  assert.is(await ask(), 'heard');
  assert.is(sent.length, 2, 'it has it');
  rules = compileIntents({ rules: [{ intent: 'b', patterns: { en: ['light off'] } }] });
  sayable.changed();
  assert.is(await ask(), 'heard');
  assert.ok(sent.at(-1)!.grammar.includes('light off') && !sent.at(-1)!.grammar.includes('light on'));
  await sayable
    .by('ru', async () => 'heard')
    .then(
      () => assert.unreachable(),
      (e) => assert.is(e.code, 'not_supported'),
    );
});

test.run();
