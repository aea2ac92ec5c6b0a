// timeout: 300 s
// gate: out, 30 s of a processor
// A hostile root as a model: whatever it does, in whatever order, it gets nothing; and once it behaves, all works again.
// INGLE_SEED repeats a run; a counterexample is a list of moves, to be kept below as a plain test.
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { concat, fromBase64url, random, toBase64url } from '../../firmware/protocol/bytes.ts';
import type { Access, Channel } from '../../firmware/protocol/noise/channel.ts';
import { decodeControl, encodeControl } from '../../firmware/protocol/noise/control.ts';
import { tunnelClient } from '../../firmware/protocol/tunnel/client.ts';
import type { TunnelClient } from '../../firmware/protocol/tunnel/tunnel.ts';
import { frameKind } from '../../firmware/protocol/wire.ts';
import { FORMER } from '../../firmware/uplink/keys.ts';
import { authenticator } from '../lab/authenticator.ts';
import { localApi, origin, type Phone, type Sent, words, world } from './hostile-world.ts';
import { type Heard, until } from './root.ts';

type To = 'hub' | 'browser';
/** `n` and `at` choose among what is there. */
type Move =
  /* the person and the owner */
  | { m: 'issue'; fresh: boolean }
  | { m: 'pair'; who: number; by: 'link' | 'typed' | 'wrong'; sid: number }
  | { m: 'whole'; who: number; by: 'link' | 'typed' }
  | { m: 'touch' | 'call' | 'rekey' | 'reload'; who: number }
  | { m: 'rotate' | 'restart' }
  /* root, with frames */
  | { m: 'next'; to: To; act: 'drop' | 'alter' | 'double' | 'hold' | 'renumber' | 'cut' | 'swap'; at: number }
  | { m: 'replay'; n: number; shift: number; who: number; to: To }
  | { m: 'forge'; to: To; kind: number; body: number[]; who: number }
  /* root, with ends of its own */
  | { m: 'leak' }
  | { m: 'browser'; by: 'known' | 'zero' | 'leaked' | 'guess' | 'sealed'; sid: number }
  | { m: 'hub'; who: number }
  | { m: 'assert'; by: 'own' | 'login' | 'replay'; give: 'hash' | 'challenge'; sid: number }
  | { m: 'ask' }
  | { m: 'behave' };

