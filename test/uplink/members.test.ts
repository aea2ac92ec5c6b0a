// Members of a subnet at the hub that leads them, behind a root that lies: what it signs, routes or repeats lets nobody in.
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { SignJWT } from 'jose';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { fromBase64url, random, toBase64url } from '../../firmware/protocol/bytes.ts';
import type { IngleError } from '../../firmware/protocol/errors.ts';
import { MOST_MEMBERS } from '../../firmware/protocol/limits.ts';
import type { Access, Opened } from '../../firmware/protocol/noise/channel.ts';
import { decodeControl, encodeControl } from '../../firmware/protocol/noise/control.ts';
import { initiator } from '../../firmware/protocol/noise/initiator.ts';
import { fromPrivate, generate, type KeyPair } from '../../firmware/protocol/noise/x25519.ts';
import { tunnelClient } from '../../firmware/protocol/tunnel/client.ts';
import type { Control } from '../../firmware/protocol/wire.ts';
import type { Node } from '../../firmware/subnet/node.ts';
import { readPapers } from '../../firmware/subnet/papers.ts';
import { type HubKeys, makeKeys, showPapers } from '../../firmware/uplink/keys.ts';
import { openNodes } from '../../firmware/uplink/nodes.ts';
import { newWindow, workingWindow } from '../../firmware/uplink/pairing-window.ts';
import { session } from '../../firmware/uplink/peer.ts';
import { until } from '../lab/wait.ts';
import { localApi } from './kit.ts';

const test = suite('members at the leading hub');
const NOW = 1_800_000_000;
const root = generateKeyPairSync('ed25519').privateKey;
const rootKeys = { keys: [{ ...root.export({ format: 'jwk' }), d: undefined, alg: 'EdDSA' }] };
const ours = { hub_id: 'hub_a', owner_id: 'own_a', subnet_id: 'net_a' };

type Place = typeof ours;
/** Root signs whatever it likes for whomever it likes. */
const certify = async (k: HubKeys, at: Place, exp = NOW + 1000, by: KeyObject = root) => ({
  ...at,
  certificate: await new SignJWT({
    cnf: { jwk: { kty: 'OKP', crv: 'Ed25519', x: k.sign.x } },
    ...{ owner_id: at.owner_id, subnet_id: at.subnet_id },
  })
    .setProtectedHeader({ alg: 'EdDSA' })
    .setSubject(at.hub_id)
    .setAudience('hub')
    .setExpirationTime(exp)
    .sign(by),
});
const staticOf = (k: HubKeys): Promise<KeyPair> => fromPrivate(fromBase64url(k.e2e[0]!.d));

/** The leading hub, with everything real but root and the sockets. */
async function leader() {
  const keys = makeKeys(NOW);
  const mine = await certify(keys, ours);
  const pair = await staticOf(keys);
  const kept = new Map<string, Node>();
  const nodes = await openNodes({
    ...{ interval: 30, now: () => NOW, passed: () => 0, listening: () => true, changed() {} },
    store: {
      nodes: async () => [],
      putNode: async (n: Node) => void kept.set(n.hub_id, n) as never,
      dropNode: async (id: string) => void kept.delete(id) as never,
    },
    failed: (e: unknown) => assert.unreachable(String(e)),
  });
  const told: string[] = [];
  const api = await localApi();
  let now = NOW;
  const psk = random(32);
  const window = workingWindow(newWindow('123-456', 600, false, Math.floor(Date.now() / 1000), { psk }), {
    keep() {},
    proven: (remote) => nodes.prove(toBase64url(remote)),
  });

  /** A hub at the other end of a route that root has made. */
  function comes(
    sid: string,
    key: KeyPair,
    access: Access,
    identity: HubKeys,
    at: () => Place & { certificate: string },
  ) {
    const heard: Control[] = [];
    const lost: string[] = [];
    const failed: string[] = [];
    let opened: Opened | undefined;
    const counted = { numbers: 1, theirs: 1 };
    const take = (whose: keyof typeof counted, n: number) => {
      counted[whose] += n;
      return counted[whose] - n;
    };
    const nobody = () => undefined;
    const end = session(sid, {
      pins: { browser: nobody, proven: nobody, browsers: () => [], passkeys: () => [] } as never,
      people: { welcome: nobody },
      members: {
        ...{ nodes, hub: ours, keys: async () => rootKeys as never, now: () => now },
        papers: (handshake) => showPapers(keys, mine, 'hub', handshake),
        async tell(hubId) {
          told.push(hubId);
        },
      },
      hub: { ...ours, hub_name: 'Hall', version: '1', sign_pub: keys.sign.x },
      party: { origin: 'http://localhost', id: 'localhost' },
      now: () => now,
      api: { host: '127.0.0.1', port: api.port, token: { get: () => api.token, stale: () => false } },
      serving: async () => true,
      counters: { reserve: async (n) => take('theirs', n) },
      keys: () => [pair],
      window: () => window,
      relay: (frame, ctr) => queueMicrotask(() => channel.receive(frame, ctr)),
      rotation: nobody,
      paired() {},
      event() {},
    });
    const channel = initiator({
      ...{ sid, hubId: ours.hub_id, key, access, timing: { handshake: 1000, backoff: 10, backoffMax: 10 } },
      counters: { reserve: async (n) => take('numbers', n) },
      send: (frame, ctr) => queueMicrotask(() => end.receive(frame, ctr)),
    });
    const tunnel = tunnelClient(channel);
    channel.on('open', (o) => (opened = o));
    channel.on('lost', (w) => lost.push(w));
    channel.on('failed', (e) => failed.push(e.code));
    channel.on('message', (m) => {
      const c = decodeControl(m);
      if (c) heard.push(c);
    });
    const m = {
      ...{ heard, lost, failed, end, tunnel, channel },
      get opened() {
        return opened;
      },
      /** Shows papers over this handshake, or others. */
      async show(over?: Uint8Array): Promise<Control> {
        await until(
          () => opened !== undefined && heard.some((c) => c.t === 'member'),
          'the papers of the leading hub',
        );
        const before = heard.length;
        const papers = showPapers(identity, at(), 'member', over ?? opened!.hash);
        await channel.send(encodeControl({ t: 'member', ...papers }));
        await until(() => heard.length > before, 'an answer');
        return heard.at(-1)!;
      },
      async ask(path = '/api/subnet/context') {
        const r = await tunnel.request({ method: 'GET', path });
        await r.body();
        return r.status;
      },
      close() {
        channel.close();
        end.close();
      },
    };
    return m;
  }
  return {
    ...{ nodes, told, psk, pair, api, comes, kept, keys },
    link: (p = psk): Access => ({ mode: 'link', hubStatic: pair.publicKey, psk: p }),
    known: (): Access => ({ mode: 'known', hubStatic: pair.publicKey }),
    setNow(t: number) {
      now = t;
    },
    async stop() {
      nodes.stop();
      await api.stop();
    },
  };
}

