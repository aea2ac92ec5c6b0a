// What the page of hubs asks of the hub, and what it makes of the answers.
import type { Answer } from '../firmware/protocol/endpoint/endpoint.ts';
import type { subnetApi } from '../firmware/subnet/api.ts';
import { localizer, translator } from '../firmware/text/i18n.ts';
import { spaHubsTexts } from '../firmware/text/spa-hubs.ts';
import { reached } from './current.ts';
import { errorOf } from './entrance.ts';
import { app } from './store.ts';
import { errorText } from './text.ts';

type Nodes = Answer<typeof subnetApi.nodes>;
export type Node = Nodes['nodes'][number];
export type Stage = NonNullable<Nodes['stage']>;
export type Code = Answer<typeof subnetApi.invite>;

/** The other hub may take this long, milliseconds; the hub gives up sooner. */
const JOIN = 95_000;

/** The hub's orders. @throws IngleError what it answered, `unavailable` when it is not reached */
export const hub = {
  list: () => reached().request<Nodes>('GET', '/api/subnet/nodes'),
  invite: () => reached().request<Code>('POST', '/api/subnet/invite', {}),
  letGo: (id: string) => reached().request('DELETE', `/api/subnet/nodes/${encodeURIComponent(id)}`),
  /** @throws IngleError `conflict` with `details.loses` for as long as nobody has said yes to what is lost */
  join: (invite: string, confirmed: boolean) =>
    reached().request(
      ...(['POST', '/api/subnet/join', { invite, confirmed }, {}, AbortSignal.timeout(JOIN)] as const),
    ),
  leave: () => reached().request('POST', '/api/subnet/leave', {}),
};

/** What is asked of a hub here. */
export type Act = 'invite' | 'let_go' | 'join' | 'leave';

type Key = keyof (typeof spaHubsTexts)['en'];
export const say = (key: Key, values?: Record<string, string | number>) =>
  translator(spaHubsTexts, app().language)(key, values);

/** The same for a page that outlives the language. */
export const both = localizer(spaHubsTexts);

/** Hubs that have not said a name go by the start of their id; to a member, the one that leads never has. */
export const nameOf = (n: Node): string =>
  n.name || (n.role === 'hub' ? say('leader') : n.hub_id.slice(0, 12));

/** Why an order came to nothing, and what to do. */
export function troubleText(e: unknown, act: Act): string {
  const { code } = errorOf(e);
  const known = [`${act}_${code}`, `no_${code}`].find((key) => Object.hasOwn(spaHubsTexts.en, key));
  return known ? say(known as Key) : say('no_other', { message: errorText(code) });
}
