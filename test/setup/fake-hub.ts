// A hub whose audio and radio are told what to do: for faults and conversations. Real ones are in test/vm.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { IngleError } from '../../firmware/protocol/errors.ts';
import type { AudioOutcome, Ports, WifiOutcome } from '../../firmware/setup/ports.ts';
import { serveSetup } from '../../firmware/setup/serve.ts';
import { openState } from '../../firmware/setup/state.ts';
import { connect } from '../../firmware/system/bus.ts';
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
  /** A browser is paired. */
  owned: boolean;
  /** How often the ladder looks around, milliseconds. */
  look: number;
  /** How long the machine is up, milliseconds. */
  uptime: number;
}

/** Starts a private bus with a served ladder over a made-up world. */
export async function fakeHub(given: Partial<World> = {}) {
  const world: World = {
    audio: { ok: false, reason: 'no_estimate' },
    wifi: { ok: true, reason: '' },
    radios: 2,
    online: false,
    joined: [],
    erased: 0,
    link: 'https://ingle.example/#v1.482-913.AAAA.BBBB',
    unlinked: 0,
    owned: false,
    look: 100_000,
    uptime: 0,
    ...given,
  };
  const daemon = await privateBus();
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
    pairing: async () => {
      if (world.unlinked-- > 0) throw new IngleError('unavailable', 'Root is not reached.');
      return {
        link: world.link,
        device_code: '482-913',
        secret: '507-226',
        expires_at: 2_000_000_000n,
      };
    },
    erase: async () => {
      world.erased++;
    },
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
