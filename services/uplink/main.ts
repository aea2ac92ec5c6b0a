// ingle-uplink: io.ingle.Uplink1 on the bus, the socket to root behind it. Wires, decides nothing.

import type { Person } from '../../firmware/people/person.ts';
import type { PersonRole } from '../../firmware/protocol/roles.ts';
import { scenario1 } from '../../firmware/scenario/contract.ts';
import type { Served } from '../../firmware/system/bus.ts';
import { readConfig } from '../../firmware/system/config.ts';
import { startService } from '../../firmware/system/service.ts';
import type { Issued } from '../../firmware/uplink/codes.ts';
import { uplink1 } from '../../firmware/uplink/contract.ts';
import type { Identity } from '../../firmware/uplink/rows.ts';
import { openUplink } from '../../firmware/uplink/uplink.ts';

process.umask(0o077);
// Root may be away, and a socket to it is then not closed in order.
const life = await startService('uplink', { stopMs: 3000 });
const { bus, log } = life;
const config = readConfig();
let served: Served<typeof uplink1> | undefined;
const nothing = { owner_id: '', expires_at: 0n };
/** Who tells the owner may be away just now: it is kept until they have told it. */
let untold = nothing;
const scenario = bus.client(scenario1);

const uplink = await openUplink({
  config,
  log,
  on: {
    connected(connected) {
      served?.emit('Connected', { connected });
      life.status(connected ? `connected to ${config.root_url}` : 'root is away');
    },
    node(m) {
      served?.emit('Node', m);
      bus.publish('node.online', { ...m, online: m.state === 'here' });
    },
    // Its service starts by the call.
    work: () => void scenario.Errands({}).catch((cause) => log.info('nobody does the errands', { cause })),
    paired: (m) => served?.emit('Paired', m),
    pairingFailed: (m) => served?.emit('PairingFailed', m),
  },
});

const placeOf = ({ owner_id, subnet_id, hub_id, expires_at }: Identity) => {
  return { owner_id, subnet_id, hub_id, keys: uplink.keyFile, expires_at: BigInt(expires_at) };
};
const codeOf = ({ code, secret, link, verify_uri, expires_at, taken }: Issued) => {
  return { device_code: code, secret, link, verify_uri, expires_at: BigInt(expires_at), taken };
};
const personOf = ({ ended_at, ...p }: Person) => {
  const browsers = uplink.browsers().flatMap((b) => (b.person === p.id ? [b.id] : []));
  return { ...p, created_at: BigInt(p.created_at), until: BigInt(p.until), ended: ended_at > 0, browsers };
};
served = await bus.serve(uplink1, {
  Enrol: async () => placeOf(await uplink.enrol()),
  async Offered() {
    const { place, changes } = await uplink.offered();
    const { owner_id, subnet_id, hub_id, app_url } = place;
    return { owner_id, subnet_id, hub_id, app_url, changes: [...changes] };
  },
  Adopt: async (confirmed) => placeOf(await uplink.adopt(confirmed)),
  InviteBrowser: async () => codeOf(await uplink.issueCode(true)),
  async IssueCode({ new_passkey }) {
    const code = codeOf(await uplink.issueCode(new_passkey));
    const { identity, browsers } = uplink.status();
    // Where there is no browser, there is nobody to tell.
    if (new_passkey && identity && browsers > 0) {
      untold = { owner_id: identity.owner_id, expires_at: code.expires_at };
      served?.emit('Recovering', untold);
    }
    return code;
  },
  Untold({ told }) {
    if (told === untold.expires_at) untold = nothing;
    return untold;
  },
  ListPeople: () => ({ people: uplink.household.all().map(personOf) }),
  AddPerson: async ({ invited_by, ...wished }) =>
    personOf(
      await uplink.household.add(
        { ...wished, role: wished.role as PersonRole, until: Number(wished.until) },
        invited_by,
      ),
    ),
  ChangePerson: async ({ id, name, role, until }) =>
    personOf(
      await uplink.household.change(id, {
        ...(name === '' ? {} : { name }),
        ...(role === '' ? {} : { role: role as PersonRole }),
        ...(until < 0n ? {} : { until: Number(until) }),
      }),
    ),
  async RemovePerson({ id }) {
    await uplink.household.remove(id);
    return {};
  },
  InvitePerson: async ({ id }) => codeOf(await uplink.household.invite(id)),
  Status() {
    const { connected, identity, browsers, channels, pending, insecure, last_error } = uplink.status();
    return {
      connected,
      root: config.root_url,
      owner_id: identity?.owner_id ?? '',
      subnet_id: identity?.subnet_id ?? '',
      hub_id: identity?.hub_id ?? '',
      keys: uplink.keyFile,
      expires_at: BigInt(identity?.expires_at ?? 0),
      browsers,
      channels,
      pending,
      insecure,
      last_error,
    };
  },
  ListBrowsers: () => ({
    browsers: uplink
      .browsers()
      .map((b) => ({ ...b, paired_at: BigInt(b.paired_at), seen_at: BigInt(b.seen_at) })),
  }),
  async ForgetBrowser({ id }) {
    await uplink.forget(id);
    return {};
  },
  async RenameBrowser({ id, label }) {
    await uplink.rename(id, label);
    return {};
  },
  InviteHub: async () => codeOf(await uplink.subnet.invite()),
  async JoinSubnet({ invite, confirmed }) {
    const { owner_id, subnet_id, via } = await uplink.subnet.join(invite, confirmed);
    return { owner_id, subnet_id, hub: via };
  },
  async LeaveSubnet() {
    await uplink.subnet.leave();
    return {};
  },
  Subnet() {
    const { nodes, ...view } = uplink.subnet.view();
    const times = (n: (typeof nodes)[number]) => ({ since: BigInt(n.since), heard_at: BigInt(n.heard_at) });
    return { ...view, nodes: nodes.map((n) => ({ ...n, ...times(n) })) };
  },
  RegisterNode: ({ member, ...said }) => uplink.subnet.register(member, said),
  NodeHeard: ({ hub_id }) => uplink.subnet.heard(hub_id),
  async NodeLeft({ hub_id }) {
    await uplink.subnet.left(hub_id);
    return {};
  },
  async RemoveNode({ hub_id }) {
    await uplink.subnet.remove(hub_id);
    return {};
  },
  NudgeNode({ hub_id }) {
    uplink.subnet.nudge(hub_id);
    return {};
  },
  async Errands({ report }) {
    const { via, answer } = await uplink.subnet.errands(JSON.parse(report) as object);
    return { via, answer: JSON.stringify(answer) };
  },
  async RotateKey() {
    await uplink.rotateKey();
    return {};
  },
});
uplink.start();
life.onStop(uplink.close);
life.ready();
