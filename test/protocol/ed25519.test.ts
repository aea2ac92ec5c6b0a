import { createHash, generateKeyPairSync, sign, verify } from 'node:crypto';
import fc from 'fast-check';
import { jwtVerify } from 'jose';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { fromBase64url, fromHex, toBase64url, utf8 } from '../../firmware/protocol/bytes.ts';
import { verifyEd25519 } from '../../firmware/protocol/noise/ed25519.ts';

const test = suite('ed25519');
const engines = [undefined, 'portable'] as const;
/** The order of the base point (RFC 8032 section 5.1). */
const L = 2n ** 252n + 27742317777372353535851937790883648493n;

const littleEndian = (bytes: Uint8Array) => BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`);
const bytesOf = (n: bigint) =>
  Uint8Array.from(Buffer.from(n.toString(16).padStart(64, '0'), 'hex').reverse());
/** The same signature with s + L, which checkers that do not look at the range of s take as well. */
function malleated(signature: Uint8Array): Uint8Array {
  const s = littleEndian(signature.subarray(32)) + L;
  return new Uint8Array([...signature.subarray(0, 32), ...bytesOf(s)]);
}
function signer() {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const x = publicKey.export({ format: 'jwk' }).x!;
  return {
    publicKey,
    key: fromBase64url(x),
    sign: (m: Uint8Array) => new Uint8Array(sign(null, m, privateKey)),
  };
}

test('RFC 8032 section 7.1, test 2, by both engines', async () => {
  const key = fromHex('3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c');
  const signature = fromHex(
    '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
  );
  for (const how of engines) {
    assert.is(await verifyEd25519(key, signature, Uint8Array.of(0x72), how), true);
    assert.is(await verifyEd25519(key, signature, Uint8Array.of(0x73), how), false);
  }
});

test('both engines say the same of good, altered and malleated signatures', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 80 }), fc.nat(511), async (message, bit) => {
      const { key, sign: make } = signer();
      const good = make(message);
      const altered = Uint8Array.from(good);
      altered[bit >> 3]! ^= 1 << (bit & 7);
      for (const how of engines) {
        assert.is(await verifyEd25519(key, good, message, how), true);
        assert.is(await verifyEd25519(key, altered, message, how), false, `bit ${bit}`);
        assert.is(await verifyEd25519(key, malleated(good), message, how), false, 's + L');
      }
    }),
    { numRuns: 25 },
  );
});

test('what root and the hub check with takes no s + L either', async () => {
  const { publicKey, sign: make } = signer();
  const message = utf8('message');
  assert.is(verify(null, message, publicKey, make(message)), true);
  assert.is(verify(null, message, publicKey, malleated(make(message))), false);
  const head = `${toBase64url(utf8('{"alg":"EdDSA"}'))}.${toBase64url(utf8('{"exp":4000000000}'))}`;
  const signature = make(utf8(head));
  await jwtVerify(`${head}.${toBase64url(signature)}`, publicKey);
  const bent = await jwtVerify(`${head}.${toBase64url(malleated(signature))}`, publicKey).catch(
    (e) => e.code,
  );
  assert.is(bent, 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED');
});

test('a key of small order, whose signature fits any message, is refused', async () => {
  // R = the neutral element and s = 0: it holds wherever k times the key is the neutral element too.
  const signature = new Uint8Array(64);
  signature[0] = 1;
  const points = [
    '0100000000000000000000000000000000000000000000000000000000000000',
    '0000000000000000000000000000000000000000000000000000000000000000',
    '0000000000000000000000000000000000000000000000000000000000000080',
    'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
    '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
    '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85',
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa',
    'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
    'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff',
  ];
  for (const point of points)
    for (let i = 0; i < 16; i++) {
      const message = createHash('sha256').update(`${i}`).digest();
      for (const how of engines)
        assert.is(await verifyEd25519(fromHex(point), signature, message, how), false);
    }
});

test('a key or a signature of another length is none', async () => {
  const { key, sign: make } = signer();
  const m = utf8('m');
  for (const how of engines) {
    assert.is(await verifyEd25519(key.subarray(1), make(m), m, how), false);
    assert.is(await verifyEd25519(key, make(m).subarray(1), m, how), false);
  }
});

test('a point in another than its one encoding is refused (RFC 8032, not ZIP 215)', async () => {
  const { ed25519 } = await import('@noble/curves/ed25519.js');
  const { scalar, pointBytes } = ed25519.utils.getExtendedPublicKey(new Uint8Array(32).fill(3));
  const message = utf8('message');
  // R is the neutral element, y = 1 or, in the encoding that ZIP 215 takes as well, p + 1.
  const made = (r: Uint8Array) => {
    const h = createHash('sha512').update(r).update(pointBytes).update(message).digest();
    return new Uint8Array([...r, ...bytesOf((littleEndian(h) * scalar) % L)]);
  };
  const other = fromHex('eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f');
  assert.is(ed25519.verify(made(other), message, pointBytes, { zip215: true }), true, 'the test is sound');
  for (const how of engines) assert.is(await verifyEd25519(pointBytes, made(other), message, how), false);
});

test('WebCrypto checks where it has Ed25519, and the portable engine where it has not', async () => {
  const { key, sign: make } = signer();
  const m = utf8('m');
  const [verify, importKey] = [crypto.subtle.verify, crypto.subtle.importKey];
  let asked = 0;
  crypto.subtle.verify = (...args) => {
    asked++;
    return verify.apply(crypto.subtle, args);
  };
  try {
    assert.is(await verifyEd25519(key, make(m), m), true);
    assert.is(asked, 1);
    assert.is(await verifyEd25519(key, make(m), m, 'portable'), true);
    assert.is(asked, 1);
    crypto.subtle.importKey = () => Promise.reject(new DOMException('no Ed25519', 'NotSupportedError'));
    assert.is(await verifyEd25519(key, make(m), m), true);
    assert.is(asked, 1);
  } finally {
    Object.assign(crypto.subtle, { verify, importKey });
  }
});

test.run();
