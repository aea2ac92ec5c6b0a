// The audio initialisation at work: one step a state, each step answers with the event that leaves it.
import { IngleError, toIngleError } from '../protocol/errors.ts';
import type { Log } from '../system/log.ts';
import { machine } from '../system/machine.ts';
import type { AudioText } from '../text/audio.ts';
import type { Devices } from './device.ts';
import { ATTEMPTS, type AudioEvent, type AudioState, audioTable, PAIR_BUDGET_MS } from './machine.ts';
import type { Measurement, Verdict } from './measure.ts';
import { isFresh, type Profile, profileOf } from './profile.ts';
import { type Pair, pairs, rank } from './score.ts';

/** What the machine needs of the world; services/audio makes it from the sound server, tests make faults. */
export interface WizardPorts {
  devices(): Promise<Devices>;
  /** Plays and hears the probe; faults of devices are verdicts. `gain_db` moves the probe's level. */
  test(pair: Pair, gain_db: number, signal: AbortSignal): Promise<Measurement>;
  /** Speaks the input check through the pair; whether the VAD heard speech. */
  speechHeard(pair: Pair, signal: AbortSignal): Promise<boolean>;
  /** Asks for a yes aloud and listens. */
  askYes(pair: Pair, signal: AbortSignal): Promise<'yes' | 'no' | 'none'>;
  say(pair: Pair, text: AudioText, signal: AbortSignal): Promise<void>;
  profiles(): Promise<Profile[]>;
  save(p: Profile): Promise<void>;
}

export interface Outcome {
  state: 'READY' | 'READY_WITH_LIMITS';
  reason: Verdict | 'no_devices' | 'canceled' | 'fault';
  pair: Pair | undefined;
  confirmed: boolean;
}

export interface Step {
  state: AudioState;
  pair: Pair | undefined;
  attempt: number;
  text: AudioText;
  measurement: Measurement | undefined;
}

export interface WizardOptions {
  ports: WizardPorts;
  log: Log;
  onState(state: AudioState, old: AudioState, event: AudioEvent): void;
  onStep(s: Step): void;
  now?: () => Date;
  budgetMs?: number;
}

/** SNR below which speech would not be understood, decibels. */
const CLEAR_SNR = 3;
/** Verdicts in which the probe was heard, so that a hint to the person may help. */
const hintable = ['noisy', 'too_loud', 'too_quiet', 'glitching'] as const;

type Act = () => Promise<AudioEvent> | AudioEvent;

/** What is known of the pair at hand. */
interface Trial {
  pair: Pair | undefined;
  attempt: number;
  hinted: boolean;
  measurement: Measurement | undefined;
  /** After it no further attempt begins, milliseconds since 1970. */
  halfTime: number;
}

const trialOf = (pair: Pair | undefined, budgetMs: number): Trial => ({
  ...{ pair, attempt: 0, hinted: false, measurement: undefined },
  halfTime: Date.now() + budgetMs / 2,
});

/** Runs the machine to READY or READY_WITH_LIMITS. It always settles: a fault leads to the fallback. */
export async function runWizard(o: WizardOptions, quick: boolean, signal: AbortSignal): Promise<Outcome> {
  const m = machine({
    name: 'audio',
    table: audioTable,
    initial: 'START' as AudioState,
    log: o.log,
    onEnter: o.onState,
  });
  const failure = createFailure();
  const wizard = createSteps(o, quick, signal, failure, () => m.state);

  m.fire('start');
  while (m.state !== 'READY' && m.state !== 'READY_WITH_LIMITS') {
    const event = await guarded(wizard.steps[m.state]);
    if (!m.fire(event)) throw new IngleError('internal', `The audio machine refuses ${event} in ${m.state}.`);
  }
  wizard.tell('recordings_deleted');
  const { pair, confirmed } = wizard.found();
  const ready = m.state === 'READY';
  return {
    ...{ state: m.state, reason: ready ? 'ok' : failure.reason },
    ...{ pair: ready ? pair : undefined, confirmed },
  };

  async function guarded(step: Act): Promise<AudioEvent> {
    const canCancel = m.can('cancel');
    try {
      if (signal.aborted && canCancel) throw new IngleError('timeout', 'canceled');
      const event = await step();
      return signal.aborted && canCancel ? canceled() : event;
    } catch (cause) {
      if (signal.aborted) return canceled();
      const e = toIngleError(cause);
      o.log.warn('the audio test met a fault', { state: m.state, error: cause as Error, code: e.code });
      failure.is('fault');
      return 'fault';
    }
  }
  function canceled(): AudioEvent {
    failure.is('canceled');
    return 'cancel';
  }
}

/** The failure to report: of the pair that came nearest to working, unless something else ended it all. */
function createFailure() {
  let reason: Outcome['reason'] = 'no_devices';
  let nearest = -1;
  return {
    get reason() {
      return reason;
    },
    is(why: Outcome['reason']): void {
      reason = why;
    },
    measured({ verdict, confidence }: Measurement): void {
      if (confidence + 0.01 <= nearest) return;
      nearest = confidence + 0.01;
      reason = verdict;
    },
  };
}
type Failure = ReturnType<typeof createFailure>;

