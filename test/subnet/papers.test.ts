// What hubs show each other, and what a hub takes without a person.
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { SignJWT } from 'jose';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { fromBase64url, toBase64url } from '../../firmware/protocol/bytes.ts';
import { inviteLink, readInvite } from '../../firmware/subnet/invite.ts';
import {
  byPapers,
  isAtHome,
  type Membership,
  type MembershipStage,
  verdict,
} from '../../firmware/subnet/membership.ts';
import { papersMessage, partingMessage, readPapers, type Side } from '../../firmware/subnet/papers.ts';

const test = suite('papers of a subnet');

const key = () => generateKeyPairSync('ed25519').privateKey;
const pub = (k: KeyObject) => k.export({ format: 'jwk' }).x as string;
const root = key();
const keysOf = (k: KeyObject) => ({ keys: [{ kty: 'OKP', crv: 'Ed25519', x: pub(k), alg: 'EdDSA' }] });
const NOW = 1_800_000_000;
const belongs = { hub_id: 'hub_b', owner_id: 'own_a', subnet_id: 'net_a' };
const handshake = new Uint8Array(32).fill(7);
const signed = (k: KeyObject, m: Uint8Array) => toBase64url(new Uint8Array(sign(null, m, k)));

const certificate = (
  hub: KeyObject,
  o: { by?: KeyObject; exp?: number; aud?: string; claims?: object } = {},
) =>
  new SignJWT({
    ...{ cnf: { jwk: { kty: 'OKP', crv: 'Ed25519', x: pub(hub) } }, owner_id: 'own_a', subnet_id: 'net_a' },
    ...o.claims,
  })
    .setProtectedHeader({ alg: 'EdDSA' })
    .setSubject('hub_b')
    .setAudience(o.aud ?? 'hub')
    .setExpirationTime(o.exp ?? NOW + 1000)
    .sign(o.by ?? root);

const read = (p: { certificate: string; signature: string }, side: Side = 'member') =>
  readPapers(p, { side, handshake, keys: keysOf(root), now: NOW });
const refused = (p: { certificate: string; signature: string }, side?: Side) =>
  read(p, side).then(
    () => 'taken',
    (e) => e.code,
  );

test('papers say who a hub is, when root and the hub have both signed', async () => {
  const hub = key();
  const p = {
    certificate: await certificate(hub),
    signature: signed(hub, papersMessage('member', belongs, handshake)),
  };
  assert.equal(await read(p), { ...belongs, sign_pub: pub(hub), expires_at: NOW + 1000 });
});

test('a certificate of another root, for another purpose, or over its time is refused', async () => {
  const hub = key();
  const signature = signed(hub, papersMessage('member', belongs, handshake));
  for (const o of [{ by: key() }, { aud: 'owner' }, { exp: NOW - 61 }])
    assert.is(
      await refused({ certificate: await certificate(hub, o), signature }),
      'unauthenticated',
      JSON.stringify(o),
    );
  assert.is(
    await refused({ certificate: await certificate(hub, { exp: NOW - 59 }), signature }),
    'taken',
    'a clock may be off',
  );
  assert.is(await refused({ certificate: 'x', signature }), 'unauthenticated');
  const nobody = await certificate(hub, { claims: { owner_id: '../x' } });
  assert.is(await refused({ certificate: nobody, signature }), 'unauthenticated');
});

