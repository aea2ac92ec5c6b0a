// /api/subnet: what members say to the hub that leads them, and what its owner sees. ingle-uplink keeps all of it.
import { bind, type Handlers } from '../../firmware/protocol/endpoint/router.ts';
import { subnetApi } from '../../firmware/subnet/api.ts';
import type { Bus } from '../../firmware/system/bus.ts';
import { version } from '../../firmware/system/config.ts';
import { uplink1 } from '../../firmware/uplink/contract.ts';
import type { Asked, LocalEndpoint } from './dispatch.ts';
import type { Response } from './http.ts';

/** Root is asked, milliseconds. */
const ASK_MS = 20_000;
/** The other hub may take this long; the uplink gives up sooner. */
const JOIN_MS = 90_000;

type State = 'joined' | 'here' | 'gone' | 'left';
const stages = ['joining', 'in', 'leaving'] as const;

/** The subnet as this hub knows it: itself first, then the hub that leads it or the members it leads. */
export async function subnetOf(bus: Bus, name: string) {
  const uplink = bus.client(uplink1);
  const [place, net] = [await uplink.Status({}, 3000), await uplink.Subnet({}, 3000)];
  const role = net.role === 'member' ? ('member' as const) : ('hub' as const);
  const nothing = { name: '', version: '', caps: [], since: null, last_heard: null };
  const members = net.nodes.map(({ heard_at, since, state, ...n }) => ({
    ...n,
    role: 'member' as const,
    state: state as State,
    since: Number(since),
    last_heard: Number(heard_at) || null,
  }));
  const self = { ...nothing, hub_id: place.hub_id, role, state: 'here' as const, name, version };
  const leader = {
    ...{ ...nothing, hub_id: net.hub, role: 'hub' as const },
    state: net.reached ? ('here' as const) : ('gone' as const),
  };
  return {
    hub_id: place.hub_id || null,
    subnet_id: place.subnet_id || null,
    owner_id: place.owner_id || null,
    role,
    stage: stages.find((s) => s === net.stage) ?? null,
    hub: net.hub || null,
    reached: net.reached,
    at_home: net.at_home,
    nodes: [...(place.hub_id ? [self] : []), ...(role === 'member' ? [leader] : members)],
  };
}

export function subnetEndpoints({ bus, name }: { bus: Bus; name: () => string }): LocalEndpoint[] {
  const uplink = bus.client(uplink1);
  /** The member that asks; the guard of the endpoint has let nobody else by. */
  const memberOf = ({ caller }: Asked): string => caller?.hub ?? '';

  const handlers: Handlers<typeof subnetApi, Asked, Response> = {
    async invite() {
      const { link, verify_uri, device_code, secret, expires_at } = await uplink.InviteHub({}, ASK_MS);
      return { link, verify_uri, code: `${device_code} ${secret}`, expires_at: Number(expires_at) };
    },
    join: ({ body: { invite, confirmed = false } }) => uplink.JoinSubnet({ invite, confirmed }, JOIN_MS),
    async leave() {
      await uplink.LeaveSubnet({}, ASK_MS);
      return { left: true };
    },
    register: (a) => uplink.RegisterNode({ member: memberOf(a), ...a.body }),
    heartbeat: (a) => uplink.NodeHeard({ hub_id: memberOf(a) }),
    async deregister(a) {
      await uplink.NodeLeft({ hub_id: memberOf(a) });
      return { left: true };
    },
    async context() {
      const { subnet_id, owner_id, role, hub, reached } = await subnetOf(bus, name());
      return { subnet_id, owner_id, role, hub, reached, time: Math.floor(Date.now() / 1000) };
    },
    async nodes() {
      const { nodes, stage, at_home } = await subnetOf(bus, name());
      return { nodes, stage, at_home };
    },
    async remove({ params }) {
      await uplink.RemoveNode({ hub_id: params.hub_id });
      return { removed: true };
    },
  };
  return bind(subnetApi, handlers);
}
