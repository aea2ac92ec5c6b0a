// The sound server, PipeWire or PulseAudio, through their common command-line tools.
import type { ChildProcess } from 'node:child_process';
import { compare, type DeviceChanges, type Devices } from '../../firmware/audio/device.ts';
import { concernsDevices, parseDevices, parsePlaying } from '../../firmware/audio/pactl.ts';
import { toS16 } from '../../firmware/audio/pcm.ts';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { must, run, start, stop } from '../../firmware/system/exec.ts';
import type { Log } from '../../firmware/system/log.ts';

async function pactl(args: string[]): Promise<string> {
  const r = await run('pactl', args, { timeoutMs: 8000 });
  if (r.code !== 0)
    throw new IngleError('unavailable', 'The sound server (PipeWire or PulseAudio) does not answer.');
  return r.stdout.toString();
}

/** @throws IngleError `unavailable` without a sound server, `not_supported` without its tools. */
export async function listDevices(): Promise<Devices> {
  const [sinks, sources] = await Promise.all([
    pactl(['--format=json', 'list', 'sinks']),
    pactl(['--format=json', 'list', 'sources']),
  ]);
  return parseDevices(sinks, sources);
}

/** @throws IngleError as `listDevices` */
export async function listPlaying(): Promise<{ sink_id: string; name: string }[]> {
  const [inputs, sinks] = await Promise.all([
    pactl(['--format=json', 'list', 'sink-inputs']),
    pactl(['--format=json', 'list', 'sinks']),
  ]);
  return parsePlaying(inputs, sinks);
}

/** How loud a sink plays, 0 to 1; 0 mutes it. */
export async function setVolume(sink: string, volume: number): Promise<void> {
  if (volume > 0) await pactl(['set-sink-volume', sink, `${Math.round(100 * volume)}%`]);
  await pactl(['set-sink-mute', sink, volume > 0 ? '0' : '1']);
}

/** Whether the server is PipeWire: only its graph can record two devices on one clock. */
export async function isPipeWire(): Promise<boolean> {
  return /PipeWire/.test(await pactl(['info']));
}

/**
 * Plays mono samples on a sink and settles when they are out.
 * @throws IngleError `timeout` when the sink takes no samples, `unavailable` when it is gone.
 */
export async function play(
  sink: string,
  samples: Float32Array | Float64Array,
  rate: number,
  signal?: AbortSignal,
): Promise<void> {
  // A stream whose sink goes away must end, not go on at another one.
  const args = [
    '--playback',
    '--raw',
    `--device=${sink}`,
    `--rate=${rate}`,
    '--channels=1',
    '--format=s16le',
  ];
  const stay = ['--latency-msec=2000', '--client-name=ingle', '--property=node.dont-reconnect=true'];
  const r = await run('pacat', [...args, ...stay], {
    input: toS16(samples),
    timeoutMs: (samples.length / rate) * 1000 + 6000,
    signal,
  });
  if (r.code !== 0) throw new IngleError('unavailable', `The sink ${sink} takes no sound.`);
}

export interface Capture {
  /** Ends the recording. Settles when the recorder is gone. */
  stop(): Promise<void>;
  /** Settles when the recorder ends by itself. */
  ended: Promise<void>;
}

/** Records a source as mono 16-bit samples, chunk by chunk; `at` = when a chunk came, milliseconds. */
export function capture(
  source: string,
  rate: number,
  onChunk: (samples: Int16Array, at: number) => void,
): Capture {
  const args = [
    '--record',
    '--raw',
    `--device=${source}`,
    `--rate=${rate}`,
    '--channels=1',
    '--format=s16le',
  ];
  const child = start('pacat', [...args, '--latency-msec=20', '--client-name=ingle'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let odd: Buffer = Buffer.alloc(0);
  child.stdout!.on('data', (d: Buffer) => {
    const at = performance.now();
    const all = odd.length > 0 ? Buffer.concat([odd, d]) : d;
    const whole = all.length & ~1;
    odd = Buffer.from(all.subarray(whole));
    const samples = new Int16Array(whole / 2);
    for (let i = 0; i < samples.length; i++) samples[i] = all.readInt16LE(2 * i);
    onChunk(samples, at);
  });
  return {
    ended: new Promise((resolve) => {
      child.once('close', () => resolve());
      child.once('error', () => resolve());
    }),
    stop: () => stop(child, 1000),
  };
}

export interface Watcher {
  devices(): Devices;
  stop(): Promise<void>;
}

/** Follows devices that come and go, over restarts of the sound server. */
export async function watchDevices(
  log: Log,
  onChange: (c: DeviceChanges, now: Devices) => void,
): Promise<Watcher> {
  let devices: Devices = { sinks: [], sources: [] };
  let child: ChildProcess | undefined;
  let again: NodeJS.Timeout | undefined;
  let soon: NodeJS.Timeout | undefined;
  let stopped = false;

  async function look(): Promise<void> {
    const now = await listDevices().catch((): Devices => ({ sinks: [], sources: [] }));
    if (stopped) return;
    const c = compare(devices, now);
    devices = now;
    if (c.added.length + c.removed.length + c.changed.length > 0) onChange(c, now);
  }
  /** Events come in flocks; one look for all of them. */
  function lookSoon(): void {
    soon ??= setTimeout(() => {
      soon = undefined;
      void look();
    }, 150);
  }
  function subscribe(wait: number): void {
    const began = Date.now();
    child = start('pactl', ['subscribe'], { stdio: ['ignore', 'pipe', 'ignore'] });
    child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      if (text.split('\n').some(concernsDevices)) lookSoon();
    });
    const over = () => {
      if (stopped) return;
      if (Date.now() - began > 10_000) wait = 250;
      else log.debug('the sound server is not there', { retry_ms: wait });
      lookSoon();
      again = setTimeout(() => subscribe(Math.min(5000, wait * 2)), wait);
    };
    child.once('error', () => {});
    child.once('close', over);
    lookSoon();
  }
  devices = await listDevices().catch((): Devices => ({ sinks: [], sources: [] }));
  subscribe(250);
  return {
    devices: () => devices,
    async stop() {
      stopped = true;
      clearTimeout(again);
      clearTimeout(soon);
      if (child) await stop(child, 500);
    },
  };
}

/** Ports of PipeWire's graph, `node:port`. */
export async function graphPorts(direction: '-o' | '-i'): Promise<string[]> {
  const out = await must('pw-link', [direction], { timeoutMs: 5000 });
  return out.toString().split('\n').filter(Boolean);
}

export async function linkPorts(from: string, to: string): Promise<void> {
  await must('pw-link', [from, to], { timeoutMs: 5000 });
}