test('a certificate whose names are none is refused, whoever signed for them', async () => {
  const hub = key();
  const names = ['', 'a/b', ' own_a', 'own_a\n', 'x'.repeat(65), 5, undefined];
  for (const claim of ['owner_id', 'subnet_id'])
    for (const name of names) {
      const signature = signed(hub, papersMessage('member', { ...belongs, [claim]: name }, handshake));
      const cert = await certificate(hub, { claims: { [claim]: name } });
      const e = (await read({ certificate: cert, signature }).catch((x) => x)) as Error & { code: string };
      assert.equal([e.code, /names nobody/.test(e.message)], ['unauthenticated', true], `${claim} ${name}`);
    }
  for (const cnf of [undefined, {}, { jwk: {} }, { jwk: { x: 5 } }]) {
    const cert = await certificate(hub, { claims: { cnf } });
    const signature = signed(hub, papersMessage('member', belongs, handshake));
    assert.match((await read({ certificate: cert, signature }).catch((x) => x)).message, /names nobody/);
  }
  const key5 = await certificate(hub, { claims: { cnf: { jwk: { x: 'short' } } } });
  assert.match((await read({ certificate: key5, signature: 'x' }).catch((x) => x)).message, /not signed by/);
});

test('a certificate without an end or without a name is none', async () => {
  const hub = key();
  const signature = signed(hub, papersMessage('member', belongs, handshake));
  const bare = (sub?: string, exp?: number) => {
    const jwt = new SignJWT({
      ...{ cnf: { jwk: { kty: 'OKP', crv: 'Ed25519', x: pub(hub) } }, owner_id: 'own_a', subnet_id: 'net_a' },
    })
      .setProtectedHeader({ alg: 'EdDSA' })
      .setAudience('hub');
    if (sub) jwt.setSubject(sub);
    if (exp) jwt.setExpirationTime(exp);
    return jwt.sign(root);
  };
  for (const cert of [await bare('hub_b'), await bare(undefined, NOW + 9)])
    assert.match(
      (await read({ certificate: cert, signature }).catch((x) => x)).message,
      /not of our root, or is over/,
    );
  assert.is(await refused({ certificate: await bare('hub_b', NOW + 9), signature }), 'taken');
});

test('papers of another handshake, side or place, or signed by another key, are refused', async () => {
  const hub = key();
  const cert = await certificate(hub);
  const wrong: Record<string, string> = {
    'an earlier handshake': signed(hub, papersMessage('member', belongs, new Uint8Array(32))),
    'the other side': signed(hub, papersMessage('hub', belongs, handshake)),
    'another owner': signed(hub, papersMessage('member', { ...belongs, owner_id: 'own_x' }, handshake)),
    'another subnet': signed(hub, papersMessage('member', { ...belongs, subnet_id: 'net_x' }, handshake)),
    'another key': signed(key(), papersMessage('member', belongs, handshake)),
    nothing: '',
  };
  for (const [what, signature] of Object.entries(wrong))
    assert.is(await refused({ certificate: cert, signature }), 'unauthenticated', what);
});

const leader = key();
const membership = (stage: MembershipStage): Membership => ({
  ...{ stage, owner_id: 'own_a', subnet_id: 'net_a', via: 'hub_a', via_static: 's', via_sign: pub(leader) },
  ...{ bond: 'bond', key: 'k', alone_owner: 'own_b', alone_subnet: 'net_b' },
});
const theirs = { owner_id: 'own_a', subnet_id: 'net_a' };
const alone = { owner_id: 'own_b', subnet_id: 'net_b' };
const stranger = { owner_id: 'own_x', subnet_id: 'net_a' };
const note = signed(leader, partingMessage('hub_b', 'bond'));

test('a hub takes the place it asked for, its own when it leaves or was let go, and no other', () => {
  const stages: MembershipStage[] = ['joining', 'in', 'leaving', 'left', 'removed'];
  const takes = (offered: typeof alone, said: string) =>
    [undefined, ...stages]
      .map((s) => verdict(s && membership(s), 'hub_b', offered, said)?.stage ?? '-')
      .join(' ');
  assert.is(takes(theirs, note), '- in - - - -');
  assert.is(takes(alone, ''), '- - - left - -');
  assert.is(takes(alone, note), '- - removed left - -');
  assert.is(takes(stranger, note), '- - - - - -');
  assert.is(takes({ ...theirs, subnet_id: 'net_x' }, note), '- - - - - -');
  assert.is(takes({ ...alone, subnet_id: 'net_x' }, note), '- - - - - -');
});

