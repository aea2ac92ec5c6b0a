// Which hubs are at home in this node, and how one becomes so.
import { IngleError } from '../../firmware/protocol/errors.ts';
import { seconds } from '../clock.ts';
import { log } from '../log.ts';
import type { Records } from '../records/records.ts';
import type { Relay } from '../relay.ts';
import type { Node } from './node.ts';
import type { Registry } from './registry.ts';

const busy = (why: string) => new IngleError('unavailable', `${why} Try again in a moment.`);

export type Homes = ReturnType<typeof openHomes>;

export function openHomes(
  node: Node,
  registry: Registry,
  relay: Pick<Relay, 'restore' | 'leave' | 'hubIds' | 'isHome'>,
  records: Pick<Records, 'routes'>,
) {
  const owned = new Set<string>();
  const taking = new Map<string, Promise<string>>();
  const leaving = new Map<string, Promise<void>>();
  const has = (hubId: string): boolean => owned.has(hubId) && node.tenure.holds();

  async function take(hubId: string): Promise<string> {
    await leaving.get(hubId);
    if (has(hubId)) return node.me.id;
    const { me, tenure } = node;
    if (!tenure.mayTake()) {
      const home = await registry.homeOf(hubId);
      if (home === null || home === me.id) throw busy('This node has just begun.');
      return home;
    }
    const home = await registry.take(hubId, me, node.run);
    if (home === null) throw busy('This node begins anew.');
    if (home !== me.id) return home;
    const routes = await records.routes.restore(seconds(), hubId);
    if (node.me !== me || !tenure.holds()) throw busy('This node begins anew.');
    relay.restore(routes);
    owned.add(hubId);
    log('debug', 'a hub is at home here', { hub_id: hubId, node: me.id });
    return me.id;
  }
  /** @returns the node where the hub is at home: this one, if it had none @throws IngleError `unavailable` */
  function homeFor(hubId: string): Promise<string> {
    const before = taking.get(hubId);
    if (before) return before;
    const work = take(hubId).finally(() => taking.delete(hubId));
    taking.set(hubId, work);
    return work;
  }
  /** Gives up a hub, so that another node may take it; also one whose home is here in name only, as Redis heard this node late. */
  function leave(hubId: string): Promise<void> {
    const before = leaving.get(hubId);
    if (before) return before;
    if (owned.delete(hubId)) {
      relay.leave(hubId);
      log('debug', 'a hub has left', { hub_id: hubId, node: node.me.id });
    }
    const left = registry
      .release(hubId, node.me)
      .catch(() => {})
      .finally(() => leaving.delete(hubId));
    leaving.set(hubId, left);
    return left;
  }
  function check(hubId: string): void {
    if (!has(hubId)) throw busy('The hub has just moved to another node.');
  }
  return {
    has,
    homeFor,
    /** @throws IngleError `unavailable` where the hub is not at home here */
    check,
    /** Makes this node the home of a hub that has none. @throws IngleError `unavailable` */
    async takeHere(hubId: string): Promise<void> {
      await homeFor(hubId);
      check(hubId);
    },
    /** The home of a hub; null: it has none. @throws IngleError `unavailable` */
    async homeOf(hubId: string): Promise<string | null> {
      if (has(hubId)) return node.me.id;
      await leaving.get(hubId);
      return registry.homeOf(hubId);
    },
    /** Another node asks for a hub, whose socket is there. */
    async yieldTo(hubId: string): Promise<void> {
      // What was taken after it was given up would be given up only by half.
      while (taking.has(hubId)) await taking.get(hubId)?.catch(() => {});
      await leave(hubId);
    },
    ids: (): string[] => [...owned],
    /** Redis says that others have them. */
    lost(hubs: readonly string[]): void {
      for (const hubId of hubs) {
        owned.delete(hubId);
        relay.leave(hubId);
      }
    },
    /** Nothing is at home here any more. */
    clear(): void {
      owned.clear();
      for (const hubId of relay.hubIds()) relay.leave(hubId);
    },
    /** Gives up hubs nobody here has to do with. */
    async sweep(): Promise<void> {
      for (const hubId of [...owned]) if (!relay.isHome(hubId) && !taking.has(hubId)) await leave(hubId);
    },
  };
}
