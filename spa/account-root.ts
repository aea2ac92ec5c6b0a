// What the page of access asks of root, and its words.
import type { Asking, Entry, OwnedHub, Passkey, SignIn } from '../firmware/protocol/account.ts';
import { translator } from '../firmware/text/i18n.ts';
import { spaAccountTexts } from '../firmware/text/spa-account.ts';
import { request } from './rest.ts';
import { session } from './sid.ts';
import { app } from './store.ts';

export interface Account {
  sessions: SignIn[];
  passkeys: Passkey[];
  hubs: OwnedHub[];
}

const ask = <R>(method: string, path: string, body?: unknown) =>
  request<R>(method, `/v1/owner/${path}`, body, session()?.session_jwt);
const id = encodeURIComponent;

/** @throws IngleError `forbidden` for a guest */
export const ownedHubs = async (): Promise<OwnedHub[]> =>
  (await ask<{ hubs: OwnedHub[] }>('GET', 'hubs')).hubs;

/** Root's answers and the orders to it. @throws IngleError what it said, `unavailable` when it did not answer */
export const account = {
  async all(): Promise<Account> {
    const [{ sessions }, { credentials }, hubs] = await Promise.all([
      ask<{ sessions: SignIn[] }>('GET', 'sessions'),
      ask<{ credentials: Passkey[] }>('GET', 'credentials'),
      ownedHubs(),
    ]);
    return { sessions, passkeys: credentials, hubs };
  },
  signOut: (session: string) => ask('DELETE', `sessions/${id(session)}`),
  nameSignIn: (session: string, name: string) => ask('PATCH', `sessions/${id(session)}`, { name }),
  namePasskey: (key: string, name: string) => ask('PATCH', `credentials/${id(key)}`, { name }),
  removePasskey: (key: string) => ask('DELETE', `credentials/${id(key)}`),
  nameHub: (hub: string, name: string) => ask('PATCH', `hubs/${id(hub)}`, { name }),
  removeHub: (hub: string) => ask('DELETE', `hubs/${id(hub)}`),
  offer: (hub: string) => ask('POST', `hubs/${id(hub)}/handover`, {}),
  keep: (hub: string) => ask('DELETE', `hubs/${id(hub)}/handover`),
  /** @param code the first group alone: the second is the hub's secret, which root must not see */
  take: (code: string) => ask<{ hub_id: string }>('POST', 'hubs/take', { device_code: code }),
  whoAsks: (code: string) => ask<Asking>('POST', 'command-lines', { user_code: code }),
  letIn: (line: string, credential: unknown) => ask('POST', `command-lines/${id(line)}`, { credential }),
  sendAway: (line: string) => ask('DELETE', `command-lines/${id(line)}`),
  trail: (before: number | null) =>
    ask<{ entries: Entry[]; before: number | null }>('GET', `audit${before ? `?before=${before}` : ''}`),
  /** JSON lines; a single one comes as what it says. */
  file: async () => {
    const said = await ask<string | object>('GET', 'audit/export');
    return typeof said === 'string' ? said : `${JSON.stringify(said)}\n`;
  },
};

type Key = keyof (typeof spaAccountTexts)['en'];
export const say = (key: Key, values?: Record<string, string | number>) =>
  translator(spaAccountTexts, app().language)(key, values);

/** A day in the reader's way, of Unix seconds. */
export const day = (at: number): string =>
  new Intl.DateTimeFormat(app().language, { dateStyle: 'medium' }).format(at * 1000);
export const moment = (at: number): string =>
  new Intl.DateTimeFormat(app().language, { dateStyle: 'medium', timeStyle: 'short' }).format(at * 1000);

export const passkeyName = (p: Pick<Passkey, 'name' | 'created_at'>): string =>
  p.name || say('passkey_of', { day: moment(p.created_at) });
/** What a hub goes by: its name at root, what it calls itself where it is the one of this page, or its id. */
export const hubName = (h: Pick<OwnedHub, 'name' | 'hub_id' | 'current'>): string =>
  h.name || (h.current && app().hubName) || h.hub_id.slice(0, 12);
