// The hub's own voice is not somebody's: rooms, loudspeakers and people of test/audio/room.ts, without a sound server.
import { existsSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { echoGate } from '../../firmware/audio/echo-gate.ts';
import { convolve } from '../../firmware/audio/spectrum.ts';
import { VAD_FRAME, VAD_RATE, voiceDetector } from '../../firmware/audio/vad.ts';
import { between, gauss, impulseResponse, random, randomRoom } from './room.ts';
import { said } from './sayings.ts';

const missing = existsSync('/usr/bin/espeak-ng') ? '' : 'espeak-ng';
if (missing) console.log(`\nSKIP no speech here: ${missing}`);
const test = suite('what the hub hears while it speaks');
const it = missing ? test.skip : test;

const answer =
  'The timer is set for twenty five minutes. The weather today is cloudy, with some rain in the afternoon, and the radio plays jazz.';
const toInts = (x: Float64Array) =>
  Int16Array.from(x, (v) => Math.max(-32_768, Math.min(32_767, Math.round(v * 32_768))));
const rms = (x: Float64Array) => Math.sqrt(x.reduce((a, v) => a + v * v, 0) / x.length);

/** What the microphone gets: the hub through its room from `delay_s` on, a person from `at_s` on, noise. */
function heard(o: {
  seed: number;
  own: Float64Array;
  person?: Float64Array;
  at_s?: number;
  /** The person's level beside the hub's own, decibels. */
  db?: number;
}): Int16Array {
  const r = random(o.seed);
  const room = randomRoom(r);
  const hub = convolve(o.own, impulseResponse(room, VAD_RATE, r));
  const delay = Math.round(between(r, 0.05, 0.5) * VAD_RATE);
  const out = new Float64Array(Math.max(hub.length + delay, 6 * VAD_RATE));
  const gain = 0.05 / rms(hub);
  for (let i = 0; i < hub.length; i++) out[i + delay]! += hub[i]! * gain;
  if (o.person) {
    const voice = convolve(o.person, impulseResponse(randomRoom(r), VAD_RATE, r));
    const loud = (0.05 * 10 ** ((o.db ?? 0) / 20)) / rms(voice);
    const at = Math.round(o.at_s! * VAD_RATE);
    for (let i = 0; i < voice.length && at + i < out.length; i++) out[at + i]! += voice[i]! * loud;
  }
  return toInts(out.map((v) => v + 0.0008 * gauss(r)));
}

/** When somebody was noticed, seconds from the start; undefined for never. */
async function noticed(own: Float64Array, microphone: Int16Array): Promise<number | undefined> {
  const gate = echoGate(toInts(own));
  const detector = await voiceDetector();
  const silence = new Int16Array(VAD_FRAME);
  try {
    for (let at = 0; at + VAD_FRAME <= microphone.length; at += VAD_FRAME) {
      const frame = microphone.subarray(at, at + VAD_FRAME);
      detector.feed(gate.feed(frame) ? frame : silence);
      if (detector.spoken) return at / VAD_RATE;
    }
    return undefined;
  } finally {
    detector.free();
  }
}
const seeds = Array.from({ length: 20 }, (_, i) => 100 + i);

it('in 20 rooms the hub does not take its own voice for somebody, however late it is heard', async () => {
  const own = await said(answer, 'en-us', 150);
  const wrong: number[] = [];
  for (const seed of seeds) if ((await noticed(own, heard({ seed, own }))) !== undefined) wrong.push(seed);
  console.log(`\nFIGURE echo_gate_false ${wrong.length} of ${seeds.length}`);
  assert.ok(wrong.length <= 1, wrong.join(', '));
});

it('a person as loud as the hub at the microphone, or louder, is noticed while they speak', async () => {
  const own = await said(answer, 'en-us', 150);
  const person = await said('stop please, that is enough for now, thank you', 'en-gb', 140);
  for (const [db, least] of [
    [6, 19],
    [0, 18],
  ] as const) {
    let found = 0;
    for (const seed of seeds) {
      const at = await noticed(own, heard({ seed, own, person, at_s: 3, db }));
      if (at !== undefined && at >= 3 && at < 3 + person.length / VAD_RATE + 0.5) found++;
    }
    console.log(`\nFIGURE echo_gate_noticed_${db}_dB ${found} of ${seeds.length}`);
    assert.ok(found >= least, `${db} dB: ${found}`);
  }
});

it('where nothing of the hub is heard, a person is', async () => {
  const own = await said(answer, 'en-us', 150);
  const person = await said('stop please, that is enough for now, thank you', 'en-gb', 140);
  const r = random(3);
  const out = new Float64Array(7 * VAD_RATE).map(() => 0.0005 * gauss(r));
  for (let i = 0; i < person.length && 4 * VAD_RATE + i < out.length; i++)
    out[4 * VAD_RATE + i]! += 0.3 * person[i]!;
  const at = await noticed(own, toInts(out));
  assert.ok(at !== undefined && at >= 4, String(at));
  assert.is(
    await noticed(own, toInts(new Float64Array(7 * VAD_RATE).map(() => 0.0005 * gauss(r)))),
    undefined,
  );
});

it('after the hub was cut short, its silence is no longer expected to be loud', () => {
  const r = random(5);
  const own = new Float64Array(10 * VAD_RATE).map(
    (_, i) => 0.3 * gauss(r) * (Math.floor(i / 4000) % 3 ? 1 : 0.02),
  );
  const played = toInts(own);
  const gate = echoGate(played);
  const at = (i: number) => played.subarray(i * VAD_FRAME, (i + 1) * VAD_FRAME);
  for (let i = 0; i < 120; i++) gate.feed(at(i));
  const quiet = at(121).map((v) => v / 3);
  assert.is(gate.feed(quiet), false, 'less than the hub itself');
  gate.cut();
  let more = 0;
  for (let i = 0; i < 60; i++) if (gate.feed(quiet)) more++;
  assert.ok(more > 30, `${more}: the same level once the hub is silent`);
});

test.run();
