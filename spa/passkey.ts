// WebAuthn in the browser (Level 3). What is signed and how is decided here; root only says for which passkeys.

import { fromBase64url, toBase64url } from '../firmware/protocol/bytes.ts';
import { IngleError } from '../firmware/protocol/errors.ts';
import { challengeOf, type ToSign } from '../firmware/protocol/pairing/assertion.ts';
import { Trouble } from './store.ts';

type Bytes = Uint8Array<ArrayBuffer>;
const text = (buffer: ArrayBuffer | null) => toBase64url(new Uint8Array(buffer ?? new ArrayBuffer(0)));

/** A prompt's time where root names none, and the longest it may name, milliseconds. */
const TIMEOUT = 120_000;
const TIMEOUT_MAX = 600_000;
/** Prompts that nobody answers end by themselves; some authenticators let them stand, milliseconds. */
const LATE = 5000;
/** COSE algorithms (RFC 9053) that root and hub check: ES256, EdDSA, RS256. */
const algorithms = [-7, -8, -257];

/** What of root's WebAuthn options is taken; whatever else it says stays unheard. */
export interface Wish {
  challenge: Bytes;
  timeout: number;
  passkeys: PublicKeyCredentialDescriptor[];
  /** Of a new passkey. */
  user: { id: Bytes; name: string };
}

/** @throws IngleError `unavailable` when root's answer is no such options. */
export function readWish(given: unknown): Wish {
  try {
    const o = given as Record<string, unknown>;
    const user = (o['user'] ?? { id: '', name: '' }) as Record<string, unknown>;
    const list = (o['allowCredentials'] ?? o['excludeCredentials'] ?? []) as Record<string, unknown>[];
    const timeout = Number(o['timeout'] ?? TIMEOUT);
    return {
      challenge: bytesOf(o['challenge'], 16, 64),
      timeout: timeout > 0 ? Math.min(timeout, TIMEOUT_MAX) : TIMEOUT,
      passkeys: list.slice(0, 64).map((d) => ({
        id: bytesOf(d['id'], 1, 1023),
        type: 'public-key',
        ...(Array.isArray(d['transports'])
          ? { transports: d['transports'].map(String) as AuthenticatorTransport[] }
          : {}),
      })),
      user: { id: bytesOf(user['id'], 0, 64), name: String(user['name']).slice(0, 64) },
    };
  } catch {
    throw new IngleError('unavailable', 'The service gave no proper answer.');
  }
}

function bytesOf(given: unknown, least: number, most: number): Bytes {
  const bytes = fromBase64url(String(given)) as Bytes;
  if (bytes.length < least || bytes.length > most) throw new RangeError('length');
  return bytes;
}

let present: AbortController | null = null;
/** Ends the prompt that is open, as its own close button does. */
export function cancelPrompt(): void {
  present?.abort();
}

/** @throws Trouble when the prompt was closed, timed out, cannot be shown, or never says how it went. */
async function prompt(
  timeout: number,
  ask: (signal: AbortSignal) => Promise<Credential | null>,
): Promise<PublicKeyCredential> {
  if (!window.isSecureContext) throw new Trouble({ text: 'passkey_insecure' });
  if (typeof PublicKeyCredential === 'undefined') throw new Trouble({ text: 'passkey_unsupported' });
  const stop = new AbortController();
  present = stop;
  const timer = setTimeout(() => stop.abort(), timeout + LATE);
  let name = '';
  try {
    const stopped = new Promise<null>((resolve) =>
      stop.signal.addEventListener('abort', () => resolve(null)),
    );
    const credential = await Promise.race([ask(stop.signal), stopped]);
    if (credential instanceof PublicKeyCredential) return credential;
  } catch (e) {
    name = e instanceof DOMException ? e.name : '';
  } finally {
    clearTimeout(timer);
  }
  if (name === 'InvalidStateError') throw new Trouble({ text: 'passkey_exists' });
  if (name === 'NotSupportedError') throw new Trouble({ text: 'passkey_unsupported' });
  if (name === 'SecurityError') throw new Trouble({ text: 'passkey_insecure' });
  // NotAllowedError stands for a closed prompt, a timeout and a missing passkey alike (Level 3, section 14.6.3).
  const lock =
    name !== 'ConstraintError' &&
    (stop.signal.aborted ||
      (await PublicKeyCredential.isUserVerifyingPlatformAuthenticatorAvailable?.().catch(() => true))) !==
      false;
  throw new Trouble({ text: lock ? 'passkey_cancelled' : 'passkey_no_lock' });
}

