// gate: out, 4 s of a processor
import * as fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { decimate } from '../../firmware/audio/decimate.ts';
import { answerOf, yesNoGrammar } from '../../firmware/audio/grammar.ts';
import { levels } from '../../firmware/audio/level.ts';
import { isSteady, measure } from '../../firmware/audio/measure.ts';
import { fromS16, parseWav, toS16 } from '../../firmware/audio/pcm.ts';
import { probeDuration, probeSpec, renderProbe, sweepStart } from '../../firmware/audio/probe.ts';
import { realSpectrum } from '../../firmware/audio/spectrum.ts';
import { VAD_RATE, voiceDetector } from '../../firmware/audio/vad.ts';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { wavOf } from './lab.ts';
import * as room from './room.ts';

const test = suite('measure');

test('the probe has the lengths and the band that are promised', () => {
  assert.ok(probeSpec.chirp.duration >= 0.15 && probeSpec.chirp.duration <= 0.3);
  assert.ok(probeSpec.sweep.duration >= 1.5 && probeSpec.sweep.duration <= 2);
  for (const rate of [16_000, 44_100, 48_000, 96_000]) {
    const x = renderProbe(probeSpec, rate);
    assert.is(x.length, Math.round(rate * probeDuration(probeSpec)));
    assert.ok(x.every((v) => Math.abs(v) <= probeSpec.level));
    const sweep = x.subarray(Math.round(rate * sweepStart(probeSpec)));
    const size = 2 ** 18;
    const s = realSpectrum(Float64Array.from(sweep), size);
    let inside = 0;
    let outside = 0;
    for (let k = 0; k < size / 2; k++) {
      const f = (k * rate) / size;
      const p = s[2 * k]! ** 2 + s[2 * k + 1]! ** 2;
      if (f > 180 && f < 4100) inside += p;
      else outside += p;
    }
    assert.ok(outside / inside < 0.01, `${rate}: ${outside / inside}`);
  }
});

test('lowering the rate keeps the time and the band, and lets nothing fold into it', () => {
  for (const rate of [44_100, 48_000, 96_000]) {
    const tone = (f: number) =>
      Float64Array.from({ length: rate }, (_, i) => Math.sin((2 * Math.PI * f * i) / rate));
    for (const f of [200, 1000, 4000]) {
      const d = decimate(tone(f), rate);
      for (let i = 2000; i < 2100; i++)
        assert.ok(Math.abs(d.samples[i]! - Math.sin((2 * Math.PI * f * i) / d.rate)) < 0.01);
    }
    const low = decimate(tone(1000), rate).rate;
    const folded = decimate(tone(low - 2000), rate).samples.subarray(1000, 5000);
    assert.ok(Math.max(...folded.map(Math.abs)) < 0.005);
  }
});

test('a delay that drifts, jumps or cannot be followed is not steady; noise makes a jump harder to tell', () => {
  const still = { rate: 0, step: 0, clear: 30 };
  assert.ok(isSteady(still, 40));
  assert.ok(isSteady({ ...still, rate: 300e-6 }, 40), 'two crystals may differ by 300 ppm');
  for (const rate of [500e-6, -500e-6]) assert.not(isSteady({ ...still, rate }, 40), `${rate}`);
  assert.not(isSteady({ ...still, clear: 8 }, 40), 'chance agrees as well');
  // Three samples at 16 kHz.
  const jumped = { ...still, step: 3 / 16_000 };
  assert.not(isSteady(jumped, 40));
  assert.ok(isSteady(jumped, 0));
  assert.not(isSteady({ ...still, step: 0.001 }, 0));
});

test('whatever a microphone gives, the answer is finite and never OK without the probe', () => {
  const sample = fc.oneof(
    fc.constant(0),
    fc.constant(1),
    fc.constant(-1),
    fc.float({ min: -1, max: 1, noNaN: true }),
  );
  fc.assert(
    fc.property(
      fc.array(sample, { maxLength: 300 }),
      fc.integer({ min: 1, max: 500 }),
      fc.constantFrom(8000, 16_000, 44_100, 48_000),
      (pattern, repeat, rate) => {
        const samples = new Float64Array(pattern.length * repeat).map((_, i) => pattern[i % pattern.length]!);
        const m = measure({ samples, rate, origin: 0.4 });
        for (const v of [m.corr, m.latency_ms, m.snr_db, m.confidence]) assert.ok(Number.isFinite(v));
        assert.is.not(m.verdict, 'ok');
      },
    ),
    { numRuns: 150 },
  );
});

test('a recording that ends before the sweep does is not OK, whatever is in it', () => {
  const buzz = [1, 0, -1, 0, 0, 0, 1, 0, 0, -1];
  const samples = Float64Array.from({ length: 4270 }, (_, i) => buzz[i % 10]!);
  assert.is(measure({ samples, rate: 8000, origin: 0.4 }).verdict, 'glitching');
  const r = room.random(3);
  const response = room.impulseResponse(room.randomRoom(r), 48_000, r);
  const whole = room.record({
    rate: 48_000,
    response,
    delay_s: 0.2,
    snr_db: 25,
    noise: 'pink',
    drift_ppm: 0,
    peak: 0.5,
    r,
    preroll_s: 0.4,
  });
  assert.is(measure({ samples: whole, rate: 48_000, origin: 0.4 }).verdict, 'ok');
  // Preroll, chirp, pause, delay and sweep are over after 2.75 s.
  const cut = whole.subarray(0, 2.7 * 48_000);
  assert.is(measure({ samples: cut, rate: 48_000, origin: 0.4 }).verdict, 'glitching');
});

