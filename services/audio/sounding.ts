// Devices as they are: listed, made to sound, recorded, made louder.
import type { Device } from '../../firmware/audio/device.ts';
import { exponentialSweep } from '../../firmware/audio/probe.ts';
import type { Scored } from '../../firmware/audio/score.ts';
import { IngleError } from '../../firmware/protocol/errors.ts';
import type { AudioParts, Methods } from './parts.ts';
import { capture, listPlaying, play, setVolume } from './sound.ts';

const within = (value: number, least: number, most: number) => value >= least && value <= most;

export function sounding({
  choice,
  job,
}: AudioParts): Methods<'Enumerate' | 'Playing' | 'PlayTone' | 'Record' | 'SetVolume'> {
  return {
    async Enumerate() {
      const r = await choice.ranking();
      return { sinks: r.sinks.map(deviceOf), sources: r.sources.map(deviceOf) };
    },
    Playing: async () => ({ streams: await listPlaying() }),
    async PlayTone({ sink_id, chirp_spec }) {
      const { from_hz: from, to_hz: to, duration_ms: ms, level_db: db } = chirp_spec;
      const isHeard = within(from, 20, 20_000) && within(to, 20, 20_000);
      if (!(isHeard && within(ms, 10, 5000) && within(db, -80, 0)))
        throw new IngleError(
          'invalid_request',
          'A tone has 20 to 20000 Hz, 10 to 5000 ms and a level of -80 to 0 dB.',
          { pointer: '/chirp_spec' },
        );
      const { device } = await choice.sink(sink_id);
      // A sweep that stays where it is would divide by the logarithm of 1.
      const end = from === to ? to * 1.0001 : to;
      const tone = exponentialSweep(device.rate, from, end, ms / 1000).map((v) => v * 10 ** (db / 20));
      await job.queued('PlayTone', (signal) => play(device.id, tone, device.rate, signal));
      return {};
    },
    async Record({ source_id, duration_ms }) {
      if (duration_ms < 10 || duration_ms > 10_000)
        throw new IngleError('invalid_request', 'A recording has 10 to 10000 ms.', {
          pointer: '/duration_ms',
        });
      const { device } = await choice.source(source_id);
      const bytes = await job.exclusive('Record', (signal) => recordBytes(device, duration_ms, signal));
      return { rate: 16_000, samples: bytes };
    },
    async SetVolume({ sink_id, volume }) {
      if (!within(volume, 0, 1))
        throw new IngleError('invalid_request', 'A volume is 0 to 1.', { pointer: '/volume' });
      await setVolume((await choice.sink(sink_id)).device.id, volume);
      return {};
    },
  };
}

async function recordBytes(d: Device, ms: number, signal: AbortSignal): Promise<Uint8Array> {
  const want = Math.round((16_000 * ms) / 1000);
  const out = new Int16Array(want);
  let have = 0;
  let full: () => void = () => {};
  const done = new Promise<void>((resolve) => (full = resolve));
  const c = capture(d.id, 16_000, (samples) => {
    out.set(samples.subarray(0, want - have), have);
    have = Math.min(want, have + samples.length);
    if (have === want) full();
  });
  void c.ended.then(full);
  const timer = setTimeout(full, ms + 5000);
  signal.addEventListener('abort', full, { once: true });
  await done;
  clearTimeout(timer);
  await c.stop();
  if (signal.aborted) throw new IngleError('timeout', 'The recording was ended.');
  if (have < want) throw new IngleError('unavailable', 'The source gives no sound. Is it still plugged in?');
  return new Uint8Array(out.buffer);
}

function deviceOf(s: Scored<Device>) {
  const d = s.device;
  const { id, name, type, muted, volume, connected } = d;
  return { id, name, type, muted, volume, connected, score: s.score, usable: s.usable };
}
