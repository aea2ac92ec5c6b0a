// Who may come in: pinned browsers and passkeys, browsers proven by a window. Read from memory, written through.
import { toBase64url } from '../protocol/bytes.ts';
import { IngleError } from '../protocol/errors.ts';
import { ELEVATION_TTL, PAIRING_TRIES } from '../protocol/limits.ts';
import { type Grant, grantOf, ownerGrant, personOf, sameGrant } from './grant.ts';
import type { Browser, Passkey, Proven } from './rows.ts';
import type { UplinkStore } from './store.ts';

/** How long a browser that proved itself may take for its assertion, seconds. */
export const PROVEN_TTL = 600;
/** Browsers that owe their assertion at one time; a pairing window makes one. */
const MOST_PROVEN = 16;

type PinStore = Pick<
  UplinkStore,
  | 'browsers'
  | 'putBrowser'
  | 'dropBrowser'
  | 'passkeys'
  | 'putPasskey'
  | 'proven'
  | 'putProven'
  | 'dropProven'
  | 'admit'
  | 'dropPerson'
>;

/** Loads the pins. Reads answer at once; writes settle when durable. `now` in Unix seconds. */
export async function openPins(store: PinStore, now: () => number) {
  const browsers = new Map((await store.browsers()).map((b) => [b.id, b]));
  const passkeys = new Map((await store.passkeys()).map((p) => [p.cred_id, p]));
  const proven = new Map((await store.proven()).map((p) => [p.id, p]));
  /** Counts how often everybody was forgotten. */
  let era = 0;
  /** Passkeys that are being stored: a second one of the same name must not take their place. */
  const pinning = new Map<string, Passkey>();
  /** People who were forgotten: what was under way for them comes too late. */
  const gone = new Set<string | undefined>();
  /** What is pinned stays whose it is, and keeps its key. @throws IngleError `assertion_failed` */
  function mayPin(passkey: Passkey, b: Browser | undefined): void {
    const known = passkeys.get(passkey.cred_id) ?? pinning.get(passkey.cred_id);
    const same =
      !known ||
      (known.person === passkey.person && toBase64url(known.public_key) === toBase64url(passkey.public_key));
    if (!same || (b && b.person !== passkey.person))
      throw new IngleError('assertion_failed', 'This passkey belongs to somebody else here.');
    if (gone.has(passkey.person)) throw over();
  }

  return {
    browsers: (): Browser[] => [...browsers.values()],
    browser: (id: string): Browser | undefined => browsers.get(id),
    passkeys: (): Passkey[] => [...passkeys.values()],
    passkey: (id: string): Passkey | undefined => passkeys.get(id),
    /** Whether the owner has one: those of other people say nothing of that. */
    get hasPasskey(): boolean {
      return [...passkeys.values()].some((p) => p.person === undefined);
    },

    /** A browser that knew the secret of a window, until it asserts or its time is up. */
    proven(id: string): Proven | undefined {
      const p = proven.get(id);
      return p && now() < p.expires_at ? p : undefined;
    },
    /** Notes such a browser; one that is pinned stays whose it is, so a code for somebody else gives it nothing. */
    async prove(id: string, newPasskey: boolean, grant: Grant = ownerGrant): Promise<void> {
      const known = browsers.get(id);
      if (known && !sameGrant(grantOf(known), grant)) return;
      const expires_at = now() + PROVEN_TTL;
      const p: Proven = { id, new_passkey: newPasskey, grant, expires_at, failures: 0 };
      proven.delete(id);
      proven.set(id, p);
      const work = [store.putProven(p)];
      for (const old of [...proven.values()])
        if (now() >= old.expires_at || proven.size > MOST_PROVEN) {
          proven.delete(old.id);
          work.push(store.dropProven(old.id));
        }
      await Promise.all(work);
    },
    /** One wrong assertion of a proven browser; gives the tries left, and forgets the browser at none. */
    async failProven(id: string): Promise<number> {
      const p = proven.get(id);
      if (!p || gone.has(personOf(p.grant).person)) return 0;
      p.failures++;
      const left = PAIRING_TRIES - p.failures;
      if (left > 0) await store.putProven(p);
      else {
        proven.delete(id);
        await store.dropProven(id);
      }
      return Math.max(0, left);
    },

    /**
     * Pins a proven browser and the passkey that spoke for it, whose it is from now on. The owner's has admin skills
     * open from now.
     */
    async admit(id: string, label: string, passkey: Passkey): Promise<Browser> {
      mayPin(passkey, browsers.get(id));
      const at = now();
      const b: Browser = {
        ...{ id, label, paired_at: at, seen_at: at },
        ...{ elevated_until: elevation(passkey, at), cred_id: passkey.cred_id },
        ...personOf(grantOf(passkey)),
      };
      const mine = era;
      pinning.set(passkey.cred_id, passkey);
      await store.admit(b, passkey).finally(() => pinning.delete(passkey.cred_id));
      if (mine !== era)
        throw new IngleError('pairing_failed', 'This hub has another owner now. Ask it for a new code.');
      if (gone.has(b.person)) throw over();
      proven.delete(id);
      browsers.set(id, b);
      passkeys.set(passkey.cred_id, passkey);
      return b;
    },
    async elevate(b: Browser, passkey: Passkey): Promise<void> {
      mayPin(passkey, b);
      passkeys.set(passkey.cred_id, passkey);
      await store.putPasskey(passkey);
      b.elevated_until = elevation(passkey, now());
      if (browsers.get(b.id) === b) await store.putBrowser(b);
      if (proven.delete(b.id)) await store.dropProven(b.id);
    },
    async saw(b: Browser): Promise<void> {
      b.seen_at = now();
      if (browsers.get(b.id) === b) await store.putBrowser(b);
    },
    /** False when there is no such browser. */
    async rename(id: string, label: string): Promise<boolean> {
      const b = browsers.get(id);
      if (!b) return false;
      const before = b.label;
      b.label = label;
      try {
        await store.putBrowser(b);
      } catch (e) {
        b.label = before;
        throw e;
      }
      return true;
    },
    /**
     * Forgets everybody, when `write` has made that durable: the hub has another owner, or its application another
     * address. Nobody is known meanwhile; if `write` fails, everybody is known again.
     */
    async forgetAll(write: () => Promise<unknown>): Promise<void> {
      const kept = [new Map(browsers), new Map(passkeys), new Map(proven)] as const;
      for (const all of [browsers, passkeys, proven]) all.clear();
      era++;
      try {
        await write();
      } catch (e) {
        for (const [id, b] of kept[0]) browsers.set(id, b);
        for (const [id, p] of kept[1]) passkeys.set(id, p);
        for (const [id, p] of kept[2]) proven.set(id, p);
        throw e;
      }
    },
    /** Forgets a person's browsers and passkeys, and the person; gives the browsers that were theirs. */
    async forgetPerson(person: string): Promise<Browser[]> {
      gone.add(person);
      await store.dropPerson(person).catch((e) => {
        gone.delete(person);
        throw e;
      });
      const theirs = [...browsers.values()].filter((b) => b.person === person);
      for (const b of theirs) browsers.delete(b.id);
      for (const p of [...passkeys.values()]) if (p.person === person) passkeys.delete(p.cred_id);
      for (const p of [...proven.values()])
        if (sameGrant(p.grant, { kind: 'person', person_id: person })) proven.delete(p.id);
      return theirs;
    },
    /** False when there is no such browser. */
    async forget(id: string): Promise<boolean> {
      const [b, p] = [browsers.get(id), proven.get(id)];
      browsers.delete(id);
      proven.delete(id);
      try {
        if (p) await store.dropProven(id);
        await store.dropBrowser(id);
      } catch (e) {
        // Else it would be unknown until the next start, and then be back.
        if (b) browsers.set(id, b);
        if (p) proven.set(id, p);
        throw e;
      }
      return b !== undefined;
    },
  };
}

const over = () =>
  new IngleError('forbidden', 'This invitation is over. Ask the owner of the hub for a new one.');

/** Until when what a checked passkey opens is open, Unix seconds: nothing of that is for people who were invited. */
const elevation = (p: Passkey, now: number): number => (p.person === undefined ? now + ELEVATION_TTL : 0);

export type Pins = Awaited<ReturnType<typeof openPins>>;

/** The passkey after a use with `counter`; going back is noted, not refused: synced passkeys always send 0. */
export function used(p: Passkey, counter: number): Passkey {
  const back = counter <= p.counter && (counter > 0 || p.counter > 0);
  return { ...p, counter, regressions: p.regressions + (back ? 1 : 0) };
}
