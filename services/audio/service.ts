// io.ingle.Audio1: the contract over the sound server. One job with the microphone at a time.
import type { audio1 } from '../../firmware/audio/contract.ts';
import type { Device, DeviceChanges, Sink } from '../../firmware/audio/device.ts';

import type { Measurement } from '../../firmware/audio/measure.ts';
import { exponentialSweep } from '../../firmware/audio/probe.ts';
import { isFresh, type Profile, type Profiles, profileOf } from '../../firmware/audio/profile.ts';
import { type Pair, type Ranking, rank, type Scored } from '../../firmware/audio/score.ts';
import { runWizard } from '../../firmware/audio/wizard.ts';
import { IngleError, toIngleError } from '../../firmware/protocol/errors.ts';
import { openQueue } from '../../firmware/protocol/queue.ts';
import type { Served } from '../../firmware/system/bus.ts';
import { type Implementation, toDict } from '../../firmware/system/contract.ts';
import type { Log } from '../../firmware/system/log.ts';
import { audioTexts } from '../../firmware/text/audio.ts';
import { type Language, pickLanguage, translator } from '../../firmware/text/i18n.ts';
import { testPair } from './pair.ts';
import { recognizer } from './recognizer.ts';
import { capture, listDevices, play, setVolume } from './sound.ts';
import { listen, recognise, speak } from './speech.ts';

type Audio1 = typeof audio1;

export interface AudioService {
  impl: Implementation<Audio1>;
  /** Raises DevicesChanged. */
  devicesChanged(c: DeviceChanges): void;
  /** No job runs. */
  idle(): boolean;
  attach(served: Served<Audio1>): void;
}

