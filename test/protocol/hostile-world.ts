// A house under a hostile root: the hub's real end with its store, the browsers' real end with what they keep, one
// person with one passkey, and everything in between in root's hands.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fromBase64url, random, toBase64url, utf8 } from '../../firmware/protocol/bytes.ts';
import type { Access, Channel } from '../../firmware/protocol/noise/channel.ts';
import { decodeControl, encodeControl } from '../../firmware/protocol/noise/control.ts';
import { initiator } from '../../firmware/protocol/noise/initiator.ts';
import { responder } from '../../firmware/protocol/noise/responder.ts';
import { rotationMessage } from '../../firmware/protocol/noise/rotation.ts';
import { fromPrivate, generate, type KeyPair } from '../../firmware/protocol/noise/x25519.ts';
import { challengeOf } from '../../firmware/protocol/pairing/assertion.ts';
import { type PairingWindow, pairingWindow } from '../../firmware/protocol/pairing/pairing.ts';
import { openQueue } from '../../firmware/protocol/queue.ts';
import { tunnelClient } from '../../firmware/protocol/tunnel/client.ts';
import type { TunnelClient } from '../../firmware/protocol/tunnel/tunnel.ts';
import type { Control } from '../../firmware/protocol/wire.ts';
import { makeKeys, rotated, signWith } from '../../firmware/uplink/keys.ts';
import { newWindow, type StoredWindow, seenBy, workingWindow } from '../../firmware/uplink/pairing-window.ts';
import { relyingParty } from '../../firmware/uplink/passkey.ts';
import { type Session, session } from '../../firmware/uplink/peer.ts';
import { openPins } from '../../firmware/uplink/pins.ts';
import { openUplinkStore } from '../../firmware/uplink/store.ts';
import type { Pin } from '../../spa/database.ts';
import { signForHub, signInAtRoot } from '../../spa/passkey.ts';
import type { Session as Kept } from '../../spa/sid.ts';
import { type Trust, trust } from '../../spa/trust.ts';
import { authenticator } from '../lab/authenticator.ts';
import { installCredentials } from '../lab/credentials.ts';
import { counters, type Frame, listen } from './root.ts';

export const origin = 'http://localhost:8080';
const hubId = 'hub-1';
const owner_id = 'own-1';
/** Long enough for a busy machine, short enough that lost frames do not hold a run up. */
const timing = { handshake: 400, backoff: 1, backoffMax: 10, keepalive: 60_000, refill: 0.001 };

/** A frame on its way, and whose. */
export interface Sent extends Frame {
  sid: string;
}
/** What root makes of the next frame in one direction. */
export type Meddle = (f: Sent) => Sent[];

