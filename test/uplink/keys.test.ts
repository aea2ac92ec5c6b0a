import { createPublicKey, verify } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jwtVerify } from 'jose';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { fromBase64url, toBase64url } from '../../firmware/protocol/bytes.ts';
import { followRotation } from '../../firmware/protocol/noise/follow.ts';
import { rotationMessage } from '../../firmware/protocol/noise/rotation.ts';
import { fromPrivate } from '../../firmware/protocol/noise/x25519.ts';
import { calm } from '../../firmware/uplink/calm.ts';
import { keyPath, loadKeys, saveKeys } from '../../firmware/uplink/keyfile.ts';
import { makeKeys, parseKeys, rotated, signWith, told } from '../../firmware/uplink/keys.ts';
import { newWindow, pairingLink, workingWindow } from '../../firmware/uplink/pairing-window.ts';
import { openPins } from '../../firmware/uplink/pins.ts';
import { makeProof, renewalDue } from '../../firmware/uplink/proof.ts';
import { PROVEN_TTL } from '../../firmware/uplink/proven.ts';
import { MOST_COUNTERS, openUplinkStore } from '../../firmware/uplink/store.ts';

const test = suite<{ dir: string }>('keys and windows');
test.before.each((c) => {
  c.dir = mkdtempSync(join(tmpdir(), 'ingle-keys-'));
});
test.after.each((c) => rmSync(c.dir, { recursive: true, force: true }));

test('keys are made once, for their owner alone, and read again as they were', async ({ dir }) => {
  const folder = join(dir, 'uplink');
  const keys = await loadKeys(folder, 5);
  assert.is(statSync(keyPath(folder)).mode & 0o777, 0o600);
  assert.is(statSync(folder).mode & 0o777, 0o700);
  assert.equal(await loadKeys(folder, 9), keys);
  assert.not(existsSync(`${keyPath(folder)}.new`));
  const pair = await fromPrivate(fromBase64url(keys.e2e[0]!.d));
  assert.is(toBase64url(pair.publicKey), keys.e2e[0]!.x);
});

test('a damaged key file is told, never replaced', async ({ dir }) => {
  for (const text of ['', '{', '{"v":1}', '{"v":2}', JSON.stringify({ ...makeKeys(1), e2e: [] })]) {
    writeFileSync(keyPath(dir), text);
    const e = await loadKeys(dir, 1).then(
      () => null,
      (x: Error) => x,
    );
    assert.match(e!.message, /keys\.json/);
    assert.is(readFileSync(keyPath(dir), 'utf8'), text);
  }
});

test('rotation keeps the identity, and former keys for browsers that were away', async ({ dir }) => {
  let keys = makeKeys(1);
  const identity = keys.sign;
  for (let i = 2; i < 8; i++) keys = rotated(keys, i);
  assert.equal(keys.sign, identity);
  assert.equal(
    keys.e2e.map((k) => k.since),
    [7, 6, 5, 4],
  );
  assert.ok(keys.e2e[0]!.untold);
  assert.not(told(keys).e2e[0]!.untold);
  await saveKeys(dir, keys);
  assert.equal(parseKeys(readFileSync(keyPath(dir), 'utf8')), keys);
});

test('a browser follows a new key only when the identity it pinned has signed it', async () => {
  const keys = rotated(makeKeys(1), 2);
  const other = makeKeys(1);
  const statement = (k: typeof keys, hubId = 'hub_1') => ({
    t: 'rotate' as const,
    e2e_pub: keys.e2e[0]!.x,
    sign_pub: k.sign.x,
    signature: toBase64url(signWith(k, rotationMessage(hubId, keys.e2e[0]!.x, k.sign.x))),
  });
  /** What the pinned identity has signed, whatever it says. */
  const signed = (m: ReturnType<typeof statement>) => ({
    ...m,
    signature: toBase64url(signWith(keys, rotationMessage('hub_1', m.e2e_pub, m.sign_pub))),
  });
  const got = await followRotation(statement(keys), 'hub_1', keys.sign.x);
  assert.is(toBase64url(got), keys.e2e[0]!.x);
  for (const bad of [
    statement(other),
    statement(keys, 'hub_2'),
    { ...statement(keys), e2e_pub: other.e2e[0]!.x },
    { ...statement(keys), signature: '' },
    { ...statement(keys), e2e_pub: '!' },
    signed({ ...statement(keys), sign_pub: other.sign.x }),
    signed({ ...statement(keys), e2e_pub: toBase64url(new Uint8Array(31).fill(9)) }),
  ]) {
    const e = await followRotation(bad, 'hub_1', keys.sign.x).catch((x) => x);
    assert.is(e.code, 'forbidden');
  }
});

