// The secrets of the open window, and the tries at its PIN: one count for every channel.
import type { Log } from '../system/log.ts';
import { waitText } from '../text/setup.ts';
import type { Gate } from './backoff.ts';
import { openWindow, type Window } from './pin-window.ts';
import { newSecrets, type Secrets } from './secrets.ts';
import type { Device, Progress } from './telling.ts';

export type Pins = ReturnType<typeof openPins>;

export function openPins(o: {
  device: Device;
  gate: Gate;
  log: Log;
  onProgress: Progress;
  onSecrets(window: string): void;
  /** Somebody has given the right PIN. */
  onRight(): void;
}) {
  const { device, gate, log } = o;
  const fresh = () => newSecrets(device.name, device.serial, device.label);
  let window: Window = openWindow(fresh());
  function show(next: Secrets): void {
    window = openWindow(next);
    o.onSecrets(next.window);
  }

  const pins = {
    secrets: (): Secrets => window.secrets,
    wait: () => gate.wait(),
    /** A new window with secrets of its own. */
    renew: () => show(fresh()),
    /** Counts a try that the caller looks at; above 0 are seconds to wait, and then it is not to be looked at. */
    take: async (): Promise<number> => ((await gate.take()) ? 0 : gate.wait()),
    async ended(channel: string, right: boolean): Promise<{ left: number; wait_s: number }> {
      if (right) {
        await gate.right();
        o.onRight();
      } else wrong(channel);
      return { left: gate.left(), wait_s: gate.wait() };
    },
    /** Looks at a PIN; see the contract's Authorise. */
    async authorise(channel: string, pin: string): Promise<{ ok: boolean; left: number; wait_s: number }> {
      const wait_s = await pins.take();
      if (wait_s > 0) return { ok: false, left: 0, wait_s };
      const ok = window.isPin(pin);
      return { ok, ...(await pins.ended(channel, ok)) };
    },
  };

  function wrong(channel: string): void {
    const wait_s = gate.wait();
    log.warn('a wrong PIN', { channel, left: gate.left(), wait_s });
    // A new PIN only: guesses told nothing of the PSK, and somebody may be using the access point.
    const { ssid, psk } = window.secrets;
    if (window.wrong() && !device.label) show({ ...fresh(), ssid, psk });
    if (wait_s === 0) return;
    const wait = waitText(wait_s, device.language);
    o.onProgress(channel === 'bot' ? 'bot' : 'ble', 'failed', 'pin_wait', { wait, wait_s });
  }
  return pins;
}
