// Root's records and the steps that read and change them, whatever database keeps them.
import type { Stage } from '../../firmware/protocol/wire.ts';

/** A sid that has been used. */
export interface Session {
  sid: string;
  /** Digest of the browser's cookie. */
  cookie: string;
  stage: Stage;
  owner_id: string | null;
  subnet_id: string | null;
  hub_id: string | null;
  browser_key_id: string | null;
  /** Of its code: `new_passkey` when the hub approved a further passkey with it, `guest` one that is not the owner's. */
  scope: string;
  /** Of the session token that counts; null before the login. */
  jti: string | null;
  /** Wrong codes so far, and when they are forgotten. */
  tries: number;
  tries_until: number;
  last_seen: number;
  exp: number;
  /** Where it took its code or signed in, coarsely (`placeOf`). */
  place: string;
  /** What its owner calls it; '' for nothing. */
  name: string;
  /** What a command line called itself; '' for a browser. */
  command: string;
}

/** The names of a hub and of whose it is. */
export interface HubIds {
  hub_id: string;
  owner_id: string;
  subnet_id: string;
}

export interface Hub extends HubIds {
  sign_pub: string;
  e2e_pub: string;
}

/** A passkey as it is registered. */
export interface NewPasskey {
  cred_id: string;
  owner_id: string;
  browser_key_id: string;
  browser_pubkey: Uint8Array;
  /** By whose code it came; '' where that was not kept. */
  hub_id: string;
  sign_count: number;
  transports: string[];
  backed_up: boolean;
}

export interface Passkey extends NewPasskey {
  /** As its owner calls it; '' for nothing. */
  name: string;
  /** The hub says that it is not the owner's: its sessions are led to the hub, and have no say about the account. */
  guest: boolean;
  created: number;
  last_used: number;
  /** When the counter last went back; 0 = never. */
  went_back: number;
}

/** A session's way to its hub. */
export interface Route extends HubIds {
  sid: string;
  stage: Stage;
  generation: number;
  /** The browser's public key, if it gave one. */
  pubkey: string | null;
}

/** A secret root made for itself, and since when it counts; 0 for the first of its name. */
export interface Secret {
  value: string;
  since: number;
}

/**
 * The secrets root makes for itself, and every other record by area. Each verb is one atomic step, durable once it
 * settles; a verb that throws has changed nothing. Times are Unix seconds, and `now` is the caller's. Codes, tickets,
 * networks, proofs and cookies come in as digests or keyed hashes; no verb sees the text itself.
 */
export interface Records {
  /** The first secret of that name; `fresh` becomes it when there is none yet. */
  secret(name: string, fresh: string): Promise<string>;
  /** All secrets of that name, the oldest first. */
  secrets(name: string): Promise<Secret[]>;
  /** Adds a secret to those of a name, from `now` on and after all before it; `alone`: those are removed. */
  renewSecret(name: string, value: string, now: number, alone: boolean): Promise<void>;
  sessions: Sessions;
  hubs: Hubs;
  codes: Codes;
  members: Members;
  passkeys: Passkeys;
  routes: Routes;
  pages: Pages;
  commandLines: CommandLines;
  estate: Estate;
  audit: Audit;
  /** Removes whatever is over; see `Sweep`. @returns sids whose sockets must go */
  sweep(s: Sweep): Promise<string[]>;
  /** Settles when the database answers. */
  ready(): Promise<void>;
  close(): Promise<void>;
}

/** Ending a session removes its challenge, key, route and pages too, and keeps its sid from beginning again. */
export interface Sessions {
  /** A session that is not over. */
  find(sid: string, now: number): Promise<Session | undefined>;
  /** Whether the sid was ended while its signature may still hold. */
  isOver(sid: string): Promise<boolean>;
  /** Makes the record of a new sid unless there is one or the sid is over; `find` afterwards. */
  begin(s: { sid: string; cookie: string; now: number }): Promise<Session | undefined>;
  /** Notes that the browser was there. */
  seen(sid: string, now: number): Promise<void>;
  /** Ends a session; one that was signed in is in the trail: signed out by itself, or ended by `by`. */
  end(sid: string, now: number, by?: By): Promise<void>;
  /** An owner's sessions that are signed in, the one seen last first. */
  ofOwner(ownerId: string, now: number): Promise<Session[]>;
  /** @returns false when the session is not that owner's, or not signed in */
  rename(r: { sid: string; owner_id: string; name: string; by: By; now: number }): Promise<boolean>;
  /** Ends the sessions of a hub's codes that no passkey has signed in on. @returns their sids */
  endUnpaired(hubId: string, now: number): Promise<string[]>;
  /** Stores live stages; only of sessions that are signed in. */
  keepStages(stages: readonly { sid: string; stage: Stage }[]): Promise<void>;
}