test('a proof is signed by the identity, lives a minute and never repeats', async () => {
  const keys = makeKeys(1);
  const now = Math.floor(Date.now() / 1000);
  const [a, b] = await Promise.all([
    makeProof(keys, 'https://root', now, { purpose: 'renew' }),
    makeProof(keys, 'https://root', now, { purpose: 'renew' }),
  ]);
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: keys.sign.x }, format: 'jwk' });
  const { payload } = await jwtVerify(a, key, { audience: 'https://root' });
  assert.is(payload.exp! - payload.iat!, 60);
  assert.is(payload['purpose'], 'renew');
  const other = (await jwtVerify(b, key, { audience: 'https://root' })).payload;
  assert.is.not(payload.jti, other.jti);
  const m = new Uint8Array([1, 2]);
  assert.ok(verify(null, m, key, signWith(keys, m)));
});

test('a certificate is renewed at two thirds of its life', () => {
  const c = { issued_at: 1000, expires_at: 1000 + 90 * 86400 };
  assert.not(renewalDue(c, 1000 + 59 * 86400));
  assert.ok(renewalDue(c, 1000 + 60 * 86400));
});

test('the link and the typed code share one window; both shapes are what people were promised', () => {
  const w = newWindow('123-456', 600, false, 100);
  assert.match(w.secret, /^\d{3}-\d{3}$/);
  assert.is(fromBase64url(w.psk).length, 32);
  assert.is(w.expires_at, 700);
  assert.is(newWindow('123-456', 9999, false, 100).expires_at, 700);
  assert.is(pairingLink('https://h.example/x', w, 'PUB'), `https://h.example/#v1.123456.PUB.${w.psk}`);
});

test('tries already used stay used over a restart, and a burned window stays burned', async () => {
  const store = await openUplinkStore(':memory:');
  const open = async () => {
    const w = await store.window();
    return w && workingWindow(w, { keep: (n) => void store.setWindow(n), proven: () => {} });
  };
  const far = Math.floor(Date.now() / 1000) + 600;
  await store.setWindow({ ...newWindow('123-456', 600, true, 0), expires_at: far });
  for (const left of [2, 1, 0]) {
    const w = (await open())!;
    assert.ok(w.spend());
    w.failed('pairing_failed');
    assert.is(w.left, left);
    await store.window();
  }
  assert.is(await open(), undefined);
});

test('root can name any number of sessions, and few are kept; a forgotten one never counts again from below', async () => {
  const store = await openUplinkStore(':memory:');
  const victim = await store.reserve('victim', 100, 1);
  const loud = await store.reserve('loud', 5000, 1);
  let last = 0;
  for (let n = 0; n < MOST_COUNTERS; n++) last = await store.reserve(`flood-${n}`, 10, 2);
  // Both were silent for longest; what is handed out to them now is above all they had.
  for (const [sid, most] of [
    ['victim', victim + 100],
    ['loud', loud + 5000],
  ] as const) {
    const first = await store.reserve(sid, 100, 3);
    assert.ok(first >= most, `${sid} begins at ${first} after ${most}`);
  }
  assert.is(await store.counters(), MOST_COUNTERS);
  // One that was not forgotten goes on where it was.
  assert.is(await store.reserve(`flood-${MOST_COUNTERS - 1}`, 1, 4), last + 10);
  await store.close();
});

test('browsers that owe their assertion are few, on the disk too', async () => {
  const store = await openUplinkStore(':memory:');
  let now = 100;
  const pins = await openPins(store, () => now);
  for (let n = 0; n < 40; n++) await pins.prove(`b${n}`, false);
  assert.equal((await store.proven()).length, 16);
  assert.not(pins.proven('b23'));
  assert.ok(pins.proven('b24') && pins.proven('b39'));
  now += PROVEN_TTL;
  await pins.prove('last', true);
  assert.equal(
    (await store.proven()).map((p) => p.id),
    ['last'],
  );
  await store.close();
});

test('a flood of events is no flood of lines, and says how many were left out', () => {
  let time = 0;
  const lines: string[] = [];
  const note = (m: string, f?: Record<string, unknown>) => void lines.push(`${m} ${f?.['lines'] ?? ''}`);
  const log = calm({ error: note, warn: note, notice: note, info: note, debug: note }, () => time);
  for (let n = 0; n < 10_000; n++) log.warn('root asks');
  const first = lines.length;
  assert.ok(first <= 200);
  time += 1000;
  log.info('channel open');
  assert.equal(lines.slice(first), [
    `too many lines at once; some were left out ${10_000 - first}`,
    'channel open ',
  ]);
});

test('numbers of frames are never handed out twice, even over a restart', async ({ dir }) => {
  const file = join(dir, 'u.sqlite');
  let store = await openUplinkStore(file);
  const [a, b] = await Promise.all([store.reserve('s', 100, 1), store.reserve('s', 100, 1)]);
  assert.is(Math.abs(a - b), 100);
  await store.close();
  store = await openUplinkStore(file);
  assert.is(await store.reserve('s', 100, 1), Math.max(a, b) + 100);
  assert.is(await store.reserve('other', 100, 1), Math.min(a, b));
  // What is forgotten begins above all that was ever handed out and forgotten.
  await store.dropCounters(2);
  const past = Math.max(a, b) + 200;
  assert.is(await store.reserve('s', 1, 3), past);
  await store.close();
  store = await openUplinkStore(file);
  assert.is(await store.reserve('new', 1, 3), past);
  await store.close();
});

test.run();
