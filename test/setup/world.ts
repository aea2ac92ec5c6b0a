// A ladder over a made-up world, in this process: what its states and files do, without a bus. See fake-hub.ts for one.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as assert from 'uvu/assert';
import { IngleError } from '../../firmware/protocol/errors.ts';
import type { LadderState } from '../../firmware/setup/ladder.ts';
import type { AudioOutcome, Ports, WifiOutcome } from '../../firmware/setup/ports.ts';
import { createSetup } from '../../firmware/setup/setup.ts';
import { openState } from '../../firmware/setup/state.ts';
import { logger } from '../../firmware/system/log.ts';

export interface World {
  audio: AudioOutcome | 'hangs';
  wifi: WifiOutcome;
  /** What a join waits for. */
  wifiWaits?: Promise<void>;
  radios: number;
  online: boolean;
  /** No network is known, and no cable is plugged in. */
  noNetwork?: boolean;
  noBle?: boolean;
  /** What the start of BLE waits for. */
  bleWaits?: Promise<void>;
  /** No Bluetooth adapter is plugged in. */
  noAdapter?: boolean;
  /** The access point's programs fell for good. */
  fallen?: boolean;
  idle?: number;
  /** How long the retest may take, milliseconds. */
  retest?: number;
  /** A browser is paired; undefined: the link's service does not answer. */
  owned?: boolean;
  /** Root offers the hub to another owner. */
  offers?: boolean;
  /** The link takes another owner, and its answer does not come. */
  silent?: boolean;
  /** The only radio is in a network. */
  holds?: boolean;
  /** Secrets of a printed label. */
  label?: { psk: string; pin: string };
  /** How long the machine is up, milliseconds. */
  uptime?: number;
}

/** A house without sound, with one radio and no network yet, whose channels stay open. */
export const patient = (more: Partial<World> = {}): World => ({
  audio: { ok: false, reason: 'no_devices' },
  wifi: { ok: true, reason: '' },
  radios: 1,
  online: false,
  idle: 60_000,
  ...more,
});

export async function house(
  world: World,
  file = join(mkdtempSync(join(tmpdir(), 'ingle-setup-')), 'setup.db'),
  start?: string,
) {
  const calls: string[] = [];
  const states: LadderState[] = [];
  const said: string[] = [];
  const progress: string[] = [];
  /** The state in which each text was told last. */
  const toldIn = new Map<string, LadderState | undefined>();
  const waiting: { state: LadderState; resolve: () => void }[] = [];
  const hangs = (signal: AbortSignal) =>
    new Promise<AudioOutcome>((_, no) => signal.addEventListener('abort', () => no(new Error('aborted'))));
  const audio = (signal: AbortSignal) =>
    world.audio === 'hangs' ? hangs(signal) : Promise.resolve(world.audio);
  const ports: Ports = {
    audio: {
      probe: audio,
      retest: audio,
      devices: async () => ({ sinks: [], sources: [] }),
      test: async () => ({ verdict: 'ok', corr: 1, latency_ms: 80, snr_db: 20 }),
      select: async () => {},
      async say(texts) {
        said.push(texts[0]?.text ?? '');
        calls.push(`say ${texts[0]?.text.includes('password')}`);
      },
    },
    wifi: {
      radios: async () => world.radios,
      scan: async () => ({ networks: [], age_s: 0 }),
      async connect() {
        await world.wifiWaits;
        return world.wifi;
      },
    },
    channels: [
      {
        name: 'softap',
        device: async (take) => (world.radios > 0 && (take || !world.holds) ? `radios ${world.radios}` : ''),
        serving: async () => world.radios > 0 && !world.fallen,
        async start({ ssid, psk }) {
          world.fallen = false;
          calls.push(`ap ${ssid} ${psk}`);
        },
        stop: async () => void calls.push('ap stop'),
      },
      {
        name: 'ble',
        device: async () => (world.noAdapter ? '' : 'hci0'),
        async start() {
          await world.bleWaits;
          if (world.noBle) throw new IngleError('unavailable', 'no adapter');
          calls.push('ble');
        },
        stop: async () => void calls.push('ble stop'),
      },
    ],
    online: async () => world.online,
    async owned() {
      if (world.owned === undefined) throw new IngleError('unavailable', 'no uplink');
      return world.owned;
    },
    hasNetwork: async () => !world.noNetwork,
    async pairing(newPasskey) {
      calls.push(newPasskey ? 'code for a new passkey' : 'code');
      return { link: 'l', device_code: 'd', secret: 's', expires_at: 0n };
    },
    offered: async () => ({
      ...{ owner_id: 'own_b', subnet_id: 'n', hub_id: 'h', app_url: 'https://a' },
      changes: world.offers ? [{ field: 'owner_id', was: 'own_a', now: 'own_b' }] : [],
    }),
    async adopt({ owner_id }) {
      calls.push(`adopt ${owner_id}`);
      world.offers = false;
      world.owned = false;
      if (world.silent) throw new IngleError('timeout', 'It did not answer in time.');
    },
    erase: async () => void calls.push('erase'),
  };
  const setup = await createSetup({
    ports,
    file: await openState(file),
    log: logger('setup-test'),
    device: {
      name: 'Ingle',
      serial: 'abc1234',
      language: 'en',
      ...(world.label ? { label: world.label } : {}),
    },
    ...(start ? { start } : {}),
    uptime: () => world.uptime ?? 0,
    onState(state) {
      states.push(state);
      for (const w of waiting.filter((x) => x.state === state)) w.resolve();
    },
    onProgress(step, state, text) {
      progress.push(`${step} ${state} ${text}`);
      toldIn.set(text, states.at(-1));
    },
    onSecrets: () => calls.push('secrets'),
    times: {
      audio: world.audio === 'hangs' ? 40 : 60_000,
      retest: world.retest ?? 40,
      idle: world.idle ?? 200,
      look: 10,
      settle: 10,
    },
  });
  const reach = (state: LadderState) =>
    setup.state === state
      ? Promise.resolve()
      : new Promise<void>((resolve) => waiting.push({ state, resolve }));
  return { setup, calls, states, said, progress, toldIn, reach, file };
}

export async function assertCode(p: Promise<unknown>, code: string): Promise<void> {
  const e = await p.then(
    () => undefined,
    (x) => x,
  );
  assert.is(e?.code, code);
}
