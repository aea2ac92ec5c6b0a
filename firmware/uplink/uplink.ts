// The hub's link to root as one object: enrolment, the socket, pairing windows, who is let in. No D-Bus here.
import { join } from 'node:path';
import { random, toBase64url } from '../protocol/bytes.ts';
import { IngleError } from '../protocol/errors.ts';
import { ELEVATION_TTL } from '../protocol/limits.ts';
import { insecureFeature } from '../protocol/noise/seal.ts';
import type { PairingWindow } from '../protocol/pairing/pairing.ts';
import { linkTicket, MAX_NAMED, passkeyName } from '../protocol/pairing/ticket.ts';
import { openQueue } from '../protocol/queue.ts';
import { type Config, dataOf, version } from '../system/config.ts';
import type { Log } from '../system/log.ts';
import { translator } from '../text/i18n.ts';
import { uplinkTexts } from '../text/uplink.ts';
import { shownLabel } from './admission.ts';
import { calm } from './calm.ts';
import { changes, enrolment } from './enrolment.ts';
import { fairFrames } from './fair.ts';
import { keyPath } from './keyfile.ts';
import { openKeyring } from './keyring.ts';
import { newWindow, pairingLink, type StoredWindow, seenBy, workingWindow } from './pairing-window.ts';
import { relyingParty } from './passkey.ts';
import { type Session, session } from './peer.ts';
import { openPins } from './pins.ts';
import { renewalDue } from './proof.ts';
import { rootClient } from './root.ts';
import { type Link, link } from './root-socket.ts';
import { type SealedSecrets, sealedSecrets } from './sealed.ts';
import { apiServing } from './serving.ts';
import { bounds, sessions } from './sessions.ts';
import { type Identity, openUplinkStore } from './store.ts';
import { serviceToken } from './token.ts';

const HOUR = 3600;
/** Counters of web sessions silent for so long are forgotten, seconds; root forgets them after 12 hours. */
const COUNTERS_KEPT = 30 * 24 * HOUR;
/** A refused hub tries to enrol its key anew at most so often, seconds. */
const REENROL_PAUSE = 60;

export interface UplinkEvents {
  connected(up: boolean): void;
  paired(m: { sid: string; browser: string; label: string }): void;
  pairingFailed(m: { sid: string; reason: string; left: number }): void;
}

/** An open window with the link to it, and the page where its code can be typed. */
export type Issued = StoredWindow & {
  link: string;
  verify_uri: string;
  /** Somebody took the code before, and no browser was paired with it. */
  taken: boolean;
};

