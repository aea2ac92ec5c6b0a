import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { Device, Devices, Sink } from '../../firmware/audio/device.ts';
import { type AudioEvent, type AudioState, audioTable } from '../../firmware/audio/machine.ts';
import type { Measurement, Verdict } from '../../firmware/audio/measure.ts';
import { FRESH_MS, type Profile } from '../../firmware/audio/profile.ts';
import { runWizard, type WizardPorts } from '../../firmware/audio/wizard.ts';
import { logger } from '../../firmware/system/log.ts';
import { audioTexts } from '../../firmware/text/audio.ts';

const test = suite('audio wizard');

const moves: [AudioState, AudioEvent, AudioState][] = [
  ['START', 'start', 'ENUM_DEVICES'],
  ['ENUM_DEVICES', 'listed', 'RANK_CANDIDATES'],
  ['RANK_CANDIDATES', 'pair', 'TEST_PAIR'],
  ['RANK_CANDIDATES', 'no_pairs', 'FALLBACK_UI'],
  ['TEST_PAIR', 'heard', 'OUTPUT_OK'],
  ['TEST_PAIR', 'not_heard', 'NEXT_PAIR'],
  ['OUTPUT_OK', 'clear', 'INPUT_OK'],
  ['OUTPUT_OK', 'unclear', 'HINT_RETRY'],
  ['HINT_RETRY', 'hinted', 'TEST_PAIR'],
  ['HINT_RETRY', 'no_hint_left', 'NEXT_PAIR'],
  ['INPUT_OK', 'ask', 'HUMAN_CONFIRM'],
  ['INPUT_OK', 'known', 'SUCCESS'],
  ['HUMAN_CONFIRM', 'answered', 'SUCCESS'],
  ['HUMAN_CONFIRM', 'silent', 'SUCCESS'],
  ['HUMAN_CONFIRM', 'denied', 'NEXT_PAIR'],
  ['NEXT_PAIR', 'pair', 'TEST_PAIR'],
  ['NEXT_PAIR', 'no_pairs', 'FALLBACK_UI'],
  ['SUCCESS', 'confirmed', 'SAVE_PROFILE'],
  ['SAVE_PROFILE', 'saved', 'READY'],
  ['READY', 'start', 'ENUM_DEVICES'],
  ['FALLBACK_UI', 'offered', 'READY_WITH_LIMITS'],
  ['READY_WITH_LIMITS', 'start', 'ENUM_DEVICES'],
];
const working = (Object.keys(audioTable) as AudioState[]).filter(
  (s) => !['START', 'READY', 'READY_WITH_LIMITS', 'FALLBACK_UI'].includes(s),
);

test('the machine moves as its table says, and no other way', () => {
  const all = [
    ...moves,
    ...working.flatMap((s): typeof moves => [
      [s, 'cancel', 'FALLBACK_UI'],
      [s, 'fault', 'FALLBACK_UI'],
    ]),
  ];
  const written = Object.entries(audioTable).flatMap(([from, row]) =>
    Object.entries(row).map(([event, to]) => `${from} ${event} ${to}`),
  );
  assert.equal(written.sort(), all.map((m) => m.join(' ')).sort());
});

const device = (id: string): Device => ({
  id,
  name: id,
  type: 'builtin',
  muted: false,
  volume: 1,
  connected: true,
  monitor: false,
  rate: 48_000,
  channels: 2,
});
const sink = (id: string): Sink => ({ ...device(id), monitor_id: `${id}.monitor` });
const measured = (verdict: Verdict, confidence = verdict === 'ok' ? 0.9 : 0): Measurement => ({
  verdict,
  corr: 0.9,
  latency_ms: 80,
  snr_db: 20,
  confidence,
  path: 'air',
});

interface Setup {
  devices?: Devices;
  verdicts?: Measurement[];
  answers?: ('yes' | 'no' | 'none')[];
  speech?: boolean[];
  profiles?: Profile[];
  ports?: Partial<WizardPorts>;
  quick?: boolean;
  signal?: AbortSignal;
}

async function run(s: Setup) {
  const states: AudioState[] = [];
  const tested: string[] = [];
  const gains: number[] = [];
  const said: string[] = [];
  const saved: Profile[] = [];
  const verdicts = [...(s.verdicts ?? [])];
  const answers = [...(s.answers ?? [])];
  const speech = [...(s.speech ?? [])];
  const outcome = await runWizard(
    {
      log: logger('test'),
      onState: (state) => states.push(state),
      onStep: () => {},
      ports: {
        devices: async () => s.devices ?? { sinks: [sink('a'), sink('b')], sources: [device('m')] },
        async test(pair, gain) {
          tested.push(pair.sink.id);
          gains.push(gain);
          return verdicts.shift() ?? measured('no_estimate');
        },
        speechHeard: async () => speech.shift() ?? true,
        askYes: async () => answers.shift() ?? 'none',
        say: async (_, text) => {
          said.push(text);
        },
        profiles: async () => s.profiles ?? [],
        save: async (p) => {
          saved.push(p);
        },
        ...s.ports,
      },
    },
    s.quick ?? false,
    s.signal ?? new AbortController().signal,
  );
  return { outcome, states, tested, gains, said, saved };
}