export interface Hubs {
  find(hubId: string): Promise<Hub | undefined>;
  findByKey(signPub: string): Promise<Hub | undefined>;
  /** A hub of the owner: `preferred` if it is one, or the newest that is no member. */
  ofOwner(ownerId: string, preferred: string | null): Promise<Hub | undefined>;
  /**
   * The hub of `sign_pub` with a new `e2e_pub`; a new hub, owner and subnet for a key nobody has. A new hub is called
   * `derived`, which follows from its key, or `random` when another hub has that name.
   */
  enrol(e: { sign_pub: string; e2e_pub: string; derived: HubIds; random: HubIds; now: number }): Promise<Hub>;
  /** Gives a hub new keys. @returns false when it no longer has the key `from`, or another hub has `to` */
  rotate(r: { hub_id: string; from: string; to: string; e2e_pub: string; now: number }): Promise<boolean>;
  /** Notes that a hub has come online, unless it was seen in the last `SEEN_EVERY` seconds. */
  seen(hubId: string, now: number): Promise<void>;
  /** Notes when the certificate ends that a hub is given. */
  certified(hubId: string, exp: number): Promise<void>;
  /** Spends a proof, kept until `exp`. @returns false when it was spent before */
  spendProof(id: string, exp: number): Promise<boolean>;
}

/** A code as it is issued. */
export interface NewCode {
  hub_id: string;
  owner_id: string;
  scope: string;
  /** Where the hub is, and the ticket of its link; '' for none. */
  network: string;
  ticket: string;
  exp: number;
  now: number;
}

export interface Codes {
  /**
   * Opens a code for a hub; the one before, if still open, is void.
   * @param draw another code, keyed hash; called until one is free. When it throws, nothing has changed.
   * @returns when the hub's last code was taken, told once; null when none was
   */
  issue(code: NewCode, draw: () => string): Promise<{ taken_at: number | null }>;
  /**
   * Takes an open code for a hub, which from now may ask to be let into the subnet of the code's hub, until `exp`; what
   * it asked for before is over. Only codes of scope `member` count, which no session can take.
   * @throws IngleError `conflict` for a hub that has members, or is one
   */
  join(t: {
    hub_id: string;
    code: string;
    ticket: string;
    network: string;
    now: number;
    exp: number;
  }): Promise<Hub | undefined>;
  /**
   * Takes an open code for a session, which becomes a session of the code's hub until `exp`. With `ticket` or `network`
   * (not '') only a code that has it counts. A code that is not there counts as one wrong try, unless a ticket was
   * given.
   * @throws IngleError `conflict`, `rate_limited`, `unauthenticated`
   */
  take(t: {
    sid: string;
    code: string;
    ticket: string;
    network: string;
    /** Of the session, coarsely. */
    place: string;
    now: number;
    exp: number;
  }): Promise<{ hub: Hub; scope: string } | undefined>;
}

/** Where a hub leads in its subnet. */
export interface Membership {
  via: Hub;
  /** The hub of the subnet has let it in. */
  admitted: boolean;
}

export interface Members {
  /** The way of a member, or of a hub that has asked to be one and still may. */
  find(hubId: string, now: number): Promise<Membership | undefined>;
  /**
   * A hub that asked `via` becomes its member, with its owner and subnet; its sessions are over.
   * @returns their sids; undefined when it does not ask, has another key, or there are `most` members
   */
  admit(a: {
    hub_id: string;
    sign_pub: string;
    via: string;
    most: number;
    now: number;
  }): Promise<string[] | undefined>;
  /**
   * A member has owner and subnet again that it had alone; its codes and sessions are over.
   * @param p `via`: who lets it go, null for itself; `note`: what `via` says to it
   * @returns sids of its sessions; undefined when it is no member of `via`
   */
  part(p: { hub_id: string; via: string | null; note: string; now: number }): Promise<string[] | undefined>;
  /** What was said to a hub that was let go, until it is a member again. */
  note(hubId: string): Promise<string | undefined>;
}

export type Ceremony = 'login' | 'registration' | 'command';

export interface Challenge {
  sid: string;
  challenge: string;
  exp: number;
}

