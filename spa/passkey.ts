// WebAuthn in the browser (Level 3): JSON options in, JSON credentials out.
import { fromBase64url, toBase64url } from '../firmware/protocol/bytes.ts';
import type { Notice } from './store.ts';

type Bytes = Uint8Array<ArrayBuffer>;
const bytes = (text: string): Bytes => fromBase64url(text) as Bytes;
const text = (buffer: ArrayBuffer | null) => toBase64url(new Uint8Array(buffer ?? new ArrayBuffer(0)));

interface DescriptorJSON {
  id: string;
  type: 'public-key';
  transports?: AuthenticatorTransport[];
}
export interface CreationJSON {
  rp: { id?: string; name: string };
  user: { id: string; name: string; displayName: string };
  challenge: string;
  pubKeyCredParams: PublicKeyCredentialParameters[];
  timeout?: number;
  excludeCredentials?: DescriptorJSON[];
  authenticatorSelection?: AuthenticatorSelectionCriteria;
  attestation?: AttestationConveyancePreference;
}
export interface RequestJSON {
  challenge: string;
  rpId?: string;
  timeout?: number;
  allowCredentials?: DescriptorJSON[];
  userVerification?: UserVerificationRequirement;
}

const descriptors = (list: DescriptorJSON[] | undefined): PublicKeyCredentialDescriptor[] =>
  (list ?? []).map((d) => ({
    id: bytes(d.id),
    type: 'public-key',
    ...(d.transports ? { transports: d.transports } : {}),
  }));

/** A prompt that was closed, timed out or cannot be shown. */
export class PasskeyTrouble extends Error {
  readonly notice: Notice;
  constructor(notice: Notice) {
    super('passkey');
    this.notice = notice;
  }
}

/** Prompts that nobody answers end by themselves; some authenticators let them stand, milliseconds. */
const LATE = 5000;
const patience = (timeout = 120_000) => AbortSignal.timeout(timeout + LATE);

async function prompt(ask: () => Promise<Credential | null>): Promise<PublicKeyCredential> {
  if (!window.isSecureContext) throw new PasskeyTrouble({ text: 'passkey_insecure' });
  if (typeof PublicKeyCredential === 'undefined') throw new PasskeyTrouble({ text: 'passkey_unsupported' });
  try {
    const credential = await ask();
    if (credential instanceof PublicKeyCredential) return credential;
  } catch (e) {
    const name = e instanceof DOMException ? e.name : '';
    if (name === 'InvalidStateError') throw new PasskeyTrouble({ text: 'passkey_exists' });
    if (name === 'NotSupportedError') throw new PasskeyTrouble({ text: 'passkey_unsupported' });
    if (name === 'SecurityError') throw new PasskeyTrouble({ text: 'passkey_insecure' });
  }
  // NotAllowedError stands for a closed prompt, a timeout and a missing passkey alike (Level 3, section 14.6.3).
  throw new PasskeyTrouble({ text: 'passkey_cancelled' });
}

/**
 * Makes a passkey.
 * @throws PasskeyTrouble
 */
export async function createPasskey(o: CreationJSON): Promise<unknown> {
  const made = await prompt(() =>
    navigator.credentials.create({
      signal: patience(o.timeout),
      publicKey: {
        ...o,
        challenge: bytes(o.challenge),
        user: { ...o.user, id: bytes(o.user.id) },
        excludeCredentials: descriptors(o.excludeCredentials),
      },
    }),
  );
  const r = made.response as AuthenticatorAttestationResponse;
  return {
    id: made.id,
    rawId: text(made.rawId),
    type: made.type,
    authenticatorAttachment: made.authenticatorAttachment ?? undefined,
    clientExtensionResults: made.getClientExtensionResults(),
    response: {
      clientDataJSON: text(r.clientDataJSON),
      attestationObject: text(r.attestationObject),
      transports: r.getTransports(),
    },
  };
}

/**
 * Asks for an assertion.
 * @throws PasskeyTrouble
 */
export async function usePasskey(o: RequestJSON): Promise<unknown> {
  const used = await prompt(() =>
    navigator.credentials.get({
      signal: patience(o.timeout),
      publicKey: { ...o, challenge: bytes(o.challenge), allowCredentials: descriptors(o.allowCredentials) },
    }),
  );
  const r = used.response as AuthenticatorAssertionResponse;
  return {
    id: used.id,
    rawId: text(used.rawId),
    type: used.type,
    authenticatorAttachment: used.authenticatorAttachment ?? undefined,
    clientExtensionResults: used.getClientExtensionResults(),
    response: {
      clientDataJSON: text(r.clientDataJSON),
      authenticatorData: text(r.authenticatorData),
      signature: text(r.signature),
      userHandle: r.userHandle ? text(r.userHandle) : undefined,
    },
  };
}