/** A hub that was let in, alone until then, and its channel closed. */
async function member(l: Awaited<ReturnType<typeof leader>>, name = 'b') {
  const keys = makeKeys(NOW);
  const key = await generate();
  const alone = { hub_id: `hub_${name}`, owner_id: `own_${name}`, subnet_id: `net_${name}` };
  const before = await certify(keys, alone);
  const first = l.comes(`s-${name}`, key, l.link(), keys, () => before);
  const said = await first.show();
  const joined = { ...ours, hub_id: alone.hub_id };
  return { keys, key, alone, joined, first, said, inside: await certify(keys, joined) };
}

test('a hub that knew the secret is let in, pinned and told to root; its papers of the subnet open streams as a member', async () => {
  const l = await leader();
  const m = await member(l);
  assert.is(m.said.t, 'admitted');
  assert.equal(l.told, ['hub_b']);
  assert.is(l.nodes.member('hub_b').static_pub, toBase64url(m.key.publicKey));
  assert.is(l.nodes.member('hub_b').bond, toBase64url(m.first.opened!.hash));
  assert.is(
    await m.first.ask().catch((e) => e.code),
    'assertion_required',
    'not with the papers of its own place',
  );
  m.first.close();
  const again = l.comes('s-b', m.key, l.known(), m.keys, () => m.inside);
  assert.is((await again.show()).t, 'admitted');
  assert.is(await again.ask(), 200);
  const principal = JSON.parse(
    Buffer.from(String(l.api.seen.at(-1)!.headers['x-ingle-principal']), 'base64url').toString(),
  );
  assert.equal([principal.role, principal.hub, principal.elevated_until], ['member', 'hub_b', 0]);
  const theirs = again.heard.find((c) => c.t === 'member')! as Control & { t: 'member' };
  const shown = await readPapers(theirs, {
    ...{ side: 'hub', handshake: again.opened!.hash, keys: rootKeys as never, now: NOW },
  });
  assert.equal([shown.hub_id, shown.sign_pub], ['hub_a', l.keys.sign.x]);
  again.close();
  await l.stop();
});

test('a root that certifies a key of its own as a member gets no channel, with the member’s name or another', async () => {
  const l = await leader();
  const m = await member(l);
  m.first.close();
  const own = makeKeys(NOW);
  for (const hub_id of ['hub_b', 'hub_x']) {
    const forged = await certify(own, { ...ours, hub_id });
    const byName = l.comes(`s-${hub_id}`, await generate(), l.known(), own, () => forged);
    await until(() => byName.lost.includes('unknown_browser'), 'to be refused');
    byName.close();
    const guessed = l.comes(`t-${hub_id}`, await generate(), l.link(random(32)), own, () => forged);
    await until(() => guessed.failed.length > 0 || guessed.lost.length > 0, 'to be refused');
    assert.is(guessed.opened, undefined);
    guessed.close();
  }
  assert.equal(l.told, ['hub_b']);
  await l.stop();
});

