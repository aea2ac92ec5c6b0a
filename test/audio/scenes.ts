// The simulated scenes of rooms.test.ts and of the plot, each from its own seed.
import { type Measurement, measure } from '../../firmware/audio/measure.ts';
import * as room from './room.ts';

export interface Result {
  seed: number;
  kind: 'room' | 'silence' | 'unplugged' | 'loopback' | 'dropouts' | room.Noise;
  verdict: Measurement['verdict'];
  snr_db: number;
  error_ms: number;
  overdriven: boolean;
}

const rates = [48_000, 48_000, 44_100, 16_000];
const PREROLL = 0.45;

export function scenes(kind: 'rooms' | 'nothing', from: number, to: number): Result[] {
  const out: Result[] = [];
  for (let seed = from; seed < to; seed++) out.push(...(kind === 'rooms' ? [inRoom(seed)] : nothing(seed)));
  return out;
}

/** RT60 0.2-0.9 s, SNR -5..30 dB, delay 5-1000 ms, clocks 100 ppm apart (two crystals of 50 ppm), a tenth overdriven. */
function inRoom(seed: number): Result {
  const r = room.random(seed * 7919 + 1);
  const rate = rates[seed % rates.length]!;
  const response = room.impulseResponse(room.randomRoom(r), rate, r);
  const delay_s = 0.005 * 200 ** r();
  const snr_db = room.between(r, -5, 30);
  const overdriven = r() < 0.1;
  const samples = room.record({
    rate,
    response,
    delay_s,
    snr_db,
    noise: room.noises[(seed >> 2) % 4]!,
    drift_ppm: room.between(r, -100, 100),
    peak: overdriven ? room.between(r, 1.2, 4) : room.between(r, 0.02, 0.95),
    r,
    preroll_s: PREROLL,
  });
  const m = measure({ samples, rate, origin: PREROLL });
  return {
    seed,
    kind: 'room',
    verdict: m.verdict,
    snr_db,
    error_ms: m.latency_ms - delay_s * 1000,
    overdriven,
  };
}

/** What must never be OK. */
function nothing(seed: number): Result[] {
  const r = room.random(seed * 104_729 + 5);
  const rate = rates[seed % rates.length]!;
  const length = Math.round(rate * 4.35);
  const kinds: Result['kind'][] = [...room.noises, 'silence', 'unplugged', 'loopback', 'dropouts'];
  const kind = kinds[(seed >> 1) % kinds.length]!;
  const samples = ((): Float64Array => {
    // A quiet converter's own noise: a bit or two.
    if (kind === 'silence')
      return new Float64Array(length).map(() => Math.round(room.gauss(r) * room.between(r, 0, 2)) / 32768);
    if (kind === 'unplugged') return new Float64Array(length);
    if (kind === 'loopback' || kind === 'dropouts') {
      const wet = kind === 'dropouts';
      const x = room.record({
        rate,
        response: wet ? room.impulseResponse(room.randomRoom(r), rate, r) : Float64Array.of(1),
        delay_s: r() < 0.5 ? room.between(r, 0, 0.015) : room.between(r, 0.015, 1),
        snr_db: wet ? 30 : room.between(r, -5, 80),
        noise: room.noises[seed % 4]!,
        drift_ppm: room.between(r, -100, 100),
        peak: room.between(r, 0.05, 0.9),
        r,
        preroll_s: PREROLL,
      });
      // Samples that never came, inside the sweep wherever the delay has put it.
      if (wet)
        for (let t = 1.9; t < 2.3; t += 0.08) x.fill(0, Math.round(t * rate), Math.round((t + 0.03) * rate));
      return x;
    }
    const n = room.noise(kind as room.Noise, rate, length, r);
    const peak = n.reduce((a, b) => Math.max(a, Math.abs(b)), 0);
    return room.convert(n, room.between(r, 0.01, 0.95) / peak);
  })();
  const m = measure({ samples, rate, origin: PREROLL });
  return [{ seed, kind, verdict: m.verdict, snr_db: 0, error_ms: 0, overdriven: false }];
}
