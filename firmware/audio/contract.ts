import { contract, type Struct } from '../system/contract.ts';

/** A sink or source; `volume` 1 is 100 %. */
const device = {
  id: 's',
  name: 's',
  type: 's',
  muted: 'b',
  volume: 'd',
  connected: 'b',
  score: 'd',
  usable: 'b',
} as const;
const profile = {
  sink_id: 's',
  source_id: 's',
  format_out: 's',
  format_in: 's',
  latency_ms: 'd',
  score: 'd',
  verified_at: 's',
  corr: 'd',
  snr_db: 'd',
  verified: 'b',
} as const;
const outcome = {
  verdict: 's',
  corr: 'd',
  latency_ms: 'd',
  snr_db: 'd',
  confidence: 'd',
  path: 's',
} as const;

/** The fields of a struct, for those who read the introspection only. */
const fields = (s: Struct) =>
  Object.entries(s)
    .map(([name, type]) => `${name} ${type}`)
    .join(', ');

/** Sound of the hub. */
export const audio1 = contract({
  name: 'io.ingle.Audio1',
  bus: 'io.ingle.Audio1',
  path: '/io/ingle/Audio1',
  doc: 'Devices, the probe that finds a working pair, speech out and in, profiles. Recordings stay in memory and are erased; only Record hands one out.',
  methods: {
    Enumerate: {
      doc: `Sinks and sources, best first: ${fields(device)}; volume 1 is 100 %. Types: builtin, bluetooth, usb, hdmi, virtual, loopback.`,
      in: {},
      out: { sinks: [device], sources: [device] },
      errors: ['unavailable'],
    },
    Playing: {
      doc: 'What plays now, at most 32: on which sink, and what its player calls it. What is paused does not play.',
      in: {},
      out: { streams: [{ sink_id: 's', name: 's' }] },
      errors: ['unavailable'],
    },
    PlayTone: {
      doc: 'Plays a sweep. chirp_spec: from_hz d, to_hz d, duration_ms u (at most 5000), level_db d (0 = full scale). An empty sink_id is the best sink.',
      in: { sink_id: 's', chirp_spec: { from_hz: 'd', to_hz: 'd', duration_ms: 'u', level_db: 'd' } },
      out: {},
      errors: ['invalid_request', 'not_found', 'unavailable', 'timeout'],
    },
    Record: {
      doc: 'Records a source, mono, 16 bit little endian, at most 10000 ms. An empty source_id is the best source.',
      in: { source_id: 's', duration_ms: 'u' },
      out: { rate: 'u', samples: 'ay' },
      errors: ['invalid_request', 'not_found', 'unavailable', 'timeout', 'conflict'],
    },
    Metrics: {
      doc: 'The newest measurement of a pair; empty ids mean the newest of all. See Test.',
      in: { sink_id: 's', source_id: 's' },
      out: { sink_id: 's', source_id: 's', ...outcome },
      errors: ['not_found'],
    },
    Test: {
      doc: 'Plays the probe (chirp, then a sweep of 200 to 4000 Hz) and listens; raises Level meanwhile. verdict: ok, too_quiet, too_loud, noisy, glitching, no_estimate, digital_loopback, unplugged, or played when source_id is empty (nothing was listened for). corr 0..1; latency_ms between sink and microphone; path: direct, air, bluetooth, none.',
      in: { sink_id: 's', source_id: 's' },
      out: outcome,
      errors: ['not_found', 'unavailable', 'conflict'],
    },
    Probe: {
      doc: 'The whole audio initialisation: ranks, tests pairs, asks for a yes, saves a profile. quick tests only the known pair, or the best one, and asks nothing. Answers at its end (give it two minutes); StateChanged and Progress tell the way. state: READY or READY_WITH_LIMITS; reason: ok or the verdict of the best failed pair, or no_devices. confirmed: a person said yes.',
      in: { lang: 's', quick: 'b' },
      out: { state: 's', reason: 's', sink_id: 's', source_id: 's', confirmed: 'b' },
      errors: ['conflict', 'unavailable'],
    },
    Cancel: { doc: 'Ends a running Probe, Test, listening or speaking.', in: {}, out: {}, errors: [] },
    VadListen: {
      doc: 'Listens until somebody has spoken or timeout_s (at most 30) is over. heard: speech was there. phrase: what the recogniser made of it ("yes", "no" or empty).',
      in: { source_id: 's', timeout_s: 'd' },
      out: { heard: 'b', phrase: 's' },
      errors: ['invalid_request', 'not_found', 'unavailable', 'conflict', 'not_supported'],
    },
    Listen: {
      doc: 'Listens until somebody has spoken or timeout_s (at most 30) is over, and says what it was: one of the phrases, or anything without any, where its model is installed. lang: en, and ru with a model of it. The recording is erased.',
      in: { source_id: 's', timeout_s: 'd', lang: 's', phrases: 'as' },
      out: { heard: 'b', text: 's' },
      errors: ['invalid_request', 'not_found', 'unavailable', 'conflict', 'not_supported', 'timeout'],
    },
    ConfirmYes: {
      doc: 'Asks aloud whether the person hears the hub, and listens for a yes. No answer is no error.',
      in: { sink_id: 's', source_id: 's', lang: 's', timeout_s: 'd' },
      out: { heard: 'b', yes: 'b', phrase: 's' },
      errors: ['invalid_request', 'not_found', 'unavailable', 'conflict', 'not_supported'],
    },
    Say: {
      doc: 'Speaks a text (at most 1000 characters). lang: en or ru. sink_id: empty = the best sink, * = every connected sink in turn. spoken: the sinks that took it.',
      in: { text: 's', lang: 's', slow: 'b', sink_id: 's' },
      out: { spoken: 'as' },
      errors: ['invalid_request', 'not_found', 'unavailable', 'not_supported', 'timeout'],
    },
    Recognize: {
      doc: 'What was said in a WAV file (PCM, 16 bit) or an Ogg Opus file, at most 2 MiB and 30 s. phrases: what may have been said; empty = anything, where its model is installed. lang: en, and ru with a model of it. id: a name for StopRecognizing.',
      in: { id: 's', sound: 'ay', lang: 's', phrases: 'as' },
      out: { text: 's', duration_ms: 'u' },
      errors: ['invalid_request', 'too_large', 'rate_limited', 'conflict', 'not_supported', 'timeout'],
    },
    StopRecognizing: {
      doc: 'Ends a Recognize nobody waits for any more.',
      in: { id: 's' },
      out: {},
      errors: [],
    },
    SetGrammar: {
      doc: 'What can be said to the hub from now on: a JSGF grammar of sentences and its words, kept over restarts, one a language. unknown: words that have no pronunciation here; with any of them the last grammar stays.',
      in: { lang: 's', grammar: 's', words: 'as' },
      out: { unknown: 'as' },
      errors: ['invalid_request', 'not_supported', 'unavailable', 'timeout'],
    },
    Hear: {
      doc: 'Listens until somebody has spoken or timeout_s (at most 30) is over, and says which sentence of the kept grammar it was; text is empty where it was none. hash: of the grammar that is meant; not_found where another is kept. The recording is erased.',
      in: { source_id: 's', timeout_s: 'd', lang: 's', hash: 's' },
      out: { heard: 'b', text: 's' },
      errors: ['invalid_request', 'not_found', 'unavailable', 'conflict', 'not_supported', 'timeout'],
    },
    AwaitPhrase: {
      doc: 'Waits until somebody has said the phrase, at most timeout_s (at most 600), and says so by a short tone. It gives way to whatever else needs the microphone, and goes on after that; Cancel does not end it. Only the last call waits: the one before answers that nothing was heard. With a timeout_s of 0 it looks whether the phrase can be heard here, and without a phrase it only ends the one before; its recorder is gone then. What else was said is compared with the phrase and erased.',
      in: { source_id: 's', sink_id: 's', lang: 's', phrase: 's', timeout_s: 'd' },
      out: { heard: 'b' },
      errors: ['invalid_request', 'not_found', 'unavailable', 'not_supported', 'timeout'],
    },
    Tell: {
      doc: 'Speaks as Say does and listens meanwhile: it stops when somebody speaks, hears them out and says which sentence of the kept grammar it was, or which of the phrases where there are any. interrupted: somebody spoke. Without a microphone or a model it speaks to the end.',
      in: { text: 's', lang: 's', sink_id: 's', source_id: 's', hash: 's', phrases: 'as' },
      out: { interrupted: 'b', text: 's' },
      errors: ['invalid_request', 'not_found', 'unavailable', 'not_supported', 'timeout'],
    },
    SetVolume: {
      doc: 'How loud a sink plays: 0 to 1, where 1 is 100 %; 0 mutes it, and any other unmutes it. An empty sink_id is the best sink.',
      in: { sink_id: 's', volume: 'd' },
      out: {},
      errors: ['invalid_request', 'not_found', 'unavailable'],
    },
    SaveProfile: {
      doc: `Keeps a pair; its newest measurement becomes the proof. verified only when that measurement was ok. ${fields(profile)}.`,
      in: { sink_id: 's', source_id: 's' },
      out: { profile },
      errors: ['not_found', 'unavailable'],
    },
    LoadProfile: {
      doc: `The profile in use, newest first. fresh: verified and younger than 30 days. ${fields(profile)}.`,
      in: {},
      out: { profile, fresh: 'b' },
      errors: ['not_found'],
    },
    ListProfiles: {
      doc: `Up to 3 profiles, newest first: ${fields(profile)}.`,
      in: {},
      out: { profiles: [profile] },
      errors: [],
    },
    ForgetProfiles: { doc: 'Forgets all profiles.', in: {}, out: {}, errors: [] },
  },
  signals: {
    StateChanged: {
      doc: 'The audio initialisation moved.',
      args: { state: 's', old: 's', event: 's' },
    },
    Progress: {
      doc: 'A step of the probe. text: a key of text/audio.ts. detail: verdict s, corr d, latency_ms d, snr_db d, confidence d once measured.',
      args: { state: 's', sink_id: 's', source_id: 's', attempt: 'u', text: 's', detail: 'a{sv}' },
    },
    DevicesChanged: {
      doc: 'Devices came or went, or changed (mute, volume, port); ids.',
      args: { added: 'as', removed: 'as', changed: 'as' },
    },
    Level: {
      doc: 'Level at a source while it is being tested or listened to, decibels of full scale, about ten a second.',
      args: { source_id: 's', rms_db: 'd', peak_db: 'd' },
    },
  },
  properties: {
    State: { doc: 'State of the audio initialisation; START before it has run.', type: 's' },
  },
});