test('a certificate of another owner or subnet, of another root, or over its time, opens nothing', async () => {
  const l = await leader();
  const m = await member(l);
  m.first.close();
  await l.nodes.heard('hub_b');
  const wrong = {
    owner: await certify(m.keys, { ...m.joined, owner_id: 'own_x' }),
    subnet: await certify(m.keys, { ...m.joined, subnet_id: 'net_x' }),
    alone: await certify(m.keys, m.alone),
    name: await certify(m.keys, { ...m.joined, hub_id: 'hub_c' }),
    key: await certify(makeKeys(NOW), m.joined),
    over: await certify(m.keys, m.joined, NOW - 100),
    root: await certify(m.keys, m.joined, NOW + 100, generateKeyPairSync('ed25519').privateKey),
  };
  for (const [what, papers] of Object.entries(wrong)) {
    const c = l.comes(`s-${what}`, m.key, l.known(), m.keys, () => papers);
    assert.is((await c.show()).t, 'refused', what);
    assert.is(await c.ask().catch((e) => e.code), 'assertion_required', what);
    c.close();
  }
  assert.equal(l.told, ['hub_b']);
  await l.stop();
});

test('papers of an earlier handshake are worth nothing in the next, and after three wrong ones none are looked at', async () => {
  const l = await leader();
  const m = await member(l);
  const earlier = m.first.opened!.hash;
  m.first.close();
  const c = l.comes('s-b', m.key, l.known(), m.keys, () => m.inside);
  for (let i = 0; i < 3; i++) assert.is((await c.show(earlier)).t, 'refused');
  const last = (await c.show()) as Control & { t: 'refused' };
  assert.equal([last.t, last.error], ['refused', 'rate_limited']);
  c.close();
  await l.stop();
});

test('a certificate that ends while the channel is open ends what it opened', async () => {
  const l = await leader();
  const m = await member(l);
  m.first.close();
  const c = l.comes('s-b', m.key, l.known(), m.keys, () => m.inside);
  await c.show();
  assert.is(await c.ask(), 200);
  l.setNow(NOW + 1000);
  assert.is(await c.ask().catch((e) => e.code), 'assertion_required');
  c.close();
  await l.stop();
});

test('a member that was let go has its open channel refused at once, and gets no other', async () => {
  const l = await leader();
  const m = await member(l);
  m.first.close();
  const c = l.comes('s-b', m.key, l.known(), m.keys, () => m.inside);
  await c.show();
  await l.nodes.part('hub_b', true);
  assert.is(await c.ask().catch((e) => e.code), 'assertion_required');
  c.channel.restart();
  await until(() => c.lost.includes('unknown_browser'), 'to be refused');
  c.close();
  assert.equal(
    l.nodes.untold().map((n) => n.hub_id),
    ['hub_b'],
  );
  await l.stop();
});

test('two hubs with one key, or one id with two keys, are not both members', async () => {
  const l = await leader();
  const m = await member(l);
  m.first.close();
  for (const [hub_id, sign_pub] of [
    ['hub_c', m.keys.sign.x],
    ['hub_b', makeKeys(NOW).sign.x],
  ] as const)
    assert.throws(
      () => l.nodes.mayJoin({ hub_id, sign_pub }),
      (e: IngleError) => e.code === 'conflict',
      hub_id,
    );
  l.nodes.mayJoin({ hub_id: 'hub_b', sign_pub: m.keys.sign.x });
  for (let i = 1; i < MOST_MEMBERS; i++) {
    const one = { hub_id: `hub_${i}`, sign_pub: `k${i}` };
    l.nodes.mayJoin(one);
    await l.nodes.admit({ ...one, static_pub: `s${i}`, bond: 'x' });
  }
  assert.throws(
    () => l.nodes.mayJoin({ hub_id: 'hub_z', sign_pub: 'z' }),
    (e: IngleError) => e.code === 'conflict',
  );
  await l.stop();
});

test('a hub whose answer got lost is told again that it is in, with a new bond', async () => {
  const l = await leader();
  const m = await member(l);
  m.first.close();
  const c = l.comes('s-b', m.key, l.known(), m.keys, () => ({ ...m.alone, certificate: '' }));
  assert.is((await c.show()).t, 'refused');
  c.close();
  const before = await certify(m.keys, m.alone);
  const again = l.comes('s-b', m.key, l.known(), m.keys, () => before);
  assert.is((await again.show()).t, 'admitted');
  assert.is(l.nodes.member('hub_b').bond, toBase64url(again.opened!.hash));
  again.close();
  await l.stop();
});

test('those that left are forgotten but for a few, and those root does not know of stay', async () => {
  const l = await leader();
  for (let i = 0; i < 12; i++) {
    await l.nodes.admit({ hub_id: `hub_${i}`, sign_pub: `k${i}`, static_pub: `s${i}`, bond: 'x' });
    await l.nodes.part(`hub_${i}`, i === 0);
  }
  assert.is(l.kept.size, 9);
  assert.ok(l.kept.get('hub_0')!.untold);
  await l.nodes.told('hub_0');
  assert.not(l.kept.get('hub_0')!.untold);
  await l.stop();
});

test.run();
