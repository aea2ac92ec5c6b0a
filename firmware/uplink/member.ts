// This hub as a member: it joins the subnet of another by a code, says that it is there, and leaves or is let go.
import { equal, fromBase64url, random, toBase64url } from '../protocol/bytes.ts';
import { IngleError, toIngleError } from '../protocol/errors.ts';
import type { Access, Opened } from '../protocol/noise/channel.ts';
import { followRotation } from '../protocol/noise/follow.ts';
import { fromPrivate } from '../protocol/noise/x25519.ts';
import { linkTicket } from '../protocol/pairing/ticket.ts';
import { memberSid } from '../protocol/subnet.ts';
import type { Control } from '../protocol/wire.ts';
import { type Heart, openHeart } from '../subnet/heart.ts';
import { readInvite } from '../subnet/invite.ts';
import { isMember, type Membership, verdict } from '../subnet/membership.ts';
import { type Papers, readPapers } from '../subnet/papers.ts';
import { version } from '../system/config.ts';
import type { Core } from './core.ts';
import { showPapers } from './keys.ts';
import type { Identity } from './rows.ts';
import { openWay, type Way } from './way.ts';

/** A join is waited for so long; what was begun by then goes on, milliseconds. */
const JOIN = 60_000;
/** Until the leading hub has heard that this one leaves, milliseconds. */
const GOODBYE = 5000;
/** What is over by itself, and when it is tried again, milliseconds. */
const passing = new Set(['unavailable', 'rate_limited', 'timeout']);
const LATER = 5000;
/** After a no of the leading hub it is asked again, milliseconds. */
const REFUSED = 30_000;

/** A join under way: how it gets to the hub whose code it is. */
interface Joining {
  via: string;
  /** Base64url of the private key that only this membership has. */
  key: string;
  access: Access;
  settle(e?: IngleError): void;
}

export type Member = ReturnType<typeof openMember>;

