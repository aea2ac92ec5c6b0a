// CPU time of one pair's analysis at 48 kHz, beside the FFT correlation of scipy over the same recording.
// Ours is the whole answer (levels, delay, SNR, tail, agreement, verdict), the peer's the correlation and its highest
// point alone. Both get the same samples; neither keeps anything from one run to the next but its FFT plans.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { measure } from '../../firmware/audio/measure.ts';
import { exponentialSweep, probeSpec, sweepStart } from '../../firmware/audio/probe.ts';
import { must } from '../../firmware/system/exec.ts';
import * as room from '../audio/room.ts';

const RATE = 48_000;
const RUNS = 25;
const PREROLL = 0.45;
const python = '/usr/bin/python3';

const r = room.random(7);
const delay_s = 0.123;
const samples = Float32Array.from(
  room.record({
    rate: RATE,
    response: room.impulseResponse(room.randomRoom(r), RATE, r),
    delay_s,
    snr_db: 15,
    noise: 'pink',
    drift_ppm: 20,
    peak: 0.5,
    r,
    preroll_s: PREROLL,
  }),
);
const { from, to, duration } = probeSpec.sweep;
const sweep = Float32Array.from(exponentialSweep(RATE, from, to, duration));

const script = `
import sys, time, numpy as np
from scipy.signal import correlate
heard = np.fromfile(sys.argv[1], dtype=np.float32)
sweep = np.fromfile(sys.argv[2], dtype=np.float32)
times = []
for i in range(int(sys.argv[3]) + 5):
    began = time.process_time()
    a = heard.astype(np.float64)
    b = sweep.astype(np.float64)
    at = int(np.argmax(np.abs(correlate(a, b, mode='valid', method='fft'))))
    times.append(time.process_time() - began)
print(1000 * sorted(times[5:])[len(times[5:]) // 2], at)
`;

function ours(): { ms: number; latency_ms: number } {
  const times: number[] = [];
  let latency_ms = 0;
  for (let i = 0; i < RUNS + 5; i++) {
    const began = process.cpuUsage();
    latency_ms = measure({ samples, rate: RATE, origin: PREROLL }).latency_ms;
    const used = process.cpuUsage(began);
    if (i >= 5) times.push((used.user + used.system) / 1000);
  }
  return { ms: times.sort((a, b) => a - b)[RUNS >> 1]!, latency_ms };
}

const dir = mkdtempSync(join(tmpdir(), 'ingle-bench-'));
try {
  writeFileSync(join(dir, 'heard'), samples);
  writeFileSync(join(dir, 'sweep'), sweep);
  const mine = ours();
  const env = { OMP_NUM_THREADS: '1', OPENBLAS_NUM_THREADS: '1' };
  const out = await must(python, ['-c', script, join(dir, 'heard'), join(dir, 'sweep'), String(RUNS)], {
    env,
    timeoutMs: 120_000,
  });
  const [peer, at] = out.toString().trim().split(' ').map(Number);
  const peerDelay = 1000 * (at! / RATE - PREROLL - sweepStart(probeSpec));
  console.log(
    `one recording of ${(samples.length / RATE).toFixed(2)} s at 48 kHz, delay ${delay_s * 1000} ms`,
  );
  console.log(`ours  ${mine.ms.toFixed(2)} ms CPU, says ${mine.latency_ms.toFixed(2)} ms`);
  console.log(`scipy ${peer!.toFixed(2)} ms CPU, says ${peerDelay.toFixed(2)} ms`);
  const round = (v: number) => Math.round(v * 1000) / 1000;
  console.log(
    JSON.stringify({
      bench: 'audio',
      ours: round(mine.ms),
      peer: round(peer!),
      unit: 'ms',
      ratio: round(mine.ms / peer!),
      limit: 1.5,
    }),
  );
} finally {
  rmSync(dir, { recursive: true, force: true });
}
