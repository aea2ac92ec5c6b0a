// Noise rev 34 (noiseprotocol.org): IK and IKpsk2 with X25519, AES-256-GCM and SHA-256.
import { concat, u64, utf8 } from '../bytes.ts';
import { IngleError } from '../errors.ts';
import { hkdf, sha256 } from './hash.ts';
import { generate, type KeyPair } from './x25519.ts';

export type Pattern = 'IK' | 'IKpsk2';
type Bytes = Uint8Array<ArrayBuffer>;

/** One direction of a transport (section 5.1). Nonces count by themselves. */
export interface Cipher {
  /** Messages so far. */
  readonly used: number;
  /** @throws IngleError `internal` when the nonces are used up. */
  encrypt(plaintext: Uint8Array, ad: Uint8Array): Promise<Uint8Array>;
  /** @throws IngleError `forbidden` when the message is not authentic; the nonce then stays. One call at a time. */
  decrypt(message: Uint8Array, ad: Uint8Array): Promise<Uint8Array>;
  /** How many messages, at most `most`, are missing before this one that does not open; 0 when it is not authentic. */
  missing(message: Uint8Array, ad: Uint8Array, most: number): Promise<number>;
}

export interface HandshakeOptions {
  pattern: Pattern;
  initiator: boolean;
  prologue: Uint8Array;
  /** Own static key. */
  s: KeyPair;
  /** The responder's static public key; the initiator must know it. */
  rs?: Uint8Array;
  /** 32 bytes; IKpsk2 only. The responder may give it later, before it writes (see `setPsk`). */
  psk?: Uint8Array;
  /** Own ephemeral key; given by test vectors only. */
  e?: KeyPair;
}

export interface Handshake {
  /** The next message of this side. */
  write(payload?: Uint8Array): Promise<Uint8Array>;
  /** Takes the other side's next message, gives its payload. @throws IngleError `forbidden` when it is not authentic. */
  read(message: Uint8Array): Promise<Uint8Array>;
  /** The other side's static key, once known. */
  readonly remoteStatic: Uint8Array | undefined;
  setPsk(psk: Uint8Array): void;
  /** After the last message: the ciphers and the handshake hash `h` (32 bytes, section 11.2). */
  split(): Promise<{ send: Cipher; receive: Cipher; hash: Uint8Array }>;
}

/** Far below Noise's 2^64-1 and within AES-GCM's bound for one key (RFC 8446 section 5.5 asks to rekey before 2^24.5). */
const NONCES = 2 ** 24;
/** Largest Noise message, bytes (section 3). */
const MAX_NOISE = 65535;
const empty = new Uint8Array(0);
const forged = () => new IngleError('forbidden', 'A message does not carry the seal of the other side.');

/** AES-256-GCM with Noise's nonce: 32 zero bits and 64 bits big endian (section 12.4). */
async function cipher(key: Uint8Array): Promise<Cipher> {
  const k = await crypto.subtle.importKey('raw', key as Bytes, 'AES-GCM', false, ['encrypt', 'decrypt']);
  let n = 0;
  const params = (nonce: number, ad: Uint8Array) => {
    if (nonce >= NONCES) throw new IngleError('internal', 'This key has sealed enough messages.');
    return {
      name: 'AES-GCM',
      iv: concat(new Uint8Array(4), u64(nonce)) as Bytes,
      additionalData: ad as Bytes,
    };
  };
  return {
    get used() {
      return n;
    },
    async encrypt(plaintext, ad) {
      return new Uint8Array(await crypto.subtle.encrypt(params(n++, ad), k, plaintext as Bytes));
    },
    async decrypt(message, ad) {
      const plain = await crypto.subtle.decrypt(params(n, ad), k, message as Bytes).catch(() => null);
      if (!plain) throw forged();
      n++;
      return new Uint8Array(plain);
    },
    async missing(message, ad, most) {
      for (let some = 1; some <= most; some++) {
        const opens = crypto.subtle.decrypt(params(n + some, ad), k, message as Bytes);
        if (
          await opens.then(
            () => true,
            () => false,
          )
        )
          return some;
      }
      return 0;
    },
  };
}

