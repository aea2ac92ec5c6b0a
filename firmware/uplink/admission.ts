// Who is behind a channel and what it may do: welcome, assertion, admitted or refused (wire.ts `Control`).

import { toBase64url } from '../protocol/bytes.ts';
import { IngleError, toIngleError } from '../protocol/errors.ts';
import type { Opened } from '../protocol/noise/channel.ts';
import { challengeOf } from '../protocol/pairing/assertion.ts';
import { openQueue } from '../protocol/queue.ts';
import type { Control } from '../protocol/wire.ts';
import { type Grant, grantOf, personOf, sameGrant } from './grant.ts';
import type { Principal } from './headers.ts';
import { claimedId, coseKey, type RelyingParty, verifyAssertion } from './passkey.ts';
import type { People } from './people.ts';
import { type Pins, used } from './pins.ts';
import type { Browser, Passkey } from './rows.ts';
import { standing } from './standing.ts';

/** Wrong assertions an admitted browser may send in one handshake. */
const WRONG_A_HANDSHAKE = 5;

export interface AdmissionOptions {
  pins: Pins;
  people: Pick<People, 'welcome'>;
  hub: { hub_id: string; hub_name: string; version: string; owner_id: string; sign_pub: string };
  party: RelyingParty;
  /** Unix seconds. */
  now: () => number;
  send(control: Control): void;
  paired(browser: Browser): void;
  /** A proven browser failed its assertion; at `left` 0 it must be shut out. */
  failed(error: IngleError, left: number): void;
}

/** Admission of one channel, anew at each of its handshakes. */
export function admission(o: AdmissionOptions) {
  let handshake: Uint8Array = new Uint8Array(0);
  let id = '';
  let spent = false;
  let wrong = 0;
  // One assertion at a time: two side by side must not both use the same handshake.
  const turn = openQueue();

  const has = standing(o);

  function opened(at: Opened): void {
    handshake = at.hash;
    id = toBase64url(at.remoteStatic);
    spent = false;
    wrong = 0;
    const browser = has.pinned(id);
    if (browser) void o.pins.saw(browser);
    o.send({
      t: 'welcome',
      hub_id: o.hub.hub_id,
      owner_id: o.hub.owner_id,
      hub_name: o.hub.hub_name,
      version: o.hub.version,
      admitted: browser !== undefined,
      need: has.proven(id) ? 'assertion' : null,
      first: has.takesNew(id),
      sign_pub: o.hub.sign_pub,
      elevated_until: elevatedUntil(browser),
    });
    if (!browser && !has.proven(id)) refuse(has.stranger(id));
    else if (browser && pairingModes.has(at.mode) && !has.proven(id))
      refuse(
        new IngleError(
          'conflict',
          'This browser is somebody else’s here already. Open the invitation in a browser of your own.',
        ),
      );
  }

  function elevatedUntil(b: Browser | undefined): number {
    return b && b.elevated_until > o.now() ? b.elevated_until : 0;
  }

  function refuse(e: IngleError): void {
    o.send({ t: 'refused', error: e.code, message: e.message });
  }

  async function assertion(m: Control & { t: 'assertion' }): Promise<void> {
    const mine = handshake;
    const me = id;
    const browser = has.pinned(id);
    try {
      const whom = has.wanted(id);
      if (!whom) throw has.stranger(id);
      if (spent) throw new IngleError('assertion_failed', 'This handshake has had its assertion already.');
      if (wrong >= WRONG_A_HANDSHAKE)
        throw new IngleError('rate_limited', 'Too many wrong assertions. Connect again first.');
      const passkey = await checked(o, m, { over: mine, whom, isNewTaken: has.takesNew(id) });
      // The keys may have changed, or the browser been forgotten, while the signature was looked at.
      const still = has.wanted(id);
      if (mine !== handshake || !still || !sameGrant(still, whom))
        throw new IngleError('assertion_failed', 'The handshake is over. Sign the new one.');
      spent = true;
      if (browser) await o.pins.elevate(browser, passkey);
      else o.paired(await o.pins.admit(me, labelOf(m.label), passkey));
      o.send({ t: 'admitted', elevated_until: elevatedUntil(has.pinned(id)) });
    } catch (cause) {
      const e = toIngleError(cause);
      wrong++;
      refuse(e);
      if (!browser && e.code !== 'rate_limited') o.failed(e, await o.pins.failProven(me));
    }
  }

  return {
    opened,
    /** A control message of the browser. Settles when it is answered; rejects only when the store does. */
    control(m: Control): Promise<void> {
      if (m.t !== 'assertion') {
        refuse(new IngleError('invalid_request', 'A browser says nothing of this kind.'));
        return Promise.resolve();
      }
      return turn.add(() => assertion(m));
    },
    /** Whether streams may open now. */
    admitted: (): boolean => has.pinned(id) !== undefined,
    /** Base64url of the browser's static key; '' before the first handshake. */
    get browser(): string {
      return id;
    },
    /** Who the local API is told asks. @throws IngleError `assertion_required` when nobody is admitted. */
    principal(): Principal {
      const b = has.pinned(id);
      if (!b) throw new IngleError('assertion_required', 'The hub waits for a passkey first.');
      if (b.person === undefined)
        return { owner_id: o.hub.owner_id, browser: b.id, role: 'owner', elevated_until: elevatedUntil(b) };
      const person = o.people.welcome(b.person);
      if (!person) throw has.stranger(id);
      return {
        owner_id: person.id,
        browser: b.id,
        role: person.role,
        elevated_until: 0,
        household: o.hub.owner_id,
      };
    },
  };
}

/** The passkey behind an assertion over a handshake hash, after its use. @throws IngleError */
async function checked(
  o: AdmissionOptions,
  m: Control & { t: 'assertion' },
  { over, whom, isNewTaken }: { over: Uint8Array; whom: Grant; isNewTaken: boolean },
): Promise<Passkey> {
  const credId = claimedId(m.credential);
  let passkey = o.pins.passkey(credId);
  if (!passkey) {
    if (!isNewTaken || m.public_key === undefined)
      throw new IngleError(
        'assertion_failed',
        'The hub does not know this passkey. Use one that it knows, or issue a code with --new-passkey.',
      );
    passkey = {
      cred_id: credId,
      public_key: coseKey(m.public_key),
      counter: 0,
      label: labelOf(m.label),
      pinned_at: o.now(),
      regressions: 0,
      ...personOf(whom),
    };
  }
  const challenge = await challengeOf({ purpose: 'hub', context: o.hub.hub_id, bytes: over });
  const counter = await verifyAssertion(m.credential, passkey.public_key, challenge, o.party);
  if (!sameGrant(grantOf(passkey), whom)) throw notTheirs(passkey);
  return used(passkey, counter);
}

/** Ways into a channel that show a code of the hub. */
const pairingModes = new Set<Opened['mode']>(['link', 'typed', 'sealed']);

/** A passkey proves whose it is, whatever the code was for: neither the owner becomes a guest by it, nor a guest the owner. */
const notTheirs = ({ person }: Passkey): IngleError =>
  new IngleError(
    'assertion_failed',
    person === undefined
      ? 'This passkey is of the owner of the hub. Make one of your own for this invitation.'
      : 'This passkey is of somebody who was invited. It does not prove anybody else.',
  );

export type Admission = ReturnType<typeof admission>;

/** A label as it may be shown: at most 64 characters, none of them invisible; empty when nothing is left. */
export function shownLabel(given: string): string {
  return given.replace(/\p{C}/gu, '').trim().slice(0, 64);
}

const labelOf = (given: string | undefined): string => shownLabel(given ?? '') || 'Browser';