/** @param membership as it is stored */
export function openMember(core: Core, membership: Membership | undefined) {
  const { config, store, root, place, ring, nodes, pins, people, text, log, outside, now } = core;
  let m = membership;
  let joining: Joining | undefined;
  let way: Way | undefined;
  let heart: Heart | undefined;
  let again: NodeJS.Timeout | undefined;
  let closed = false;
  let asked = false;

  async function keep(next: Membership | undefined): Promise<void> {
    await store.setMembership(next);
    m = next;
  }
  function stop(): void {
    clearTimeout(again);
    heart?.stop();
    way?.close();
    heart = way = undefined;
  }
  function mine(): Identity {
    if (!place.identity) throw new IngleError('conflict', text('subnetNone'));
    return place.identity;
  }

  async function start(): Promise<void> {
    stop();
    const to: Omit<Joining, 'settle'> | undefined =
      // Root has not said yet whose code it is.
      (joining?.via ? joining : undefined) ??
      (isMember(m)
        ? { via: m.via, key: m.key, access: { mode: 'known', hubStatic: fromBase64url(m.via_static) } }
        : undefined);
    const i = place.identity;
    if (!to || !i || closed) return;
    const sid = memberSid(i.hub_id);
    const key = await fromPrivate(fromBase64url(to.key));
    if (closed || way) return;
    const own: Way = openWay({
      ...{ root_url: i.root_url, sid, hubId: to.via, key, access: to.access },
      counters: { reserve: (count) => store.reserve(sid, count, now()) },
      auth: () => root.wayAuth(mine()),
      shown: (papers, at) => shown(papers, at, to),
      admitted: () => letIn(),
      refused: (e) => void refused(e),
      lost: () => heart?.stop(),
      rotated,
    });
    way = own;
    heart = openHeart({
      ask: (path, body) => own.ask('POST', path, body),
      hello: () => ({ hub_id: mine().hub_id, name: config.name.slice(0, 64), version, caps: ['noise-ik'] }),
      unknown: () => own.restart(),
    });
  }

  /** The leading hub shows who it is; who is not the one that was pinned gets nothing. @throws IngleError */
  async function shown(papers: Papers, at: Opened, to: Omit<Joining, 'settle'>): Promise<Papers> {
    const i = mine();
    const who = await readPapers(papers, {
      ...{ side: 'hub' as const, handshake: at.hash, keys: await root.keys(), now: root.time() },
    });
    if (who.hub_id !== to.via)
      throw new IngleError('forbidden', 'Another hub answers than the one that was asked.');
    const { owner_id, subnet_id } = who;
    const bond = toBase64url(at.hash);
    if (!isMember(m)) {
      await keep({
        ...{ stage: 'joining', owner_id, subnet_id, via: who.hub_id },
        ...{ via_static: toBase64url(at.remoteStatic), via_sign: who.sign_pub, bond, key: to.key },
        ...{ alone_owner: i.owner_id, alone_subnet: i.subnet_id },
      });
    } else if (who.sign_pub !== m.via_sign || owner_id !== m.owner_id || subnet_id !== m.subnet_id)
      throw new IngleError('forbidden', 'The hub that leads the subnet shows other papers than before.');
    else if (m.stage === 'joining' && m.bond !== bond) await keep({ ...m, bond });
    return showPapers(ring.keys, i, 'member', at.hash);
  }

  async function admitted(): Promise<void> {
    if (m?.stage === 'joining') {
      // Root has heard of it by now, and offers the place that the leading hub has shown.
      place.refused();
      try {
        await place.enrol();
      } catch (e) {
        if (!passing.has((e as IngleError).code)) throw e;
        clearTimeout(again);
        again = setTimeout(letIn, LATER);
      }
    } else if (m?.stage === 'in') heart?.start();
  }

  const letIn = () => void admitted().catch((e) => refused(toIngleError(e)));

  async function refused(e: IngleError): Promise<void> {
    outside.warn('the hub that leads the subnet does not let this one in', { error: e });
    heart?.stop();
    if (joining && m?.stage !== 'in') {
      const { settle } = joining;
      joining = undefined;
      stop();
      if (m?.stage === 'joining') await keep(undefined).catch((cause) => log.error('not stored', { cause }));
      settle(new IngleError('pairing_failed', text('subnetRefused', { why: e.message })));
      return;
    }
    clearTimeout(again);
    again = setTimeout(() => way?.restart(), REFUSED);
  }

  async function rotated(r: Control & { t: 'rotate' }): Promise<Uint8Array | undefined> {
    if (m?.stage !== 'in') return undefined;
    const next = await followRotation(r, m.via, m.via_sign);
    if (equal(next, fromBase64url(m.via_static))) return undefined;
    await keep({ ...m, via_static: toBase64url(next) });
    return next;
  }

  /** Root gives this hub up as a member, and its own place back. @throws IngleError */
  async function part(): Promise<void> {
    const left = m;
    if (left?.stage !== 'leaving') return;
    await root.part(mine(), {}).catch((e: IngleError) => {
      if (e.code !== 'not_found') throw e;
    });
    place.refused();
    await place.enrol();
    // It had never come as far as another place.
    if (m === left) await keep({ ...left, stage: 'left' });
    stop();
  }

  return {
    get membership(): Membership | undefined {
      return m;
    },
    /** The leading hub answers. */
    reached: (): boolean => heart?.reached ?? false,

    /** What becomes of the membership at a place root offers; undefined: a person decides. */
    willing(offered: Identity, note: string): { membership: Membership } | undefined {
      const next = verdict(m, offered.hub_id, offered, note);
      if (next?.stage === 'removed') log.warn(text('subnetRemoved'));
      return next && { membership: next };
    },
    /** The hub has another place now. */
    async moved(): Promise<void> {
      stop();
      m = await store.membership();
      if (m?.stage === 'in') {
        joining?.settle();
        joining = undefined;
      }
    },
    /** The hub has a place, or a new certificate. */
    enter: () => void start().catch((e) => log.error('no way to the subnet', { error: e as Error })),
    /** Root is there again: what was begun is finished. */
    async came(): Promise<void> {
      // Asked once: what the hub was before this start may have been let in, and its answer lost.
      if (m?.stage === 'joining' && !joining && !asked) {
        asked = true;
        await admitted();
      }
      await part();
    },

    /**
     * Joins the subnet of the hub whose invitation this is.
     * @param confirmed a person knows what is lost
     * @throws IngleError `invalid_request`, `invalid_device_code`, `conflict` with `details.loses`, `pairing_failed`, `timeout`
     */
    async join(invite: string, confirmed: boolean): Promise<Membership> {
      const { code, access } = readInvite(invite);
      if (isMember(m) || joining) throw new IngleError('conflict', text('subnetBusy'));
      if (nodes.leads()) throw new IngleError('conflict', text('subnetLeads'));
      const loses = { browsers: pins.browsers().length, people: people.all().length };
      if (!confirmed && loses.browsers + loses.people > 0)
        throw new IngleError('conflict', text('subnetLoses', loses), { loses });
      let late: NodeJS.Timeout | undefined;
      const over = new Promise<void>((resolve, reject) => {
        const settle = (e?: IngleError) => (e ? reject(e) : resolve());
        joining = { via: '', key: toBase64url(random(32)), access, settle };
        late = setTimeout(() => settle(new IngleError('timeout', text('subnetNoAnswer'))), JOIN);
      });
      over.catch(() => {});
      const own = joining!;
      try {
        const i = await place.enrol();
        own.via = await root.join(i, code, access.mode === 'link' ? await linkTicket(access.psk) : undefined);
        await start();
        await over;
        return m!;
      } finally {
        clearTimeout(late);
        if (joining === own) {
          joining = undefined;
          // What the other hub has been shown goes on by itself: it may have let this one in.
          if (!isMember(m)) stop();
        }
      }
    },

    /** Leaves the subnet, whether or not the leading hub hears it. @throws IngleError `not_found`, `unavailable`: root */
    async leave(): Promise<void> {
      if (!isMember(m)) throw new IngleError('not_found', text('subnetNone'));
      if (m.stage === 'in') {
        const late = new Promise((resolve) => setTimeout(resolve, GOODBYE).unref());
        await Promise.race([way?.ask('POST', '/api/subnet/deregister', {}), late]).catch(() => {});
      }
      if (m.stage !== 'leaving') await keep({ ...m, stage: 'leaving' });
      stop();
      await part();
    },
    stop(): void {
      closed = true;
      stop();
    },
  };
}