export interface Passkeys {
  find(credId: string): Promise<Passkey | undefined>;
  /** Oldest first. */
  ofOwner(ownerId: string): Promise<Passkey[]>;
  /** Keeps the challenge of a registration and moves the session on. @throws IngleError `conflict`, `unauthenticated` */
  beginRegistration(c: Challenge, now: number): Promise<void>;
  /** Keeps the challenge of an assertion. */
  beginAssertion(kind: 'login' | 'command', c: Challenge): Promise<void>;
  /** Takes the challenge of a session; there is one, of one kind, and it is taken once. */
  takeChallenge(sid: string, kind: Ceremony, now: number): Promise<string | undefined>;
  /**
   * Registers a passkey for a session, a guest's where the session's code was for one; the approval is used up.
   * @param check throws unless the session, as it is now, may register one beside those its owner has
   * @returns false when the passkey is registered already
   * @throws IngleError `conflict`, and what `check` throws
   */
  register(
    r: { sid: string; passkey: NewPasskey; now: number },
    check: (session: Session | undefined, known: readonly Passkey[]) => void,
  ): Promise<boolean>;
  /** Notes that a passkey is not the owner's. */
  markGuest(credId: string): Promise<void>;
  /**
   * Signs a session in by a passkey that was verified.
   * @param l `owner_before`: the session's owner when the verification began
   * @returns whether the passkey's counter went back; undefined when session or passkey changed or went meanwhile
   * @throws IngleError `conflict`
   */
  login(l: {
    sid: string;
    owner_before: string | null;
    cred_id: string;
    sign_count: number;
    hub_id: string;
    subnet_id: string;
    jti: string;
    place: string;
    now: number;
    exp: number;
  }): Promise<{ went_back: boolean } | undefined>;
  /** @returns false when the owner has no such passkey */
  rename(r: { cred_id: string; owner_id: string; name: string; by: By; now: number }): Promise<boolean>;
  /**
   * Removes a passkey and ends its sessions; with the owner's last one every session of the owner ends and open codes
   * are void. @returns the sids; undefined when the owner has no such passkey
   */
  remove(r: { cred_id: string; owner_id: string; by: By; now: number }): Promise<string[] | undefined>;
}

/** Whose doing something was, for the trail: a browser's or a command line's, from a coarse place, or a hub's. */
export interface By {
  /** Of a command line: the passkey that let it in. */
  browser_key_id: string | null;
  by_hub: string | null;
  /** What the command line is called; '' for none. */
  by_command: string;
  place: string;
}

/** A hub as its owner sees it. Times are 0 where they are not known. */
export interface OwnedHub extends Hub {
  name: string;
  created: number;
  /** When it was last online, within `SEEN_EVERY` seconds. */
  seen: number;
  cert_exp: number;
  rotated: number;
  /** The hub that leads it in a subnet. */
  via: string | null;
  /** Until when it is offered to another owner. */
  offered_until: number | null;
}

/** What an owner does with their hubs. */
export interface Estate {
  /** The owner's hubs, oldest first. */
  hubs(ownerId: string, now: number): Promise<OwnedHub[]>;
  /** @returns false when the owner has no such hub */
  rename(r: { hub_id: string; owner_id: string; name: string; by: By; now: number }): Promise<boolean>;
  /**
   * Forgets a hub with its codes and sessions; with the owner's last one everything of the owner goes.
   * @returns sids of the sessions that ended; undefined when the owner has no such hub
   * @throws IngleError `conflict` for a hub of a subnet
   */
  remove(r: { hub_id: string; owner_id: string; by: By; now: number }): Promise<string[] | undefined>;
  /**
   * Offers a hub to whoever has a code of it, until `exp`; null takes the offer back.
   * @returns false when the owner has no such hub
   * @throws IngleError `conflict` for a hub of a subnet
   */
  offer(o: { hub_id: string; owner_id: string; exp: number | null; by: By; now: number }): Promise<boolean>;
  /**
   * Takes an open code of a hub that is offered: the hub is `owner_id`'s from now, alone in `subnet_id`, and what was
   * begun with it before is over. Codes for guests and for hubs do not count.
   * @param t `network`, `ticket`: as in `Codes.take`; `home`: the hub by which the new owner signed in
   * @returns the hub and the sids of sessions that ended; undefined for a wrong code, also of a hub that is not offered
   */
  take(t: {
    code: string;
    ticket: string;
    network: string;
    owner_id: string;
    subnet_id: string;
    home: string;
    by: By;
    now: number;
  }): Promise<{ hub_id: string; ended: string[] } | undefined>;
}

