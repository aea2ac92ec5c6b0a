// The hub's place at root: taken once, then pinned. From then on root's word refreshes the certificate and no more;
// another owner or address is taken only when a person has confirmed exactly that (ARCHITECTURE D24).
import { IngleError } from '../protocol/errors.ts';
import { openQueue } from '../protocol/queue.ts';
import type { Membership } from '../subnet/membership.ts';
import type { Config } from '../system/config.ts';
import type { Log } from '../system/log.ts';
import type { UplinkText } from '../text/uplink.ts';
import type { RootClient } from './root.ts';
import type { Identity } from './rows.ts';
import type { UplinkStore } from './store.ts';

/** Who the hub belongs to and where its application is: what browsers and passkeys were pinned for. */
export type Place = Pick<Identity, 'owner_id' | 'subnet_id' | 'hub_id' | 'app_url'>;
const fields = ['owner_id', 'subnet_id', 'hub_id', 'app_url'] as const;

export interface Change {
  field: keyof Place;
  was: string;
  now: string;
}

/** What is different in `b`; empty when it is the same place. */
export function changes(a: Place, b: Place): Change[] {
  return fields.filter((f) => a[f] !== b[f]).map((field) => ({ field, was: a[field], now: b[field] }));
}

const said = (found: readonly Change[]) => found.map((c) => `${c.field} ${c.was} -> ${c.now}`).join(', ');

export interface EnrolmentOptions {
  config: Pick<Config, 'root_url' | 'app_url'>;
  store: Pick<UplinkStore, 'setIdentity' | 'adopt'>;
  root: Pick<RootClient, 'enrol'>;
  text(key: UplinkText, values?: Record<string, string>): string;
  log: Log;
  /** The pinned place, if the hub has one. */
  identity: Identity | undefined;
  /** A place was taken, or its certificate is new. */
  entered(i: Identity, before: Identity | undefined): void;
  /**
   * What membership goes with a place root offers that this hub takes without a person, as it was asked for or signed
   * by the hub that leads its subnet; undefined: a person decides.
   */
  willing?(offered: Identity, note: string): { membership: Membership } | undefined;
  /** Everybody who was let in for the place before is shut out; `write` makes it durable, or all stays as it was. */
  leave(write: () => Promise<unknown>): Promise<void>;
}

function conflict(why: string, found: readonly Change[] = []): IngleError {
  return new IngleError('conflict', why, { changes: found });
}

/** What the configuration has against a place, in words: it may pin the application's address. */
function pinnedAddress({ config, text }: Pick<EnrolmentOptions, 'config' | 'text'>) {
  const { root_url: root, app_url: want } = config;
  return ({ app_url: got }: Place): string | undefined =>
    want === '' || want === got ? undefined : text('appPinned', { root, want, got });
}

export function enrolment(o: EnrolmentOptions) {
  let identity = o.identity;
  /** Root refuses the present certificate. */
  let refused = false;
  let trouble = '';
  let enrolling: Promise<Identity> | undefined;
  /** One change at a time: what was asked for one place must not be written over the next. */
  const inTurn = openQueue().add;
  const root = o.config.root_url;
  const forbids = pinnedAddress(o);

  /** @throws IngleError `conflict` */
  function permitted(p: Place): void {
    const why = forbids(p);
    if (why) throw conflict(why);
  }
  async function keep(fresh: Identity): Promise<Identity> {
    await o.store.setIdentity(fresh);
    identity = fresh;
    return fresh;
  }
  async function offer(): Promise<{ fresh: Identity; note: string }> {
    const { note = '', ...fresh } = await o.root.enrol();
    permitted(fresh);
    return { fresh, note };
  }
  /** Another place: who was let in before is forgotten. */
  async function moved(fresh: Identity, membership?: Membership): Promise<Identity> {
    await o.leave(() => o.store.adopt(fresh, membership));
    identity = fresh;
    o.log.notice('the hub has a new place; former browsers and passkeys are forgotten');
    return entered(fresh, undefined);
  }
  function entered(fresh: Identity, before: Identity | undefined): Identity {
    refused = false;
    trouble = '';
    o.log.notice('enrolled', { hub_id: fresh.hub_id, root: fresh.root_url, app: fresh.app_url });
    o.entered(fresh, before);
    return fresh;
  }

  async function enrolNow(): Promise<Identity> {
    const before = identity;
    if (before && before.root_url === root && !refused) {
      permitted(before);
      return before;
    }
    const { fresh, note } = await offer();
    const found = before ? changes(before, fresh) : [];
    // Only whose it is may change so, never what it is called or where its application is.
    const whose = found.every((c) => c.field === 'owner_id' || c.field === 'subnet_id');
    const willing = found.length > 0 && whose ? o.willing?.(fresh, note) : undefined;
    if (willing) return moved(fresh, willing.membership);
    // Root took the hub as it is while it was asked.
    const isTaken = before?.root_url === root && !refused;
    if (found.length > 0) {
      const why = o.text('changed', { root, what: said(found) });
      o.log.warn(why);
      if (!isTaken) trouble = why;
      throw conflict(why, found);
    }
    const kept = await keep(fresh);
    return isTaken ? kept : entered(kept, before);
  }
  function enrol(): Promise<Identity> {
    enrolling ??= inTurn(enrolNow).finally(() => (enrolling = undefined));
    return enrolling;
  }

  return {
    /** Does something with the place and the membership as they are, before or after a change of them and not in it. */
    inTurn,
    get identity(): Identity | undefined {
      return identity;
    },
    /** What stands between the hub and its root, in words; '' when nothing does. */
    get trouble(): string {
      if (identity && identity.root_url !== root) return o.text('moved', { root });
      return (identity && forbids(identity)) || trouble;
    },
    refused(): void {
      refused = true;
    },
    accepted(): void {
      refused = false;
      trouble = '';
    },

    /**
     * The hub's place, taken if it has none; a refused certificate is made anew for the same place.
     * @throws IngleError `conflict` when root offers another one: nothing changed. `unavailable`, `rate_limited`
     */
    enrol,

    /** The place a code is for. Like `enrol`, but never at another root than the one the hub is enrolled with. */
    async place(): Promise<Identity> {
      if (identity && identity.root_url !== root) throw conflict(o.text('moved', { root }));
      return enrol();
    },

    /** What root offers now, and what that would change. Changes nothing. @throws IngleError */
    offered: () =>
      inTurn(async () => {
        const { fresh } = await offer();
        return { place: fresh as Place, changes: identity ? changes(identity, fresh) : [] };
      }),

    /**
     * Takes the place a person has confirmed, if it is what root still offers; who was let in before is forgotten.
     * @throws IngleError `conflict` when root offers another one by now: nothing changed.
     */
    adopt: (confirmed: Place): Promise<Identity> =>
      inTurn(async () => {
        const { fresh } = await offer();
        if (changes(confirmed, fresh).length > 0) throw conflict(o.text('offerChanged', { root }));
        const before = identity;
        if (!before || changes(before, fresh).length === 0) return entered(await keep(fresh), before);
        return moved(fresh);
      }),

    /** A new certificate for the same place. @throws IngleError */
    refresh: (ask: (i: Identity) => Promise<Identity>): Promise<Identity | undefined> =>
      inTurn(async () => (identity ? keep(await ask(identity)) : undefined)),
  };
}

export type Enrolment = ReturnType<typeof enrolment>;
