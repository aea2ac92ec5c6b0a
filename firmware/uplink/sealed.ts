// The insecure debug mode: a channel secret made here and sealed to the key root says is the browser's (ARCHITECTURE D35).
import { fromBase64url, random, toBase64url } from '../protocol/bytes.ts';
import { seal } from '../protocol/noise/seal.ts';
import type { PairingWindow } from '../protocol/pairing/pairing.ts';

/** A sealed secret opens the channel for so long, seconds, and never longer than its pairing window. */
const SEALED_TTL = 600;
/** Web sessions that have one at a time. */
const MOST = 64;

interface Given {
  psk: Uint8Array;
  /** The key it was sealed to, base64url. */
  browser: string;
  /** The pairing window it belongs to. */
  window: PairingWindow;
  expires_at: number;
}

export interface SealedOptions {
  hubId: string;
  /** The hub's present static public key. */
  hubStatic(): Uint8Array;
  /** The pairing window now open: without one nothing is sealed. */
  window(): PairingWindow | null;
  /** Unix seconds. */
  now(): number;
  /** A secret was handed out, or a browser came in by one. */
  used(what: 'sealed' | 'proven', sid: string): void;
}

/** The secrets now valid, in memory: after a restart root asks again and each browser gets a new one. */
export function sealedSecrets(o: SealedOptions) {
  const given = new Map<string, Given>();

  /** The secret of a sid while it may be used. */
  function of(sid: string): Given | undefined {
    const g = given.get(sid);
    if (g && (o.now() >= g.expires_at || g.window !== o.window() || !g.window.open)) given.delete(sid);
    return given.get(sid);
  }

  return {
    /** The `sealed_secret` for a browser that asks to come in; undefined when it gets none. Base64url. */
    async give(sid: string, browserPub: string | undefined): Promise<string | undefined> {
      const window = o.window();
      if (!window?.open || browserPub === undefined) return undefined;
      let g = of(sid);
      if (g?.browser !== browserPub) g = undefined;
      g ??= { psk: random(32), browser: browserPub, window, expires_at: o.now() + SEALED_TTL };
      let sealed: Uint8Array;
      try {
        sealed = await seal(
          { hubStatic: o.hubStatic(), psk: g.psk },
          fromBase64url(browserPub),
          sid,
          o.hubId,
        );
      } catch {
        return undefined;
      }
      given.delete(sid);
      given.set(sid, g);
      for (const oldest of given.keys()) {
        if (given.size <= MOST) break;
        given.delete(oldest);
      }
      o.used('sealed', sid);
      return toBase64url(sealed);
    },
    /** The window of a sid's secret: its own psk, no typed code, the tries of the pairing window it belongs to. */
    windowOf(sid: string): PairingWindow | null {
      const g = of(sid);
      if (!g) return null;
      const w = g.window;
      return {
        psk: g.psk,
        secret: '',
        get open() {
          return given.get(sid) === g && w.open;
        },
        get left() {
          return w.left;
        },
        spend: () => w.spend(),
        refund: () => w.refund(),
        failed: (why) => w.failed(why),
        proven(remoteStatic) {
          // One pairing window lets one browser in, by whichever way.
          given.clear();
          o.used('proven', sid);
          w.proven(remoteStatic);
        },
      };
    },
  };
}

export type SealedSecrets = ReturnType<typeof sealedSecrets>;