/** What a trail tells of. */
export type Deed =
  | 'code_taken'
  | 'passkey_added'
  | 'passkey_renamed'
  | 'passkey_removed'
  | 'signed_in'
  | 'counter_went_back'
  | 'signed_out'
  | 'session_ended'
  | 'session_renamed'
  | 'command_allowed'
  | 'command_denied'
  | 'hub_renamed'
  | 'hub_keys_changed'
  | 'hub_removed'
  | 'hub_offered'
  | 'hub_kept'
  | 'hub_given'
  | 'hub_received'
  | 'member_joined'
  | 'member_left';

/** One entry of an owner's trail. */
export interface AuditEntry extends By {
  /** Counts up for each owner. */
  n: number;
  at: number;
  what: Deed;
  /** The browser key or hub it was done to; '' for the doer itself. */
  about: string;
  /** What that was called then. */
  name: string;
}

/** The trails. Every verb writes what it did in the step that does it; nothing changes an entry. */
export interface Audit {
  /** Entries older than number `before`, newest first, at most `most`. */
  read(r: { owner_id: string; before: number; most: number }): Promise<AuditEntry[]>;
}

/** A command line that asks to be let in (RFC 8628). */
export interface Asking {
  /** Digest of its device code. */
  id: string;
  /** What it calls itself. */
  name: string;
  place: string;
  asked: number;
  exp: number;
}

export interface CommandLines {
  /**
   * Notes that a command line asks.
   * @param draw a code to be typed, keyed hash; called until one is free. When it throws, nothing has changed.
   * @returns false when `most` ask already
   */
  ask(a: Asking & { network: string; most: number }, draw: () => string): Promise<boolean>;
  /**
   * Who asks by that code, nobody having answered. From now it is this owner's to answer, and no other's code. With
   * `network` (not '') only one that asked from there counts.
   */
  find(f: { code: string; network: string; owner_id: string; now: number }): Promise<Asking | undefined>;
  /** Lets it in by a passkey that was verified. @returns false when it does not ask this owner any more, or the passkey is gone */
  allow(a: {
    id: string;
    owner_id: string;
    cred_id: string;
    sign_count: number;
    by: By;
    now: number;
  }): Promise<boolean>;
  /** @returns false when it does not ask this owner any more */
  deny(d: { id: string; owner_id: string; by: By; now: number }): Promise<boolean>;
  /**
   * What became of its wish. The first time after it was let in it becomes the session `sid` until `exp`, whose owner is
   * answered; `early` within `interval` seconds after it asked last; `over` when it is not known any more.
   */
  poll(p: {
    id: string;
    sid: string;
    interval: number;
    place: string;
    now: number;
    exp: number;
  }): Promise<'asking' | 'early' | 'denied' | 'spent' | 'over' | { owner_id: string }>;
}

export interface Routes {
  /**
   * The routes of live sessions to a hub, or to all hubs, for a process that becomes their home: no socket outlives the
   * one before, so stages go back to AUTH.
   */
  restore(now: number, hubId?: string): Promise<Route[]>;
  /**
   * Keeps the route of a session, which leads to that hub from now, and its public key if given.
   * @returns false when the session, or the owner's hub, is gone
   */
  offer(o: {
    sid: string;
    hub_id: string;
    pubkey: string | undefined;
    now: number;
    exp: number;
  }): Promise<boolean>;
  /** Notes the generation in which a route was bound; it never goes back. */
  bind(sid: string, generation: number, now: number): Promise<void>;
}

/** A page of a skill's own that comes through root: for whom, and from which hub. */
export interface SkillPage {
  /** Digest of its ticket's jti. */
  id: string;
  /** The session that opened it: the page lives no longer. */
  sid: string;
  owner_id: string;
  hub_id: string;
  skill_id: string;
  exp: number;
}

export interface Pages {
  /** Notes a page whose ticket is given out and ends at `exp`. */
  begin(p: SkillPage): Promise<void>;
  /** Spends the ticket of a page; its files may then be asked for until `exp`. @returns undefined where there is none, or its time is over */
  spend(s: { id: string; now: number; exp: number }): Promise<SkillPage | 'spent' | undefined>;
  /** A page whose ticket is spent and whose time is not over. */
  find(id: string, now: number): Promise<SkillPage | undefined>;
}

/**
 * Sessions of `connected` tabs are in use; others that are signed in end when nobody saw them since `idle_since`. Hubs
 * that are `online` at this process were there now; those that never came into use are forgotten (`UNUSED`).
 */
export interface Sweep {
  now: number;
  idle_since: number;
  connected: readonly string[];
  online: readonly string[];
}
