// A browser's message 1 on the hub's side: which key it was made for, and whether the hub's policy lets it in.
import type { PairingWindow } from '../pairing/pairing.ts';
import { resetReason } from '../wire.ts';
import type { Mode, Policy } from './channel.ts';
import { type Handshake, handshake } from './noise.ts';
import { purpose } from './transport.ts';
import type { Trials } from './trials.ts';
import type { KeyPair } from './x25519.ts';

/** How a browser comes in: known by its static key, else by an open window. */
export type Entrance =
  | { mode: 'known'; window: null }
  | { mode: Exclude<Mode, 'known'>; window: PairingWindow; psk: Uint8Array };

const modeOf = new Map<unknown, Exclude<Mode, 'known'>>([
  [purpose.link, 'link'],
  [purpose.typed, 'typed'],
  [purpose.sealed, 'sealed'],
]);

/** Message 1 under whichever of the hub's keys it was made for; null: under none. */
export async function readFirst(
  keys: readonly KeyPair[],
  words: Uint8Array,
  isPsk: boolean,
  body: Uint8Array,
): Promise<{ h: Handshake; payload: Uint8Array } | null> {
  for (const s of keys) {
    const h = await handshake({ pattern: isPsk ? 'IKpsk2' : 'IK', initiator: false, prologue: words, s });
    const payload = await h.read(body).catch(() => null);
    if (payload) return { h, payload };
  }
  return null;
}

/** The window a policy gives, while it is open; a policy that fails gives none. */
export async function openWindow(of: Policy['window']): Promise<PairingWindow | null> {
  const w = await Promise.resolve()
    .then(of)
    .catch(() => null);
  return w?.open ? w : null;
}

/**
 * What lets a browser in.
 * @param why the purpose its message 1 states
 * @param proved what it has proved of a typed code
 * @returns else the reason it is told
 */
export async function entrance(
  asked: { isPsk: boolean; why: number | undefined; browser: Uint8Array },
  policy: Policy,
  proved: Trials['of'],
): Promise<Entrance | number> {
  const { isPsk, why, browser } = asked;
  if (!isPsk) {
    const isKnown =
      (why === purpose.start || why === purpose.rekey) &&
      (await Promise.resolve(browser)
        .then(policy.knows)
        .catch(() => false));
    return isKnown ? { mode: 'known', window: null } : resetReason.unknownBrowser;
  }
  const mode = modeOf.get(why);
  const given = mode === 'typed' ? proved(browser) : null;
  let window = given?.window ?? null;
  if (mode === 'link') window = await openWindow(policy.window);
  else if (mode === 'sealed' && policy.sealed) window = await openWindow(policy.sealed);
  if (!mode || !window?.open) return resetReason.noPairing;
  return { mode, window, psk: given?.psk ?? window.psk };
}

/** The epoch after `last`, which is not the one in use: a byte that goes round. */
export function nextEpoch(last: number, inUse: number | undefined): number {
  const next = (last + 1) & 255;
  return next === inUse ? (next + 1) & 255 : next;
}