/** The local API of all runs: says back what it was sent, and notes for whom. */
export async function localApi() {
  const seen: { browser: string; body: string }[] = [];
  const server = createServer(async (q, s) => {
    let body = '';
    for await (const part of q) body += String(part);
    const principal = JSON.parse(
      Buffer.from(String(q.headers['x-ingle-principal']), 'base64url').toString(),
    ) as { browser: string };
    seen.push({ browser: principal.browser, body });
    s.end(`done ${body}`);
  });
  await new Promise<void>((ok) => server.listen(0, '127.0.0.1', ok));
  return {
    seen,
    port: (server.address() as AddressInfo).port,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** A browser of the person, as it is kept over page loads, and the page that is open in it. */
export interface Phone {
  id: string;
  key: KeyPair;
  sid: string;
  access: Kept['access'];
  pins: Map<string, Pin>;
  numbers: Map<string, ReturnType<typeof counters>>;
  page: {
    channel: Channel;
    tunnel: TunnelClient;
    trust: Trust;
    admitted: boolean;
    asks: boolean;
    /** Why it stopped, as the person is told. */
    told: string[];
  } | null;
  /** The person has given it a right code; has used the passkey for the hub in it. */
  gaveCode: boolean;
  touched: boolean;
  answers: string[];
}

/** The person and the one passkey, the same in every life; a page's WebAuthn reaches it. */
const person = authenticator(origin);
const passkey = person.make('AAAA');
installCredentials(origin, () => person);

export async function world(api: Awaited<ReturnType<typeof localApi>>) {
  const now = () => 1_000_000;
  const store = await openUplinkStore(':memory:');
  let pins = await openPins(store, now);
  let keys = makeKeys(now());
  let pairs = await Promise.all(keys.e2e.map((k) => fromPrivate(fromBase64url(k.d))));
  /** Every static key this hub ever had. */
  const statics = new Set(keys.e2e.map((k) => k.x));
  let sessions = new Map<string, Session>();
  let code: StoredWindow | null = null;
  let window: PairingWindow | null = null;
  const hubNumbers = new Map<string, ReturnType<typeof counters>>();
  const phones: Phone[] = [];
  const work: Promise<unknown>[] = [];

  // --- root: all frames pass through `send` ---
  const seen: Sent[] = [];
  const meddling: Record<Frame['to'], Meddle | null> = { hub: null, browser: null };
  /** Ends of root's own that stand in for a sid's browser, or for the hub. */
  const impostors = { browser: new Map<string, Channel>(), hub: new Map<string, Channel>() };
  let busy = 0;
  let closed = false;

  function deliver(f: Sent): void {
    // A frame under way at the end must not make the hub a session that nobody closes.
    if (closed) return;
    busy++;
    const frame = f.frame.slice();
    if (f.to === 'hub') {
      const evil = impostors.hub.get(f.sid);
      (evil ?? sessionOf(f.sid)).receive(frame, f.ctr);
      return;
    }
    const evil = impostors.browser.get(f.sid);
    if (evil) evil.receive(frame, f.ctr);
    else for (const p of phones) if (p.sid === f.sid) p.page?.channel.receive(frame, f.ctr);
  }
  function send(f: Sent): void {
    busy++;
    seen.push(f);
    const meddle = meddling[f.to];
    meddling[f.to] = null;
    const out = meddle ? meddle({ ...f, frame: f.frame.slice() }) : [f];
    setImmediate(() => out.forEach(deliver));
  }
  const numbersOf = (all: Map<string, ReturnType<typeof counters>>, sid: string) => {
    if (!all.has(sid)) all.set(sid, counters());
    return all.get(sid)!;
  };

  // --- hub ---
  function sessionOf(sid: string): Session {
    let s = sessions.get(sid);
    if (s) return s;
    s = session(sid, {
      pins,
      people: { welcome: () => undefined },
      members: {
        nodes: {
          ...{ known: () => undefined, isProven: () => false, mayJoin() {}, admit: async () => {} },
        },
        hub: { hub_id: hubId, owner_id, subnet_id: 'net' },
        papers: () => ({ certificate: '', signature: '' }),
        ...{ keys: async () => ({ keys: [] }), tell: async () => {}, now },
      },
      hub: { hub_id: hubId, owner_id, hub_name: 'Home', version: '1', sign_pub: keys.sign.x },
      party: relyingParty(origin),
      now,
      api: {
        host: '127.0.0.1',
        port: api.port,
        token: { get: () => 't', stale: () => false },
        headTimeout: 2000,
      },
      serving: async () => true,
      counters: numbersOf(hubNumbers, sid),
      keys: () => pairs,
      window: () => window && seenBy(window, () => {}),
      relay: (frame, ctr) => send({ to: 'browser', sid, frame, ctr }),
      rotation() {
        if (keys.e2e.length < 2) return undefined;
        const [e2e_pub, sign_pub] = [keys.e2e[0]!.x, keys.sign.x];
        const signature = toBase64url(signWith(keys, rotationMessage(hubId, e2e_pub, sign_pub)));
        return { t: 'rotate', e2e_pub, sign_pub, signature };
      },
      paired() {},
      event() {},
      timing,
    });
    sessions.set(sid, s);
    return s;
  }
  function install(w: StoredWindow): void {
    code = w;
    const mine = workingWindow(w, {
      keep: (k) => window === mine && work.push(store.setWindow(k)),
      proven(remoteStatic) {
        work.push(pins.prove(toBase64url(remoteStatic), w.new_passkey));
        if (window === mine) work.push(store.setWindow(undefined));
      },
    });
    window = mine;
  }
  const hub = {
    get pins() {
      return pins;
    },
    store,
    statics,
    get signPub() {
      return keys.sign.x;
    },
    get static() {
      return pairs[0]!.publicKey;
    },
    get code() {
      return code;
    },
    get windowOpen() {
      return window?.open ?? false;
    },
    async issue(newPasskey: boolean) {
      install(newWindow(String(100_000 + phones.length), 600, newPasskey, Math.floor(Date.now() / 1000)));
      await store.setWindow(code!);
    },
    async rotate() {
      keys = rotated(keys, now());
      pairs = await Promise.all(keys.e2e.map((k) => fromPrivate(fromBase64url(k.d))));
      for (const k of keys.e2e) statics.add(k.x);
      for (const s of sessions.values()) s.rotate();
    },
    /** kill -9: what was stored is all that is left. */
    async restart() {
      await Promise.all(work);
      for (const s of sessions.values()) s.close();
      sessions = new Map();
      pins = await openPins(store, now);
      const kept = await store.window();
      window = null;
      if (kept) install(kept);
    },
  };

  // --- browsers ---
  function accessOf(p: Phone): Access | null {
    const a = p.access;
    if (a?.mode === 'link')
      return { mode: 'link', hubStatic: fromBase64url(a.hubStatic), psk: fromBase64url(a.psk) };
    if (a?.mode === 'typed') return a;
    if (a?.mode === 'proven') return { mode: 'known', hubStatic: fromBase64url(a.hubStatic) };
    const pin = p.pins.get(hubId);
    return pin ? { mode: 'known', hubStatic: pin.hubStatic } : null;
  }
  /** A page load: what spa/link.ts does with a channel and what comes over it. */
  function load(p: Phone, o: { handshake?: number } = {}): void {
    leave(p);
    const access = accessOf(p);
    if (!access) return;
    const channel = initiator({
      ...{ sid: p.sid, hubId, key: p.key, access },
      counters: numbersOf(p.numbers, p.sid),
      timing: { ...timing, ...o },
      send: (frame, ctr) => send({ to: 'hub', sid: p.sid, frame, ctr }),
    });
    const t = trust({
      ...{ hubId, pin: p.pins.get(hubId), pairing: p.access !== undefined },
      proven: p.access?.mode === 'proven' ? p.access : undefined,
      keepPin: async (pin) => void p.pins.set(hubId, pin),
      keepProven: (proven) => {
        p.access = { mode: 'proven', ...proven };
      },
      paired: () => {
        p.access = undefined;
      },
    });
    const page = {
      channel,
      tunnel: tunnelClient(channel),
      trust: t,
      admitted: false,
      asks: false,
      told: [] as string[],
    };
    p.page = page;
    const turn = openQueue();
    channel.on('open', (at) => {
      void turn.add(() => t.opened(at));
    });
    channel.on('message', (m) => {
      const c = decodeControl(m);
      if (c) void turn.add(() => heard(c));
    });
    async function heard(c: Control): Promise<void> {
      const said = await t.control(c);
      busy++;
      if (said?.t === 'welcome') Object.assign(page, { admitted: said.admitted, asks: said.asks });
      else if (said?.t === 'admitted') Object.assign(page, { admitted: true, asks: false });
      else if (said?.t === 'rekey') channel.rekey(said.hubStatic);
      else if (said?.t === 'refused') page.told.push(said.error.code);
      else if (said?.t === 'alarm') page.told.push(said.reason);
    }
    channel.on('lost', (why) => {
      page.admitted = false;
      if (why === 'unknown_browser') page.told.push(why);
    });
    channel.on('alarm', (a) => page.told.push(a));
    channel.on('failed', (e) => page.told.push(e.code));
  }
  function leave(p: Phone): void {
    p.page?.tunnel.close();
    p.page?.channel.close();
    p.page = null;
  }

  const w = {
    hub,
    passkey,
    phones,
    seen,
    impostors,
    meddling,
    send: deliver,
    load,
    async phone(): Promise<Phone> {
      const key = await generate();
      const p: Phone = {
        ...{ id: toBase64url(key.publicKey), key, sid: '', access: undefined, page: null },
        ...{ pins: new Map(), numbers: new Map(), gaveCode: false, touched: false, answers: [] },
      };
      phones.push(p);
      return p;
    },
    /** The person opens the present link in `p`, or types its code; root gives the sid. */
    pair(p: Phone, by: 'link' | 'typed' | 'wrong', sid: string): void {
      if (!code) return;
      if (phones.some((x) => x !== p && x.sid === sid)) return;
      const digits = code.secret.replace(/\D/g, '');
      p.sid = sid;
      impostors.browser.get(sid)?.close();
      impostors.browser.delete(sid);
      if (by === 'link') p.access = { mode: 'link', hubStatic: toBase64url(hub.static), psk: code.psk };
      else
        p.access = {
          mode: 'typed',
          secret: by === 'typed' ? digits : digits.replace(/\d/g, (d) => String(9 - +d)),
        };
      if (by !== 'wrong') p.gaveCode = true;
      load(p);
    },
    /** The person touches, if the hub asks: over the handshake this browser has. */
    async touch(p: Phone): Promise<void> {
      const at = p.page?.channel.current;
      if (!p.page?.asks || !at) return;
      const credential = await signForHub(hubId, at.hash);
      p.touched = true;
      p.page.trust.signed(credential.id);
      const m: Control = { t: 'assertion', credential, label: 'Phone', public_key: passkey.cose };
      await p.page.channel.send(encodeControl(m)).catch(() => {});
    },
    /** The person signs in at root, which gives the challenge and the sid, and keeps what comes. */
    signIn: (challenge: Uint8Array, sid: string): Promise<unknown> =>
      signInAtRoot({ challenge: toBase64url(challenge) }, sid),
    /** Asks the local API; a lost channel takes the request with it. */
    call(p: Phone, body: string): void {
      const { page } = p;
      if (page?.channel.state !== 'open' || !page.admitted) return;
      page.tunnel
        .request({ method: 'POST', path: '/v1/do', headers: {}, body: utf8(body) })
        .then(async (r) => void p.answers.push(`${r.status} ${new TextDecoder().decode(await r.body())}`))
        .catch(() => {});
    },
    /** A browser of root's own, in the place of `sid`. */
    async playBrowser(access: Access, sid: string) {
      const channel = initiator({
        ...{ sid, hubId, key: await generate(), access, counters: counters(), timing },
        send: (frame, ctr) => void setImmediate(() => closed || sessionOf(sid).receive(frame, ctr)),
      });
      impostors.browser.get(sid)?.close();
      impostors.browser.set(sid, channel);
      return { channel, heard: listen(channel) };
    },
    /** A hub of root's own, for the browser of `sid`. */
    async playHub(sid: string, psk: Uint8Array, secret: string) {
      const evil = await generate();
      const open = pairingWindow({ psk, secret, expiresAt: Infinity });
      const channel = responder({
        ...{ sid, hubId, counters: counters(), timing, keys: () => [evil] },
        policy: { knows: () => true, window: () => open },
        send: (frame, ctr) => void setImmediate(() => deliver({ to: 'browser', sid, frame, ctr })),
      });
      impostors.hub.get(sid)?.close();
      impostors.hub.set(sid, channel);
      return { channel, heard: listen(channel) };
    },
    /** Root stops playing and meddling. */
    behave(): void {
      for (const all of Object.values(impostors)) {
        for (const c of all.values()) c.close();
        all.clear();
      }
      meddling.hub = meddling.browser = null;
    },
    /** What a passkey would sign for the hub over `hash`. */
    challenge: (hash: Uint8Array) => challengeOf({ purpose: 'hub', context: hubId, bytes: hash }),
    /** Until nothing has moved for a moment, or for long enough. */
    async settle(most = 30): Promise<void> {
      for (let i = 0, still = 0; i < most && still < 5; i++) {
        const before = busy;
        await new Promise((r) => setTimeout(r, 1));
        still = before === busy ? still + 1 : 0;
      }
      await Promise.all(work.splice(0));
    },
    async close(): Promise<void> {
      closed = true;
      w.behave();
      for (const p of phones) leave(p);
      for (const s of sessions.values()) s.close();
      await Promise.all(work);
      await store.close();
    },
  };
  return w;
}

/** A secret nobody but the hub and the browser may see, unlike any other. */
export const words = (): string => `words of the owner ${toBase64url(random(12))}`;
