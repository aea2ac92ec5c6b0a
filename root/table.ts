// Which sid leads to which hub: the links of the sids that have a socket or a route, and the hubs of these links.
import type { Stage } from '../firmware/protocol/wire.ts';
import { type HubLine, type Link, newHub, newLink } from './links.ts';
import type { Stages } from './stages.ts';

/** What a relay needs to know of a session. */
export type Routed = {
  sid: string;
  owner_id: string | null;
  subnet_id: string | null;
  hub_id: string | null;
  stage: Stage;
};

export type Table = ReturnType<typeof openTable>;

export function openTable(stages: Stages) {
  const links = new Map<string, Link>();
  const hubs = new Map<string, HubLine>();

  function hubOf(hubId: string): HubLine {
    let hub = hubs.get(hubId);
    if (!hub) {
      hub = newHub(hubId);
      hubs.set(hubId, hub);
    }
    return hub;
  }
  /** Lets go of a hub that is neither connected nor led to. */
  function forgetHub(hub: HubLine): void {
    if (hub.socket === null && hub.links.size === 0) hubs.delete(hub.hub_id);
  }
  return {
    link: (sid: string): Link | undefined => links.get(sid),
    links: (): Iterable<Link> => links.values(),
    hub: (hubId: string): HubLine | undefined => hubs.get(hubId),
    hubs: (): Iterable<HubLine> => hubs.values(),
    hubOf,
    forgetHub,
    /** The link of a session; a session that leads to another hub than before moves its link there. */
    linkOf(s: Routed): Link {
      const hub = hubOf(s.hub_id!);
      let link = links.get(s.sid);
      if (!link) {
        link = newLink({ sid: s.sid, owner_id: s.owner_id!, subnet_id: s.subnet_id!, stage: s.stage }, hub);
        links.set(s.sid, link);
        hub.links.add(link);
      } else if (link.hub !== hub) {
        stages.unbind(link);
        link.hub.links.delete(link);
        forgetHub(link.hub);
        link.hub = hub;
        link.generation++;
        // Each hub counts its own frames (D6); what comes up is numbered by the browser, which stays.
        link.down = -1;
        hub.links.add(link);
      }
      link.owner_id = s.owner_id!;
      link.subnet_id = s.subnet_id!;
      return link;
    },
    forgetLink(link: Link): void {
      links.delete(link.sid);
      stages.forget(link);
      link.hub.links.delete(link);
      forgetHub(link.hub);
    },
  };
}
