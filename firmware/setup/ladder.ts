// The setup ladder as one table: sound first, then every other way in.
import type { Table } from '../system/machine.ts';

export type LadderState =
  /** Before anything is known. */
  | 'BOOT'
  /** The audio wizard probes. */
  | 'AUDIO'
  /** Access point, BLE, serial and bot are offered. */
  | 'CHANNELS'
  /** No radio: serial only (and the bot where there is a network). */
  | 'CONSOLE'
  /** A network is being joined. */
  | 'CONNECTING'
  /** The quick audio test after the network is there. */
  | 'RETEST'
  | 'READY'
  /** Ready without working audio. */
  | 'READY_WITH_LIMITS'
  /** Nobody came: channels are stopped, a hint says how to start again. */
  | 'HINT';

export type LadderEvent =
  | 'fresh'
  | 'resume'
  | 'known'
  | 'known_limits'
  | 'retest'
  | 'audio_ok'
  | 'audio_ok_offline'
  | 'audio_ok_unowned'
  | 'audio_failed'
  | 'audio_late'
  | 'no_radio'
  | 'radio'
  | 'connect'
  | 'connected'
  | 'connect_failed'
  | 'finish'
  | 'idle'
  | 'idle_online'
  | 'online'
  | 'no_network'
  | 'unowned'
  | 'paired'
  | 'restart'
  | 'reset';

const again = { restart: 'AUDIO', reset: 'BOOT' } as const;

export const ladder: Table<LadderState, LadderEvent> = {
  BOOT: {
    fresh: 'AUDIO',
    resume: 'CHANNELS',
    known: 'READY',
    known_limits: 'READY_WITH_LIMITS',
    retest: 'RETEST',
    reset: 'BOOT',
  },
  AUDIO: {
    ...again,
    audio_ok: 'READY',
    audio_ok_offline: 'CHANNELS',
    // Sound and a network, and nobody has paired: the ways in open and the code is said.
    audio_ok_unowned: 'CHANNELS',
    audio_failed: 'CHANNELS',
    audio_late: 'CHANNELS',
    // Serial and bot need no waiting: somebody who already types a network is served.
    connect: 'CONNECTING',
  },
  CHANNELS: {
    ...again,
    connect: 'CONNECTING',
    no_radio: 'CONSOLE',
    online: 'RETEST',
    finish: 'RETEST',
    paired: 'RETEST',
    idle: 'HINT',
    idle_online: 'READY_WITH_LIMITS',
  },
  CONSOLE: {
    ...again,
    connect: 'CONNECTING',
    radio: 'CHANNELS',
    online: 'RETEST',
    finish: 'RETEST',
    paired: 'RETEST',
    idle_online: 'READY_WITH_LIMITS',
  },
  CONNECTING: { ...again, connected: 'RETEST', connect_failed: 'CHANNELS' },
  RETEST: { ...again, audio_ok: 'READY', audio_failed: 'READY_WITH_LIMITS', unowned: 'CHANNELS' },
  READY: { ...again, no_network: 'CHANNELS', unowned: 'CHANNELS' },
  READY_WITH_LIMITS: { ...again, audio_ok: 'READY', no_network: 'CHANNELS', unowned: 'CHANNELS' },
  HINT: { ...again, connect: 'CONNECTING', online: 'RETEST', paired: 'RETEST' },
};

/** Times of the ladder, milliseconds. */
export const times = {
  /** The audio wizard gives way after this. */
  audio: 45_000,
  /** Channels stop after this without anybody. */
  idle: 10 * 60_000,
  /** The quick retest may take this. */
  retest: 20_000,
  /** An access point that survived the joining stays this long, to hand over the pairing link. */
  linger: 180_000,
  /** How often a hub that waits looks for a network of its own (a cable, a known one). */
  look: 5_000,
  /** A finished hub that starts may take this to see its cable; then it asks itself whether it has any network. */
  settle: 30_000,
  /** When no pairing code was to be had, it is asked for again after this. */
  reannounce: 60_000,
} as const;
