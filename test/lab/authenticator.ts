// A software authenticator (WebAuthn Level 3): ES256, attestation none, resident keys; it can also misbehave.
import { createHash, createSign, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';

/** What to do wrong. */
export interface Misbehaviour {
  origin?: string;
  rpId?: string;
  challenge?: string;
  noUserVerification?: boolean;
  bogusSignature?: boolean;
  crossOrigin?: boolean;
  userHandle?: string;
  type?: string;
  count?: number;
}
export interface Key {
  id: string;
  /** COSE key (RFC 9053 section 7.1.1), base64url. */
  cose: string;
  privateKey: KeyObject;
  publicKey: KeyObject;
  userHandle: string;
}
type Credential = Record<string, unknown> & { id: string };

// Deterministic CBOR (RFC 8949), as much as WebAuthn needs.
function cbor(v: unknown): Buffer {
  const head = (major: number, n: number) =>
    n < 24
      ? Buffer.from([(major << 5) | n])
      : n < 256
        ? Buffer.from([(major << 5) | 24, n])
        : Buffer.from([(major << 5) | 25, n >> 8, n & 255]);
  if (typeof v === 'number') return v >= 0 ? head(0, v) : head(1, -1 - v);
  if (typeof v === 'string') return Buffer.concat([head(3, Buffer.byteLength(v)), Buffer.from(v)]);
  if (v instanceof Uint8Array) return Buffer.concat([head(2, v.length), v]);
  const entries = [...(v as Map<unknown, unknown>)];
  return Buffer.concat([head(5, entries.length), ...entries.flatMap(([k, x]) => [cbor(k), cbor(x)])]);
}
const sha256 = (b: Uint8Array | string) => createHash('sha256').update(b).digest();
const b64 = (b: Uint8Array) => Buffer.from(b).toString('base64url');

export function authenticator(origin: string) {
  const keys: Key[] = [];
  let count = 0;

  function clientData(type: string, challenge: string, wrong: Misbehaviour): Buffer {
    return Buffer.from(
      JSON.stringify({
        type: wrong.type ?? type,
        challenge: wrong.challenge ?? challenge,
        origin: wrong.origin ?? origin,
        crossOrigin: wrong.crossOrigin ?? false,
      }),
    );
  }
  function authData(rpId: string, attested: Buffer | undefined, wrong: Misbehaviour): Buffer {
    const counter = Buffer.alloc(4);
    count++;
    counter.writeUInt32BE(wrong.count ?? count);
    const flags = 0x01 | (wrong.noUserVerification ? 0 : 0x04) | (attested ? 0x40 : 0);
    return Buffer.concat([
      sha256(wrong.rpId ?? rpId),
      Buffer.from([flags]),
      counter,
      attested ?? Buffer.alloc(0),
    ]);
  }

  /** A new resident key. */
  function make(userHandle: string): Key {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const jwk = publicKey.export({ format: 'jwk' });
    const cose = cbor(
      new Map<number, unknown>([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, Buffer.from(jwk.x!, 'base64url')],
        [-3, Buffer.from(jwk.y!, 'base64url')],
      ]),
    );
    const key = { id: b64(randomBytes(24)), cose: b64(cose), privateKey, publicKey, userHandle };
    keys.push(key);
    return key;
  }

  return {
    keys,
    make,
    /** Answers publicKeyCredentialCreationOptions. */
    create(
      options: { challenge: string; rp: { id?: string }; user: { id: string } },
      wrong: Misbehaviour = {},
    ): Credential {
      const key = make(options.user.id);
      const [id, cose] = [Buffer.from(key.id, 'base64url'), Buffer.from(key.cose, 'base64url')];
      const length = Buffer.from([id.length >> 8, id.length & 255]);
      const attested = Buffer.concat([Buffer.alloc(16), length, id, cose]);
      const attestation = cbor(
        new Map<string, unknown>([
          ['fmt', 'none'],
          ['attStmt', new Map()],
          ['authData', authData(options.rp.id!, attested, wrong)],
        ]),
      );
      return {
        id: key.id,
        rawId: key.id,
        type: 'public-key',
        clientExtensionResults: {},
        response: {
          clientDataJSON: b64(clientData('webauthn.create', options.challenge, wrong)),
          attestationObject: b64(attestation),
          transports: ['internal'],
        },
      };
    },
    /** Answers publicKeyCredentialRequestOptions with `key`, else the first one allowed. */
    get(
      options: { challenge: string; rpId?: string; allowCredentials?: { id: string }[] },
      wrong: Misbehaviour = {},
      key: Key | undefined = keys.find(
        (k) => !options.allowCredentials?.length || options.allowCredentials.some((a) => a.id === k.id),
      ),
    ): Credential {
      if (!key) throw new Error('no such passkey here');
      const data = authData(options.rpId!, undefined, wrong);
      const client = clientData('webauthn.get', options.challenge, wrong);
      const signature = createSign('sha256')
        .update(Buffer.concat([data, sha256(client)]))
        .sign(key.privateKey);
      if (wrong.bogusSignature) signature[signature.length - 1]! ^= 1;
      return {
        id: key.id,
        rawId: key.id,
        type: 'public-key',
        clientExtensionResults: {},
        response: {
          clientDataJSON: b64(client),
          authenticatorData: b64(data),
          signature: b64(signature),
          userHandle: wrong.userHandle ?? key.userHandle,
        },
      };
    },
  };
}
