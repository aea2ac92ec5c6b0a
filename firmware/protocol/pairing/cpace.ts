// CPace, suite CPACE-RISTR255-SHA512, initiator-responder (draft-irtf-cfrg-cpace-21), with explicit key
// confirmation (section "Key confirmation"). Loaded only when a code is typed.
import { ristretto255, ristretto255_hasher } from '@noble/curves/ed25519.js';
import { concat, equal, random, utf8 } from '../bytes.ts';
import { IngleError } from '../errors.ts';
import { hkdf, hmac, sha512 } from '../noise/hash.ts';

type Point = InstanceType<typeof ristretto255.Point>;

const DSI = utf8('CPaceRistretto255');
/** Input block of SHA-512, bytes. */
const BLOCK = 128;
const wrong = () => new IngleError('pairing_failed', 'The other side does not know the code.');

/** prepend_len of each part (appendix): LEB128 length, then the bytes. */
export function lvCat(...parts: Uint8Array[]): Uint8Array {
  return concat(
    ...parts.flatMap((p) => {
      const length: number[] = [];
      let n = p.length;
      for (; n > 127; n >>>= 7) length.push((n & 127) | 128);
      return [Uint8Array.of(...length, n), p];
    }),
  );
}

/** generator_string and element derivation: the group element both sides reach only with the same code. */
export async function generator(prs: Uint8Array, ci: Uint8Array, sid: Uint8Array): Promise<Point> {
  const zeros = Math.max(0, BLOCK - 1 - lvCat(prs).length - lvCat(DSI).length);
  const text = lvCat(DSI, prs, new Uint8Array(zeros), ci, sid);
  return ristretto255_hasher.deriveToCurve!(await sha512(text));
}

/** scalar_mult_vfy. @throws IngleError `pairing_failed` on what is no group element, or the identity. */
export function multiply(scalar: bigint, theirs: Uint8Array): Uint8Array {
  let point: Point;
  try {
    point = ristretto255.Point.fromBytes(theirs);
  } catch {
    throw wrong();
  }
  if (point.is0()) throw wrong();
  return point.multiply(scalar).toBytes();
}

/** A scalar of 252 random bits, little endian, not zero. */
export function scalarOf(bytes: Uint8Array): bigint {
  let n = 0n;
  for (let i = 31; i >= 0; i--) n = (n << 8n) | BigInt(bytes[i]!);
  return (n & (2n ** 252n - 1n)) % ristretto255.Point.Fn.ORDER || 1n;
}

/** ISK = H(lv_cat(DSI || "_ISK", sid, K) || transcript_ir(Ya, ADa, Yb, ADb)), 64 bytes. */
export function isk(
  sid: Uint8Array,
  k: Uint8Array,
  ya: Uint8Array,
  ada: Uint8Array,
  yb: Uint8Array,
  adb: Uint8Array,
) {
  return sha512(concat(lvCat(concat(DSI, utf8('_ISK')), sid, k), lvCat(ya, ada), lvCat(yb, adb)));
}

export interface CpaceInput {
  /** The second group of the typed code. */
  secret: string;
  /** Channel identifier: who talks to whom. */
  ci: Uint8Array;
  /** Fresh for each run, chosen by the initiator. */
  sid: Uint8Array;
}

export interface CpaceKeys {
  /** Initiator's and responder's confirmation, 64 bytes each. */
  ta: Uint8Array;
  tb: Uint8Array;
  /** 32 bytes for IKpsk2. */
  psk: Uint8Array;
}

async function keys(
  sid: Uint8Array,
  k: Uint8Array,
  ya: Uint8Array,
  ada: Uint8Array,
  yb: Uint8Array,
  adb: Uint8Array,
): Promise<CpaceKeys> {
  const key = await isk(sid, k, ya, ada, yb, adb);
  const mac = await sha512(concat(utf8('CPaceMac'), sid, key));
  const [psk] = await hkdf(sid, key, 1, utf8('ingle/1 psk'));
  return {
    ta: await hmac('SHA-512', mac, lvCat(ya, ada)),
    tb: await hmac('SHA-512', mac, lvCat(yb, adb)),
    psk: psk!,
  };
}

/** Initiator: its share `ya`, and the keys once the responder's share and associated data are there. */
export async function cpaceInitiator(i: CpaceInput, ada: Uint8Array, scalar = scalarOf(random(32))) {
  const ya = (await generator(utf8(i.secret), i.ci, i.sid)).multiply(scalar).toBytes();
  return {
    ya,
    finish: (yb: Uint8Array, adb: Uint8Array): Promise<CpaceKeys> =>
      Promise.resolve().then(() => keys(i.sid, multiply(scalar, yb), ya, ada, yb, adb)),
  };
}

/** Responder: its share `yb` and the keys. @throws IngleError `pairing_failed` on a bad share. */
export async function cpaceResponder(
  i: CpaceInput,
  ya: Uint8Array,
  ada: Uint8Array,
  adb: Uint8Array,
  scalar = scalarOf(random(32)),
): Promise<CpaceKeys & { yb: Uint8Array }> {
  const k = multiply(scalar, ya);
  const yb = (await generator(utf8(i.secret), i.ci, i.sid)).multiply(scalar).toBytes();
  return { yb, ...(await keys(i.sid, k, ya, ada, yb, adb)) };
}

/** @throws IngleError `pairing_failed` when a confirmation is not the right one. */
export function confirm(mine: Uint8Array, theirs: Uint8Array): void {
  if (!equal(mine, theirs)) throw wrong();
}