/** Tests the pair at hand: once more after a hint, else as often as its time allows. */
async function test(
  trial: Trial,
  ports: WizardPorts,
  signal: AbortSignal,
  tell: (text: AudioText) => void,
  failure: Failure,
): Promise<AudioEvent> {
  tell('testing');
  let gain = 0;
  // A hint gave the pair a fresh attempt; without one it has two, within its time.
  for (let tries = trial.hinted ? 1 : ATTEMPTS; tries > 0; tries--) {
    trial.attempt++;
    const m = await ports.test(trial.pair!, gain, signal);
    trial.measurement = m;
    tell('measured');
    if (m.verdict === 'ok') return 'heard';
    failure.measured(m);
    // Another try changes nothing about these.
    if (m.verdict === 'unplugged' || m.verdict === 'digital_loopback') return 'not_heard';
    if (signal.aborted || Date.now() > trial.halfTime) break;
    gain = m.verdict === 'too_loud' ? -12 : m.verdict === 'too_quiet' ? 6 : 0;
  }
  const { measurement, hinted } = trial;
  return measurement && measurement.confidence > 0 && !hinted ? 'heard' : 'not_heard';
}

/** What is done in each state. */
function createSteps(
  o: WizardOptions,
  quick: boolean,
  signal: AbortSignal,
  failure: Failure,
  state: () => AudioState,
) {
  const { ports } = o;
  const now = o.now ?? (() => new Date());
  let devices: Devices = { sinks: [], sources: [] };
  let queue: Pair[] = [];
  let trial: Trial = trialOf(undefined, 0);
  let fast = quick;
  let confirmed = false;

  const tell = (text: AudioText) => {
    const { pair, attempt, measurement } = trial;
    o.onStep({ state: state(), pair, attempt, text, measurement });
  };

  function nextPair(): AudioEvent {
    const pair = queue.shift();
    if (pair) trial = trialOf(pair, o.budgetMs ?? PAIR_BUDGET_MS);
    else trial.pair = undefined;
    return pair ? 'pair' : 'no_pairs';
  }

  const steps: Record<AudioState, Act> = {
    START: () => 'start',
    async ENUM_DEVICES(): Promise<AudioEvent> {
      devices = await ports.devices();
      return 'listed';
    },
    async RANK_CANDIDATES(): Promise<AudioEvent> {
      const kept = await ports.profiles();
      queue = pairs(rank(devices, kept), kept);
      // The fast path: a fresh profile whose devices are there is tested first, and nobody is asked.
      const fresh = kept.find((p) => isFresh(p, now()));
      const known =
        fresh && queue.find((p) => p.sink.id === fresh.sink_id && p.source.id === fresh.source_id);
      if (known) {
        fast = true;
        queue = [known, ...queue.filter((p) => p !== known)];
      }
      if (quick) queue = queue.slice(0, 1);
      return nextPair();
    },
    TEST_PAIR: () => test(trial, ports, signal, tell, failure),
    async OUTPUT_OK(): Promise<AudioEvent> {
      if (trial.measurement!.verdict !== 'ok') return 'unclear';
      if (trial.measurement!.snr_db >= CLEAR_SNR && (fast || (await ports.speechHeard(trial.pair!, signal))))
        return 'clear';
      failure.is('noisy');
      return 'unclear';
    },
    async HINT_RETRY(): Promise<AudioEvent> {
      if (trial.hinted || quick) return 'no_hint_left';
      trial.hinted = true;
      const why = hintable.find((v) => v === trial.measurement!.verdict) ?? 'noisy';
      tell(`hint_${why}`);
      await ports.say(trial.pair!, `hint_${why}`, signal);
      return 'hinted';
    },
    INPUT_OK: () => (fast ? 'known' : 'ask'),
    async HUMAN_CONFIRM(): Promise<AudioEvent> {
      tell('ask_yes');
      const answer = await ports.askYes(trial.pair!, signal);
      confirmed = answer === 'yes';
      return answer === 'yes' ? 'answered' : answer === 'no' ? 'denied' : 'silent';
    },
    NEXT_PAIR() {
      tell('next_pair');
      // What follows the known pair has not proved itself: ask as usual.
      fast = quick;
      return nextPair();
    },
    async SUCCESS(): Promise<AudioEvent> {
      tell(confirmed ? 'confirmed' : 'ready');
      if (!fast) {
        await ports.say(trial.pair!, confirmed ? 'confirmed' : 'ready', signal);
        await ports.say(trial.pair!, 'recordings_deleted', signal);
      }
      return 'confirmed';
    },
    async SAVE_PROFILE(): Promise<AudioEvent> {
      await ports.save(profileOf(trial.pair!, trial.measurement, now()));
      return 'saved';
    },
    FALLBACK_UI() {
      trial.pair = undefined;
      tell(failure.reason === 'no_devices' ? 'no_devices' : 'fallback');
      return 'offered';
    },
    READY: () => 'start',
    READY_WITH_LIMITS: () => 'start',
  };
  return { steps, tell, found: () => ({ pair: trial.pair, confirmed }) };
}
