// A conversation by voice: woken, the hub listens, starts what the words mean, lets it speak, and stops speaking when
// somebody does. The sound service hears and speaks; the rules say what can be said.
import { IngleError, toIngleError } from '../protocol/errors.ts';
import type { Log } from '../system/log.ts';
import { type Machine, machine } from '../system/machine.ts';
import { type AudioText, audioTexts } from '../text/audio.ts';
import { type Language, translator } from '../text/i18n.ts';
import type { Value } from './expression.ts';
import type { Asker } from './household.ts';
import type { Sayable } from './sayable.ts';
import { type VoiceEvent, type VoiceState, voiceTable } from './voice-states.ts';

/** What the hub hears with and speaks by; `hash` names the grammar that is meant. */
export interface Ear {
  setGrammar(o: { lang: string; grammar: string; words: string[] }): Promise<{ unknown: string[] }>;
  hear(o: { seconds: number; lang: string; hash: string }): Promise<{ heard: boolean; text: string }>;
  /** Speaks until somebody else does. */
  tell(o: { text: string; lang: string; hash: string; phrases: string[] }): Promise<Interruption>;
  /** Ends what it does now. */
  hush(): Promise<void>;
  /**
   * Settles when the phrase was said, or so many seconds have gone without; with none it looks whether the phrase can be
   * heard at all. Only the last call waits; without a phrase it only ends the one before.
   */
  awaitPhrase(o: { seconds: number; lang: string; phrase: string }): Promise<{ heard: boolean }>;
}

export interface Interruption {
  interrupted: boolean;
  /** What was said by whoever interrupted; empty where it was not understood. */
  text: string;
}

/** What somebody said, and what came of it. */
export interface Turn {
  heard: boolean;
  text: string;
  intent: string;
  scenario_id: string;
  run_id: string;
}

export interface Voice {
  readonly state: VoiceState;
  /**
   * Listens, and settles when it is known what was said and what that starts.
   * @throws IngleError `conflict` while it listens already or the microphone is in use, `not_supported`, `unavailable`
   */
  wake(asker: Asker, lang: Language): Promise<Turn>;
  /** Ends listening and speaking. */
  stop(): void;
  /** Whether a run speaks in a conversation. */
  isOf(run_id: string): boolean;
  /** A run of the conversation speaks. With phrases it waits for one of them, and what is said is its own. */
  speak(text: string, lang: Language, phrases: string[]): Promise<Interruption>;
  /** Settles when the hub is silent again. */
  over(): Promise<void>;
}

export interface VoiceOptions {
  ear: Omit<Ear, 'awaitPhrase'>;
  sayable: Sayable;
  log: Log;
  /**
   * What a text means; starts its scenario. `intent` is empty for nothing. `starting` is told the run before it begins,
   * as its first step may speak.
   * @throws IngleError
   */
  act(text: string, asker: Asker, starting: (run_id: string) => void): Promise<Omit<Turn, 'heard' | 'text'>>;
  /** Settles when a run is over. */
  ended(run_id: string): Promise<unknown>;
  /** Whether a run waits for nothing but a time: an alarm that is set is silent, and no part of what "stop" ends. */
  isSilent(run_id: string): Promise<boolean>;
  stopRun(run_id: string): Promise<void>;
  tell(event: 'voice.state', properties: Record<string, Value>): void;
}

/** The intent that ends what the hub says, and the scenario that says it. */
export const STOP = 'voice.stop';
/** How long somebody may think before they speak, seconds. */
const LISTEN_S = 8;
/** A scenario that says nothing for so long has answered, milliseconds. */
const ANSWER_MS = 30_000;

interface Conversation {
  asker: Asker;
  lang: Language;
  /** What was understood last. */
  words: string;
  runs: Set<string>;
  run_id: string;
  refusal: AudioText;
  settle: { resolve(turn: Turn): void; reject(e: unknown): void } | undefined;
}

const nothing = { intent: '', scenario_id: '', run_id: '' };

/** A conversation under way, and the machine that moves it. */
interface Talk {
  o: VoiceOptions;
  m: Machine<VoiceState, VoiceEvent>;
  now: Conversation | undefined;
  /** What the sound service does for the conversation. */
  busy: number;
  /** How often that was ended: what is still on its way, as the sound service learns what can be said, begins no more. */
  hushes: number;
  waiting: (() => void)[];
}

/** A late answer of an earlier conversation, or of an earlier state, moves nothing. */
const isAt = (t: Talk, c: Conversation, state: VoiceState) => c === t.now && t.m.state === state;
const fire = (t: Talk, c: Conversation, event: VoiceEvent) => c === t.now && t.m.fire(event);

function settle(c: Conversation, work: (s: NonNullable<Conversation['settle']>) => void): void {
  const { settle: s } = c;
  c.settle = undefined;
  if (s) work(s);
}

async function worked<T>(t: Talk, work: Promise<T>): Promise<T> {
  t.busy++;
  try {
    return await work;
  } finally {
    t.busy--;
  }
}

function fail(t: Talk, c: Conversation, e: unknown): void {
  t.o.log.info('a conversation ended', { error: toIngleError(e) });
  settle(c, (s) => s.reject(e));
  fire(t, c, 'fault');
}

