// This hub as a member: it joins the subnet of another by a code, says that it is there, and leaves or is let go.
import { random, toBase64url } from '../protocol/bytes.ts';
import { IngleError, toIngleError } from '../protocol/errors.ts';
import type { Access } from '../protocol/noise/channel.ts';
import { linkTicket } from '../protocol/pairing/ticket.ts';
import { readInvite } from '../subnet/invite.ts';
import { isMember, type Membership, same, verdict } from '../subnet/membership.ts';
import type { Core } from './core.ts';
import { type Leading, type MembershipRecord, membershipRecord, mine, openMemberWay } from './member-way.ts';
import type { Identity } from './rows.ts';

/** A join is waited for so long; what was begun by then goes on, milliseconds. */
const JOIN = 60_000;
/** What is over by itself, and when it is tried again, milliseconds. */
const passing = new Set(['unavailable', 'rate_limited', 'timeout']);
const LATER = 5000;
/** After a no of the leading hub it is asked again, milliseconds. */
const REFUSED = 30_000;

/** A join under way. */
interface Joining extends Leading {
  settle(e?: IngleError): void;
  /** Settles as it was settled, or with `late` when that was not in time. */
  over: Promise<void>;
}

/** @param access how to get to the hub whose code it is; root has not said yet which that is */
function beginJoin(access: Access, late: () => IngleError): Joining {
  let settle: Joining['settle'] = () => {};
  const over = new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => reject(late()), JOIN);
    settle = (e) => {
      clearTimeout(timer);
      if (e) reject(e);
      else resolve();
    };
  });
  over.catch(() => {});
  return { via: '', key: toBase64url(random(32)), access, settle, over };
}

/** @throws IngleError `conflict` for a hub that leads, and while nobody knows what is lost: with `details.loses` */
function mayJoin({ nodes, pins, people, text }: Core, confirmed: boolean): void {
  if (nodes.leads()) throw new IngleError('conflict', text('subnetLeads'));
  const loses = { browsers: pins.browsers().length, people: people.all().length };
  if (!confirmed && loses.browsers + loses.people > 0)
    throw new IngleError('conflict', text('subnetLoses', loses), { loses });
}

/** Where the hub has the place that it was shown, it is a member, whatever was written of it last. */
async function settlePlace({ place }: Core, record: MembershipRecord): Promise<void> {
  await place.inTurn(async () => {
    const { now } = record;
    if (now?.stage === 'joining' && place.identity && same(now, place.identity))
      await record.keep({ ...now, stage: 'in' });
  });
}

/** Takes the place that the leading hub has shown. @returns false when that is to be tried again @throws IngleError */
async function takesPlace({ place }: Core): Promise<boolean> {
  // Root has heard of it by now, and offers it.
  place.refused();
  try {
    await place.enrol();
    return true;
  } catch (e) {
    if (!passing.has((e as IngleError).code)) throw e;
    return false;
  }
}

/**
 * Reports to the leading hub what this one did for it. @returns who that is, and what there is to do
 * @throws IngleError `conflict`: this hub is no member, `unavailable`
 */
async function errands(
  { text }: Core,
  record: MembershipRecord,
  way: ReturnType<typeof openMemberWay>,
  report: object,
): Promise<{ via: string; answer: unknown }> {
  if (record.now?.stage !== 'in') throw new IngleError('conflict', text('subnetNone'));
  const { via } = record.now;
  return { via, answer: await way.ask('/api/subnet/runs', report) };
}

/** Root gives this hub up, and then its own place back. @throws IngleError */
async function partNow(
  core: Core,
  record: MembershipRecord,
  way: ReturnType<typeof openMemberWay>,
): Promise<void> {
  const { root, place } = core;
  const left = record.now;
  if (left?.stage !== 'leaving') return;
  await root.part(mine(core), {}).catch((e: IngleError) => {
    if (e.code !== 'not_found') throw e;
  });
  place.refused();
  await place.enrol();
  // It had never come as far as another place.
  if (record.now === left) await record.keep({ ...left, stage: 'left' });
  way.close();
}

export type Member = ReturnType<typeof openMember>;

