// What the hub answers to Improv commands, over BLE or serial: the same few steps on io.ingle.Setup1.
import { commandNumber, type ImprovCommand, improvError, improvState } from '../ble/improv.ts';
import { type Caller, fromVariant } from '../system/contract.ts';
import type { setup1 } from './contract.ts';

export interface ImprovDeps {
  setup: Caller<typeof setup1>;
  channel: 'serial' | 'ble';
  device: { name: string; model: string; version: string };
  /** Tells the peer a state, an error or a result. */
  state(s: number): void;
  error(e: number): void;
  result(command: number, strings: string[]): void;
  onProgress(
    f: (step: string, state: string, text: string, detail: Record<string, unknown>) => void,
  ): () => void;
  /** Whether commands that change something are let in; serial always, BLE while its window says so. */
  authorized?(): boolean;
  identify?(): void;
}

export interface ImprovDevice {
  run(command: ImprovCommand): Promise<void>;
  /** The Improv state now. */
  current(): Promise<number>;
}

export function improvDevice(d: ImprovDeps): ImprovDevice {
  const authorized = d.authorized ?? (() => true);

  async function current(): Promise<number> {
    const s = await d.setup.Status({});
    const { ssid } = fromVariant(s.detail) as { ssid?: string };
    if (s.state === 'CONNECTING') return improvState.provisioning;
    // While setup is open the newest network is on its way out: the person came to give another.
    const open = s.state === 'AUDIO' || s.state === 'CHANNELS' || s.state === 'CONSOLE' || s.state === 'HINT';
    if (ssid && !open) return improvState.provisioned;
    return authorized() ? improvState.authorized : improvState.authorize;
  }

  /** Joins a network and settles with success; the outcome is Setup1's, so every channel shows the same. */
  async function join(ssid: string, psk: string): Promise<boolean> {
    let stop = () => {};
    const outcome = new Promise<boolean>((resolve) => {
      stop = d.onProgress((step, state) => {
        if (step === 'wifi' && (state === 'ok' || state === 'failed')) resolve(state === 'ok');
      });
    });
    try {
      await d.setup.WifiConnect({ channel: d.channel, ssid, psk, hidden: false });
      d.state(improvState.provisioning);
      return await outcome;
    } catch {
      return false;
    } finally {
      stop();
    }
  }

  /** Where the person goes on: the pairing link, once root is reached. */
  async function next(): Promise<string[]> {
    return d.setup.PairingLink({}, 30_000).then(
      (p) => [p.link],
      () => [],
    );
  }

  return {
    current,
    async run(c) {
      d.error(improvError.none);
      if (c.command === 'identify') d.identify?.();
      else if (c.command === 'state') {
        const state = await current();
        d.state(state);
        if (state === improvState.provisioned) d.result(commandNumber.state, await next());
      } else if (c.command === 'info')
        d.result(commandNumber.info, ['Ingle', d.device.version, d.device.model, d.device.name]);
      else if (c.command === 'scan') {
        const { networks } = await d.setup
          .WifiScan({ fresh: false }, 40_000)
          .catch(() => ({ networks: [] as [string, number, string][] }));
        // Signal is percent here and dBm there; the usual linear map (100 % = -50 dBm, 0 % = -100 dBm).
        for (const [ssid, signal, security] of networks)
          d.result(commandNumber.scan, [
            ssid,
            String(Math.round(signal / 2 - 100)),
            security === 'open' ? 'NO' : 'YES',
          ]);
        d.result(commandNumber.scan, []);
      } else if (!authorized()) d.error(improvError.not_authorized);
      else if (await join(c.ssid, c.psk)) {
        d.state(improvState.provisioned);
        d.result(commandNumber.wifi, await next());
      } else {
        d.error(improvError.unable_to_connect);
        d.state(await current());
      }
    },
  };
}
