// A Noise handshake on the browser's side: message 1, and the keys that its answer makes.
import { concat, u64 } from '../bytes.ts';
import { frameKind } from '../wire.ts';
import type { Attempts, Shake } from './attempts.ts';
import type { Mode } from './channel.ts';
import { handshake } from './noise.ts';
import { type Keys, keysOf, type Link, MARK, numberMatches, purpose } from './transport.ts';
import type { With } from './whom.ts';
import type { KeyPair } from './x25519.ts';

export interface ShakingOptions {
  l: Link;
  /** Who talks to whom, as in every handshake of the channel. */
  words: Uint8Array;
  key: KeyPair;
  tries: Attempts;
  /** How the browser gets to its hub now. */
  mode(): Mode;
  /** The answer is no longer the hub's next frame. */
  gap(): void;
  altered(): void;
  /** The hub's frame `ctr` made these keys. */
  keyed(keys: Keys, ctr: number, isPairing: boolean): void;
}

export interface Shaking {
  /** Begins a handshake. */
  shake(by: With): void;
  /** Message 2. */
  answered(isPsk: boolean, body: Uint8Array, ctr: number): Promise<void>;
}

export function shaking(o: ShakingOptions): Shaking {
  const { l, tries } = o;
  return {
    shake({ hubStatic: rs, purpose: why, psk }) {
      tries.begin(async (mine, become) => {
        const pattern = psk ? 'IKpsk2' : 'IK';
        const h = await handshake({ pattern, initiator: true, prologue: o.words, s: o.key, rs, psk });
        if (!mine()) return;
        const now: Shake = { kind: 'noise', h, rekey: why === purpose.rekey, pairing: !!psk, mark: null };
        become(now);
        const kind = psk ? frameKind.ikpsk1 : frameKind.ik1;
        await l.transmit(async (ctr) => {
          const message = await h.write(concat(Uint8Array.of(why), u64(ctr)));
          now.mark = message.slice(0, MARK);
          tries.own(now.mark);
          return concat(Uint8Array.of(kind), message);
        }, mine);
      });
    },
    async answered(isPsk, body, ctr) {
      const mine = tries.now;
      if (mine?.kind !== 'noise' || mine.pairing !== isPsk || !mine.mark) return;
      if (!tries.isMine(body.slice(0, MARK), mine.mark)) return;
      const before = l.life;
      if (mine.rekey && before && ctr !== before.expect)
        return ctr < before.expect ? l.alarm('replayed') : o.gap();
      const payload = await mine.h.read(body.subarray(MARK)).catch(() => null);
      if (tries.now !== mine) return;
      if (!payload || !numberMatches(payload, 1, ctr)) return o.altered();
      const mode = isPsk ? o.mode() : 'known';
      const keys = await keysOf(mine.h, { epoch: payload[0]!, mode, first: !mine.rekey });
      if (tries.now !== mine || l.life !== before) return;
      tries.done();
      o.keyed(keys, ctr, isPsk);
    },
  };
}