/** @param membership as it is stored */
export function openMember(core: Core, membership: Membership | undefined) {
  const { store, root, place, text, log, outside } = core;
  const record = membershipRecord(store, membership);
  let joining: Joining | undefined;
  let asked = false;
  let parting: Promise<void> | undefined;
  const way = openMemberWay(core, record, { admitted: () => letIn(), refused: (e) => void refused(e) });

  // While it has no `via`, root has not said yet whose code it is.
  const start = () => way.open(joining?.via ? joining : undefined);

  async function admitted(): Promise<void> {
    await settlePlace(core, record);
    if (record.now?.stage === 'joining') {
      if (!(await takesPlace(core))) way.later(letIn, LATER);
    } else if (record.now?.stage === 'in') {
      joining?.settle();
      joining = undefined;
      way.beat();
    }
  }

  const letIn = () => void admitted().catch((e) => refused(toIngleError(e)));

  async function refused(e: IngleError): Promise<void> {
    outside.warn('the hub that leads the subnet does not let this one in', { error: e });
    way.rest();
    if (joining && record.now?.stage !== 'in') {
      const { settle } = joining;
      joining = undefined;
      way.close();
      await core.place
        .inTurn(async () => record.now?.stage === 'joining' && record.keep(undefined))
        .catch((cause) => log.error('not stored', { cause }));
      settle(new IngleError('pairing_failed', text('subnetRefused', { why: e.message })));
      return;
    }
    way.later(way.restart, REFUSED);
  }

  /**
   * Root gives this hub up as a member, and its own place back. As it does, it has the hub come back, which would ask for
   * the same: asked twice, the second time could undo what was joined meanwhile.
   * @throws IngleError
   */
  function part(): Promise<void> {
    parting ??= partNow(core, record, way).finally(() => {
      parting = undefined;
    });
    return parting;
  }

  return {
    get membership(): Membership | undefined {
      return record.now;
    },
    reached: way.reached,

    /** What becomes of the membership at a place root offers; undefined: a person decides. */
    willing(offered: Identity, note: string): { membership: Membership } | undefined {
      const next = verdict(record.now, offered.hub_id, offered, note);
      if (next?.stage === 'removed') log.warn(text('subnetRemoved'));
      return next && { membership: next };
    },
    /** The hub has another place now. */
    async moved(): Promise<void> {
      way.close();
      await record.reload();
      // What was begun for the hub that led is over.
      if (record.now?.stage !== 'in') return core.on.work();
      joining?.settle();
      joining = undefined;
    },
    /** The hub has a place, or a new certificate. */
    enter: () => void start().catch((e) => log.error('no way to the subnet', { error: e as Error })),
    /** Root is there again: what was begun is finished. */
    async came(): Promise<void> {
      // Asked once: what the hub was before this start may have been let in, and its answer lost.
      if (record.now?.stage === 'joining' && !joining && !asked) {
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
      if (isMember(record.now) || joining) throw new IngleError('conflict', text('subnetBusy'));
      mayJoin(core, confirmed);
      const own = beginJoin(access, () => new IngleError('timeout', text('subnetNoAnswer')));
      joining = own;
      try {
        const i = await place.enrol();
        own.via = await root.join(i, code, access.mode === 'link' ? await linkTicket(access.psk) : undefined);
        await start();
        await own.over;
        return record.now!;
      } finally {
        own.settle();
        if (joining === own) {
          joining = undefined;
          // What the other hub has been shown goes on by itself: it may have let this one in.
          if (!isMember(record.now)) way.close();
        }
      }
    },

    errands: (report: object) => errands(core, record, way, report),
    /** Leaves the subnet, whether or not the leading hub hears it. @throws IngleError `not_found`, `unavailable`: root */
    async leave(): Promise<void> {
      if (!isMember(record.now)) throw new IngleError('not_found', text('subnetNone'));
      if (record.now.stage === 'in') await way.goodbye();
      const m = record.now;
      if (m.stage !== 'leaving') await record.keep({ ...m, stage: 'leaving' });
      way.close();
      await part();
    },
    stop: way.end,
  };
}
