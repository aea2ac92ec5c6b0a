// Pairs of speaker and microphone: tested, found by the wizard, kept.
import type { Measurement } from '../../firmware/audio/measure.ts';
import { exponentialSweep } from '../../firmware/audio/probe.ts';
import { isFresh, type Profile, profileOf } from '../../firmware/audio/profile.ts';
import type { Pair } from '../../firmware/audio/score.ts';
import { runWizard, type WizardPorts } from '../../firmware/audio/wizard.ts';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { toDict } from '../../firmware/system/contract.ts';
import { type Language, pickLanguage } from '../../firmware/text/i18n.ts';
import { type Steadiness, testPair } from './pair.ts';
import type { AudioParts, Methods } from './parts.ts';
import { listDevices, play } from './sound.ts';
import { askYes, muteable, sayText } from './speaking.ts';
import { listen } from './speech.ts';

type Test = (pair: Pair, gain_db: number, signal: AbortSignal) => Promise<Measurement>;

const keyOf = (sink: string, source: string) => `${sink}\n${source}`;

export function measuring(
  p: AudioParts,
): Methods<'Metrics' | 'Test' | 'Probe' | 'SaveProfile' | 'LoadProfile' | 'ListProfiles' | 'ForgetProfiles'> {
  const { profiles, log, job, choice, runtime } = p;
  const measured = new Map<string, { pair: Pair; m: Measurement }>();

  const test: Test = async (pair, gain_db, signal) => {
    let steadiness: Steadiness | undefined;
    const m = await testPair(pair.sink, pair.source, {
      ...{ gain_db, runtime, signal },
      onLevel: p.level(pair.source.id),
      onSteadiness: (s) => {
        steadiness = s;
      },
    });
    const key = keyOf(pair.sink.id, pair.source.id);
    measured.delete(key);
    measured.set(key, { pair, m });
    log.info('measured', { sink: pair.sink.id, source: pair.source.id, ...m, ...steadiness });
    return m;
  };

  return {
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
        const { device } = await choice.sink(sink_id);
        const tone = exponentialSweep(device.rate, 200, 4000, 1.5).map((v) => v * 0.5);
        await job.exclusive('Test', (signal) => play(device.id, tone, device.rate, signal));
        return { verdict: 'played', corr: 0, latency_ms: 0, snr_db: 0, confidence: 0, path: 'none' };
      }
      const pair = await choice.pair(sink_id, source_id);
      return { ...(await job.exclusive('Test', (signal) => test(pair, 0, signal))) };
    },
    Probe: ({ lang, quick }) =>
      job.exclusive('Probe', (signal) => probe(p, test, pickLanguage([lang]), quick, signal)),
    async SaveProfile({ sink_id, source_id }) {
      const pair = await choice.pair(sink_id, source_id);
      const kept = profileOf(pair, measured.get(keyOf(pair.sink.id, pair.source.id))?.m, new Date());
      await profiles.save(kept);
      return { profile: proven(kept) };
    },
    async LoadProfile() {
      const [kept] = await profiles.list();
      if (!kept) throw new IngleError('not_found', 'No pair of speaker and microphone has been kept yet.');
      return { profile: proven(kept), fresh: isFresh(kept, new Date()) };
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
}

/** Runs the wizard, and tells of its steps. */
async function probe(p: AudioParts, test: Test, lang: Language, quick: boolean, signal: AbortSignal) {
  const outcome = await runWizard(
    {
      log: p.log,
      onState: (state, old, event) => {
        p.served()?.emit('StateChanged', { state, old, event });
        p.served()?.set({ State: state });
      },
      onStep: (s) =>
        p.served()?.emit('Progress', {
          state: s.state,
          sink_id: s.pair?.sink.id ?? '',
          source_id: s.pair?.source.id ?? '',
          attempt: s.attempt,
          text: s.text,
          detail: s.measurement ? toDict({ ...s.measurement }) : {},
        }),
      ports: portsOf(p, test, lang, signal),
    },
    quick,
    signal,
  );
  const { state, reason, pair, confirmed } = outcome;
  return { state, reason, sink_id: pair?.sink.id ?? '', source_id: pair?.source.id ?? '', confirmed };
}

/** What the wizard needs of the world. Missing programs of speech leave it mute. */
function portsOf(p: AudioParts, test: Test, lang: Language, signal: AbortSignal): WizardPorts {
  const mute = muteable(p.log);
  const say: WizardPorts['say'] = (pair, text) => sayText(pair, text, lang, signal).catch(mute);
  return {
    devices: listDevices,
    test,
    say,
    profiles: () => p.profiles.list(),
    save: (kept) => p.profiles.save(kept),
    async speechHeard(pair) {
      const l = await listen(pair.source.id, 12_000, {
        signal,
        onLevel: p.level(pair.source.id),
        during: () => say(pair, 'input_check', signal),
      });
      l.samples.fill(0);
      return l.heard;
    },
    askYes: async (pair) => (await askYes(p, pair, lang, 5000, signal).catch(mute))?.answer ?? 'none',
  };
}

function proven(p: Profile) {
  const { corr, snr_db } = p.proof;
  return { ...p, corr, snr_db };
}