/** Flag of authenticator data: who touched it was recognised (Level 3, section 6.1). */
const UV = 4;
/** The hub would refuse it, in words that help nobody. @throws Trouble */
function verified(data: ArrayBuffer | undefined): void {
  if (data && !(new Uint8Array(data)[32]! & UV)) throw new Trouble({ text: 'passkey_no_lock' });
}

const signed = async (what: ToSign) => fromBase64url(await challengeOf(what)) as Bytes;

/**
 * Makes a passkey for root.
 * @param options root's publicKeyCredentialCreationOptions
 * @throws Trouble, IngleError `unavailable` on improper options
 */
export async function createPasskey(options: unknown, sid: string): Promise<unknown> {
  const { challenge, timeout, passkeys, user } = readWish(options);
  const made = await prompt(timeout, async (signal) => {
    const publicKey = {
      challenge: await signed({ purpose: 'registration', context: sid, bytes: challenge }),
      rp: { id: location.hostname, name: 'Ingle' },
      user: { ...user, displayName: user.name },
      pubKeyCredParams: algorithms.map((alg) => ({ alg, type: 'public-key' as const })),
      excludeCredentials: passkeys,
      authenticatorSelection: {
        residentKey: 'required',
        requireResidentKey: true,
        userVerification: 'required',
      } as const,
      attestation: 'none' as const,
      // The phone's own fingerprint or face is offered first; other authenticators stay possible.
      hints: ['client-device'],
      timeout,
    };
    return navigator.credentials.create({ signal, publicKey });
  });
  const r = made.response as AuthenticatorAttestationResponse;
  verified(r.getAuthenticatorData?.());
  return {
    ...credentialOf(made),
    response: {
      clientDataJSON: text(r.clientDataJSON),
      attestationObject: text(r.attestationObject),
      transports: r.getTransports(),
    },
  };
}

/** An assertion that signs in at root. @param options root's publicKeyCredentialRequestOptions. @throws as `createPasskey` */
export async function signInAtRoot(options: unknown, sid: string): Promise<{ id: string }> {
  const { challenge, timeout, passkeys } = readWish(options);
  return usePasskey({ purpose: 'login', context: sid, bytes: challenge }, timeout, passkeys);
}

/** An assertion for a hub over a handshake's hash. @throws Trouble */
export function signForHub(hubId: string, hash: Uint8Array): Promise<{ id: string }> {
  return usePasskey({ purpose: 'hub', context: hubId, bytes: hash }, TIMEOUT, []);
}

async function usePasskey(
  what: ToSign,
  timeout: number,
  allowCredentials: PublicKeyCredentialDescriptor[],
): Promise<{ id: string }> {
  const used = await prompt(timeout, async (signal) => {
    const publicKey = {
      challenge: await signed(what),
      rpId: location.hostname,
      allowCredentials,
      userVerification: 'required' as const,
      timeout,
    };
    return navigator.credentials.get({ signal, publicKey });
  });
  const r = used.response as AuthenticatorAssertionResponse;
  verified(r.authenticatorData);
  return {
    ...credentialOf(used),
    response: {
      clientDataJSON: text(r.clientDataJSON),
      authenticatorData: text(r.authenticatorData),
      signature: text(r.signature),
      userHandle: r.userHandle ? text(r.userHandle) : undefined,
    },
  } as { id: string };
}

function credentialOf(c: PublicKeyCredential) {
  return {
    id: c.id,
    rawId: text(c.rawId),
    type: c.type,
    authenticatorAttachment: c.authenticatorAttachment ?? undefined,
    clientExtensionResults: c.getClientExtensionResults(),
  };
}
