// The ladder at work: a durable machine that orders the channels, and what people and other services ask of it.
import { uptime } from 'node:os';
import { IngleError, toIngleError } from '../protocol/errors.ts';
import { openDurable } from '../system/durable.ts';
import type { Log } from '../system/log.ts';
import { openGate } from './backoff.ts';
import { openChannels } from './channels.ts';
import { type At, type Core, isOwned } from './core.ts';
import { checkNetwork, type Joined, join, type Network, noJoin } from './join.ts';
import { type LadderEvent, type LadderState, ladder as table, times } from './ladder.ts';
import { lookAround, settle } from './look.ts';
import { atStart } from './owner.ts';
import type { Pairing } from './pairing.ts';
import { openPins } from './pins.ts';
import type { Place, Ports } from './ports.ts';
import type { Secrets } from './secrets.ts';
import { probe, retest } from './sound.ts';
import { isDone, type LadderMemory, newMemory, type SetupState, type StateFile } from './state.ts';
import type { Device, Progress } from './telling.ts';
import { openVoice } from './voice.ts';
import { openWays, type Ways } from './ways.ts';

export interface SetupOptions {
  ports: Ports;
  file: StateFile;
  log: Log;
  device: Device;
  onState(state: LadderState, old: LadderState, event: LadderEvent): void;
  onProgress: Progress;
  onSecrets(window: string): void;
  /** For tests; the ladder's own times otherwise. */
  times?: Partial<Record<keyof typeof times, number>>;
  /** Names this start of the hub, which the service may outlast or be outlasted by; without it each is a new one. */
  start?: string;
  /** How long the machine is up, milliseconds; for tests. */
  uptime?: () => number;
}

export interface Setup {
  begin(): Promise<void>;
  /** Settles when the ladder has gone on from what was kept; before, it is in BOOT. */
  readonly begun: Promise<void>;
  readonly state: LadderState;
  status(): SetupState & Joined & { channels: string[]; pin_wait_s: number };
  restart(channel: string): Promise<void>;
  finish(channel: string): Promise<void>;
  /** Somebody is using a channel: the idle time starts again. Who has proved nothing has no channel's name. */
  touch(channel: string): void;
  connect(channel: string, n: Network): Promise<{ interrupts: boolean }>;
  select(channel: string, sink: string, source: string): Promise<void>;
  /** Looks at a PIN; see the contract's Authorise. */
  authorise(channel: string, pin: string): Promise<{ ok: boolean; left: number; wait_s: number }>;
  /** Counts a try that the caller looks at; above 0 are seconds to wait, and then it is not to be looked at. */
  takeTry(channel: string): Promise<number>;
  tryEnded(channel: string, right: boolean): Promise<{ left: number; wait_s: number }>;
  /** A browser was let in: the hub has an owner, and the channels are no longer needed. */
  paired(): Promise<void>;
  /** The pairing code that every channel shows; a new one when that is a minute old. */
  pairing(): Promise<Pairing>;
  /** A code by which the owner makes a new passkey. It is shared with no channel, and ends the one they share. */
  recovery(): Promise<Pairing>;
  /** The place root offers, and what differs. */
  offered: Ports['offered'];
  /** The hub takes the place a person at it has confirmed, and has no owner's browser then. */
  adopt(confirmed: Place): Promise<void>;
  /** Wrong tries have burned the code. */
  codeSpent(): void;
  /** A channel has closed by itself: idle, or for want of its device, and then it is tried again. */
  ended(channel: string, again: boolean): Promise<void>;
  /** Somebody at the device lets Improv in over Bluetooth. */
  approve(channel: string): Promise<void>;
  secrets(): Secrets;
  speak(): Promise<void>;
  reset(confirm: string): Promise<void>;
  stop(): Promise<void>;
}