/** Opens keys and store; `start` connects. */
export async function openUplink(o: { config: Config; log: Log; on: UplinkEvents; now?: () => number }) {
  const { config, on } = o;
  // What root and browsers cause goes through `outside`: they could cause it without end.
  const { log } = o;
  const outside = calm(log, Date.now);
  const now = o.now ?? (() => Math.floor(Date.now() / 1000));
  const text = translator(uplinkTexts, config.language.startsWith('ru') ? 'ru' : 'en');
  const insecure = config.insecure_sealed_secret;
  if (insecure) log.warn(text('insecure'));
  const folder = dataOf(config, 'uplink');
  const ring = await openKeyring(folder, now());
  const store = await openUplinkStore(join(folder, 'uplink.sqlite'));
  const pins = await openPins(store, now);
  const root = rootClient({ root_url: config.root_url, keys: () => ring.keys, now, text });
  const serving = apiServing(config.api);
  const token = serviceToken(join(dataOf(config, 'api'), 'token'));
  let lastError = '';
  let reenrolledAt = 0;
  let window: PairingWindow | null = null;
  let live: { link: Link; all: ReturnType<typeof sessions<Session>> } | undefined;
  const place = enrolment({
    ...{ config, store, root, text, log, identity: await store.identity() },
    entered(i, before) {
      if (live && before?.root_url === i.root_url) live.link.reconnect();
      else connect(i);
    },
    async leave(write) {
      const was = place.identity;
      disconnect();
      window = null;
      await pins.forgetAll(write).catch((e) => {
        if (was) connect(was);
        throw e;
      });
    },
  });

  const kept = (work: Promise<unknown>) =>
    void work.catch((e) => log.error('the store did not take a change', { error: e }));

  function install(stored: StoredWindow): void {
    const mine = workingWindow(stored, {
      keep: (w) => window === mine && kept(store.setWindow(w)),
      proven(remoteStatic, w) {
        kept(pins.prove(toBase64url(remoteStatic), w.new_passkey));
        if (window === mine) kept(store.setWindow(undefined));
      },
    });
    window = mine;
  }
  const stored = await store.window();
  if (stored) install(stored);

  function failed(sid: string, reason: string, left: number): void {
    outside.warn('pairing failed', { sid, reason, left });
    on.pairingFailed({ sid, reason, left });
  }

  /** The secrets of the insecure debug mode; undefined while it is off, and then nothing anywhere takes one. */
  function sealedFor(i: Identity): SealedSecrets | undefined {
    if (!insecure) return undefined;
    return sealedSecrets({
      hubId: i.hub_id,
      hubStatic: () => ring.pairs[0]!.publicKey,
      window: () => window,
      now,
      used: (what, sid) => log.warn(text(what === 'sealed' ? 'insecureSealed' : 'insecureProven'), { sid }),
    });
  }

  function newSession(
    sid: string,
    i: Identity,
    relay: Link['relay'],
    sealed: SealedSecrets | undefined,
  ): Session {
    return session(sid, {
      pins,
      hub: {
        ...{ hub_id: i.hub_id, owner_id: i.owner_id, hub_name: config.name },
        ...{ version, sign_pub: ring.keys.sign.x },
      },
      party: relyingParty(i.app_url),
      now,
      api: { ...config.api, token },
      serving,
      counters: { reserve: (count) => store.reserve(sid, count, now()) },
      keys: () => ring.pairs,
      window: () => window && seenBy(window, (left, why) => failed(sid, why, left)),
      ...(sealed
        ? {
            sealed() {
              const w = sealed.windowOf(sid);
              return w && seenBy(w, (left, why) => failed(sid, why, left));
            },
          }
        : {}),
      relay: (frame, ctr) => relay({ sid, frame, ctr }),
      rotation: () => ring.statement(i.hub_id),
      paired(b) {
        log.notice('paired', { sid, browser: b.id, label: b.label });
        on.paired({ sid, browser: b.id, label: b.label });
      },
      event(e) {
        if (e.t === 'refused') failed(sid, e.error.code, e.left);
        else if (e.t === 'alarm') {
          lastError = text(e.alarm, { root: config.root_url });
          outside.warn(lastError, { sid, alarm: e.alarm });
        } else if (e.t === 'open') outside.info('channel open', { sid, browser: e.browser, mode: e.mode });
        else outside.info('channel lost', { sid, why: e.why });
      },
    });
  }

  let closed = false;
  function connect(i: Identity): void {
    // What was asked of root before the end may be answered after it.
    if (closed) return;
    disconnect();
    const sealed = sealedFor(i);
    const all = sessions((sid) => newSession(sid, i, (m) => l.relay(m), sealed), bounds, Date.now);
    const l = link({
      ...{ root_url: i.root_url, hub_id: i.hub_id, subnet_id: i.subnet_id, log: outside },
      caps: {
        version,
        e2e: ['noise-ik'],
        ui: ['ui/v0', 'usdl/0.2'],
        features: insecure ? [insecureFeature] : [],
      },
      auth: () => root.auth(place.identity ?? i),
      refused(e) {
        if (root.learnTime(e)) return;
        place.refused();
        lastError = root.explained(e).message;
        outside.warn(lastError);
        if (now() - reenrolledAt >= REENROL_PAUSE) void reenrol();
      },
      connected(up) {
        outside.notice(up ? 'connected to root' : 'root is away', { root: i.root_url, hub_id: i.hub_id });
        lastError = up ? '' : text('rootAway', { root: i.root_url });
        if (up) {
          place.accepted();
          void upkeep();
        } else all.unrouted();
        on.connected(up);
      },
      async request(m) {
        if (m.owner_id !== i.owner_id || m.subnet_id !== i.subnet_id) {
          outside.warn('root asks for a foreign owner; refused', { sid: m.sid });
          return null;
        }
        if (!all.accept(m.sid)) return null;
        const sealed_secret = await sealed?.give(m.sid, m.browser_pub);
        return sealed_secret === undefined ? {} : { sealed_secret };
      },
      frame: fairFrames((m) => void all.receive(m.sid, m.frame, m.ctr)),
      e2ePub: () => ring.keys.e2e[0]!.x,
    });
    live = { link: l, all };
  }
  function disconnect(): void {
    live?.all.close();
    live?.link.close();
    live = undefined;
  }

  /** The certificate was refused: perhaps it ran out while the hub was off. The same key gets the same place. */
  async function reenrol(): Promise<void> {
    reenrolledAt = now();
    await place.enrol().catch((e) => outside.warn('could not enrol again', { error: e }));
  }

  /** Renewal, telling root of a new key, forgetting old counters: after each connect and every hour. */
  async function upkeep(): Promise<void> {
    try {
      live?.all.sweep();
      await store.dropCounters(now() - COUNTERS_KEPT);
      if (!place.identity || !live?.link.connected) return;
      if (ring.keys.e2e[0]!.untold) await tellRoot();
      if (renewalDue(place.identity, now())) {
        const fresh = await place.refresh(root.renew);
        outside.notice('certificate renewed', { expires_at: fresh?.expires_at });
      }
    } catch (e) {
      outside.warn('upkeep did not finish; it is tried again', { error: e });
    }
  }
  async function tellRoot(): Promise<void> {
    await place.refresh(root.rotate);
    await ring.told();
  }
  const hourly = setInterval(() => void upkeep(), HOUR * 1000);
  const sweeping = setInterval(() => live?.all.sweep(), 60_000);

  async function issueNow(newPasskey: boolean): Promise<Issued> {
    const i = await place.place();
    const psk = random(32);
    const known = pins.passkeys();
    const d = await root.deviceCode(i, {
      ...(newPasskey ? { scope: 'new_passkey' as const } : {}),
      ...(known.length <= MAX_NAMED
        ? { passkeys: await Promise.all(known.map((p) => passkeyName(p.cred_id))) }
        : {}),
      ticket: await linkTicket(psk),
    });
    // The code is for the place it was asked for; another may have been adopted meanwhile.
    if (!place.identity || changes(i, place.identity).length > 0)
      throw new IngleError('conflict', text('offerChanged', { root: config.root_url }));
    const w = newWindow(d.device_code, d.expires_in, newPasskey, now(), psk);
    const taken = d.taken_ago !== undefined && !pairedSince(now() - d.taken_ago);
    if (taken) {
      lastError = text('codeTaken');
      log.warn(lastError);
    }
    install(w);
    await store.setWindow(w);
    log.info('pairing window opened', { expires_at: w.expires_at, new_passkey: newPasskey });
    return { ...w, link: pairingLink(i.app_url, w, ring.keys.e2e[0]!.x), verify_uri: `${i.app_url}/`, taken };
  }
  /** Whether a code taken then (Unix seconds) led to a browser that proved itself to the hub. */
  function pairedSince(then: number): boolean {
    return pins.browsers().some((b) => Math.max(b.paired_at, b.elevated_until - ELEVATION_TTL) >= then - 2);
  }
  const issuing = new Map<boolean, Promise<Issued>>();
  const issues = openQueue();
  /**
   * A new window takes the place of the one before, so one is made at a time; who asks for the same meanwhile gets that
   * one. Else the link of who asked last could be of the window that was made first.
   */
  function issueCode(newPasskey: boolean): Promise<Issued> {
    const same = issuing.get(newPasskey);
    if (same) return same;
    const mine = issues.add(() => issueNow(newPasskey)).finally(() => issuing.delete(newPasskey));
    issuing.set(newPasskey, mine);
    return mine;
  }

  return {
    /** Connects, when the hub is enrolled with the configured root. */
    start(): void {
      const { identity, trouble } = place;
      if (identity && trouble === '') connect(identity);
      else if (identity) log.warn(trouble);
    },
    enrol: place.enrol,
    offered: place.offered,
    adopt: place.adopt,
    keyFile: keyPath(folder),
    issueCode,
    status: () => ({
      connected: live?.link.connected ?? false,
      identity: place.identity,
      browsers: pins.browsers().length,
      channels: live?.all.openCount() ?? 0,
      pending: live?.all.pendingCount() ?? 0,
      insecure,
      last_error: place.trouble || lastError,
    }),
    browsers: () => pins.browsers(),
    /** @throws IngleError `not_found` */
    async forget(id: string): Promise<void> {
      if (!(await pins.forget(id))) throw new IngleError('not_found', 'There is no such browser.');
      live?.all.shut(id);
      log.notice('browser forgotten', { browser: id });
    },
    /** @throws IngleError `not_found`, `invalid_request` when nothing of the label can be shown. */
    async rename(id: string, given: string): Promise<void> {
      const label = shownLabel(given);
      if (label === '')
        throw new IngleError('invalid_request', 'A browser has a name.', { pointer: '/label' });
      if (!(await pins.rename(id, label))) throw new IngleError('not_found', 'There is no such browser.');
    },
    /** A new static key; open channels are told at once, root now or when it is back. */
    async rotateKey(): Promise<void> {
      await ring.rotate(now());
      log.notice('static key rotated');
      // Root binds the routes anew, so every browser shakes hands and hears of the key with its welcome. Without root
      // the open channels are told directly.
      const toldRoot =
        place.identity && live?.link.connected
          ? await tellRoot().then(
              () => true,
              () => false,
            )
          : false;
      if (!toldRoot) for (const s of live?.all.all() ?? []) s.rotate();
    },
    async close(): Promise<void> {
      closed = true;
      clearInterval(hourly);
      clearInterval(sweeping);
      disconnect();
      await store.close();
    },
  };
}

export type Uplink = Awaited<ReturnType<typeof openUplink>>;