const who = fc.nat(1);
const to = fc.constantFrom<To>('hub', 'browser');
const sid = fc.nat(3);
const of = <T extends Move>(shape: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
  fc.record(shape) as fc.Arbitrary<Move>;
const m = <T extends string>(...names: T[]) => fc.constantFrom(...names) as fc.Arbitrary<never>;
const kinds = [...Object.values(frameKind), 0x55];
const move: fc.Arbitrary<Move> = fc.oneof(
  { weight: 2, arbitrary: of({ m: m('issue'), fresh: fc.boolean() }) },
  { weight: 4, arbitrary: of({ m: m('pair'), who, by: fc.constantFrom('link', 'typed', 'wrong'), sid }) },
  { weight: 3, arbitrary: of({ m: m('whole'), who, by: fc.constantFrom('link', 'typed') }) },
  { weight: 6, arbitrary: of({ m: m('touch', 'call', 'rekey', 'reload'), who }) },
  { weight: 1, arbitrary: of({ m: m('rotate', 'restart') }) },
  {
    weight: 8,
    arbitrary: of({
      m: m('next'),
      ...{ to, at: fc.nat(200) },
      act: fc.constantFrom('drop', 'alter', 'double', 'hold', 'renumber', 'cut', 'swap'),
    }),
  },
  {
    weight: 3,
    arbitrary: of({ m: m('replay'), n: fc.nat(500), shift: fc.constantFrom(0, 1, 1e9), who, to }),
  },
  {
    weight: 4,
    arbitrary: of({
      m: m('forge'),
      ...{ to, who, kind: fc.constantFrom(...kinds) },
      body: fc.oneof(
        fc.array(fc.nat(5), { minLength: 1, maxLength: 1 }),
        fc.array(fc.nat(255), { maxLength: 120 }),
      ),
    }),
  },
  { weight: 2, arbitrary: of({ m: m('leak', 'ask', 'behave') }) },
  {
    weight: 4,
    arbitrary: of({
      m: m('browser'),
      sid,
      by: fc.constantFrom('known', 'zero', 'leaked', 'leaked', 'guess', 'sealed'),
    }),
  },
  { weight: 3, arbitrary: of({ m: m('hub'), who }) },
  {
    weight: 8,
    arbitrary: of({
      m: m('assert'),
      sid,
      by: fc.constantFrom('own', 'login', 'replay'),
      give: fc.constantFrom('hash', 'challenge'),
    }),
  },
);

interface Evil {
  channel: Channel;
  heard: Heard;
  tunnel?: TunnelClient;
}

const test = suite('hostile root model');
/** Lives that are lived side by side, as most of one is waiting; each has a local API of its own. */
const LANES = 4;
const apis: Awaited<ReturnType<typeof localApi>>[] = [];

test.before(async () => {
  // What checks passkeys is loaded with the first one, which would be late for the first life.
  await import('@simplewebauthn/server');
  for (let i = 0; i < LANES; i++) apis.push(await localApi());
});
test.after(() => {
  for (const api of apis) api.stop();
});

/** Waits for what comes when root lets it, milliseconds at most. */
async function soon(what: () => unknown, most: number): Promise<void> {
  const end = Date.now() + most;
  while (!what() && Date.now() < end) await new Promise((r) => setTimeout(r, 1));
}

/** What came about in a life: a model in which nothing happens proves nothing. */
const nothing = { pinned: 0, calls: 0, rootOpen: 0, rootAsserted: 0, rootRefused: 0 };

/**
 * One life of a house: the moves, what must hold after each, and what must work at the end.
 * With `reached`, the moves are known to come to it, so each waits for its answer however busy the machine is;
 * a random life does not, since an answer that root keeps back never comes.
 */
async function live(
  moves: readonly Move[],
  { lane = 0, reached }: { lane?: number; reached?: keyof typeof nothing } = {},
): Promise<typeof nothing> {
  const api = apis[lane]!;
  const patience = (ms: number) => (reached ? 20_000 : ms);
  const tally = { ...nothing };
  const w = await world(api);
  const own = authenticator(origin);
  const ownKey = own.make('AAAA');
  const evils: Evil[] = [];
  /** What root learned of the person's passkey at login, and psks that leaked to it. */
  const stolen: unknown[] = [];
  const leaked: Uint8Array[] = [];
  /** Windows' secrets that did not leak, and bodies: nobody in between may see one. */
  const secrets: string[] = [];
  const sent = new Map<string, Phone>();
  const apiFrom = api.seen.length;
  let looked = 0;
  let heldBack: Sent[] = [];
  for (let i = 0; i < 2; i++) await w.phone();
  // A sid is a name root gives, so it may be the hub's own.
  const sidOf = (n: number) => ['hub-1', 'sid-1', 'sid-2', 'sid-3'][n % 4]!;
  const phone = (n: number) => w.phones[n % 2]!;

  async function issue(fresh: boolean): Promise<void> {
    await w.hub.issue(fresh);
    secrets.push(w.hub.code!.psk);
  }
  async function whole(p: Phone, by: 'link' | 'typed'): Promise<void> {
    await issue(false);
    w.pair(p, by, `sid-${by}-${p.id.slice(0, 4)}`);
    await soon(() => p.page?.asks || p.page?.admitted || p.page?.told.length, patience(600));
    await w.touch(p);
    await soon(() => p.page?.admitted, patience(600));
  }

  /** Root sends an assertion over its own channel: its own passkey's, or one it had the person sign. */
  async function assertAs(x: Extract<Move, { m: 'assert' }>): Promise<void> {
    const evil = evils.findLast((e) => e.channel.current !== null && e.heard.messages.length > 0);
    const hash = evil?.channel.current?.hash ?? random(32);
    const challenge = await w.challenge(hash);
    let credential: unknown;
    if (x.by === 'own') credential = own.get({ challenge, rpId: 'localhost' });
    else if (x.by === 'login') {
      const given = x.give === 'hash' ? hash : fromBase64url(challenge);
      credential = await w.signIn(given, sidOf(x.sid));
      stolen.push(credential);
    } else credential = stolen.at(-1);
    if (!credential || !evil) return;
    tally.rootAsserted++;
    const public_key = x.by === 'own' ? ownKey.cose : w.passkey.cose;
    await evil.channel
      .send(encodeControl({ t: 'assertion', credential, label: 'Phone', public_key }))
      .catch(() => {});
  }

  async function playBrowser(by: string, at: string): Promise<void> {
    const hubStatic = w.hub.static;
    const psk = by === 'leaked' ? leaked.at(-1) : new Uint8Array(32);
    if (!psk) return;
    const access: Access =
      by === 'known'
        ? { mode: 'known', hubStatic }
        : by === 'guess'
          ? { mode: 'typed', secret: '123456' }
          : { mode: by === 'sealed' ? 'sealed' : 'link', hubStatic, psk };
    if (w.phones.some((p) => p.sid === at && p.page)) return;
    const evil: Evil = await w.playBrowser(access, at);
    evil.tunnel = tunnelClient(evil.channel);
    evils.push(evil);
    await soon(
      () => evil.heard.messages.length > 0 || evil.heard.failed.length > 0 || evil.heard.lost.length > 0,
      patience(100),
    );
  }

  function meddle(x: Extract<Move, { m: 'next' }>): void {
    w.meddling[x.to] = (f) => {
      const late = heldBack.filter((h) => h.to === f.to);
      heldBack = heldBack.filter((h) => h.to !== f.to);
      const at = x.at % f.frame.length;
      if (x.act === 'drop') return late;
      if (x.act === 'double') return [f, f, ...late];
      if (x.act === 'renumber') return [{ ...f, ctr: f.ctr + 1 + x.at }, ...late];
      if (x.act === 'cut') return [{ ...f, frame: f.frame.subarray(0, at) }, ...late];
      if (x.act === 'swap') return [{ ...f, to: f.to === 'hub' ? 'browser' : 'hub' }, ...late];
      if (x.act === 'alter') {
        f.frame[at]! ^= 1 + (x.at % 255);
        return [f, ...late];
      }
      heldBack.push(f);
      return late;
    };
  }

  async function play(x: Move): Promise<void> {
    switch (x.m) {
      case 'issue':
        return issue(x.fresh);
      case 'pair':
        return w.pair(phone(x.who), x.by, sidOf(x.sid));
      case 'whole':
        return whole(phone(x.who), x.by);
      case 'touch':
        return w.touch(phone(x.who));
      case 'call': {
        const body = words();
        sent.set(body, phone(x.who));
        secrets.push(body);
        return w.call(phone(x.who), body);
      }
      case 'rekey':
        return phone(x.who).page?.channel.rekey();
      case 'reload':
        return w.load(phone(x.who));
      case 'rotate':
        // A browser that was away during more of them than the hub keeps keys of needs a person.
        return ++rotations > FORMER ? undefined : w.hub.rotate();
      case 'restart':
        return w.hub.restart();
      case 'next':
        return meddle(x);
      case 'replay': {
        const f = w.seen[x.n % Math.max(1, w.seen.length)];
        return f && w.send({ ...f, to: x.to, ctr: f.ctr + x.shift, sid: phone(x.who).sid || f.sid });
      }
      case 'forge': {
        const frame = concat(Uint8Array.of(x.kind), Uint8Array.from(x.body));
        return w.send({ to: x.to, sid: phone(x.who).sid || 'sid-1', frame, ctr: 1 + w.seen.length });
      }
      case 'leak': {
        // As by the insecure debug mode, or a link that was seen: from then on the passkey is all there is.
        const { code } = w.hub;
        if (!code || !w.hub.windowOpen || code.new_passkey || !w.hub.pins.hasPasskey) return;
        secrets.splice(secrets.indexOf(code.psk), 1);
        return void leaked.push(fromBase64url(code.psk));
      }
      case 'browser':
        return playBrowser(x.by, sidOf(x.sid));
      case 'hub': {
        const p = phone(x.who);
        if (p.sid) evils.push(await w.playHub(p.sid, leaked.at(-1) ?? new Uint8Array(32), '123456'));
        return;
      }
      case 'assert':
        return assertAs(x);
      case 'ask': {
        for (const e of evils)
          e.tunnel?.request({ method: 'GET', path: '/v1/icons', headers: {} }).catch(() => {});
        return;
      }
      case 'behave':
        return w.behave();
    }
  }

  function holds(): void {
    const mine = new Map(w.phones.map((p) => [p.id, p]));
    for (const b of w.hub.pins.browsers()) {
      const p = mine.get(b.id);
      assert.ok(p, 'the hub let in a browser that is not the person’s');
      assert.ok(p.gaveCode && p.touched, 'the hub let in a browser without a code and a touch');
      assert.is(b.cred_id, w.passkey.id);
    }
    assert.not(w.hub.pins.passkey(ownKey.id), 'root’s passkey is pinned');
    const pinned = w.hub.pins.passkey(w.passkey.id);
    if (pinned) {
      assert.is(
        toBase64url(new Uint8Array(pinned.public_key)),
        w.passkey.cose,
        'the passkey’s key is another',
      );
      assert.ok(
        w.phones.some((p) => p.touched),
        'a passkey is pinned that nobody used for the hub',
      );
    }
    for (const p of w.phones) {
      assert.ok(p.pins.size <= 1);
      if (had.get(p)) assert.is(p.pins.size, 1, 'a pin is gone');
      const pin = p.pins.get('hub-1');
      if (!pin) continue;
      had.set(p, true);
      assert.ok(p.gaveCode, 'a pin the person did not cause');
      assert.ok(w.hub.statics.has(toBase64url(pin.hubStatic)), 'a pin is not of the hub');
      assert.equal([pin.signPub, pin.owner_id, pin.hub_id], [w.hub.signPub, 'own-1', 'hub-1']);
      assert.ok(w.hub.pins.browser(p.id), 'a browser pinned a hub that has not let it in');
    }
    for (const e of evils) {
      for (const m of e.heard.messages) {
        const text = new TextDecoder('latin1').decode(m);
        assert.not(
          secrets.some((s) => text.includes(s)),
          'root’s own end heard a secret',
        );
        if (m[0] !== 0) continue;
        const c = decodeControl(m);
        assert.is.not(c?.t, 'admitted', 'root was let in');
        assert.is.not(c?.t, 'assertion', 'root’s hub was given an assertion');
        assert.not(c?.t === 'welcome' && c.admitted, 'root was welcomed as admitted');
      }
    }
    for (; looked < w.seen.length; looked++) {
      const text = new TextDecoder('latin1').decode(w.seen[looked]!.frame);
      for (const s of secrets) assert.not(text.includes(s), 'a secret passed in the clear');
      for (const k of secrets.filter((s) => s.length === 43)) {
        const raw = new TextDecoder('latin1').decode(fromBase64url(k));
        assert.not(text.includes(raw), 'a psk passed in the clear');
      }
      assert.not(/clientDataJSON|own-1|"t":/.test(text), 'plaintext passed');
    }
    const done = api.seen.slice(apiFrom);
    for (const d of done) {
      assert.is(sent.get(d.body)?.id, d.browser, 'the local API was asked by somebody else');
      assert.is(done.filter((x) => x.body === d.body).length, 1, 'a request was done twice');
    }
    for (const p of w.phones)
      for (const a of p.answers) {
        const body = /^200 done ([\s\S]*)$/.exec(a)?.[1];
        assert.ok(body !== undefined && sent.get(body) === p, `an answer that is not the hub’s: ${a}`);
      }
  }
  function count(): typeof nothing {
    Object.assign(tally, { ...nothing, rootAsserted: tally.rootAsserted });
    tally.pinned += w.phones.filter((p) => p.pins.size > 0).length;
    tally.calls += w.phones.reduce((n, p) => n + p.answers.length, 0);
    for (const e of evils) {
      if (e.heard.opened.length > 0) tally.rootOpen++;
      for (const m of e.heard.messages) if (decodeControl(m)?.t === 'refused') tally.rootRefused++;
    }
    return tally;
  }
  let rotations = 0;
  const had = new Map<Phone, boolean>();

  /** A root that behaves: who was in comes back without a person, and an honest pairing works. */
  async function recovers(): Promise<void> {
    w.behave();
    heldBack = [];
    for (const p of w.phones.filter((x) => x.pins.size > 0 && !x.access)) {
      p.sid = `later-${p.id.slice(0, 6)}`;
      w.load(p, { handshake: 5000 });
      await until(() => p.page!.admitted, 'a paired browser comes back by itself');
    }
    const p = await w.phone();
    await issue(false);
    w.pair(p, 'link', 'last');
    w.load(p, { handshake: 5000 });
    await until(() => p.page!.asks, 'the hub asks for the passkey');
    await w.touch(p);
    await until(() => p.page!.admitted, 'an honest pairing works');
    const body = words();
    sent.set(body, p);
    w.call(p, body);
    await until(() => p.answers.length > 0, 'and a request is answered');
    await w.settle();
    holds();
  }

  try {
    for (const x of moves) {
      await play(x);
      await w.settle();
      holds();
    }
    count();
    if (reached) await soon(() => count()[reached] > 0, patience(0));
    await recovers();
    return tally;
  } finally {
    await w.close();
  }
}

const seed = Number(process.env['INGLE_SEED'] ?? Date.now() % 2 ** 31);
/** New lives begin for so long, milliseconds: the suite is to be done within 40 s. */
const LIMIT = 25_000;

test('whatever root sends, drops, alters, replays, forges and plays, it gets nothing, and stops nothing for good', async () => {
  console.log(`FIGURE hostile_root_seed ${seed}`);
  const all = { ...nothing };
  let lives = 0;
  const end = Date.now() + LIMIT;
  let steps = 0;
  const paired: Move[] = [{ m: 'whole', who: 0, by: 'link' }];
  const open: Move[] = [
    ...paired,
    { m: 'issue', fresh: false },
    { m: 'leak' },
    { m: 'browser', by: 'leaked', sid: 1 },
  ];
  const began = fc.constantFrom<Move[]>([], paired, [{ m: 'whole', who: 0, by: 'typed' }], open, open);
  const lane = (_: unknown, n: number) => {
    let broken = false;
    return fc.assert(
      fc.asyncProperty(
        began,
        fc.array(move, { minLength: 3, maxLength: 30, size: 'max' }),
        async (first, rest) => {
          // A life that failed is lived again, shorter; none begins once the time is up.
          if (!broken && Date.now() > end) return;
          const came = await live([...first, ...rest], { lane: n }).catch((e) => {
            broken = true;
            throw e;
          });
          for (const what of Object.keys(all) as (keyof typeof all)[]) all[what] += came[what];
          lives++;
          steps += first.length + rest.length;
        },
      ),
      { seed: seed + n, numRuns: 500 },
    );
  };
  // A lane that failed does not end the file under the others.
  const ends = await Promise.allSettled(Array.from({ length: LANES }, lane));
  for (const e of ends) if (e.status === 'rejected') throw e.reason;
  console.log(`FIGURE hostile_root_lives ${lives} of ${steps} moves`);
  console.log(`FIGURE hostile_root_events ${JSON.stringify(all)}`);
  for (const [what, n] of Object.entries(all)) assert.ok(n > 0, `${what} never happened`);
});

/** What attacks and mutants of the product have shown, as it came out of the model. */
const found: [string, keyof typeof nothing, Move[]][] = [
  [
    'a login challenge that is the hash of root’s own handshake',
    'rootRefused',
    [
      { m: 'whole', who: 0, by: 'link' },
      { m: 'issue', fresh: false },
      { m: 'leak' },
      { m: 'browser', by: 'leaked', sid: 1 },
      { m: 'assert', by: 'login', give: 'hash', sid: 0 },
      { m: 'ask' },
    ],
  ],
  [
    'the same, asked for as the hub’s challenge itself, in a sid that is called like the hub',
    'rootRefused',
    [
      { m: 'whole', who: 0, by: 'link' },
      { m: 'issue', fresh: false },
      { m: 'leak' },
      { m: 'browser', by: 'leaked', sid: 1 },
      { m: 'assert', by: 'login', give: 'challenge', sid: 0 },
      { m: 'assert', by: 'own', give: 'hash', sid: 0 },
      { m: 'ask' },
    ],
  ],
  [
    'resets in the clear, of every reason, in every state',
    'pinned',
    [
      { m: 'whole', who: 0, by: 'link' },
      ...[1, 2, 3, 4].flatMap((reason): Move[] => [
        { m: 'forge', to: 'browser', kind: frameKind.reset, body: [reason], who: 0 },
        { m: 'reload', who: 0 },
        { m: 'forge', to: 'browser', kind: frameKind.reset, body: [reason], who: 0 },
      ]),
    ],
  ],
];
for (const [what, reached, moves] of found)
  test(`root gets nothing by ${what}`, async () => assert.ok((await live(moves, { reached }))[reached] > 0));

test.run();