/** What goes wrong is told by name; the person's languages are `en` and `ru`. */
export function audioService(o: { profiles: Profiles; runtime: string; log: Log }): AudioService {
  const { profiles, log, runtime } = o;
  let served: Served<Audio1> | undefined;
  let job: { name: string; abort: AbortController } | undefined;
  const speaking = openQueue();
  const recording = recognizer(runtime);
  const measured = new Map<string, { pair: Pair; m: Measurement }>();

  /** Runs the one job that may use the microphone. */
  async function exclusive<T>(name: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (job)
      throw new IngleError('conflict', `The sound is in use (${job.name}). Wait for its end, or cancel it.`);
    const mine = { name, abort: new AbortController() };
    job = mine;
    try {
      return await work(mine.abort.signal);
    } finally {
      if (job === mine) job = undefined;
    }
  }
  /** Runs after the job at work and what waits already: a spoken password must not be lost to a running test. */
  function queued<T>(name: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    return speaking.add(async () => {
      while (job) await new Promise((resolve) => setTimeout(resolve, 100));
      return exclusive(name, work);
    });
  }

  const level = (source: string) => (rms_db: number, peak_db: number) =>
    served?.emit('Level', { source_id: source, rms_db, peak_db });

  async function ranking(): Promise<Ranking> {
    return rank(await listDevices(), await profiles.list());
  }
  async function sinkOf(id: string): Promise<Scored<Sink>> {
    return pick((await ranking()).sinks, id, 'sink');
  }
  async function sourceOf(id: string): Promise<Scored<Device>> {
    return pick((await ranking()).sources, id, 'source');
  }
  async function pairOf(sink: string, source: string): Promise<Pair> {
    const r = await ranking();
    const a = pick(r.sinks, sink, 'sink');
    const b = pick(r.sources, source, 'source');
    return { sink: a.device, source: b.device, score: a.score + b.score };
  }
  const keyOf = (sink: string, source: string) => `${sink}\n${source}`;

  async function test(pair: Pair, gain_db: number, signal: AbortSignal): Promise<Measurement> {
    const m = await testPair(pair.sink, pair.source, {
      gain_db,
      runtime,
      signal,
      onLevel: level(pair.source.id),
    });
    const key = keyOf(pair.sink.id, pair.source.id);
    measured.delete(key);
    measured.set(key, { pair, m });
    log.info('measured', { sink: pair.sink.id, source: pair.source.id, ...m });
    return m;
  }
  async function ask(pair: Pair, lang: Language, timeoutMs: number, signal: AbortSignal) {
    await speak(pair.sink.id, translator(audioTexts, lang)('ask_yes'), { lang, slow: false, signal });
    const l = await listen(pair.source.id, timeoutMs, { signal, onLevel: level(pair.source.id) });
    const said =
      l.heard && l.short
        ? await recognise(l.samples, runtime, signal)
        : { answer: 'none' as const, phrase: '' };
    l.samples.fill(0);
    return { heard: l.heard, ...said };
  }

  const impl: Implementation<Audio1> = {
    async Enumerate() {
      const r = await ranking();
      return { sinks: r.sinks.map(deviceOf), sources: r.sources.map(deviceOf) };
    },
    async PlayTone({ sink_id, chirp_spec }) {
      const { from_hz: from, to_hz: to, duration_ms: ms, level_db: db } = chirp_spec;
      if (
        !(
          from >= 20 &&
          from <= 20_000 &&
          to >= 20 &&
          to <= 20_000 &&
          ms >= 10 &&
          ms <= 5000 &&
          db <= 0 &&
          db >= -80
        )
      )
        throw new IngleError(
          'invalid_request',
          'A tone has 20 to 20000 Hz, 10 to 5000 ms and a level of -80 to 0 dB.',
          { pointer: '/chirp_spec' },
        );
      const { device } = await sinkOf(sink_id);
      // A sweep that stays where it is would divide by the logarithm of 1.
      const end = from === to ? to * 1.0001 : to;
      const tone = exponentialSweep(device.rate, from, end, ms / 1000).map((v) => v * 10 ** (db / 20));
      await queued('PlayTone', (signal) => play(device.id, tone, device.rate, signal));
      return {};
    },
    async Record({ source_id, duration_ms }) {
      if (duration_ms < 10 || duration_ms > 10_000)
        throw new IngleError('invalid_request', 'A recording has 10 to 10000 ms.', {
          pointer: '/duration_ms',
        });
      const { device } = await sourceOf(source_id);
      const bytes = await exclusive('Record', (signal) => recordBytes(device, duration_ms, signal));
      return { rate: 16_000, samples: bytes };
    },
    Metrics({ sink_id, source_id }) {
      const found =
        sink_id === '' && source_id === ''
          ? [...measured.values()].at(-1)
          : measured.get(keyOf(sink_id, source_id));
      if (!found) throw new IngleError('not_found', 'This pair has not been measured. Test it first.');
      return { sink_id: found.pair.sink.id, source_id: found.pair.source.id, ...found.m };
    },
    async Test({ sink_id, source_id }) {
      if (source_id === '') {
        const { device } = await sinkOf(sink_id);
        const tone = exponentialSweep(device.rate, 200, 4000, 1.5).map((v) => v * 0.5);
        await exclusive('Test', (signal) => play(device.id, tone, device.rate, signal));
        return { verdict: 'played', corr: 0, latency_ms: 0, snr_db: 0, confidence: 0, path: 'none' };
      }
      const pair = await pairOf(sink_id, source_id);
      return { ...(await exclusive('Test', (signal) => test(pair, 0, signal))) };
    },
    async Probe({ lang, quick }) {
      const language = pickLanguage([lang]);
      return exclusive('Probe', async (signal) => {
        const say = (pair: Pair, text: keyof (typeof audioTexts)['en']) =>
          speak(pair.sink.id, translator(audioTexts, language)(text), {
            lang: language,
            slow: false,
            signal,
          }).catch(muteable);
        const outcome = await runWizard(
          {
            log,
            onState: (state, old, event) => {
              served?.emit('StateChanged', { state, old, event });
              served?.set({ State: state });
            },
            onStep: (s) =>
              served?.emit('Progress', {
                state: s.state,
                sink_id: s.pair?.sink.id ?? '',
                source_id: s.pair?.source.id ?? '',
                attempt: s.attempt,
                text: s.text,
                detail: s.measurement ? toDict({ ...s.measurement }) : {},
              }),
            ports: {
              devices: listDevices,
              test,
              say,
              profiles: () => profiles.list(),
              save: (p) => profiles.save(p),
              async speechHeard(pair) {
                const l = await listen(pair.source.id, 12_000, {
                  signal,
                  onLevel: level(pair.source.id),
                  during: () => say(pair, 'input_check'),
                });
                l.samples.fill(0);
                return l.heard;
              },
              askYes: (pair) =>
                ask(pair, language, 5000, signal).then(
                  (a) => a.answer,
                  (e) => {
                    muteable(e);
                    return 'none' as const;
                  },
                ),
            },
          },
          quick,
          signal,
        );
        return {
          state: outcome.state,
          reason: outcome.reason,
          sink_id: outcome.pair?.sink.id ?? '',
          source_id: outcome.pair?.source.id ?? '',
          confirmed: outcome.confirmed,
        };
      });
    },
    Cancel() {
      job?.abort.abort();
      return {};
    },
    async VadListen({ source_id, timeout_s }) {
      const { device } = await sourceOf(source_id);
      return exclusive('VadListen', async (signal) => {
        const l = await listen(device.id, checkTimeout(timeout_s), { signal, onLevel: level(device.id) });
        const said =
          l.heard && l.short ? await recognise(l.samples, runtime, signal).catch(muteable) : undefined;
        l.samples.fill(0);
        return { heard: l.heard, phrase: said?.phrase ?? '' };
      });
    },
    async ConfirmYes({ sink_id, source_id, lang, timeout_s }) {
      const pair = await pairOf(sink_id, source_id);
      const timeout = checkTimeout(timeout_s);
      return exclusive('ConfirmYes', async (signal) => {
        const a = await ask(pair, pickLanguage([lang]), timeout, signal);
        return { heard: a.heard, yes: a.answer === 'yes', phrase: a.phrase };
      });
    },
    async Say({ text, lang, slow, sink_id }) {
      if (text.trim() === '' || text.length > 1000)
        throw new IngleError('invalid_request', 'A spoken text has 1 to 1000 characters.', {
          pointer: '/text',
        });
      if (sink_id !== '*' && sink_id !== '') await sinkOf(sink_id);
      return queued('Say', async (signal) => {
        const sinks =
          sink_id === '*'
            ? (await ranking()).sinks.filter((s) => s.device.connected)
            : [await sinkOf(sink_id)];
        const spoken: string[] = [];
        let fault: unknown;
        for (const s of sinks) {
          if (signal.aborted) break;
          try {
            await speak(s.device.id, text, { lang: pickLanguage([lang]), slow, signal });
            spoken.push(s.device.id);
          } catch (e) {
            // One dead output must not keep the others from speaking.
            fault = e;
            log.warn('an output does not speak', { sink: s.device.id, error: e as Error });
          }
        }
        if (spoken.length === 0)
          throw fault
            ? toIngleError(fault)
            : new IngleError('unavailable', 'There is no output to speak through.');
        return { spoken };
      });
    },
    Recognize: (asked) => recording.recognise(asked),
    StopRecognizing({ id }) {
      recording.stop(id);
      return {};
    },
    async SetVolume({ sink_id, volume }) {
      if (!(volume >= 0 && volume <= 1))
        throw new IngleError('invalid_request', 'A volume is 0 to 1.', { pointer: '/volume' });
      await setVolume((await sinkOf(sink_id)).device.id, volume);
      return {};
    },
    async SaveProfile({ sink_id, source_id }) {
      const pair = await pairOf(sink_id, source_id);
      const p = profileOf(pair, measured.get(keyOf(pair.sink.id, pair.source.id))?.m, new Date());
      await profiles.save(p);
      return { profile: proven(p) };
    },
    async LoadProfile() {
      const [p] = await profiles.list();
      if (!p) throw new IngleError('not_found', 'No pair of speaker and microphone has been kept yet.');
      return { profile: proven(p), fresh: isFresh(p, new Date()) };
    },
    async ListProfiles() {
      return { profiles: (await profiles.list()).map(proven) };
    },
    async ForgetProfiles() {
      await profiles.forget();
      measured.clear();
      return {};
    },
  };
  return {
    impl,
    devicesChanged: (c) => served?.emit('DevicesChanged', c),
    idle: () => job === undefined && speaking.size === 0 && !recording.isBusy(),
    attach: (s) => (served = s),
  };

  /** Missing speech programs leave the hub mute, not broken; anything else is a fault. */
  function muteable(e: unknown): undefined {
    const error = toIngleError(e);
    if (error.code !== 'not_supported') throw e;
    log.warn('speech is not installed', { error });
    return undefined;
  }
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

function pick<D extends Device>(list: Scored<D>[], id: string, what: string): Scored<D> {
  const found = id === '' ? (list.find((d) => d.usable) ?? list[0]) : list.find((d) => d.device.id === id);
  if (!found)
    throw new IngleError(
      'not_found',
      id === '' ? `No ${what} is connected.` : `There is no ${what} "${id}". It may have been unplugged.`,
    );
  return found;
}

function checkTimeout(seconds: number): number {
  if (!(seconds > 0 && seconds <= 30))
    throw new IngleError('invalid_request', 'Listening takes at most 30 seconds.', { pointer: '/timeout_s' });
  return seconds * 1000;
}

function deviceOf(s: Scored<Device>) {
  const d = s.device;
  const { id, name, type, muted, volume, connected } = d;
  return { id, name, type, muted, volume, connected, score: s.score, usable: s.usable };
}

function proven(p: Profile) {
  const { corr, snr_db } = p.proof;
  return { ...p, corr, snr_db };
}
