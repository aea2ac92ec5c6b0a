// The protected session inside the setup service: CPace over the PIN, then AES-256-GCM both ways, so that neither a
// listener nor somebody without the PIN sees or sends credentials. Both ends are here. Runs in browsers too.
import { concat, fromBase64url, fromUtf8, toBase64url, u64, utf8 } from '../protocol/bytes.ts';
import { fromBody, IngleError } from '../protocol/errors.ts';
import { shape } from '../protocol/json.ts';
import { confirm, cpaceInitiator, cpaceResponder } from '../protocol/pairing/cpace.ts';

type Json = Record<string, unknown>;
const ci = utf8('ingle/1 ble setup');
const central = utf8('central');
const hub = utf8('hub');

/** Seals and opens JSON under one key; each direction has its own counter, which never goes back. */
export interface Sealer {
  seal(message: Json): Promise<Json>;
  open(message: Json): Promise<Json>;
}

async function sealer(psk: Uint8Array, mine: 0 | 1): Promise<Sealer> {
  const key = await crypto.subtle.importKey('raw', psk as Uint8Array<ArrayBuffer>, 'AES-GCM', false, [
    'encrypt',
    'decrypt',
  ]);
  let sent = 0;
  let seen = 0;
  const nonce = (side: number, n: number) =>
    concat(new Uint8Array([side, 0, 0, 0]), u64(n)) as Uint8Array<ArrayBuffer>;
  return {
    async seal(message) {
      const n = ++sent;
      const iv = nonce(mine, n);
      const plain = utf8(JSON.stringify(message)) as Uint8Array<ArrayBuffer>;
      const data = new Uint8Array(await crypto.subtle.encrypt({ name: 'AES-GCM', iv }, key, plain));
      return { t: 'sealed', n, data: toBase64url(data) };
    },
    async open(message) {
      const { n, data } = shape(message, { t: 'string', n: 'number', data: 'string' });
      if (!Number.isSafeInteger(n) || n <= seen)
        throw new IngleError('forbidden', 'This message was sent before. Start again.');
      let plain: Uint8Array;
      try {
        plain = new Uint8Array(
          await crypto.subtle.decrypt(
            { name: 'AES-GCM', iv: nonce(1 - mine, n) },
            key,
            fromBase64url(data) as Uint8Array<ArrayBuffer>,
          ),
        );
      } catch {
        throw new IngleError('forbidden', 'This message was changed on its way. Start again.');
      }
      seen = n;
      return JSON.parse(fromUtf8(plain)) as Json;
    },
  };
}

/**
 * The hub's end: takes `cpace1`, `cpace3`; answers `cpace2`, `cpace4`. The central proves first.
 * @param o.take counts a try before its proof is looked at; throws while none is taken
 * @param o.ended how the try ended
 */
export function hubSession(o: {
  window: string;
  pin: () => Promise<string>;
  take: () => Promise<void>;
  ended: (right: boolean) => Promise<void>;
}) {
  let keys: Awaited<ReturnType<typeof cpaceResponder>> | undefined;
  let sealed: Sealer | undefined;
  return {
    get sealer(): Sealer {
      if (!sealed) throw new IngleError('forbidden', 'Prove the PIN of the hub first.');
      return sealed;
    },
    get proven(): boolean {
      return sealed !== undefined;
    },
    async receive(m: Json): Promise<Json> {
      if (m['t'] === 'cpace1') {
        const { share, nonce } = shape(m, { t: 'string', share: 'string', nonce: 'string' });
        sealed = undefined;
        const sid = concat(utf8(o.window), fromBase64url(nonce));
        keys = await cpaceResponder({ secret: await o.pin(), ci, sid }, fromBase64url(share), central, hub);
        return { t: 'cpace2', share: toBase64url(keys.yb) };
      }
      const { proof } = shape(m, { t: 'string', proof: 'string' });
      const mine = keys;
      keys = undefined;
      if (m['t'] !== 'cpace3' || !mine) throw new IngleError('invalid_request', 'Begin with cpace1.');
      await o.take();
      try {
        confirm(mine.ta, fromBase64url(proof));
      } catch {
        await o.ended(false);
        throw new IngleError('pairing_failed', 'That is not the PIN of the hub.');
      }
      await o.ended(true);
      sealed = await sealer(mine.psk, 1);
      return { t: 'cpace4', proof: toBase64url(mine.tb) };
    },
  };
}

/**
 * The central's end, for applications and tests. The hub tells its progress on the same characteristic whenever it
 * likes, so only what answers the handshake is taken as its answer.
 * @param send hands a message to the hub
 * @param next settles with the next message of the hub, progress or not, from the first `send` on
 */
export async function centralSession(
  window: string,
  pin: string,
  send: (m: Json) => Promise<void>,
  next: () => Promise<Json>,
): Promise<Sealer> {
  const exchange = async (m: Json, answer: string): Promise<Json> => {
    await send(m);
    for (;;) {
      const x = await next();
      if (x['t'] === answer) return x;
      // A network that failed is told as an error too, and is none of the handshake's.
      if (x['event'] === 'error' && x['error'] !== 'wifi') throw fromBody(x, 400);
    }
  };
  const nonce = crypto.getRandomValues(new Uint8Array(16));
  const sid = concat(utf8(window), nonce);
  const mine = await cpaceInitiator({ secret: pin, ci, sid }, central);
  const one = { t: 'cpace1', share: toBase64url(mine.ya), nonce: toBase64url(nonce) };
  const two = await exchange(one, 'cpace2');
  const keys = await mine.finish(fromBase64url(String(two['share'])), hub);
  const four = await exchange({ t: 'cpace3', proof: toBase64url(keys.ta) }, 'cpace4');
  confirm(keys.tb, fromBase64url(String(four['proof'])));
  return sealer(keys.psk, 0);
}