test('only a hub that has come as far as another home forgets who was let in when it leaves', () => {
  for (const stage of ['joining', 'leaving', 'left', 'removed'] as const)
    assert.ok(isAtHome(membership(stage), alone), stage);
  for (const stage of ['in', 'leaving'] as const) assert.not.ok(isAtHome(membership(stage), theirs), stage);
  assert.ok(isAtHome(undefined, theirs));
});

test('what root says of being let go counts only as the leading hub has signed it, for this membership', () => {
  const wrong = [
    signed(key(), partingMessage('hub_b', 'bond')),
    signed(leader, partingMessage('hub_b', 'an earlier bond')),
    signed(leader, partingMessage('hub_c', 'bond')),
    'x',
    '',
  ];
  for (const said of wrong) assert.is(verdict(membership('in'), 'hub_b', alone, said), undefined);
});

test('an invitation is a link of its own or twelve digits', () => {
  const [a, b] = [toBase64url(new Uint8Array(32).fill(1)), toBase64url(new Uint8Array(32).fill(2))];
  const browsers = `https://ingle.example/#v1.123456.${a}.${b}`;
  const link = inviteLink(browsers);
  assert.equal(readInvite(` ${link}\n`), {
    code: '123456',
    access: { mode: 'link', hubStatic: fromBase64url(a), psk: fromBase64url(b) },
  });
  const typed = { code: '123456', access: { mode: 'typed', secret: '507226' } };
  for (const t of ['123456507226', '123-456-507-226', '123-456 507-226']) assert.equal(readInvite(t), typed);
  for (const bad of [
    ...[
      browsers,
      '',
      '123456',
      '1234565072261',
      'x123456507226',
      '123456507226x',
      link.slice(0, -1),
      `${link}x`,
    ],
    ...[link.replace('.123456.', '.12345.'), link.replace('hub1', 'hub2'), link.replace('hub1', '')],
  ])
    assert.throws(
      () => readInvite(bad),
      (e: { code: string; details: object }) =>
        e.code === 'invalid_request' && JSON.stringify(e.details) === '{"pointer":"/invite"}',
      bad,
    );
  assert.match(link, /#hub1\./);
});

test('the hub that was asked makes a membership by its papers, and must show the same ones from then on', () => {
  const who = { ...belongs, sign_pub: 'sign', expires_at: NOW + 1 };
  const at = { bond: 'first', via_static: 'static', key: 'key' };
  const alone = { owner_id: 'own_b', subnet_id: 'net_b' };
  const joining = byPapers(undefined, who, at, alone)!;
  assert.equal(joining, {
    ...{ stage: 'joining', owner_id: 'own_a', subnet_id: 'net_a', via: 'hub_b', via_sign: 'sign', ...at },
    ...{ alone_owner: 'own_b', alone_subnet: 'net_b' },
  });
  for (const stage of ['left', 'removed'] as const)
    assert.equal(byPapers({ ...joining, stage, bond: 'former' }, who, at, alone), joining);
  // The bond is that of the last handshake before this hub is in, and stays from then on.
  const later = { bond: 'second', via_static: 'another', key: 'another' };
  assert.equal(byPapers(joining, who, later, alone), { ...joining, bond: 'second' });
  assert.is(byPapers(joining, who, at, alone), undefined);
  for (const stage of ['in', 'leaving'] as const) {
    const m = { ...joining, stage };
    assert.is(byPapers(m, who, later, alone), undefined);
    for (const other of [{ sign_pub: 'other' }, { owner_id: 'own_c' }, { subnet_id: 'net_c' }])
      assert.throws(
        () => byPapers(m, { ...who, ...other }, at, alone),
        (e: { code: string }) => e.code === 'forbidden',
      );
  }
});

test.run();