async function listen(t: Talk, c: Conversation): Promise<void> {
  const { ear, sayable } = t.o;
  const { hushes } = t;
  try {
    const { heard, text } = await worked(
      t,
      sayable.by(c.lang, async (hash) => {
        if (hushes !== t.hushes) throw new IngleError('conflict', 'The conversation was ended.');
        return ear.hear({ seconds: LISTEN_S, lang: c.lang, hash });
      }),
    );
    if (!isAt(t, c, 'LISTENING')) return;
    c.words = text;
    c.refusal = 'voice_unclear';
    if (text !== '') {
      fire(t, c, 'heard');
      return;
    }
    settle(c, (s) => s.resolve({ heard, text, ...nothing }));
    fire(t, c, heard ? 'unclear' : 'silent');
  } catch (e) {
    fail(t, c, e);
  }
}

/** Ends what speaks, or is about to. */
async function stopRuns({ o }: Talk, { runs }: Conversation): Promise<void> {
  for (const run_id of runs)
    try {
      if (!(await o.isSilent(run_id))) await o.stopRun(run_id);
    } catch (error) {
      o.log.info('a scenario is not stopped', { run_id, error: toIngleError(error) });
    }
}

async function act(t: Talk, c: Conversation): Promise<void> {
  const { words } = c;
  try {
    const meant = await t.o.act(words, c.asker, (run_id) => c.runs.add(run_id));
    if (!isAt(t, c, 'ACTING')) return;
    settle(c, (s) => s.resolve({ heard: true, text: words, ...meant }));
    if (meant.intent === STOP) {
      await stopRuns(t, c);
      fire(t, c, 'told');
    } else if (meant.run_id === '') {
      c.refusal = meant.intent === '' ? 'voice_unclear' : 'voice_nothing';
      fire(t, c, 'refused');
    } else {
      c.run_id = meant.run_id;
      fire(t, c, 'started');
    }
  } catch (e) {
    if (!isAt(t, c, 'ACTING')) return;
    settle(c, (s) => s.reject(e));
    t.o.log.info('what was said was not done', { error: toIngleError(e) });
    c.refusal = 'voice_failed';
    fire(t, c, 'refused');
  }
}

/** The scenario has the word until it is over, or silent for long. */
function answer(t: Talk, c: Conversation): void {
  const { run_id } = c;
  t.m.after(ANSWER_MS, 'told');
  const over = () => {
    if (c.run_id === run_id && isAt(t, c, 'ANSWERING')) fire(t, c, 'told');
  };
  t.o.ended(run_id).then(over, over);
}

async function refuse(t: Talk, c: Conversation): Promise<void> {
  try {
    const said = await tell(t, c.lang, translator(audioTexts, c.lang)(c.refusal), []);
    if (isAt(t, c, 'REFUSING')) heardOver(t, c, said);
  } catch (e) {
    fail(t, c, e);
  }
}

function heardOver(t: Talk, c: Conversation, { interrupted, text }: Interruption): void {
  c.words = text;
  fire(t, c, !interrupted ? 'told' : text === '' ? 'unclear' : 'heard');
}

function tell(t: Talk, lang: Language, text: string, phrases: string[]): Promise<Interruption> {
  const { ear, sayable } = t.o;
  const { hushes } = t;
  const say = async (hash: string): Promise<Interruption> =>
    hushes === t.hushes ? ear.tell({ text, lang, hash, phrases }) : { interrupted: false, text: '' };
  return worked(t, phrases.length > 0 ? say('') : sayable.by(lang, say));
}

/** The hub is silent again; whoever still waits for words learns that there are none. */
function rest(t: Talk): void {
  const c = t.now;
  t.now = undefined;
  if (c) settle(c, (s) => s.reject(new IngleError('timeout', 'The conversation was ended.')));
  for (const f of t.waiting.splice(0)) f();
}

async function hush(t: Talk): Promise<void> {
  t.hushes++;
  if (t.busy > 0) await t.o.ear.hush().catch((error) => t.o.log.info('the hub goes on speaking', { error }));
}

/** A word for each state that does something. */
const doing: Partial<Record<VoiceState, (t: Talk, c: Conversation) => unknown>> = {
  LISTENING: listen,
  ACTING: act,
  ANSWERING: answer,
  REFUSING: refuse,
};

export function openVoice(o: VoiceOptions): Voice {
  const m = machine<VoiceState, VoiceEvent>({
    name: 'voice',
    table: voiceTable,
    initial: 'IDLE',
    log: o.log,
    onEnter(state, old) {
      o.tell('voice.state', { state, old });
      if (state === 'IDLE') rest(t);
      else void doing[state]!(t, t.now!);
    },
  });
  const t: Talk = { o, m, now: undefined, busy: 0, hushes: 0, waiting: [] };
  const mayWake = () => {
    if (!m.can('wake')) throw new IngleError('conflict', 'The hub listens already. Speak, or stop it first.');
  };
  return {
    get state() {
      return m.state;
    },
    async wake(asker, lang) {
      mayWake();
      if (t.busy > 0) {
        // A tap while it speaks: the person has the word.
        await hush(t);
        mayWake();
      }
      const runs = t.now?.runs ?? new Set<string>();
      return new Promise<Turn>((resolve, reject) => {
        const of = { words: '', run_id: '', refusal: 'voice_unclear', settle: { resolve, reject } } as const;
        t.now = { asker, lang, runs, ...of };
        m.fire('wake');
      });
    },
    stop() {
      if (!m.can('stop')) return;
      void hush(t);
      m.fire('stop');
    },
    isOf: (run_id) => t.now?.runs.has(run_id) ?? false,
    async speak(text, lang, phrases) {
      const c = t.now;
      const said = await tell(t, lang, text, phrases);
      if (said.interrupted && phrases.length === 0 && c && isAt(t, c, 'ANSWERING')) heardOver(t, c, said);
      return said;
    },
    over: () => (m.state === 'IDLE' ? Promise.resolve() : new Promise((resolve) => t.waiting.push(resolve))),
  };
}
