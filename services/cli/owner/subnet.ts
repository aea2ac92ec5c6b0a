// `ingle subnet`: hubs of one owner together, by an invitation of the first.
import { IngleError } from '../../../firmware/protocol/errors.ts';
import type { Caller } from '../../../firmware/system/contract.ts';
import { cliSubnetTexts } from '../../../firmware/text/cli-subnet.ts';
import { type Language, translator } from '../../../firmware/text/i18n.ts';
import type { uplink1 } from '../../../firmware/uplink/contract.ts';
import type { Say } from '../say.ts';
import { grouped, plain, scanned, when } from '../show.ts';
import type { InitOptions } from './init.ts';

type Uplink = Caller<typeof uplink1>;
type Text = ReturnType<typeof textOf>;

/** The other hub may take this long, milliseconds; the uplink gives up sooner. */
const JOIN = 90_000;

const textOf = (language: Language) => translator(cliSubnetTexts, language);

async function invite(uplink: Uplink, say: Say, text: Text): Promise<void> {
  const w = await uplink.InviteHub({});
  const expires = Number(w.expires_at);
  const code = grouped(w.device_code, w.secret);
  say.event({ event: 'invitation', ...w, expires_at: expires });
  say.line(text('open', { code: code.replace(' ', '-') }));
  say.line(text('valid', { minutes: Math.max(1, Math.round((expires - Date.now() / 1000) / 60)) }));
  say.line(`${text('orLink')}\n\n  ${w.link}\n`);
  if (process.stdout.isTTY) say.line(scanned(w.link, !process.env['NO_COLOR'], say));
}

async function join(uplink: Uplink, say: Say, text: Text, o: JoinOptions): Promise<void> {
  const loses = {
    browsers: (await uplink.ListBrowsers({})).browsers.length,
    people: (await uplink.ListPeople({})).people.length,
  };
  if (loses.browsers + loses.people > 0 && !o.yes) {
    say.event({ event: 'loses', ...loses });
    say.line(text('loses', loses));
    if (!o.ask) throw new IngleError('conflict', text('script'));
    if ((await o.ask(text('ask'))).trim() !== 'yes') throw new IngleError('conflict', text('kept'));
  }
  say.line(text('joining'));
  const confirmed = o.yes || loses.browsers + loses.people > 0;
  const joined = await uplink.JoinSubnet({ invite: o.invite, confirmed }, JOIN);
  say.event({ event: 'joined', ...joined });
  say.line(text('joined', joined));
}

async function nodes(uplink: Uplink, say: Say, text: Text): Promise<void> {
  const net = await uplink.Subnet({});
  const { hub_id, subnet_id } = await uplink.Status({});
  say.event({ ...net, hub_id, subnet_id, nodes: net.nodes.map(plainTimes) });
  if (net.role === 'member') {
    say.line(text('joined', { subnet_id, hub: net.hub }));
    if (!net.reached) say.line(text('unreached'));
    return;
  }
  if (net.stage === 'removed') say.line(text('removed', { hub: net.hub }));
  if (net.stage === 'joining' || net.stage === 'leaving')
    say.line(text('busy', { stage: text(`stage_${net.stage}`), hub: net.hub }));
  else if (net.nodes.length === 0) say.line(text('alone'));
  for (const n of net.nodes)
    say.line(
      text('member', {
        ...{ hub_id: n.hub_id, name: plain(n.name) || '-', since: when(n.since), heard: when(n.heard_at) },
        state: text(`state_${n.state as 'joined' | 'here' | 'gone' | 'left'}`),
      }),
    );
}

const plainTimes = <N extends { since: bigint; heard_at: bigint }>(n: N) => ({
  ...n,
  since: Number(n.since),
  heard_at: Number(n.heard_at),
});

interface JoinOptions {
  invite: string;
  yes: boolean;
  ask: InitOptions['ask'];
}

export type SubnetCommand =
  | 'subnet invite'
  | 'subnet join'
  | 'subnet nodes'
  | 'subnet remove'
  | 'subnet leave';

/** @throws IngleError what the hub said */
export async function subnet(
  command: SubnetCommand,
  uplink: Uplink,
  say: Say,
  language: Language,
  o: { argument: string; yes: boolean; ask: InitOptions['ask'] },
): Promise<void> {
  const text = textOf(language);
  switch (command) {
    case 'subnet invite':
      return invite(uplink, say, text);
    case 'subnet join':
      return join(uplink, say, text, { ...o, invite: o.argument });
    case 'subnet nodes':
      return nodes(uplink, say, text);
    case 'subnet remove':
      await uplink.RemoveNode({ hub_id: o.argument });
      say.event({ removed: o.argument });
      say.line(text('gone'));
      return;
    case 'subnet leave':
      await uplink.LeaveSubnet({});
      say.event({ left: true });
      say.line(text('left'));
  }
}
