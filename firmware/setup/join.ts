// Joining a network somebody has given.
import { IngleError, toIngleError } from '../protocol/errors.ts';
import type { At, Core } from './core.ts';
import type { WifiOutcome } from './ports.ts';

export interface Network {
  ssid: string;
  psk: string;
  hidden: boolean;
}

/** What came of the newest join. */
export interface Joined {
  error: string;
  reason: string;
  ssid: string;
}

export const noJoin: Joined = { error: '', reason: '', ssid: '' };

/** @throws IngleError `invalid_request` with the pointer of the field */
export function checkNetwork({ ssid, psk }: Network): void {
  const bytes = Buffer.byteLength(ssid);
  if (bytes < 1 || bytes > 32)
    throw new IngleError('invalid_request', 'A network name has 1 to 32 bytes.', { pointer: '/ssid' });
  if (psk !== '' && !/^[\x20-\x7e]{8,63}$/.test(psk) && !/^[0-9a-f]{64}$/i.test(psk))
    throw new IngleError('invalid_request', 'A Wi-Fi password has 8 to 63 characters.', { pointer: '/psk' });
}

/** CONNECTING. @param keep is told what came of it before anybody else is */
export async function join(core: Core, here: At, n: Network, keep: (joined: Joined) => void): Promise<void> {
  const { channels, ports, onProgress } = core;
  const { ssid } = n;
  onProgress('wifi', 'running', 'wifi_joining', { ssid });
  await channels.idle();
  const { ok, reason } = await ports.wifi
    .connect(n)
    .catch((e): WifiOutcome => ({ ok: false, reason: toIngleError(e).code }));
  if (here.signal.aborted) return;
  keep(ok ? { error: '', reason: '', ssid } : { error: 'wifi', reason, ssid: '' });
  if (ok) onProgress('wifi', 'ok', 'wifi_joined', { ssid, reason });
  const moved = await here.move(ok ? 'connected' : 'connect_failed', { by_hand: ok });
  // Who hears of a failure tries again at once: then setup is open again.
  if (!ok && moved) onProgress('wifi', 'failed', 'wifi_failed', { ssid, reason });
}