test('a pair that works and a yes lead to READY, with a verified profile and the recordings deleted', async () => {
  const r = await run({ verdicts: [measured('ok')], answers: ['yes'] });
  assert.equal(r.states, [
    'ENUM_DEVICES',
    'RANK_CANDIDATES',
    'TEST_PAIR',
    'OUTPUT_OK',
    'INPUT_OK',
    'HUMAN_CONFIRM',
    'SUCCESS',
    'SAVE_PROFILE',
    'READY',
  ]);
  assert.ok(r.outcome.confirmed);
  assert.is(r.saved[0]!.verified, true);
  assert.equal(r.saved[0]!.proof, { corr: 0.9, snr_db: 20 });
  assert.is(r.saved[0]!.format_out, '48000/2');
  assert.ok(r.said.includes('recordings_deleted'));
});

test('no answer does not fail the flow', async () => {
  const r = await run({ verdicts: [measured('ok')], answers: ['none'] });
  assert.is(r.outcome.state, 'READY');
  assert.not.ok(r.outcome.confirmed);
});

test('a no tries the next pair', async () => {
  const r = await run({ verdicts: [measured('ok'), measured('ok')], answers: ['no', 'yes'] });
  assert.equal(r.tested, ['a', 'b']);
  assert.is(r.outcome.pair?.sink.id, 'b');
});

test('each pair has two attempts; then the fallback, with the reason of the nearest failure', async () => {
  const r = await run({ verdicts: [measured('no_estimate'), measured('too_quiet'), measured('noisy', 0.2)] });
  assert.equal(r.tested, ['a', 'a', 'b', 'b']);
  assert.is(r.outcome.state, 'READY_WITH_LIMITS');
  assert.is(r.outcome.reason, 'noisy');
  assert.equal(r.saved, []);
});

test('too loud is tried more quietly, too quiet more loudly', async () => {
  assert.equal((await run({ verdicts: [measured('too_loud'), measured('ok')] })).gains, [0, -12]);
  assert.equal((await run({ verdicts: [measured('too_quiet'), measured('ok')] })).gains, [0, 6]);
});

test('a hint is spoken once, then the next pair', async () => {
  const noisy = measured('noisy', 0.3);
  const r = await run({ verdicts: [noisy, noisy, noisy, measured('ok')] });
  assert.is(r.said.filter((t) => t === 'hint_noisy').length, 1);
  assert.is(r.states.filter((s) => s === 'HINT_RETRY').length, 1);
  assert.is(r.outcome.pair?.sink.id, 'b');
});

test('a microphone in which no speech is heard gets a hint and another test', async () => {
  const r = await run({
    verdicts: [measured('ok'), measured('ok')],
    speech: [false, true],
    answers: ['yes'],
  });
  assert.is(r.outcome.state, 'READY');
  assert.ok(r.states.includes('HINT_RETRY'));
  assert.equal(r.tested, ['a', 'a']);
});

test('no devices lead to the fallback at once', async () => {
  const r = await run({ devices: { sinks: [], sources: [] } });
  assert.equal(r.states, ['ENUM_DEVICES', 'RANK_CANDIDATES', 'FALLBACK_UI', 'READY_WITH_LIMITS']);
  assert.is(r.outcome.reason, 'no_devices');
});

const kept = (age: number, verified = true): Profile => ({
  sink_id: 'b',
  source_id: 'm',
  format_out: '48000/2',
  format_in: '48000/2',
  latency_ms: 80,
  score: 190,
  verified_at: new Date(Date.now() - age).toISOString(),
  proof: { corr: 0.9, snr_db: 20 },
  verified,
});

test('a verified profile younger than 30 days is tested first and nobody is asked', async () => {
  const r = await run({ profiles: [kept(FRESH_MS - 60_000)], verdicts: [measured('ok')] });
  assert.equal(r.tested, ['b']);
  assert.not.ok(r.states.includes('HUMAN_CONFIRM'));
  assert.equal(r.said, []);
});

test('an old, unproven or future profile asks again', async () => {
  for (const p of [kept(FRESH_MS + 60_000), kept(0, false), kept(-60_000)])
    assert.ok((await run({ profiles: [p], verdicts: [measured('ok')] })).states.includes('HUMAN_CONFIRM'));
});

test('when the known pair fails, the others are tried and the person is asked', async () => {
  const r = await run({
    profiles: [kept(1000)],
    verdicts: [measured('unplugged'), measured('ok')],
    answers: ['yes'],
  });
  assert.equal(r.tested, ['b', 'a']);
  assert.ok(r.states.includes('HUMAN_CONFIRM'));
});

test('the quick retest tests one pair and asks nothing', async () => {
  assert.equal((await run({ quick: true, verdicts: [measured('ok')] })).said, []);
  const r = await run({ quick: true });
  assert.equal(r.tested, ['a', 'a']);
  assert.is(r.outcome.state, 'READY_WITH_LIMITS');
});

test('a fault anywhere ends in the fallback, never in a hang', async () => {
  const boom = async (): Promise<never> => {
    throw new Error('boom');
  };
  for (const port of ['devices', 'test', 'speechHeard', 'askYes', 'say', 'profiles', 'save'] as const) {
    const r = await run({ verdicts: [measured('ok')], answers: ['yes'], ports: { [port]: boom } });
    assert.is(r.outcome.state, 'READY_WITH_LIMITS', port);
    assert.is(r.outcome.reason, 'fault', port);
  }
});

test('a cancel ends it at once with nothing saved', async () => {
  const abort = new AbortController();
  const r = await run({
    signal: abort.signal,
    ports: {
      async test() {
        abort.abort();
        return measured('ok');
      },
    },
  });
  assert.is(r.outcome.reason, 'canceled');
  assert.equal(r.saved, []);
});

test('both languages have every text', () => {
  assert.equal(Object.keys(audioTexts.en).sort(), Object.keys(audioTexts.ru).sort());
});

test.run();
