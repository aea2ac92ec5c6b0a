// The hub's keys in use: read once, rotated, and what is said of a rotation.
import { fromBase64url, toBase64url } from '../protocol/bytes.ts';
import { rotationMessage } from '../protocol/noise/rotation.ts';
import { fromPrivate, type KeyPair } from '../protocol/noise/x25519.ts';
import type { Control } from '../protocol/wire.ts';
import { loadKeys, saveKeys } from './keyfile.ts';
import { type HubKeys, rotated, signWith, told } from './keys.ts';

export interface Keyring {
  readonly keys: HubKeys;
  /** The static keys, newest first. */
  readonly pairs: readonly KeyPair[];
  /** A new static key; durable when it settles. */
  rotate(now: number): Promise<void>;
  /** Root knows the newest static key; durable when it settles. */
  told(): Promise<void>;
  /** The newest static key under the identity's signature, for a browser that may not have it yet. */
  statement(hubId: string): (Control & { t: 'rotate' }) | undefined;
}

/** Opens the key file of `folder`; makes it at the first start. */
export async function openKeyring(folder: string, now: number): Promise<Keyring> {
  let keys = await loadKeys(folder, now);
  let pairs = await keyPairs(keys);
  return {
    get keys() {
      return keys;
    },
    get pairs() {
      return pairs;
    },
    async rotate(at) {
      const next = rotated(keys, at);
      const nextPairs = await keyPairs(next);
      await saveKeys(folder, next);
      keys = next;
      pairs = nextPairs;
    },
    async told() {
      keys = told(keys);
      await saveKeys(folder, keys);
    },
    statement(hubId) {
      if (keys.e2e.length < 2) return undefined;
      const [e2e_pub, sign_pub] = [keys.e2e[0]!.x, keys.sign.x];
      const signature = toBase64url(signWith(keys, rotationMessage(hubId, e2e_pub, sign_pub)));
      return { t: 'rotate', e2e_pub, sign_pub, signature };
    },
  };
}

function keyPairs(keys: HubKeys): Promise<KeyPair[]> {
  return Promise.all(keys.e2e.map((k) => fromPrivate(fromBase64url(k.d))));
}
