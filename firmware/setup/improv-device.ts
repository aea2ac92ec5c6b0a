// What the hub answers to Improv commands, over BLE or serial: the same few steps on io.ingle.Setup1.

import { patience } from '../documents/waiting.ts';
import type { Caller } from '../system/contract.ts';
import { type Action, askStage, may, type Proof, type Stage } from './access.ts';
import type { setup1 } from './contract.ts';
import { commandNumber, type ImprovCommand, improvError, improvState } from './improv.ts';
import { PAIRING_MS } from './pairing.ts';
import type { Progress } from './progress.ts';

export interface ImprovDeps {
  setup: Caller<typeof setup1>;
  channel: 'serial' | 'ble';
  device: { name: string; model: string; version: string };
  /** Tells the peer a state, an error or a result. */
  state(s: number): void;
  error(e: number): void;
  result(command: number, strings: string[]): void;
  onProgress: Progress;
  /** What was proved on this line or by this central, now. */
  proven(): readonly Proof[];
  identify?(): void;
  /** Whether the peer that asks is still there; it is where nothing is said. */
  isThere?(): boolean;
}

export interface ImprovDevice {
  run(command: ImprovCommand): Promise<void>;
  /** The Improv state now. */
  current(): Promise<number>;
}

export function improvDevice(d: ImprovDeps): ImprovDevice {
  const way = d.channel === 'serial' ? 'improv_serial' : 'improv_ble';
  const allowed = (stage: Stage, action: Action) => may(way, stage, action, d.proven());

  async function current(): Promise<number> {
    const { state, detail } = await d.setup.Status({});
    const { ssid } = detail;
    const stage = await askStage(d.setup);
    // Who may not join here is told that, whatever else there is to tell.
    if (!allowed(stage, 'join') && d.channel === 'serial') return improvState.authorize;
    if (state === 'CONNECTING') return improvState.provisioning;
    // While setup is open the newest network is on its way out: the person came to give another.
    const open = state === 'AUDIO' || state === 'CHANNELS' || state === 'CONSOLE' || state === 'HINT';
    if (ssid && !open) return improvState.provisioned;
    return allowed(stage, 'join') ? improvState.authorized : improvState.authorize;
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

  /** Where the person goes on: the pairing link, once root is reached. A hub that has just joined may take a while to. */
  async function next(): Promise<string[]> {
    return patience(PAIRING_MS, d.isThere)
      .patiently(() => d.setup.PairingLink({}, PAIRING_MS))
      .then(
        (p) => [p.link],
        () => [],
      );
  }

  return {
    current,
    async run(c) {
      const stage = await askStage(d.setup);
      const actions = {
        state: 'status',
        info: 'status',
        identify: 'speak',
        scan: 'look',
        wifi: 'join',
      } as const;
      if (!allowed(stage, actions[c.command])) return d.error(improvError.not_authorized);
      d.error(improvError.none);
      if (c.command === 'identify') d.identify?.();
      else if (c.command === 'state') {
        const state = await current();
        d.state(state);
        if (state === improvState.provisioned && allowed(stage, 'pair'))
          d.result(commandNumber.state, await next());
      } else if (c.command === 'info')
        d.result(commandNumber.info, ['Ingle', d.device.version, d.device.model, d.device.name]);
      else if (c.command === 'scan') await scan(allowed(stage, 'join') ? d.channel : '');
      else if (await join(c.ssid, c.psk)) {
        d.state(improvState.provisioned);
        // The hub is not new any more: the link belongs to the command that was let in.
        d.result(commandNumber.wifi, await next());
      } else {
        d.error(improvError.unable_to_connect);
        d.state(await current());
      }
    },
  };

  async function scan(channel: string): Promise<void> {
    const { networks } = await d.setup
      .WifiScan({ channel, fresh: false }, 40_000)
      .catch(() => ({ networks: [] }));
    // Signal is percent here and dBm there; the usual linear map (100 % = -50 dBm, 0 % = -100 dBm).
    for (const { ssid, signal, security } of networks)
      d.result(commandNumber.scan, [
        ssid,
        String(Math.round(signal / 2 - 100)),
        security === 'open' ? 'NO' : 'YES',
      ]);
    d.result(commandNumber.scan, []);
  }
}
