// Signed messages as Standard Webhooks has them (standardwebhooks.com, "Signature scheme"): HMAC-SHA256. Pure.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { IngleError } from '../protocol/errors.ts';

/** How far a message's time may be from the hub's, seconds. */
export const TOLERANCE_S = 300;
/** Signatures of one message that are looked at: a sender that changes its secret signs with both. */
const MAX_SIGNATURES = 8;
const PREFIX = 'whsec_';

/** The headers of a message. */
export interface Signed {
  id: string;
  /** Unix seconds. */
  at: number;
  /** Digests of scheme v1, 32 bytes each. */
  digests: Uint8Array[];
}

/** A secret as senders take it: `whsec_` and base64. */
export const secretText = (secret: Uint8Array): string => PREFIX + Buffer.from(secret).toString('base64');

/**
 * Reads the headers `webhook-id`, `webhook-timestamp` and `webhook-signature`; signatures of other schemes are passed over.
 * @throws IngleError `invalid_request` naming the header that is wrong
 */
export function readSigned(headers: Readonly<Record<string, string | undefined>>): Signed {
  const header = (name: string, form: RegExp, says: string): string => {
    const value = headers[name] ?? '';
    if (!form.test(value))
      throw new IngleError('invalid_request', `The header ${name} must be ${says}.`, { header: name });
    return value;
  };
  const id = header(
    'webhook-id',
    /^[\x21-\x2d\x2f-\x7e]{1,128}$/,
    '1 to 128 visible characters without a dot',
  );
  const at = Number(header('webhook-timestamp', /^[1-9]\d{0,11}$/, 'a time in Unix seconds'));
  const text = header('webhook-signature', /^[\x20-\x7e]{1,2048}$/, 'signatures like "v1,<base64>"');
  const digests = text
    .split(' ')
    .slice(0, MAX_SIGNATURES)
    .flatMap((one) => {
      const [, digest] = /^v1,([A-Za-z0-9+/]{43}=)$/.exec(one) ?? [];
      return digest === undefined ? [] : [new Uint8Array(Buffer.from(digest, 'base64'))];
    });
  return { id, at, digests };
}

/** The digest over id, time and body. */
export function digestOf(
  secret: Uint8Array,
  { id, at }: Pick<Signed, 'id' | 'at'>,
  body: Uint8Array,
): Uint8Array {
  return new Uint8Array(createHmac('sha256', secret).update(`${id}.${at}.`).update(body).digest());
}

/** Whether one of the signatures holds. The time it takes tells neither which, nor how much of it is right. */
export function holds(secret: Uint8Array, signed: Signed, body: Uint8Array): boolean {
  const want = digestOf(secret, signed, body);
  let found = false;
  for (const given of signed.digests) found = timingSafeEqual(given, want) || found;
  return found;
}
