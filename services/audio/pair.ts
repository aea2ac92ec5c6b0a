// Records what a sink plays and what a microphone hears, on one clock, while the probe runs.
import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, fstatSync, openSync, readdirSync, readSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Device, Sink } from '../../firmware/audio/device.ts';
import { levels } from '../../firmware/audio/level.ts';
import {
  isSteady,
  MAX_DELAY,
  type Measurement,
  measure,
  type Verdict,
} from '../../firmware/audio/measure.ts';
import { fromS16, parseWav } from '../../firmware/audio/pcm.ts';
import { probeDuration, probeSpec, renderProbe } from '../../firmware/audio/probe.ts';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { start, stop } from '../../firmware/system/exec.ts';
import { capture, graphPorts, isPipeWire, linkPorts, listDevices, play } from './sound.ts';

/** Recording goes on for so long before and after the probe, seconds. */
const BEFORE = 0.6;
const AFTER = MAX_DELAY + 0.35;
const RATE = 48_000;

interface Recorder {
  /** Seconds recorded so far. */
  seconds(): number;
  /** Ends it; both channels begin at the same instant. */
  finish(): Promise<{ played: Float32Array; heard: Float32Array }>;
  discard(): Promise<void>;
}

type OnLevel = (rms_db: number, peak_db: number) => void;

/** What a verdict hangs on, for a technician: how the delay changed in what was played, and in what was heard of it. */
export type Steadiness = Record<'played_ppm' | 'played_step_ms' | 'heard_ppm' | 'heard_step_ms', number>;

/**
 * Plays the probe on a sink and measures it at a source. Whatever devices do, it answers within the probe's time and
 * some seconds: a device that is gone, or gives no samples, is `unplugged`.
 */
export async function testPair(
  sink: Sink,
  source: Device,
  o: {
    gain_db: number;
    runtime: string;
    signal: AbortSignal;
    onLevel: OnLevel;
    onSteadiness(s: Steadiness): void;
  },
): Promise<Measurement> {
  let recorder: Recorder | undefined;
  try {
    const pipewire = await isPipeWire();
    recorder = pipewire ? await graphRecorder(sink, source, o) : clockRecorder(sink, source, o.onLevel);
    // No samples come: gone, or listed and dead. Both are unplugged to a person.
    if (!(await recorded(recorder, BEFORE, o.signal))) return nothing('unplugged');
    const spec = { ...probeSpec, level: Math.min(0.9, probeSpec.level * 10 ** (o.gain_db / 20)) };
    await play(sink.id, renderProbe(spec, sink.rate), sink.rate, o.signal);
    // pacat settles once the server has it all; the sink may still be at it.
    if (!(await recorded(recorder, recorder.seconds() + AFTER, o.signal))) return nothing('unplugged');
    const { played, heard } = await recorder.finish();
    recorder = undefined;
    const gone = await missing(sink, source);
    if (gone) return nothing('unplugged');
    const [m, steadiness] = judge(played, heard, source.monitor);
    if (steadiness) o.onSteadiness(steadiness);
    return m;
  } catch (e) {
    if (o.signal.aborted) throw new IngleError('timeout', 'The audio test was ended.');
    // A tool that fails because its device went away is not a fault of the hub.
    if (await missing(sink, source)) return nothing('unplugged');
    throw e;
  } finally {
    await recorder?.discard();
  }
}