const tokens = { IK: ['e es s ss', 'e ee se'], IKpsk2: ['e es s ss', 'e ee se psk'] } as const;

/** Begins a handshake (section 5.3, Initialize). @throws RangeError when the initiator has no `rs`. */
export async function handshake(o: HandshakeOptions): Promise<Handshake> {
  const isPsk = o.pattern === 'IKpsk2';
  const name = utf8(`Noise_${o.pattern}_25519_AESGCM_SHA256`);
  let h: Uint8Array = name.length > 32 ? await sha256(name) : concat(name, new Uint8Array(32 - name.length));
  let ck = h;
  let k: Cipher | undefined;
  let { rs, psk, e } = o;
  let re: Uint8Array | undefined;
  let at = 0;
  if (o.initiator && !rs) throw new RangeError('the initiator of IK knows the responder');

  const mixHash = async (data: Uint8Array) => {
    h = await sha256(concat(h, data));
  };
  const mixKey = async (data: Uint8Array) => {
    const [c, key] = await hkdf(ck, data, 2);
    ck = c!;
    k = await cipher(key!);
  };
  const seal = async (plain: Uint8Array) => {
    const out = k ? await k.encrypt(plain, h) : plain;
    await mixHash(out);
    return out;
  };
  const unseal = async (data: Uint8Array) => {
    const out = k ? await k.decrypt(data, h) : data;
    await mixHash(data);
    return out;
  };
  /** The tokens that mix keys; the same on both sides but for who holds which key. */
  const mix = async (token: string) => {
    if (token === 'psk') {
      if (psk?.length !== 32) throw new RangeError('a psk has 32 bytes');
      const [c, hashed, key] = await hkdf(ck, psk, 3);
      ck = c!;
      await mixHash(hashed!);
      k = await cipher(key!);
      return;
    }
    const own = (token[0] === 'e') === o.initiator || token === 'ee' ? 'e' : 's';
    const mine = token === 'ss' ? o.s : token === 'ee' ? e : own === 'e' ? e : o.s;
    const theirs = token === 'ss' ? rs : token === 'ee' ? re : own === 'e' ? rs : re;
    await mixKey(await mine!.dh(theirs!));
  };

  await mixHash(o.prologue);
  await mixHash(o.initiator ? rs! : o.s.publicKey);

  const turn = (writes: boolean) => {
    if (at > 1 || writes !== ((at === 0) === o.initiator)) throw new RangeError('not this side’s turn');
    return tokens[o.pattern][at++ as 0 | 1].split(' ');
  };
  return {
    get remoteStatic() {
      return rs;
    },
    setPsk(key) {
      psk = key;
    },
    async write(payload = empty) {
      const parts: Uint8Array[] = [];
      for (const token of turn(true)) {
        if (token === 'e') {
          e ??= await generate();
          parts.push(e.publicKey);
          await mixHash(e.publicKey);
          if (isPsk) await mixKey(e.publicKey);
        } else if (token === 's') parts.push(await seal(o.s.publicKey));
        else await mix(token);
      }
      const message = concat(...parts, await seal(payload));
      if (message.length > MAX_NOISE) throw new IngleError('too_large', 'The handshake message is too long.');
      return message;
    },
    async read(message) {
      let rest = message;
      const take = (n: number) => {
        if (rest.length < n) throw forged();
        const part = rest.slice(0, n);
        rest = rest.subarray(n);
        return part;
      };
      for (const token of turn(false)) {
        if (token === 'e') {
          re = take(32);
          await mixHash(re);
          if (isPsk) await mixKey(re);
        } else if (token === 's') rs = await unseal(take(48));
        else await mix(token);
      }
      return unseal(rest);
    },
    async split() {
      const [a, b] = await hkdf(ck, empty, 2);
      const [c1, c2] = [await cipher(a!), await cipher(b!)];
      return o.initiator ? { send: c1, receive: c2, hash: h } : { send: c2, receive: c1, hash: h };
    },
  };
}
