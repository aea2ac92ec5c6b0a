// The way of this hub to the one that leads its subnet, and what it says there of itself.
import { equal, fromBase64url, toBase64url } from '../protocol/bytes.ts';
import { IngleError } from '../protocol/errors.ts';
import type { Access, Opened } from '../protocol/noise/channel.ts';
import { followRotation } from '../protocol/noise/follow.ts';
import { fromPrivate } from '../protocol/noise/x25519.ts';
import { memberSid } from '../protocol/subnet.ts';
import type { Control } from '../protocol/wire.ts';
import { type Heart, openHeart } from '../subnet/heart.ts';
import { byPapers, isMember, type Membership } from '../subnet/membership.ts';
import { type Papers, readPapers } from '../subnet/papers.ts';
import { version } from '../system/config.ts';
import type { Core } from './core.ts';
import { showPapers } from './keys.ts';
import type { Identity } from './rows.ts';
import { openWay, type Way, type WayOptions } from './way.ts';

/** Until the leading hub has heard that this one leaves, milliseconds. */
const GOODBYE = 5000;

/** The hub that leads, and how this one gets to it. */
export interface Leading {
  via: string;
  /** Base64url of the private key that only this membership has. */
  key: string;
  access: Access;
}

/** The hub's place. @throws IngleError `conflict`: it has none */
export function mine({ place, text }: Pick<Core, 'place' | 'text'>): Identity {
  if (!place.identity) throw new IngleError('conflict', text('subnetNone'));
  return place.identity;
}

/** The membership as it is stored. */
export type MembershipRecord = ReturnType<typeof membershipRecord>;

export function membershipRecord(store: Core['store'], stored: Membership | undefined) {
  let m = stored;
  return {
    get now(): Membership | undefined {
      return m;
    },
    async keep(next: Membership | undefined): Promise<void> {
      await store.setMembership(next);
      m = next;
    },
    /** Something else has written it. */
    async reload(): Promise<void> {
      m = await store.membership();
    },
  };
}

/** The hub that the membership names. */
function leadingOf(m: Membership | undefined): Leading | undefined {
  if (!isMember(m)) return undefined;
  return { via: m.via, key: m.key, access: { mode: 'known', hubStatic: fromBase64url(m.via_static) } };
}

/**
 * What this hub shows the leading one, which has shown who it is; who is not the one that was pinned gets nothing. A place
 * that is just being taken is taken first: a membership and its handshake go with the papers that were shown in it.
 * @throws IngleError
 */
export async function papersFor(
  core: Pick<Core, 'place' | 'ring' | 'root' | 'text'>,
  record: MembershipRecord,
  papers: Papers,
  { hash, remoteStatic }: Pick<Opened, 'hash' | 'remoteStatic'>,
  to: Pick<Leading, 'via' | 'key'>,
): Promise<Papers> {
  const who = await readPapers(papers, {
    ...{ side: 'hub' as const, handshake: hash, keys: await core.root.keys(), now: core.root.time() },
  });
  if (who.hub_id !== to.via)
    throw new IngleError('forbidden', 'Another hub answers than the one that was asked.');
  const at = { bond: toBase64url(hash), via_static: toBase64url(remoteStatic), key: to.key };
  return core.place.inTurn(async () => {
    const next = byPapers(record.now, who, at, mine(core));
    if (next) await record.keep(next);
    return showPapers(core.ring.keys, mine(core), 'member', hash);
  });
}

export function openMemberWay(
  core: Core,
  record: MembershipRecord,
  on: Pick<WayOptions, 'admitted' | 'refused'>,
) {
  const { config, store, root, place, now } = core;
  let way: Way | undefined;
  let heart: Heart | undefined;
  let again: NodeJS.Timeout | undefined;
  let ended = false;

  function close(): void {
    clearTimeout(again);
    heart?.stop();
    way?.close();
    heart = way = undefined;
  }

  async function rotated(r: Control & { t: 'rotate' }): Promise<Uint8Array | undefined> {
    if (record.now?.stage !== 'in') return undefined;
    const next = await followRotation(r, record.now.via, record.now.via_sign);
    if (equal(next, fromBase64url(record.now.via_static))) return undefined;
    await record.keep({ ...record.now, via_static: toBase64url(next) });
    return next;
  }

  return {
    /** Keeps a way open until `close`, to a hub that is being joined or the one the membership names. */
    async open(joined: Leading | undefined): Promise<void> {
      close();
      const to = joined ?? leadingOf(record.now);
      const i = place.identity;
      if (!to || !i || ended) return;
      const sid = memberSid(i.hub_id);
      const key = await fromPrivate(fromBase64url(to.key));
      if (ended || way) return;
      const own: Way = openWay({
        ...{ root_url: i.root_url, sid, hubId: to.via, key, access: to.access, rotated, ...on },
        counters: { reserve: (count) => store.reserve(sid, count, now()) },
        auth: () => root.wayAuth(mine(core)),
        shown: (papers, at) => papersFor(core, record, papers, at, to),
        lost: () => heart?.stop(),
        work: core.on.work,
      });
      way = own;
      heart = openHeart({
        ask: (path, body) => own.ask('POST', path, body),
        hello: () => ({
          ...{ hub_id: mine(core).hub_id, name: config.name.slice(0, 64), version },
          caps: ['noise-ik', ...config.has.slice(0, 31)],
        }),
        unknown: () => own.restart(),
      });
    },
    close,
    /** For good. */
    end(): void {
      ended = true;
      close();
    },
    restart: () => way?.restart(),
    /** Does one thing later, unless the way is closed or opened anew before. */
    later(work: () => void, ms: number): void {
      clearTimeout(again);
      again = setTimeout(work, ms);
    },
    /** Says from now on that this hub is there. */
    beat: () => heart?.start(),
    rest: () => heart?.stop(),
    /** Asks the leading hub. @throws IngleError `unavailable` where it is not reached */
    ask(path: string, body: object): Promise<unknown> {
      if (!way) throw new IngleError('unavailable', 'The hub that leads the subnet is not reached.');
      return way.ask('POST', path, body);
    },
    /** The leading hub answers. */
    reached: (): boolean => heart?.reached ?? false,
    /** This hub leaves; settles when the leading one has heard it, or did not in time. */
    async goodbye(): Promise<void> {
      const late = new Promise((resolve) => setTimeout(resolve, GOODBYE).unref());
      await Promise.race([way?.ask('POST', '/api/subnet/deregister', {}), late]).catch(() => {});
    },
  };
}
