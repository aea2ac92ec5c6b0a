import { contract, type Value } from '../system/contract.ts';

const device = { id: 's', name: 's', type: 's', score: 'd', usable: 'b' } as const;
const network = { ssid: 's', signal: 'u', security: 's' } as const;
/** A sink or source as the setup channels show it. */
export type SetupDevice = Value<typeof device>;
/** A network in reach; `signal` in percent. */
export type SetupNetwork = Value<typeof network>;

/** Whose the hub is, and where its application is. */
const place = { owner_id: 's', subnet_id: 's', hub_id: 's', app_url: 's' } as const;
/** What stands now, beside the ladder's state. */
const detail = {
  dict: {
    online: 'b',
    /** The joined network. */
    ssid: 's',
    /** The newest failure. */
    error: 's',
    reason: 's',
    /** Ways into setup that are open. */
    channels: 'as',
    /** Seconds until a PIN is taken again. */
    pin_wait_s: 'i',
    /** The pair the sound test found. */
    sink_id: 's',
    source_id: 's',
    name: 's',
    model: 's',
    version: 's',
  },
} as const;

/**
 * The setup ladder. Every channel (access point, BLE, serial, bot) acts through
 * this one object, so they cannot fight and all show the same progress.
 */
export const setup1 = contract({
  name: 'io.ingle.Setup1',
  bus: 'io.ingle.Setup1',
  path: '/io/ingle/Setup1',
  doc: 'First-run setup: its state, its steps, its channels.',
  methods: {
    Status: {
      doc: 'The ladder now. `state`: see firmware/setup/ladder.ts. `mode`: audio, softap or ble, the newest channel at work. `detail`: what stands now.',
      in: {},
      out: { state: 's', mode: 's', attempts: 'u', detail },
      errors: [],
    },
    Stage: {
      doc: 'How far the hub is (firmware/setup/access.ts): new, ownerless or owned. Unlike Status it asks nobody, and answers at once.',
      in: {},
      out: { stage: 's' },
      errors: [],
    },
    Restart: {
      doc: 'Starts setup again from the audio test; what was set up stays until it is replaced. `channel` names who asked.',
      in: { channel: 's' },
      out: {},
      errors: ['conflict'],
    },
    Finish: {
      doc: 'Ends setup without what is missing; the hub is then ready with limits. Needs a network.',
      in: { channel: 's' },
      out: {},
      errors: ['conflict'],
    },
    AudioDevices: {
      doc: 'Sinks and sources, best first: id, name, type, score, usable. `channel` as in WifiScan.',
      in: { channel: 's' },
      out: { sinks: [device], sources: [device] },
      errors: ['unavailable'],
    },
    AudioTest: {
      doc: 'Plays the test chirp on a sink and listens at a source (empty = only play). `verdict` is ok or a named failure.',
      in: { channel: 's', sink_id: 's', source_id: 's' },
      out: { verdict: 's', corr: 'd', latency_ms: 'd', snr_db: 'd' },
      errors: ['conflict', 'not_found', 'unavailable'],
    },
    AudioSelect: {
      doc: 'Chooses a pair by hand and keeps it as a profile.',
      in: { channel: 's', sink_id: 's', source_id: 's' },
      out: {},
      errors: ['not_found', 'unavailable'],
    },
    WifiScan: {
      doc: 'Networks in reach, strongest first: ssid, signal (percent), security (open, wpa2, wpa3). With one radio serving, the newest list is answered and `age_s` tells its age. `channel` names who asks, and is empty for somebody who has proved nothing: that does not keep setup open.',
      in: { channel: 's', fresh: 'b' },
      out: { networks: [network], age_s: 'u' },
      errors: ['unavailable'],
    },
    WifiConnect: {
      doc: 'Joins a network. Answers at once; the outcome comes by Progress and stays in Status. `interrupts`: the access point goes away meanwhile.',
      in: { channel: 's', ssid: 's', psk: 's', hidden: 'b' },
      out: { interrupts: 'b' },
      errors: ['invalid_request', 'conflict', 'unavailable'],
    },
    Authorise: {
      doc: 'Checks the PIN of this window in constant time. Each try is counted durably before it is looked at (firmware/setup/backoff.ts): `left` tries remain that cost no time; while `wait_s` seconds are to be waited none is looked at.',
      in: { channel: 's', pin: 's' },
      out: { ok: 'b', left: 'u', wait_s: 'u' },
      errors: [],
    },
    TakeTry: {
      doc: 'Counts a try that the caller looks at itself (CPace over BLE), as a wrong one. With `wait_s` above 0 it was not counted and must not be looked at.',
      in: { channel: 's' },
      out: { wait_s: 'u' },
      errors: [],
    },
    TryEnded: {
      doc: 'How the try just counted ended. A right one lets the count begin anew; a wrong one may make a new one-time PIN.',
      in: { channel: 's', right: 'b' },
      out: { left: 'u', wait_s: 'u' },
      errors: [],
    },
    Secrets: {
      doc: 'What a person at the device may see: network name and PSK of the access point, PIN of this window. Only consoles and the speaking service are let in by bus policy.',
      in: {},
      out: { ssid: 's', psk: 's', pin: 's', window: 's' },
      errors: [],
    },
    Speak: {
      doc: 'Says the access point, its PSK and the PIN slowly through every output in turn.',
      in: {},
      out: {},
      errors: ['unavailable'],
    },
    PairingLink: {
      doc: 'A pairing link and the typed code, once the hub is online.',
      in: {},
      out: { link: 's', device_code: 's', secret: 's', expires_at: 'x' },
      errors: ['unavailable', 'rate_limited', 'unauthenticated', 'conflict'],
    },
    RecoveryLink: {
      doc: 'Like PairingLink, for an owner who has lost every passkey: the phone may register a new one. A new code each time, shared with no other channel; any code made later ends it. Only consoles are let in by bus policy.',
      in: {},
      out: { link: 's', device_code: 's', secret: 's', expires_at: 'x' },
      errors: ['unavailable', 'rate_limited', 'unauthenticated', 'conflict'],
    },
    Offered: {
      doc: 'The place root offers this hub, as `Offered` of io.ingle.Uplink1: `changes` is empty while nobody has taken the hub over.',
      in: {},
      out: { ...place, changes: [{ field: 's', was: 's', now: 's' }] },
      errors: ['unavailable', 'rate_limited', 'unauthenticated', 'conflict'],
    },
    Adopt: {
      doc: 'Takes that place, exactly as a person at the console has confirmed it, as `Adopt` of io.ingle.Uplink1: everybody who was let in is forgotten, and setup waits for the new owner. Only consoles are let in by bus policy.',
      in: place,
      out: {},
      errors: ['unavailable', 'rate_limited', 'unauthenticated', 'conflict'],
    },
    Approve: {
      doc: 'Somebody at the device lets Improv in over Bluetooth, for a short time.',
      in: { channel: 's' },
      out: {},
      errors: ['conflict', 'unavailable'],
    },
    FactoryReset: {
      doc: 'Forgets owner, networks, profiles and everything kept, then starts setup as new. `confirm` must be "erase".',
      in: { confirm: 's' },
      out: {},
      errors: ['invalid_request'],
    },
  },
  signals: {
    StateChanged: { doc: 'The ladder moved.', args: { state: 's', old: 's', event: 's' } },
    Progress: {
      doc: 'A step of setup, the same for all channels. `step`: audio, wifi, softap, ble, serial, bot, pairing. `state`: start, running, ok, failed. `text` is a key of text/setup.ts; `detail` its values and, on failure, `reason`.',
      args: { step: 's', state: 's', text: 's', detail: 'a{sv}' },
    },
    SecretsChanged: { doc: 'A new window began; consoles show the new PIN and PSK.', args: { window: 's' } },
  },
  properties: {},
});
