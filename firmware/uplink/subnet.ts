// The subnet of this hub: the members it leads, or the hub that leads it.
import { toBase64url } from '../protocol/bytes.ts';
import { IngleError } from '../protocol/errors.ts';
import { MOST_MEMBERS } from '../protocol/limits.ts';
import { inviteLink } from '../subnet/invite.ts';
import { isAtHome, isMember, type MembershipStage } from '../subnet/membership.ts';
import type { Node, Said } from '../subnet/node.ts';
import { partingMessage } from '../subnet/papers.ts';
import type { Codes, Issued } from './codes.ts';
import type { Core } from './core.ts';
import { memberGrant } from './grant.ts';
import { signWith } from './keys.ts';
import type { Member } from './member.ts';

export interface SubnetView {
  role: 'hub' | 'member';
  /** Of a membership, also of one that is over; '' for none. */
  stage: MembershipStage | '';
  /** The hub that leads. */
  hub: string;
  /** The leading hub answers. */
  reached: boolean;
  /** The hub has the place where it is alone: leaving forgets nobody. */
  at_home: boolean;
  nodes: Node[];
}

export type Subnet = ReturnType<typeof openSubnet>;

/** @param o.shut ends the channels of a static key, at once @param o.nudge tells whoever has it that there is something to do */
export function openSubnet(
  core: Core,
  codes: Codes,
  member: Member,
  { shut, nudge }: { shut(staticPub: string): void; nudge(staticPub: string): void },
) {
  const { nodes, place, root, ring, config, log, outside, text } = core;

  /** Tells root of a member that was let go, with what root passes on to it. */
  async function tell(n: Node): Promise<void> {
    const i = place.identity;
    if (!i) return;
    const note = toBase64url(signWith(ring.keys, partingMessage(n.hub_id, n.bond)));
    await root.part(i, { hub_id: n.hub_id, note }).catch((e: IngleError) => {
      if (e.code !== 'not_found') throw e;
    });
    await nodes.told(n.hub_id);
  }
  const interval = () => ({ interval_s: Math.max(1, Math.round(config.subnet_heartbeat)) });

  return {
    join: member.join,
    leave: member.leave,
    errands: member.errands,
    /** A member that is reached hears that it has something to do. @throws IngleError `not_found` */
    nudge: (hubId: string): void => nudge(nodes.member(hubId).static_pub),
    view(): SubnetView {
      const m = member.membership;
      const leads = isMember(m) ? m.via : (place.identity?.hub_id ?? '');
      return {
        role: m?.stage === 'in' ? 'member' : 'hub',
        ...{ stage: m?.stage ?? '', hub: leads, reached: member.reached(), nodes: nodes.all() },
        at_home: place.identity === undefined || isAtHome(m, place.identity),
      };
    },
    /** A code for a hub. @throws IngleError `conflict` on a member, or when the subnet is full */
    async invite(): Promise<Issued> {
      if (isMember(member.membership)) throw new IngleError('conflict', text('subnetMember'));
      if (nodes.all().filter((n) => n.state !== 'left').length >= MOST_MEMBERS)
        throw new IngleError('conflict', text('subnetFull'));
      const w = await codes.issue(false, memberGrant);
      return { ...w, link: inviteLink(w.link) };
    },
    /** A member says who it is. @throws IngleError `forbidden` for another's id, `not_found` */
    async register(hubId: string, said: Said & { hub_id: string }) {
      const { hub_id, ...of } = said;
      if (hub_id !== hubId) throw new IngleError('forbidden', 'A member speaks for itself only.');
      await nodes.heard(hubId, of);
      return interval();
    },
    /** A member is there. @throws IngleError `not_found` */
    async heard(hubId: string) {
      await nodes.heard(hubId);
      return interval();
    },
    /** A member leaves by itself, and tells root. @throws IngleError `not_found` */
    async left(hubId: string): Promise<void> {
      await nodes.part(hubId, false);
      log.notice('a member has left the subnet', { hub_id: hubId });
    },
    /** Lets a member go: at once here, and at root now or when it is back. @throws IngleError `not_found` */
    async remove(hubId: string): Promise<void> {
      const n = await nodes.part(hubId, true);
      shut(n.static_pub);
      log.notice('a member was let go', { hub_id: hubId });
      await tell(n).catch((e) =>
        outside.warn('root does not know yet that a member was let go', { error: e }),
      );
    },
    /** Root is there again. */
    async came(): Promise<void> {
      for (const n of nodes.untold()) await tell(n);
    },
  };
}