test('an echo that is louder than the direct sound does not move the delay', () => {
  const r = room.random(3);
  const response = room.impulseResponse(room.randomRoom(r), 48_000, r).map((v) => v * 0.5);
  response[0] = 1;
  response[Math.round(0.02 * 48_000)] = 1.6;
  const samples = room.record({
    rate: 48_000,
    response,
    delay_s: 0.2,
    snr_db: 25,
    noise: 'pink',
    drift_ppm: 0,
    peak: 0.5,
    r,
    preroll_s: 0.4,
  });
  const m = measure({ samples, rate: 48_000, origin: 0.4 });
  assert.is(m.verdict, 'ok');
  assert.ok(Math.abs(m.latency_ms - 200) < 0.5, `${m.latency_ms}`);
});

test('delays are classified: direct, air, Bluetooth', () => {
  for (const [delay_s, path] of [
    [0.008, 'direct'],
    [0.1, 'air'],
    [0.6, 'bluetooth'],
    [1.4, 'bluetooth'],
  ] as const) {
    const r = room.random(Math.round(delay_s * 1000));
    const response = room.impulseResponse(room.randomRoom(r), 16_000, r);
    const samples = room.record({
      rate: 16_000,
      response,
      delay_s,
      snr_db: 25,
      noise: 'white',
      drift_ppm: 0,
      peak: 0.5,
      r,
      preroll_s: 0.45,
    });
    const m = measure({ samples, rate: 16_000, origin: 0.45 });
    assert.is(m.path, path);
    assert.ok(Math.abs(m.latency_ms - delay_s * 1000) < 0.5);
  }
});

test('a short path in a room is OK: a loopback is not told by its delay alone', () => {
  const r = room.random(11);
  const response = room.impulseResponse(room.randomRoom(r), 48_000, r);
  const scene = {
    rate: 48_000,
    snr_db: 25,
    noise: 'white',
    drift_ppm: 0,
    peak: 0.5,
    r,
    preroll_s: 0.4,
  } as const;
  const short = measure({
    samples: room.record({ ...scene, response, delay_s: 0.009 }),
    rate: 48_000,
    origin: 0.4,
  });
  assert.is(short.verdict, 'ok');
  const late = room.record({ ...scene, response: Float64Array.of(1), delay_s: 0.08 });
  assert.is(measure({ samples: late, rate: 48_000, origin: 0.4 }).verdict, 'digital_loopback');
});

test('levels are told in decibels, and flat tops are seen', () => {
  const sine = Float64Array.from({ length: 48_000 }, (_, i) => 0.5 * Math.sin(i / 20));
  const l = levels(sine);
  assert.ok(Math.abs(l.peak_db + 6.02) < 0.01 && Math.abs(l.rms_db + 9.03) < 0.01);
  assert.is(l.clipped, 0);
  assert.ok(levels(sine.map((v) => Math.max(-0.3, Math.min(0.3, v)))).clipped > 0.3);
  assert.is(levels(new Float64Array(0)).peak_db, -200);
});

test('samples come back from 16 bits as they went in, channel by channel', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -32768, max: 32767 }), { maxLength: 200 }), (values) => {
      const x = Float64Array.from(values, (v) => v / 32768);
      assert.equal([...fromS16(toS16(x))[0]!], [...x]);
      const even = x.subarray(0, x.length & ~1);
      const [left, right] = fromS16(toS16(even), 2);
      assert.equal(
        [...left!],
        [...even].filter((_, i) => i % 2 === 0),
      );
      assert.equal(
        [...right!],
        [...even].filter((_, i) => i % 2 === 1),
      );
    }),
  );
});

test('a WAV is read, a cut one to its end, and anything else is refused in words', () => {
  const x = Float64Array.of(0.25, -0.5, 1 / 32768);
  const wav = wavOf(x, 22_050);
  assert.equal([...fromS16(parseWav(wav).data)[0]!], [...x]);
  assert.is(parseWav(wav).rate, 22_050);
  const endless = Buffer.from(wav);
  endless.writeUInt32LE(0x7ffff000, 40);
  assert.is(parseWav(endless).data.length, 6);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 80 }), fc.nat(43), fc.nat(255), (junk, at, value) => {
      const broken = Buffer.from(wav);
      broken[at] = value;
      for (const bytes of [junk, broken, wav.subarray(0, at)])
        try {
          parseWav(bytes);
        } catch (e) {
          assert.instance(e, IngleError);
        }
    }),
    { numRuns: 2000 },
  );
});

test('speech-like sound is heard, silence and steady noise are not', async () => {
  const hear = async (x: Float64Array) => {
    const d = await voiceDetector();
    const samples = Int16Array.from(x, (v) => Math.round(v * 32767));
    // Chunks as odd as a pipe gives them.
    for (let i = 0; i < samples.length; i += 333) d.feed(samples.subarray(i, i + 333));
    const heard = d.spoken;
    d.free();
    return heard;
  };
  const r = room.random(2);
  const babble = room.noise('babble', VAD_RATE, 2 * VAD_RATE, r).map((v) => v * 0.05);
  assert.ok(await hear(babble));
  assert.not.ok(await hear(new Float64Array(2 * VAD_RATE)));
  assert.not.ok(await hear(room.noise('white', VAD_RATE, 2 * VAD_RATE, r).map((v) => v * 0.001)));
});

test('what the recogniser says is a yes, a no, or nothing', () => {
  assert.equal(answerOf('yes\n'), { answer: 'yes', phrase: 'yes' });
  assert.equal(answerOf('\n nope'), { answer: 'no', phrase: 'nope' });
  assert.equal(answerOf(''), { answer: 'none', phrase: '' });
  assert.equal(answerOf('eyes nobody'), { answer: 'none', phrase: '' });
  assert.match(yesNoGrammar, /^#JSGF V1.0;/);
});

test.run();
