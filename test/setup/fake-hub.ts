// A hub whose audio and radio are told what to do: for faults and conversations. Real ones are in test/vm.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { IngleError } from '../../firmware/protocol/errors.ts';
import type { AudioOutcome, Ports, WifiOutcome } from '../../firmware/setup/ports.ts';
import { serveSetup } from '../../firmware/setup/serve.ts';
import { openState } from '../../firmware/setup/state.ts';
import { type Bus, connect } from '../../firmware/system/bus.ts';
import { logger } from '../../firmware/system/log.ts';
import { privateBus } from '../lab/bus.ts';

export interface World {
  audio: AudioOutcome;
  wifi: WifiOutcome;
  radios: number;
  online: boolean;
  joined: string[];
  erased: number;
  link: string;
  /** So often root is not reached when a pairing code is asked for. */
  unlinked: number;
  /** Why root gives no code and no place. */
  refused: IngleError | undefined;
  /** What root offers that differs from the hub's place. */
  changes: { field: string; was: string; now: string }[];
  /** What was asked of the link: codes, and places taken. */
  asked: string[];
  /** A browser is paired. */
  owned: boolean;
  /** How often the ladder looks around, milliseconds. */
  look: number;
  /** How long the machine is up, milliseconds. */
  uptime: number;
}

/** What root offers a hub of this world. */
const place = {
  owner_id: 'own_heir',
  subnet_id: 'net_heir',
  hub_id: 'hub_1',
  app_url: 'https://ingle.example',
};

/**
 * Starts a private bus with a served ladder over a made-up world.
 * @param on another's bus, with the ports that are real on it
 */
export async function fakeHub(
  given: Partial<World> = {},
  on?: { address: string; real(bus: Bus): Partial<Ports> },
) {
  const world: World = {
    audio: { ok: false, reason: 'no_estimate' },
    wifi: { ok: true, reason: '' },
    radios: 2,
    online: false,
    joined: [],
    erased: 0,
    link: 'https://ingle.example/#v1.482-913.AAAA.BBBB',
    unlinked: 0,
    refused: undefined,
    changes: [],
    asked: [],
    owned: false,
    look: 100_000,
    uptime: 0,
    ...given,
  };
  const daemon = on ? { address: on.address, stop: async () => {} } : await privateBus();
  const bus = await connect(daemon.address);
  const ports: Ports = {
    audio: {
      probe: async () => world.audio,
      retest: async () => world.audio,
      devices: async () => ({
        sinks: [{ id: 'spk', name: 'Speaker', type: 'builtin', score: 95, usable: true }],
        sources: [{ id: 'mic', name: 'Microphone', type: 'builtin', score: 95, usable: true }],
      }),
      test: async () => ({ verdict: 'ok', corr: 0.91, latency_ms: 83.2, snr_db: 21 }),
      select: async () => {},
      say: async () => {},
    },
    wifi: {
      radios: async () => world.radios,
      scan: async () => ({
        networks: [
          { ssid: 'Home "5G" <b>', signal: 88, security: 'wpa2' },
          { ssid: 'Café', signal: 40, security: 'open' },
        ],
        age_s: 2,
      }),
      connect: async (n) => {
        world.joined.push(`${n.ssid}/${n.psk}/${n.hidden}`);
        if (world.wifi.ok) world.online = true;
        return world.wifi;
      },
    },
    channels: [
      {
        name: 'softap',
        device: async () => (world.radios > 0 ? 'radios' : ''),
        start: async () => {},
        stop: async () => {},
      },
    ],
    online: async () => world.online,
    owned: async () => world.owned,
    hasNetwork: async () => true,
    pairing: async (newPasskey) => {
      if (world.refused) throw world.refused;
      if (world.unlinked-- > 0) throw new IngleError('unavailable', 'Root is not reached.');
      world.asked.push(newPasskey ? 'new passkey' : 'code');
      return {
        link: world.link,
        device_code: '482-913',
        secret: '507-226',
        expires_at: BigInt(Math.round(Date.now() / 1000) + 600),
      };
    },
    offered: async () => {
      if (world.refused) throw world.refused;
      return { ...place, changes: world.changes };
    },
    adopt: async (confirmed) => {
      if (JSON.stringify(confirmed) !== JSON.stringify(place))
        throw new IngleError('conflict', 'Root offers another place.');
      world.asked.push('adopt');
      world.changes = [];
      world.owned = false;
    },
    erase: async () => {
      world.erased++;
    },
    ...on?.real(bus),
  };
  const setup = await serveSetup(bus, {
    ports,
    version: '1.2.3',
    model: 'test',
    file: await openState(join(mkdtempSync(join(tmpdir(), 'ingle-hub-')), 'setup.db')),
    log: logger('setup'),
    device: { name: 'Ingle', serial: '00001234', language: 'en' },
    uptime: () => world.uptime,
    times: { audio: 2000, retest: 2000, look: world.look },
  });
  return {
    world,
    bus,
    setup,
    address: daemon.address,
    async stop() {
      await setup.stop();
      bus.close();
      await daemon.stop();
    },
  };
}
