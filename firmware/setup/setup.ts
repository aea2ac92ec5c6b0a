// The ladder at work: moves by its table, starts what a state needs, tells every channel the same.
import { uptime } from 'node:os';
import { IngleError, toIngleError } from '../protocol/errors.ts';
import { openQueue } from '../protocol/queue.ts';
import type { Log } from '../system/log.ts';
import { type Machine, machine } from '../system/machine.ts';
import { type Language, translator } from '../text/i18n.ts';
import { type SetupText, setupTexts, waitText } from '../text/setup.ts';
import { openGate } from './backoff.ts';
import { type Devices, noDevices, sameDevices, seeDevices } from './devices.ts';
import { type LadderEvent, type LadderState, ladder, times } from './ladder.ts';
import { afterAudio, afterIdle, afterRetest, atStart, whenOnline } from './owner.ts';
import { type Pairing, sharedPairing } from './pairing.ts';
import { openWindow, type Window } from './pin-window.ts';
import type { AudioOutcome, Ports } from './ports.ts';
import { newSecrets, type Secrets, spell } from './secrets.ts';
import type { SetupState, StateFile } from './state.ts';

export type Step = 'audio' | 'wifi' | 'softap' | 'ble' | 'serial' | 'bot' | 'pairing';
export type StepState = 'start' | 'running' | 'ok' | 'failed';

export interface SetupOptions {
  ports: Ports;
  file: StateFile;
  log: Log;
  /** Name, serial number and printed label secrets of this device. */
  device: { name: string; serial: string; language: Language; label?: { psk: string; pin: string } };
  onState(state: LadderState, old: LadderState, event: LadderEvent): void;
  onProgress(step: Step, state: StepState, text: SetupText, detail: Record<string, unknown>): void;
  onSecrets(window: string): void;
  /** For tests; the ladder's own times otherwise. */
  times?: Partial<Record<keyof typeof times, number>>;
  /** How long the machine is up, milliseconds; for tests. */
  uptime?: () => number;
}

export interface Setup {
  begin(): Promise<void>;
  readonly state: LadderState;
  status(): SetupState & {
    error: string;
    reason: string;
    ssid: string;
    channels: string[];
    pin_wait_s: number;
  };
  restart(channel: string): void;
  finish(channel: string): Promise<void>;
  /** Somebody is using a channel: the idle time starts again. Who has proved nothing has no channel's name. */
  touch(channel: string): void;
  connect(
    channel: string,
    n: { ssid: string; psk: string; hidden: boolean },
  ): Promise<{ interrupts: boolean }>;
  select(channel: string, sink: string, source: string): Promise<void>;
  /** Looks at a PIN; see the contract's Authorise. */
  authorise(channel: string, pin: string): Promise<{ ok: boolean; left: number; wait_s: number }>;
  /** Counts a try that the caller looks at; above 0 are seconds to wait, and then it is not to be looked at. */
  takeTry(channel: string): Promise<number>;
  tryEnded(channel: string, right: boolean): Promise<{ left: number; wait_s: number }>;
  /** A browser was let in: the hub has an owner, and the channels are no longer needed. */
  paired(): void;
  /** The pairing code that every channel shows; a new one when that is a minute old. */
  pairing(): Promise<Pairing>;
  /** Wrong tries have burned the code. */
  codeSpent(): void;
  /** A channel has closed by itself: idle, or for want of its device, and then it is tried again. */
  ended(channel: string, again: boolean): void;
  /** Somebody at the device lets Improv in over Bluetooth. */
  approve(channel: string): Promise<void>;
  secrets(): Secrets;
  speak(): Promise<void>;
  reset(confirm: string): Promise<void>;
  stop(): Promise<void>;
}

/** Looks at which a channel whose device has come is tried again: firmware of an adapter may take half a minute. */
const TRIES = 6;

