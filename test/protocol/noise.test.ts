import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { fromHex, toHex } from '../../firmware/protocol/bytes.ts';
import { type Handshake, handshake, type Pattern } from '../../firmware/protocol/noise/noise.ts';
import { fromPrivate, generate, type KeyPair, restore } from '../../firmware/protocol/noise/x25519.ts';

type Vector = Record<string, string>;
const { vectors } = JSON.parse(readFileSync(new URL('./vectors/noise.json', import.meta.url), 'utf8')) as {
  vectors: Vector[];
};
const test = suite('noise');
const none = new Uint8Array(0);
const hex = (v: string | undefined) => fromHex(v ?? '');
const code = (p: Promise<unknown>) =>
  p.then(
    () => 'ok',
    (e: { code?: string }) => e.code ?? String(e),
  );

test('every published vector of the two patterns comes out bit by bit, both ways', async () => {
  assert.is(vectors.length, 8);
  for (const v of vectors) {
    const pattern = v['handshake']!.split('_')[1] as Pattern;
    const initS = await fromPrivate(hex(v['init_static']));
    const respS = await fromPrivate(hex(v['resp_static']));
    const common = {
      pattern,
      prologue: hex(v['prologue']),
      psk: v['preshared_key'] ? hex(v['preshared_key']) : undefined,
    };
    const a = await handshake({
      ...common,
      initiator: true,
      s: initS,
      rs: respS.publicKey,
      e: await fromPrivate(hex(v['gen_init_ephemeral'])),
    });
    const b = await handshake({
      ...common,
      initiator: false,
      s: respS,
      e: await fromPrivate(hex(v['gen_resp_ephemeral'])),
    });
    const m0 = await a.write(hex(v['msg_0_payload']));
    assert.is(toHex(m0), v['msg_0_ciphertext']);
    assert.is(toHex(await b.read(m0)), v['msg_0_payload']);
    assert.equal(b.remoteStatic, initS.publicKey);
    const m1 = await b.write(hex(v['msg_1_payload']));
    assert.is(toHex(m1), v['msg_1_ciphertext']);
    assert.is(toHex(await a.read(m1)), v['msg_1_payload']);
    const [x, y] = [await a.split(), await b.split()];
    assert.equal(x.hash, y.hash);
    for (let i = 2; v[`msg_${i}_payload`] !== undefined; i++) {
      const [from, to] = i % 2 === 0 ? [x, y] : [y, x];
      const m = await from.send.encrypt(hex(v[`msg_${i}_payload`]), none);
      assert.is(toHex(m), v[`msg_${i}_ciphertext`], `message ${i}`);
      assert.is(toHex(await to.receive.decrypt(m, none)), v[`msg_${i}_payload`]);
    }
  }
});

async function pair(
  pattern: Pattern,
  o: { psk?: [Uint8Array, Uint8Array]; rs?: KeyPair; prologue?: Uint8Array } = {},
) {
  const [s, hub] = [await generate(), await generate()];
  const rs = o.rs ?? hub;
  const a = await handshake({
    pattern,
    initiator: true,
    prologue: none,
    s,
    rs: rs.publicKey,
    psk: o.psk?.[0],
  });
  const b = await handshake({
    pattern,
    initiator: false,
    prologue: o.prologue ?? none,
    s: hub,
    psk: o.psk?.[1],
  });
  return { a, b, s, hub };
}

async function shake(a: Handshake, b: Handshake) {
  await b.read(await a.write());
  await a.read(await b.write());
  return [await a.split(), await b.split()] as const;
}

test('a changed byte anywhere in a handshake message is noticed', async () => {
  for (const pattern of ['IK', 'IKpsk2'] as const) {
    const psk = new Uint8Array(32).fill(7);
    for (let at = 0; at < 96; at += 7) {
      const { a, b } = await pair(pattern, { psk: [psk, psk] });
      const m = await a.write();
      m[at]! ^= 0x40;
      assert.is(await code(b.read(m)), 'forbidden', `${pattern} message 1 byte ${at}`);
    }
    for (let at = 0; at < 48; at += 5) {
      const { a, b } = await pair(pattern, { psk: [psk, psk] });
      await b.read(await a.write());
      const m = await b.write();
      m[at]! ^= 1;
      assert.is(await code(a.read(m)), 'forbidden', `${pattern} message 2 byte ${at}`);
    }
  }
});

test('another hub key, another prologue or another psk never leads to a session', async () => {
  const wrongKey = await pair('IK', { rs: await generate() });
  assert.is(await code(wrongKey.b.read(await wrongKey.a.write())), 'forbidden');
  const wrongPrologue = await pair('IK', { prologue: Uint8Array.of(1) });
  assert.is(await code(wrongPrologue.b.read(await wrongPrologue.a.write())), 'forbidden');
  const wrongPsk = await pair('IKpsk2', { psk: [new Uint8Array(32), new Uint8Array(32).fill(1)] });
  await wrongPsk.b.read(await wrongPsk.a.write());
  assert.is(await code(wrongPsk.a.read(await wrongPsk.b.write())), 'forbidden');
});

test('a browser that does not know the psk can seal nothing the hub accepts', async () => {
  // It may shake hands with a psk of its own choice; the first transport message shows it.
  const { a, b } = await pair('IKpsk2', { psk: [new Uint8Array(32), new Uint8Array(32).fill(1)] });
  await b.read(await a.write());
  await b.write();
  const hub = await b.split();
  assert.is(await code(hub.receive.decrypt(new Uint8Array(16), none)), 'forbidden');
});

