// Recordings that are sent: what is one, what is none, and what becomes of other rates.
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { phraseGrammar } from '../../firmware/audio/grammar.ts';
import { toSpeechRate } from '../../firmware/audio/resample.ts';
import { durationMs, MAX_UPLOAD, readWav } from '../../firmware/audio/upload.ts';
import { IngleError } from '../../firmware/protocol/errors.ts';

const test = suite('upload');

/** A WAV with any header. */
function wav(
  o: { rate?: number; channels?: number; bits?: number; kind?: number; frames?: number; size?: number } = {},
) {
  const { rate = 16_000, channels = 1, bits = 16, kind = 1, frames = 1600 } = o;
  const data = Buffer.alloc(Math.max(0, frames * channels * 2), 1);
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.writeUInt32LE(36 + data.length, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(kind, 20);
  head.writeUInt16LE(channels, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE((rate * channels * 2) >>> 0, 28);
  head.writeUInt16LE((channels * 2) & 0xffff, 32);
  head.writeUInt16LE(bits, 34);
  head.write('data', 36);
  head.writeUInt32LE(o.size ?? data.length, 40);
  return new Uint8Array(Buffer.concat([head, data]));
}
const codeOf = (bytes: Uint8Array): string => {
  try {
    readWav(bytes);
    return 'read';
  } catch (e) {
    assert.instance(e, IngleError);
    assert.match((e as Error).message, /\.$/);
    return (e as IngleError).code;
  }
};

test('any usual rate, mono and stereo, becomes 16 kHz of the same length', () => {
  for (const rate of [8000, 11_025, 16_000, 22_050, 32_000, 44_100, 48_000, 96_000])
    for (const channels of [1, 2]) {
      const ms = durationMs(readWav(wav({ rate, channels, frames: rate / 5 })));
      assert.ok(Math.abs(ms - 200) <= 1, `${rate} ${channels}: ${ms}`);
    }
});

test('a tone keeps its pitch and level at each rate, and what is above 8 kHz does not fold back', () => {
  const power = (x: Float32Array) => x.slice(400, -400).reduce((a, v) => a + v * v, 0) / (x.length - 800);
  const tone = (rate: number, hz: number) =>
    Float32Array.from({ length: rate }, (_, i) => Math.sin((2 * Math.PI * hz * i) / rate));
  for (const rate of [8000, 11_025, 22_050, 44_100, 48_000, 96_000]) {
    const out = toSpeechRate(tone(rate, 1000), rate);
    const want = tone(16_000, 1000);
    const error = power(out.map((v, i) => v - want[i]!));
    assert.ok(error < 1e-4, `${rate}: ${error}`);
    if (rate > 22_050) assert.ok(power(toSpeechRate(tone(rate, 9500), rate)) < 1e-4, `${rate} folds`);
  }
});

test('a file that lies, is cut off or is none is refused with a sentence', () => {
  const bad: Record<string, Uint8Array> = {
    nothing: new Uint8Array(),
    text: Buffer.from('hello'),
    'a header alone': wav({ frames: 0 }),
    'more than is there': wav({ size: 1e6 }),
    'four gigabytes': wav({ size: 0xffffffff }),
    'a size of zero': wav({ size: 0 }),
    'no rate': wav({ rate: 0 }),
    'a rate nobody has': wav({ rate: 16_001 }),
    'a huge rate': wav({ rate: 0xffffffff }),
    'no channels': wav({ channels: 0, frames: 0 }),
    'six channels': wav({ channels: 6 }),
    'many channels': wav({ channels: 65_535, frames: 1 }),
    '24 bits': wav({ bits: 24 }),
    floats: wav({ kind: 3 }),
    'cut off': wav().subarray(0, 1000),
    'half a sample': wav({ size: 3199 }),
    'too long': wav({ rate: 8000, frames: 8000 * 31 }),
  };
  for (const [name, bytes] of Object.entries(bad)) assert.is(codeOf(bytes), 'invalid_request', name);
  assert.is(codeOf(new Uint8Array(MAX_UPLOAD + 1)), 'too_large');
});

test('whatever bytes come, and whatever is changed in a file, is read or refused', () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => void codeOf(bytes)));
  const whole = wav({ frames: 100 });
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(43), fc.nat(255)), { minLength: 1, maxLength: 6 }),
      fc.nat(whole.length),
      (edits, length) => {
        const bytes = whole.slice(0, length);
        for (const [at, to] of edits) if (at < bytes.length) bytes[at] = to;
        assert.ok(['read', 'invalid_request'].includes(codeOf(bytes)));
      },
    ),
    { numRuns: 2000 },
  );
  // Chunks of nothing in a row, as many as fit.
  const many = Buffer.concat([Buffer.from('RIFF\0\0\0\0WAVE'), Buffer.alloc(MAX_UPLOAD - 12)]);
  assert.is(codeOf(many), 'invalid_request');
});

test('a phrase cannot become grammar', () => {
  assert.match(phraseGrammar(['turn on', 'Good night']), 'public <phrase> = turn on | good night;');
  for (const bad of ['', ' a', 'a  b', 'a | b', 'a;', '<a>', 'a\nb', '[a]', 'a*', 'да', 'a1', 'x'.repeat(81)])
    assert.throws(() => phraseGrammar([bad]), /English words/, bad);
  assert.throws(() => phraseGrammar(Array(51).fill('a')), /at most 50/);
});

test.run();