export async function createSetup(o: SetupOptions): Promise<Setup> {
  const { ports, log } = o;
  const time = { ...times, ...o.times };
  let record = await o.file.load();
  let window: Window = openWindow(newSecrets(o.device.name, o.device.serial, o.device.label));
  const gate = openGate({
    tries: o.file.tries,
    save: (t) => o.file.saveTries(t),
    uptime: o.uptime ?? (() => uptime() * 1000),
  });
  let failure = { error: '', reason: '', ssid: '' };
  let opened: string[] = [];
  // As they were when the channels were opened last.
  let devices = noDevices;
  let tries = 0;
  // The access point stayed up while the network was joined (a second radio, or a cable).
  let kept = false;
  // The channel that asked for the newest join.
  let by = '';
  // A person has just given a network or ended setup, and is waiting for the next step.
  let byHand = false;
  // These channels were opened by the hub itself: its only radio is not taken out of a network for them.
  let unasked = false;
  const pairing = sharedPairing(() => ports.pairing());
  // When the pairing code may be said next; once it was, not before the channels open anew.
  let announceAt = 0;
  // What is spoken is spoken one after another.
  const voice = openQueue();
  const owned = () => record.owned !== false;
  // What the present state has started; aborted on leaving it.
  let work = new AbortController();
  let idle: NodeJS.Timeout | undefined;
  // Starting and stopping channels are slow; one after another, never crossed.
  const steps = openQueue();
  const inOrder = (f: () => Promise<unknown>): void => {
    steps.add(f).catch((e) => log.warn('a setup step failed', { error: e as Error }));
  };

  const m: Machine<LadderState, LadderEvent> = machine({
    name: 'ladder',
    table: ladder,
    initial: 'BOOT' as LadderState,
    log,
    onEnter: enter,
  });

  function save(changed: Partial<SetupState>): void {
    record = { ...record, ...changed };
    const snapshot = record;
    inOrder(() => o.file.save(snapshot));
  }

  function enter(state: LadderState, old: LadderState, event: LadderEvent): void {
    work.abort();
    work = new AbortController();
    clearTimeout(idle);
    save({
      state,
      done: record.done || state === 'RETEST' || state === 'READY' || state === 'READY_WITH_LIMITS',
    });
    o.onState(state, old, event);
    if (state !== 'CHANNELS' && state !== 'CONSOLE' && state !== 'CONNECTING') leaveChannels(state);
    if (state === 'AUDIO') void probe(work.signal);
    if (state === 'CHANNELS') openChannels(old !== 'CONNECTING', work.signal);
    if (state === 'CONSOLE') waitIdle();
    if (state === 'CHANNELS' || state === 'CONSOLE' || state === 'HINT') void lookAround(work.signal);
    if (state === 'RETEST') void retest(work.signal);
    if (state === 'BOOT') m.fire('fresh');
    if (state !== 'READY' && state !== 'READY_WITH_LIMITS') return;
    // Without the access point the person hears where to go on.
    if (byHand && !kept) {
      announceAt = 0;
      void announce(work.signal);
    }
    byHand = false;
  }

  async function probe(signal: AbortSignal): Promise<void> {
    save({ mode: 'audio', attempts: record.attempts + 1 });
    o.onProgress('audio', 'start', 'audio_testing', {});
    m.after(time.audio, 'audio_late');
    const outcome = await ports.audio.probe(signal).catch(failed);
    if (signal.aborted) return;
    told(outcome);
    const online = outcome.ok && (await ports.online().catch(() => false));
    if (online) await askOwner();
    if (!signal.aborted) m.fire(afterAudio(outcome.ok, { online, owned: owned() }));
  }

  /** Whether a browser has been paired while this service was not there to hear of it. */
  async function askOwner(): Promise<boolean> {
    const news = !owned() && (await ports.owned().catch(() => false));
    if (news) save({ owned: true });
    return news;
  }

  async function retest(signal: AbortSignal): Promise<void> {
    o.onProgress('audio', 'start', 'audio_retest', {});
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), time.retest).unref();
    const outcome = await Promise.race([
      ports.audio.retest(AbortSignal.any([signal, late.signal])).catch(failed),
      lateAnswer(late.signal),
    ]);
    clearTimeout(timer);
    if (signal.aborted) return;
    told(outcome);
    m.fire(afterRetest(outcome.ok, { owned: owned(), byHand }));
  }

  function lateAnswer(signal: AbortSignal): Promise<AudioOutcome> {
    return new Promise((resolve) =>
      signal.addEventListener('abort', () => resolve({ ok: false, reason: 'late' }), { once: true }),
    );
  }

  function failed(e: unknown): AudioOutcome {
    return { ok: false, reason: toIngleError(e).code };
  }

  function told(outcome: AudioOutcome): void {
    if (outcome.ok && outcome.sink_id && outcome.source_id)
      save({ verified_profile: { sink_id: outcome.sink_id, source_id: outcome.source_id } });
    o.onProgress('audio', outcome.ok ? 'ok' : 'failed', outcome.ok ? 'audio_ok' : 'audio_failed', {
      reason: outcome.reason,
    });
  }

  function openChannels(fresh: boolean, signal: AbortSignal): void {
    if (fresh) {
      announceAt = 0;
      window = openWindow(newSecrets(o.device.name, o.device.serial, o.device.label));
      o.onSecrets(window.secrets.window);
    }
    waitIdle();
    inOrder(async () => {
      if (signal.aborted) return;
      devices = await see();
      await dropLost();
      const started: string[] = [];
      if (devices.radios > 0 && !opened.includes('softap')) await open('softap', accessPoint, started);
      for (const c of ports.channels)
        if (devices.ready.includes(c.name)) {
          if (!opened.includes(c.name)) await open(c.name, () => c.start(), started);
        } else if (fresh) o.onProgress(c.name, 'failed', 'channel_failed', { reason: 'unavailable' });
      opened = [...new Set([...opened, ...started])];
      const now = new Date().toISOString();
      save({
        mode: opened.includes('softap') ? 'softap' : opened.includes('ble') ? 'ble' : record.mode,
        softap: opened.includes('softap') ? { ssid: window.secrets.ssid, started_at: now } : null,
        ble: opened.includes('ble') ? { started_at: now } : null,
      });
      if (signal.aborted) return;
      if (!opened.includes('softap') && !opened.includes('ble')) m.fire('no_radio');
      else if (fresh) void speak().catch(() => {});
    });
  }

  /** The devices channels may use now. */
  async function see(): Promise<Devices> {
    const now = await seeDevices(ports, devices);
    const held = unasked && !opened.includes('softap') && (await ports.wifi.holds().catch(() => false));
    return held ? { ...now, radios: 0 } : now;
  }

  /** What has gone with its device is not open any more, nor is an access point that fell for good. */
  async function dropLost(): Promise<void> {
    // After a failed join it is back already; another start would throw the phone out again.
    const serving = !opened.includes('softap') || (await ports.wifi.serving().catch(() => false));
    const there = (name: string) =>
      name === 'softap' ? devices.radios > 0 && serving : devices.ready.includes(name);
    const lost = opened.filter((name) => !there(name));
    opened = opened.filter(there);
    for (const name of lost) {
      if (name === 'softap' && devices.radios > 0) continue;
      if (name === 'softap') await ports.wifi.stopAccessPoint().catch(() => {});
      else
        await ports.channels
          .find((c) => c.name === name)
          ?.stop()
          .catch(() => {});
      const reason = name === 'softap' ? 'no_radio' : 'unavailable';
      o.onProgress(name as Step, 'failed', 'channel_failed', { reason });
    }
  }

  async function open(name: Step, start: () => Promise<void>, started: string[]): Promise<void> {
    try {
      await start();
      started.push(name);
      o.onProgress(name, 'ok', 'channel_open', {});
    } catch (e) {
      const error = toIngleError(e);
      log.warn('a setup channel does not start', { channel: name, error });
      o.onProgress(name, 'failed', 'channel_failed', { reason: error.code });
    }
  }

  function accessPoint(): Promise<void> {
    return ports.wifi.startAccessPoint(window.secrets.ssid, window.secrets.psk, Math.round(time.idle / 1000));
  }

  function closeChannels(but: string[] = []): void {
    inOrder(async () => {
      const was = opened.filter((name) => !but.includes(name));
      opened = opened.filter((name) => but.includes(name));
      if (was.includes('softap')) await ports.wifi.stopAccessPoint().catch(() => {});
      for (const c of ports.channels) if (was.includes(c.name)) await c.stop().catch(() => {});
      if (was.includes('softap')) save({ softap: null });
      if (was.includes('ble')) save({ ble: null });
    });
  }

  /** The channel through which the hub was joined hands over the pairing link before it closes. */
  function leaveChannels(state: LadderState): void {
    const joined = state === 'RETEST' || state === 'READY' || state === 'READY_WITH_LIMITS';
    // An access point that shared its radio with the joined network is gone already.
    const stays = (name: string) => (name === 'softap' ? kept : name === by);
    const staying = joined ? opened.filter(stays) : [];
    closeChannels(staying);
    if (staying.length > 0) idle = setTimeout(closeChannels, time.linger).unref();
  }

  const say = (text: string): Promise<void> =>
    voice.add(() => ports.audio.say([{ text, language: o.device.language }]));

  /** Says and shows, once, how to pair: a hub with a network and no owner is waiting for just that. */
  async function announce(signal: AbortSignal): Promise<void> {
    if (owned() || performance.now() < announceAt) return;
    announceAt = Number.POSITIVE_INFINITY;
    try {
      const p = await pairing.get();
      if (signal.aborted) return;
      // Everybody hears of progress: the code itself is asked for by whoever may have it.
      o.onProgress('pairing', 'ok', 'pairing_open', {});
      const t = translator(setupTexts, o.device.language);
      const spoken = t('spoken_pairing', { code: spell(p.device_code), secret: spell(p.secret) });
      void say(spoken).catch((e) => log.info('the pairing code is not spoken', { error: e as Error }));
    } catch (e) {
      log.info('there is no pairing code yet', { error: e as Error });
      announceAt = performance.now() + time.reannounce;
    }
  }

  function waitIdle(): void {
    clearTimeout(idle);
    const state = m.state;
    if (state !== 'CHANNELS' && state !== 'CONSOLE') return;
    idle = setTimeout(async () => {
      const online = await ports.online().catch(() => false);
      if (m.state !== state) return;
      const event = afterIdle({ online, owned: owned() });
      // A console stays the way in where there is no other; what else was open beside it closes.
      if (!m.fire(event)) closeChannels();
      else if (event === 'idle') o.onProgress('softap', 'failed', 'hint_restart', { reason: 'idle' });
    }, time.idle);
  }

  /** A hub that was told to forget its networks, or its browsers, would be ready with no way in. */
  async function settle(signal: AbortSignal): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, time.settle).unref());
    const has = await ports.hasNetwork().catch(() => true);
    const paired = await ports.owned().catch(() => record.owned);
    if (signal.aborted) return;
    if (paired !== record.owned) save({ owned: paired });
    unasked = has;
    if (!has) m.fire('no_network');
    // Its owner has forgotten all browsers since.
    else if (paired === false) m.fire('unowned');
  }

  /** A cable plugged in, a known network that came back, a radio that came or went: the ladder follows. */
  async function lookAround(signal: AbortSignal): Promise<void> {
    let before = await ports.online().catch(() => false);
    // The access point's password is said first.
    await steps.idle();
    if (before && !signal.aborted) void announce(signal);
    while (!signal.aborted) {
      await new Promise((resolve) => setTimeout(resolve, time.look).unref());
      const now = await ports.online().catch(() => false);
      if (signal.aborted) return;
      if (await askOwner()) setup.paired();
      const event = now && !before ? whenOnline({ owned: owned() }) : undefined;
      if (!signal.aborted && event) m.fire(event);
      else if (!signal.aborted && now) void announce(signal);
      before = now;
      if (!signal.aborted) await followDevices(signal);
    }
  }

  async function followDevices(signal: AbortSignal): Promise<void> {
    // Channels that are still starting are not missing.
    await steps.idle();
    const now = await see();
    const fell = opened.includes('softap') && !(await ports.wifi.serving().catch(() => true));
    if (signal.aborted) return;
    const changed = !sameDevices(now, devices);
    if (changed || fell) tries = TRIES;
    const can = [...(now.radios > 0 ? ['softap'] : []), ...now.ready];
    // Not for ever: a radio that cannot be an access point stays one.
    const again = can.some((name) => !opened.includes(name)) && tries-- > 0;
    // Opening again starts what is missing and drops what cannot be.
    if (m.state === 'CHANNELS' && (changed || fell || again)) openChannels(false, signal);
    if (m.state !== 'CONSOLE' || !(changed || again)) return;
    devices = now;
    if (can.includes('softap') || can.includes('ble')) m.fire('radio');
  }

  async function join(n: { ssid: string; psk: string; hidden: boolean }, signal: AbortSignal): Promise<void> {
    o.onProgress('wifi', 'running', 'wifi_joining', { ssid: n.ssid });
    await steps.idle();
    const outcome = await ports.wifi
      .connect(n)
      .catch((e): { ok: boolean; reason: string } => ({ ok: false, reason: toIngleError(e).code }));
    if (signal.aborted) return;
    failure = outcome.ok
      ? { error: '', reason: '', ssid: n.ssid }
      : { error: 'wifi', reason: outcome.reason, ssid: '' };
    o.onProgress('wifi', outcome.ok ? 'ok' : 'failed', outcome.ok ? 'wifi_joined' : 'wifi_failed', {
      ssid: n.ssid,
      reason: outcome.reason,
    });
    byHand = outcome.ok;
    m.fire(outcome.ok ? 'connected' : 'connect_failed');
  }

  async function speak(): Promise<void> {
    const s = window.secrets;
    // Label secrets are on the device; saying them aloud would give them to the next room for good.
    if (o.device.label) return;
    const t = translator(setupTexts, o.device.language);
    const text = t('spoken_secrets', { ssid: s.ssid, psk: spell(s.psk), pin: spell(s.pin) });
    await say(text);
  }

  /** A new PIN only: guesses told nothing of the PSK, and somebody may be using the access point. */
  function newPin(): void {
    const { ssid, psk } = window.secrets;
    window = openWindow({ ...newSecrets(o.device.name, o.device.serial), ssid, psk });
    o.onSecrets(window.secrets.window);
  }

  const setup: Setup = {
    get state() {
      return m.state;
    },
    async begin() {
      // A finished setup stays finished; a cut one goes on where a person left it, with new secrets.
      const event = atStart(record);
      unasked = event === 'resume' || event === 'retest';
      m.fire(event);
      if (event === 'known' || event === 'known_limits') void settle(work.signal);
    },
    status: () => ({ ...record, ...failure, channels: opened, pin_wait_s: gate.wait() }),
    restart(channel) {
      log.info('setup starts again', { channel });
      unasked = false;
      byHand = false;
      if (!m.fire('restart')) throw new IngleError('conflict', 'Setup is starting; wait a moment.');
    },
    async finish(channel) {
      log.info('setup is finished by hand', { channel });
      if (!(await ports.online()))
        throw new IngleError('conflict', 'The hub has no network yet. Join one first, or plug in a cable.');
      // The channel it was said through hands over the pairing link; no network needs the access point's radio.
      const stays = { by: channel, kept: channel === 'softap' && opened.includes('softap') };
      if (!m.can('finish')) throw new IngleError('conflict', 'There is nothing to finish now.');
      ({ by, kept } = stays);
      byHand = true;
      m.fire('finish');
    },
    touch(channel) {
      if (channel !== '') waitIdle();
    },
    async connect(channel, n) {
      const bytes = Buffer.byteLength(n.ssid);
      if (bytes < 1 || bytes > 32)
        throw new IngleError('invalid_request', 'A network name has 1 to 32 bytes.', { pointer: '/ssid' });
      if (n.psk !== '' && !/^[\x20-\x7e]{8,63}$/.test(n.psk) && !/^[0-9a-f]{64}$/i.test(n.psk))
        throw new IngleError('invalid_request', 'A Wi-Fi password has 8 to 63 characters.', {
          pointer: '/psk',
        });
      // Channels that are still starting would be cut in the middle.
      await steps.idle();
      const interrupts = opened.includes('softap') && (await ports.wifi.radios()) < 2;
      kept = opened.includes('softap') && !interrupts;
      if (!m.fire('connect'))
        throw new IngleError(
          'conflict',
          m.state === 'CONNECTING'
            ? 'The hub is joining a network already. Wait for its answer.'
            : 'Setup is not open. Start it again first.',
        );
      failure = { error: '', reason: '', ssid: '' };
      by = channel;
      log.info('joining a network', { channel });
      void join(n, work.signal);
      return { interrupts };
    },
    async select(_channel, sink, source) {
      await ports.audio.select(sink, source);
      save({ verified_profile: { sink_id: sink, source_id: source } });
      waitIdle();
      m.fire('audio_ok');
    },
    async authorise(channel, pin) {
      const wait_s = await setup.takeTry(channel);
      if (wait_s > 0) return { ok: false, left: 0, wait_s };
      const ok = window.isPin(pin);
      return { ok, ...(await setup.tryEnded(channel, ok)) };
    },
    takeTry: async () => ((await gate.take()) ? 0 : gate.wait()),
    async tryEnded(channel, right) {
      if (right) {
        await gate.right();
        waitIdle();
      } else {
        log.warn('a wrong PIN', { channel, left: gate.left(), wait_s: gate.wait() });
        if (window.wrong() && !o.device.label) newPin();
        if (gate.wait() > 0)
          o.onProgress(channel === 'bot' ? 'bot' : 'ble', 'failed', 'pin_wait', {
            wait: waitText(gate.wait(), o.device.language),
            wait_s: gate.wait(),
          });
      }
      return { left: gate.left(), wait_s: gate.wait() };
    },
    paired() {
      pairing.drop();
      if (record.owned !== true) save({ owned: true });
      m.fire('paired');
      if (m.state === 'READY' || m.state === 'READY_WITH_LIMITS' || m.state === 'RETEST') closeChannels();
    },
    pairing: () => pairing.get(),
    codeSpent: () => pairing.drop(),
    ended(channel, again) {
      if (!opened.includes(channel)) return;
      opened = opened.filter((name) => name !== channel);
      if (channel === 'ble') save({ ble: null });
      if (again) tries = TRIES;
    },
    async approve(channel) {
      const ble = ports.channels.find((c) => c.name === 'ble');
      if (!opened.includes('ble') || !ble?.approve)
        throw new IngleError('conflict', 'Setup over Bluetooth is not open. Start setup again first.');
      log.notice('Improv is let in over Bluetooth', { channel });
      await ble.approve();
    },
    secrets: () => window.secrets,
    speak,
    async reset(confirm) {
      if (confirm !== 'erase')
        throw new IngleError('invalid_request', 'Say "erase" to confirm.', { pointer: '/confirm' });
      await ports.erase();
      record = { ...record, done: false, owned: false, attempts: 0, verified_profile: null };
      pairing.drop();
      failure = { error: '', reason: '', ssid: '' };
      m.fire('reset');
    },
    async stop() {
      m.stop();
      work.abort();
      clearTimeout(idle);
      closeChannels();
      // Closing channels saves the state behind itself.
      await steps.idle();
      await o.file.close();
    },
  };
  return setup;
}
