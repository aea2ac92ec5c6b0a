import { createHash, createHmac, hkdfSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { equal, fromHex, random, toHex, utf8 } from '../../firmware/protocol/bytes.ts';
import {
  confirm,
  cpaceInitiator,
  cpaceResponder,
  generator,
  isk,
  lvCat,
  multiply,
  scalarOf,
} from '../../firmware/protocol/pairing/cpace.ts';

const { vector, points } = JSON.parse(
  readFileSync(new URL('./vectors/cpace.json', import.meta.url), 'utf8'),
) as { vector: Record<string, string>; points: Record<string, string | Record<string, string>> };
const v = (name: string) => fromHex(vector[name]!);
const test = suite('cpace');

test('the draft’s vector for ristretto255 and SHA-512 comes out at every step', async () => {
  const g = await generator(v('PRS'), v('CI'), v('sid'));
  assert.is(g.toHex(), vector['g']!.toLowerCase());
  const [ya, yb] = [scalarOf(v('ya')), scalarOf(v('yb'))];
  assert.equal(g.multiply(ya).toBytes(), v('Ya'));
  assert.equal(g.multiply(yb).toBytes(), v('Yb'));
  assert.equal(multiply(ya, v('Yb')), v('K'));
  assert.equal(multiply(yb, v('Ya')), v('K'));
  assert.equal(await isk(v('sid'), v('K'), v('Ya'), v('ADa'), v('Yb'), v('ADb')), v('ISK_IR'));
});

test('lengths are LEB128', () => {
  const head = (n: number) => [...lvCat(new Uint8Array(n)).subarray(0, -n || undefined)];
  assert.equal([head(0), head(127), head(128), head(300)], [[0], [127], [128, 1], [172, 2]]);
});

test('confirmations and psk are made of the ISK under their own labels', async () => {
  const [ya, yb] = [scalarOf(v('ya')), scalarOf(v('yb'))];
  const input = { secret: '507226', ci: v('CI'), sid: v('sid') };
  const a = await cpaceInitiator(input, v('ADa'), ya);
  const b = await cpaceResponder(input, a.ya, v('ADa'), v('ADb'), yb);
  const key = await isk(input.sid, multiply(ya, b.yb), a.ya, v('ADa'), b.yb, v('ADb'));
  const mac = createHash('sha512').update('CPaceMac').update(input.sid).update(key).digest();
  const tag = (y: Uint8Array, ad: Uint8Array) => createHmac('sha512', mac).update(lvCat(y, ad)).digest('hex');
  assert.is(toHex(b.ta), tag(a.ya, v('ADa')));
  assert.is(toHex(b.tb), tag(b.yb, v('ADb')));
  assert.is(toHex(b.psk), Buffer.from(hkdfSync('sha256', key, input.sid, 'ingle/1 psk', 32)).toString('hex'));
});

test('the draft’s invalid points are refused, its valid one is not', () => {
  const valid = points['Valid'] as Record<string, string>;
  assert.equal(
    multiply(scalarOf(fromHex(valid['s']!)), fromHex(valid['X']!)),
    fromHex(valid['G.scalar_mult_vfy(s,X)']!),
  );
  for (const name of ['Invalid Y1', 'Invalid Y2'])
    assert.throws(() => multiply(3n, fromHex(points[name] as string)), /does not know/);
});

test('lengths are LEB128', () => {
  assert.equal(toHex(lvCat(new Uint8Array(0), utf8('1234'))), '000431323334');
  assert.equal(lvCat(new Uint8Array(128)).subarray(0, 2), Uint8Array.of(0x80, 1));
});

const input = (secret: string, sid: Uint8Array = new Uint8Array(16)) => ({ secret, ci: utf8('who'), sid });

test('the same code gives both sides the same key, another code, sid, identity or key gives none', async () => {
  const [ada, adb] = [random(32), random(32)];
  const run = async (a: ReturnType<typeof input>, b: ReturnType<typeof input>, swap = false) => {
    const i = await cpaceInitiator(a, ada);
    const r = await cpaceResponder(b, i.ya, swap ? random(32) : ada, adb);
    return [await i.finish(r.yb, adb), r] as const;
  };
  const [x, y] = await run(input('507226'), input('507226'));
  assert.equal(x.psk, y.psk);
  confirm(x.ta, y.ta);
  confirm(x.tb, y.tb);
  assert.not(equal(x.ta, x.tb));
  for (const [p, q] of [
    await run(input('507226'), input('507227')),
    await run(input('507226'), input('507226', random(16))),
    await run(input('507226'), { ...input('507226'), ci: utf8('other') }),
    await run(input('507226'), input('507226'), true),
  ] as const) {
    assert.not(equal(p.psk, q.psk));
    assert.throws(() => confirm(p.ta, q.ta), /does not know/);
    assert.throws(() => confirm(p.tb, q.tb), /does not know/);
  }
});

test.run();