/** Where the probe begins in what was played, then the measurement of what was heard from there on. */
function judge(played: Float32Array, heard: Float32Array, monitor: boolean): [Measurement, Steadiness?] {
  const reference = measure({ samples: played, rate: RATE, origin: 0 }, probeSpec, played.length / RATE);
  if (reference.confidence === 0) return [nothing('no_estimate')];
  const origin = reference.latency_ms / 1000;
  const from = Math.max(0, Math.round((origin - 0.45) * RATE));
  const to = Math.round((origin + probeDuration(probeSpec) + AFTER) * RATE);
  const m = measure({ samples: heard.subarray(from, to), rate: RATE, origin: origin - from / RATE, monitor });
  const { corr, latency_ms, snr_db, confidence, path } = m;
  // The sink's own monitor is digital: echoes there mean that the playback itself stuttered, which no OK survives.
  const stuttered = reference.tail_db[1] > -28 || !isSteady(reference.drift, reference.snr_db);
  const verdict = m.verdict === 'ok' && stuttered ? 'glitching' : m.verdict;
  const steadiness: Steadiness = {
    played_ppm: Math.round(reference.drift.rate * 1e6),
    played_step_ms: Number((reference.drift.step * 1e3).toFixed(3)),
    heard_ppm: Math.round(m.drift.rate * 1e6),
    heard_step_ms: Number((m.drift.step * 1e3).toFixed(3)),
  };
  return [{ verdict, corr, latency_ms, snr_db, confidence, path }, steadiness];
}

export function nothing(verdict: Verdict): Measurement {
  return { verdict, corr: 0, latency_ms: 0, snr_db: -40, confidence: 0, path: 'none' };
}

async function missing(sink: Sink, source: Device): Promise<boolean> {
  const now = await listDevices().catch(() => undefined);
  if (!now) return true;
  const there = (d: { id: string; connected: boolean } | undefined) => d?.connected ?? false;
  return (
    !there(now.sinks.find((s) => s.id === sink.id)) || !there(now.sources.find((s) => s.id === source.id))
  );
}

/** Waits until `seconds` are recorded; false when samples stop coming. */
async function recorded(r: Recorder, seconds: number, signal: AbortSignal): Promise<boolean> {
  let last = -1;
  let since = performance.now();
  while (r.seconds() < seconds) {
    signal.throwIfAborted();
    if (r.seconds() > last) {
      last = r.seconds();
      since = performance.now();
    } else if (performance.now() - since > 4000) return false;
    await sleep(40);
  }
  return true;
}

/**
 * PipeWire: one stream with two inputs, linked by hand to the sink's monitor and to the microphone. Both run in the
 * same graph, so their samples are aligned exactly. The file lies in memory (tmpfs) and is deleted at the end.
 */
async function graphRecorder(
  sink: Sink,
  source: Device,
  o: { runtime: string; signal: AbortSignal; onLevel: OnLevel },
): Promise<Recorder> {
  const name = `ingle-probe-${randomUUID().slice(0, 8)}`;
  const file = join(o.runtime, `${name}.wav`);
  const properties = JSON.stringify({
    'node.name': name,
    'media.name': 'audio test',
    'node.dont-reconnect': true,
  });
  const child = start(
    'pw-record',
    [
      '--target=0',
      `--rate=${RATE}`,
      '--channels=2',
      '--channel-map=FL,FR',
      '--format=s16',
      '-P',
      properties,
      file,
    ],
    { stdio: 'ignore' },
  );
  const failed = new Promise<never>((_, reject) =>
    child.once('error', () =>
      reject(new IngleError('not_supported', 'The program "pw-record" is not installed.')),
    ),
  );
  failed.catch(() => {});
  let fd: number | undefined;
  let heardBytes = 44;
  const size = () => {
    if (fd === undefined && existsSync(file)) fd = openSync(file, 'r');
    return fd === undefined ? 0 : fstatSync(fd).size;
  };
  const meter = setInterval(() => {
    const end = size();
    if (fd === undefined || end - heardBytes < 4096) return;
    const part = Buffer.alloc((end - heardBytes) & ~3);
    readSync(fd, part, 0, part.length, heardBytes);
    heardBytes += part.length;
    const l = levels(fromS16(part, 2)[1]!);
    o.onLevel(l.rms_db, l.peak_db);
  }, 100);
  const end = async () => {
    clearInterval(meter);
    await stop(child, 1500);
    if (fd !== undefined) closeSync(fd);
    fd = undefined;
    if (existsSync(file)) unlinkSync(file);
  };
  try {
    await Promise.race([failed, linkUp(name, sink, source, o.signal)]);
  } catch (e) {
    await end();
    throw e;
  }
  return {
    seconds: () => Math.max(0, size() - 44) / 4 / RATE,
    async finish() {
      clearInterval(meter);
      await stop(child, 1500);
      const bytes = Buffer.alloc(size());
      if (fd !== undefined) readSync(fd, bytes, 0, bytes.length, 0);
      await end();
      const [played, heard] = fromS16(parseWav(bytes).data, 2);
      bytes.fill(0);
      return { played: played!, heard: heard! };
    },
    discard: end,
  };
}