export async function createSetup(o: SetupOptions): Promise<Setup> {
  const { ports, log, device, onProgress } = o;
  const time = { ...times, ...o.times };
  const pins = openPins({
    ...o,
    gate: openGate({
      tries: o.file.tries,
      save: (t) => o.file.saveTries(t),
      uptime: o.uptime ?? (() => uptime() * 1000),
    }),
    onRight: () => ways.wait(),
  });
  const rows = await openDurable<LadderState, LadderEvent, LadderMemory>({
    name: 'ladder',
    store: o.file.store,
    table,
    initial: 'BOOT',
    memory: newMemory,
    log,
    // A finished setup stays finished; a cut one goes on where a person left it, with new secrets.
    anew: true,
    // A hub whose disk is full can be set up all the same.
    volatile: true,
    entering(next) {
      if (isDone(next)) return { done: true, start: o.start ?? '' };
      return next === 'RETEST' ? { done: true } : {};
    },
    onMove: (row, old, event) => o.onState(row.state, old, event),
    act: (_, here) => act(core, ways, here, paired),
  });
  const core: Core = {
    ports,
    log,
    time,
    onProgress,
    ladder: rows.row('ladder'),
    channels: await openChannels({
      ports: ports.channels,
      store: o.file.store,
      log,
      linger: time.linger,
      window: () => ({ ...pins.secrets(), idle_s: Math.round(time.idle / 1000) }),
      onOpen: (name) => onProgress(name, 'ok', 'channel_open', {}),
      onFailed: (name, reason) => onProgress(name, 'failed', 'channel_failed', { reason }),
    }),
    pins,
    voice: openVoice({ ports, device, log, onProgress, reannounce: time.reannounce }),
  };
  const ways = openWays(core);
  const { ladder, channels } = core;
  let began = () => {};
  const begun = new Promise<void>((resolve) => {
    began = resolve;
  });

  async function paired(): Promise<void> {
    core.voice.spent();
    if (ladder.memory.owned !== true) await ladder.remember({ owned: true });
    await ladder.move('paired');
    if (ladder.state === 'RETEST' || isDone(ladder.state)) await channels.close();
  }

  return {
    get state() {
      return ladder.state;
    },
    async begin() {
      const { owned, start } = ladder.memory;
      const again = start !== '' && start === o.start;
      const event = atStart({ state: rows.stored('ladder') ?? 'BOOT', owned }, again);
      const asked = event !== 'resume' && event !== 'retest';
      const here = await ladder.move(event, { asked, by_hand: false, by: '', kept: false });
      began();
      if (here && (event === 'known' || event === 'known_limits')) void settle(core, here);
    },
    begun,
    ...orders(core, ways),
    ...hands(core),
    touch(channel) {
      if (channel !== '') ways.wait();
    },
    authorise: pins.authorise,
    takeTry: () => pins.take(),
    tryEnded: pins.ended,
    secrets: pins.secrets,
    speak: () => core.voice.secrets(pins.secrets()),
    paired,
    pairing: core.voice.pairing,
    codeSpent() {
      core.voice.spent();
      onProgress('pairing', 'failed', 'code_spent', {});
    },
    ended: channels.ended,
    async stop() {
      await ladder.stop();
      ways.stop();
      await channels.close();
      await channels.stop();
      await o.file.close();
    },
  };
}

/** What each state is there for. */
async function act(core: Core, ways: Ways, here: At, paired: () => void): Promise<void> {
  const { state } = here;
  const { ladder, voice } = core;
  if (state !== 'CHANNELS' && state !== 'CONSOLE' && state !== 'CONNECTING') void ways.leave(state);
  if (state === 'BOOT') await here.move('fresh');
  if (state === 'AUDIO') await probe(core, here);
  if (state === 'RETEST') await retest(core, here);
  if (state === 'CONSOLE') ways.wait();
  if (state === 'CHANNELS') ways.enter(here);
  if (state === 'CHANNELS' || state === 'CONSOLE' || state === 'HINT')
    await lookAround(core, ways, here, paired);
  if (!isDone(state) || !ladder.memory.by_hand) return;
  // Without the access point the person hears where to go on.
  if (!ladder.memory.kept) {
    voice.wanted();
    if (!isOwned(core)) void voice.announce(here.signal);
  }
  await ladder.remember({ by_hand: false });
}

