// Root's own key pairs (Ed25519, RFC 8037). The newest of a name signs; what the ones before it have signed counts until it
// is over, unless they were revoked.
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { CERTIFICATE_TTL } from '../firmware/protocol/limits.ts';
import { seconds } from './clock.ts';
import { digest } from './digest.ts';
import type { Records, Secret } from './records/records.ts';

export interface RootKey {
  privateKey: KeyObject;
  publicKey: KeyObject;
  /** The public half (RFC 7517). */
  jwk: Record<string, unknown>;
  kid: string;
}

/** What is signed with keys: sessions and certificates, and tickets for pages of skills. */
export const keyNames = ['sign', 'sign_skill_ui'] as const;

/** Between two looks for a key that somebody names and nobody here knows, milliseconds. */
const LOOK_MS = 1000;

const freshKey = () =>
  generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

function keyOf({ value }: Secret): RootKey {
  const privateKey = createPrivateKey(value);
  const publicKey = createPublicKey(privateKey);
  const jwk = publicKey.export({ format: 'jwk' }) as Record<string, unknown>;
  return { privateKey, publicKey, jwk, kid: digest(jwk['x'] as string).slice(0, 16) };
}

/** Those that count, the newest first: one whose successor is as old as a certificate gets has nothing left to vouch for. */
function counting(all: readonly Secret[], now: number): RootKey[] {
  return all
    .filter((_, i) => (all[i + 1]?.since ?? now) > now - CERTIFICATE_TTL)
    .map(keyOf)
    .reverse();
}

export type Keyring = Awaited<ReturnType<typeof openKeyring>>;

/** Opens the keys of a name; the first is made at the first start. */
export async function openKeyring(records: Pick<Records, 'secret' | 'secrets'>, name: string) {
  await records.secret(name, freshKey());
  let keys = counting(await records.secrets(name), seconds());
  let looked = Number.NEGATIVE_INFINITY;
  let looking: Promise<void> = Promise.resolve();
  async function refresh(): Promise<void> {
    keys = counting(await records.secrets(name), seconds());
  }
  return {
    /** Signs. */
    newest: (): RootKey => keys[0]!,
    all: (): readonly RootKey[] => keys,
    /** Reads which keys there are: another process may have made or revoked one. */
    refresh,
    /** The key of that id; a token without one is of the newest. */
    async find(kid: string | undefined): Promise<RootKey | undefined> {
      if (kid === undefined) return keys[0];
      const known = () => keys.find((k) => k.kid === kid);
      // Another process may sign with a key that this one has not read yet.
      if (!known()) {
        if (performance.now() - looked > LOOK_MS) {
          looked = performance.now();
          looking = refresh();
        }
        // Who asks meanwhile waits for the same look.
        await looking;
      }
      return known();
    },
  };
}

/**
 * Makes a new key of every name, which all processes of root take within a minute.
 * @param revoke what the keys before have signed counts no more
 */
export async function rotateKeys(records: Pick<Records, 'renewSecret'>, revoke: boolean): Promise<void> {
  for (const name of keyNames) await records.renewSecret(name, freshKey(), seconds(), revoke);
}