async function linkUp(name: string, sink: Sink, source: Device, signal: AbortSignal): Promise<void> {
  const deadline = performance.now() + 5000;
  const of = (ports: string[], node: string, kind: RegExp) =>
    ports.find((p) => p.startsWith(`${node}:`) && kind.test(p.slice(node.length + 1)));
  for (;;) {
    signal.throwIfAborted();
    const inputs = await graphPorts('-i');
    const outputs = await graphPorts('-o');
    const left = of(inputs, name, /^input_FL$/);
    const right = of(inputs, name, /^input_FR$/);
    const played = of(outputs, sink.id, /^monitor_/);
    const heard = source.id.endsWith('.monitor')
      ? of(outputs, source.id.slice(0, -'.monitor'.length), /^monitor_/)
      : of(outputs, source.id, /^(capture|output)_/);
    if (left && right && played && heard) {
      await linkPorts(played, left);
      await linkPorts(heard, right);
      return;
    }
    if (performance.now() > deadline)
      throw new IngleError('unavailable', 'The devices do not appear in the sound graph.');
    await sleep(60);
  }
}

/**
 * PulseAudio: two recorders, aligned by when their chunks came. The earliest chunk against its sample count is the
 * least delayed one; good to some 20 ms, which is enough to tell air from Bluetooth and not for echo cancelling.
 */
function clockRecorder(sink: Sink, source: Device, onLevel: OnLevel): Recorder {
  const one = (id: string, meter: boolean) => {
    const chunks: Int16Array[] = [];
    let count = 0;
    let began = Number.POSITIVE_INFINITY;
    let since = 0;
    const c = capture(id, RATE, (samples, at) => {
      chunks.push(samples);
      count += samples.length;
      began = Math.min(began, at - (count / RATE) * 1000);
      if (meter && at - since > 100) {
        since = at;
        const l = levels(Float32Array.from(samples, (v) => v / 32768));
        onLevel(l.rms_db, l.peak_db);
      }
    });
    return {
      seconds: () => count / RATE,
      stop: () => c.stop(),
      began: () => began,
      samples(skipMs: number): Float32Array {
        const out = new Float32Array(count);
        let at = 0;
        for (const chunk of chunks) for (const v of chunk) out[at++] = v / 32768;
        for (const chunk of chunks) chunk.fill(0);
        return out.subarray(Math.max(0, Math.round((skipMs / 1000) * RATE)));
      },
    };
  };
  const played = one(sink.monitor_id, false);
  const heard = one(source.id, true);
  const stopBoth = async () => {
    await Promise.all([played.stop(), heard.stop()]);
  };
  return {
    seconds: () => Math.min(played.seconds(), heard.seconds()),
    async finish() {
      await stopBoth();
      const later = Math.max(played.began(), heard.began());
      return {
        played: played.samples(later - played.began()),
        heard: heard.samples(later - heard.began()),
      };
    },
    discard: stopBoth,
  };
}

/** Deletes recordings a killed service has left. */
export function sweepRecordings(runtime: string): void {
  for (const f of existsSync(runtime) ? readdirSync(runtime) : [])
    if (/^ingle-(probe|answer)-/.test(f)) unlinkSync(join(runtime, f));
}