/** How an owner comes back who has no passkey left, and how the hub goes to another. */
function hands({ ladder, ports, voice, log }: Core): Pick<Setup, 'recovery' | 'offered' | 'adopt'> {
  return {
    async recovery() {
      const code = await ports.pairing(true);
      voice.spent();
      log.notice('a code that lets a new passkey in was made');
      return code;
    },
    offered: () => ports.offered(),
    async adopt(confirmed) {
      const isDone = async () => (await ports.offered()).changes.length === 0;
      // Somebody at another console was first; the new owner may hold a code by now, or be in.
      if (!(await isDone())) {
        await ports.adopt(confirmed).catch(async (e) => {
          // What does not answer may have done it.
          if (toIngleError(e).code !== 'timeout' || !(await isDone())) throw e;
        });
        voice.spent();
        log.notice('the hub was handed over');
      }
      // As on a hub that nobody has paired with yet: each start offers the ways in until somebody has.
      await ladder.remember({ owned: await ports.owned().catch(() => false) });
    },
  };
}

/** What a person orders, and what is told of it. */
function orders(
  core: Core,
  ways: Ways,
): Pick<Setup, 'status' | 'restart' | 'finish' | 'connect' | 'select' | 'approve' | 'reset'> {
  const { ladder, channels, ports, pins, log } = core;
  let joined = noJoin;
  return {
    status() {
      const { attempts, verified_profile, done, owned } = ladder.memory;
      // What was remembered tells of a channel only once all of them have been tried.
      const mode = (ladder.state !== 'AUDIO' && channels.first()) || ladder.memory.mode;
      const softap = channels.memory('softap');
      const ble = channels.memory('ble');
      return {
        ...{ state: ladder.state, mode, attempts, verified_profile, done, owned, ...joined },
        softap: softap && { ssid: softap.ssid, started_at: softap.started_at },
        ble: ble && { started_at: ble.started_at },
        channels: channels.names(),
        pin_wait_s: pins.wait(),
      };
    },
    async restart(channel) {
      log.info('setup starts again', { channel });
      if (!(await ladder.move('restart', { asked: true, by_hand: false })))
        throw new IngleError('conflict', 'Setup is starting; wait a moment.');
    },
    async finish(channel) {
      log.info('setup is finished by hand', { channel });
      if (!(await ports.online()))
        throw new IngleError('conflict', 'The hub has no network yet. Join one first, or plug in a cable.');
      // The channel it was said through hands over the pairing link; no network needs the access point's radio.
      const kept = channel === 'softap' && channels.names().includes('softap');
      if (!(await ladder.move('finish', { by: channel, kept, by_hand: true })))
        throw new IngleError('conflict', 'There is nothing to finish now.');
    },
    async connect(channel, n) {
      checkNetwork(n);
      // Channels that are still starting would be cut in the middle.
      await channels.idle();
      const serves = channels.names().includes('softap');
      const interrupts = serves && (await ports.wifi.radios()) < 2;
      const here = await ladder.move('connect', { by: channel, kept: serves && !interrupts });
      if (!here)
        throw new IngleError(
          'conflict',
          ladder.state === 'CONNECTING'
            ? 'The hub is joining a network already. Wait for its answer.'
            : 'Setup is not open. Start it again first.',
        );
      joined = noJoin;
      log.info('joining a network', { channel });
      void join(core, here, n, (come) => {
        joined = come;
      });
      return { interrupts };
    },
    async select(_channel, sink, source) {
      await ports.audio.select(sink, source);
      await ladder.remember({ verified_profile: { sink_id: sink, source_id: source } });
      ways.wait();
      await ladder.move('audio_ok');
    },
    async approve(channel) {
      const ble = channels.port('ble');
      if (!ble?.approve)
        throw new IngleError('conflict', 'Setup over Bluetooth is not open. Start setup again first.');
      log.notice('Improv is let in over Bluetooth', { channel });
      await ble.approve();
    },
    async reset(confirm) {
      if (confirm !== 'erase')
        throw new IngleError('invalid_request', 'Say "erase" to confirm.', { pointer: '/confirm' });
      await ports.erase();
      core.voice.spent();
      joined = noJoin;
      await ladder.move('reset', { done: false, owned: false, attempts: 0, verified_profile: null });
    },
  };
}