test('transport: wrong associated data, replay and reordering are refused, and the next message still passes', async () => {
  const { a, b } = await pair('IK');
  const [x, y] = await shake(a, b);
  const ad = Uint8Array.of(1, 2);
  const m0 = await x.send.encrypt(Uint8Array.of(10), ad);
  const m1 = await x.send.encrypt(Uint8Array.of(11), ad);
  assert.is(await code(y.receive.decrypt(m1, ad)), 'forbidden');
  assert.is(await code(y.receive.decrypt(m0, Uint8Array.of(2, 1))), 'forbidden');
  assert.equal(await y.receive.decrypt(m0, ad), Uint8Array.of(10));
  assert.is(await code(y.receive.decrypt(m0, ad)), 'forbidden');
  assert.equal(await y.receive.decrypt(m1, ad), Uint8Array.of(11));
});

test('a shared secret of all zeros is refused, by WebCrypto and by tweetnacl', async () => {
  const points = [
    new Uint8Array(32),
    Uint8Array.of(1, ...new Uint8Array(31)),
    fromHex('e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800'),
  ];
  const native = await generate();
  const portable = restore({ publicKey: native.publicKey, privateKey: new Uint8Array(32).fill(9) });
  for (const p of points) for (const k of [native, portable]) assert.is(await code(k.dh(p)), 'forbidden');
  assert.is(await code(native.dh(new Uint8Array(31))), 'forbidden');
});

test('tweetnacl and WebCrypto compute the same', async () => {
  for (let i = 0; i < 20; i++) {
    const raw = crypto.getRandomValues(new Uint8Array(32));
    const native = await fromPrivate(raw);
    assert.not(native.stored.privateKey instanceof Uint8Array, 'WebCrypto is in use here');
    const other = await generate();
    const portable = restore({ publicKey: native.publicKey, privateKey: raw });
    assert.equal(await native.dh(other.publicKey), await portable.dh(other.publicKey));
    assert.equal(await other.dh(native.publicKey), await portable.dh(other.publicKey));
  }
});

test('a private key of another length is none', async () => {
  for (const n of [0, 31, 33]) {
    const e = await fromPrivate(new Uint8Array(n)).catch((x) => x);
    assert.instance(e, RangeError, `${n} bytes`);
  }
});

test('a private key made by WebCrypto cannot be exported, and survives a structured clone', async () => {
  const k = await generate();
  const clone = structuredClone(k.stored);
  const privateKey = clone.privateKey as CryptoKey;
  assert.is(privateKey.extractable, false);
  const other = await generate();
  assert.equal(await restore(clone).dh(other.publicKey), await other.dh(k.publicKey));
});

test('messages that were lost are counted, up to a bound, and none that is forged', async () => {
  const { a, b } = await pair('IK');
  const [x, y] = await shake(a, b);
  const ad = Uint8Array.of(1);
  const sent: Uint8Array[] = [];
  for (let i = 0; i < 4; i++) sent.push(await x.send.encrypt(Uint8Array.of(i), ad));
  assert.is(x.send.used, 4);
  assert.is(y.receive.used, 0);
  assert.is(await y.receive.missing(sent[3]!, ad, 3), 3);
  assert.is(await y.receive.missing(sent[3]!, ad, 2), 0, 'beyond the bound');
  assert.is(await y.receive.missing(sent[1]!, ad, 3), 1);
  assert.is(await y.receive.missing(sent[0]!, ad, 3), 0, 'nothing is missing before the next one');
  assert.is(await y.receive.missing(sent[1]!, Uint8Array.of(2), 3), 0, 'not its associated data');
  assert.equal(await y.receive.decrypt(sent[0]!, ad), Uint8Array.of(0));
  assert.is(y.receive.used, 1);
});

test('a handshake goes in turns, with what its pattern needs, and within a message', async () => {
  const range = (e: unknown) => e instanceof RangeError;
  const late = async (work: Promise<unknown>) => assert.ok(range(await work.catch((e) => e)));
  const s = await generate();
  await late(handshake({ pattern: 'IK', initiator: true, prologue: none, s }));
  const { a, b } = await pair('IK');
  await late(a.read(new Uint8Array(96)));
  await late(b.write());
  const first = await a.write();
  await late(a.write());
  await b.read(first);
  await late(b.read(first));
  await a.read(await b.write());
  await late(b.write());
  await late(a.write());
  await late(a.read(first));
  await late(b.read(first));
  for (const psk of [undefined, new Uint8Array(31), new Uint8Array(33)]) {
    const p = await pair('IKpsk2', { psk: [psk, psk] as never });
    await p.b.read(await p.a.write());
    await late(p.b.write());
  }
  const given = await pair('IKpsk2', { psk: [undefined, undefined] as never });
  given.a.setPsk(new Uint8Array(32).fill(1));
  given.b.setPsk(new Uint8Array(32).fill(1));
  const [x, y] = await shake(given.a, given.b);
  assert.equal(await y.receive.decrypt(await x.send.encrypt(none, none), none), none);
  const room = 65535 - 32 - 48 - 16;
  assert.is((await (await pair('IK')).a.write(new Uint8Array(room))).length, 65535);
  assert.is(await code((await pair('IK')).a.write(new Uint8Array(room + 1))), 'too_large');
});

test('a handshake message that is cut anywhere is refused as forged', async () => {
  const { a } = await pair('IK');
  const whole = await a.write();
  for (const n of [0, 31, 32, 33, 79, 80, 95]) {
    const { b } = await pair('IK');
    assert.is(await code(b.read(whole.subarray(0, n))), 'forbidden', `${n} bytes`);
  }
});

test.run();
