// Who may come in: pinned browsers and passkeys, browsers proven by a window. Read from memory, written through.
import { toBase64url } from '../protocol/bytes.ts';
import { IngleError } from '../protocol/errors.ts';
import { ELEVATION_TTL } from '../protocol/limits.ts';
import { type Grant, grantOf, ownerGrant, personOf, sameGrant } from './grant.ts';
import { emptied, openProven, type ProvenStore } from './proven.ts';
import type { Browser, Passkey } from './rows.ts';
import type { UplinkStore } from './store.ts';

type PinStore = ProvenStore &
  Pick<
    UplinkStore,
    'browsers' | 'putBrowser' | 'dropBrowser' | 'passkeys' | 'putPasskey' | 'admit' | 'dropPerson'
  >;

/** Loads the pins. Reads answer at once; writes settle when durable. `now` in Unix seconds. */
export async function openPins(store: PinStore, now: () => number) {
  const browsers = new Map((await store.browsers()).map((b) => [b.id, b]));
  const passkeys = new Map((await store.passkeys()).map((p) => [p.cred_id, p]));
  const proven = await openProven(store, now);
  /** Counts how often everybody was forgotten. */
  let era = 0;
  /** Passkeys that are being stored: a second one of the same name must not take their place. */
  const pinning = new Map<string, Passkey>();
  /** People who were forgotten: what was under way for them comes too late. */
  const gone = new Set<string | undefined>();
  /** What is pinned stays whose it is, and keeps its key. @throws IngleError `assertion_failed` */
  function mayPin(passkey: Passkey, b: Browser | undefined): void {
    const known = passkeys.get(passkey.cred_id) ?? pinning.get(passkey.cred_id);
    if ((known && !isSame(known, passkey)) || (b && b.person !== passkey.person))
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

    proven: proven.find,
    /** Notes such a browser; one that is pinned stays whose it is, so a code for somebody else gives it nothing. */
    async prove(id: string, newPasskey: boolean, grant: Grant = ownerGrant): Promise<void> {
      const known = browsers.get(id);
      if (!known || sameGrant(grantOf(known), grant)) await proven.add(id, newPasskey, grant);
    },
    /** One wrong assertion of a proven browser; gives the tries left, and forgets the browser at none. */
    failProven: (id: string): Promise<number> => proven.fail(id, (grant) => gone.has(personOf(grant).person)),

    /**
     * Pins a proven browser and the passkey that spoke for it, whose it is from now on. The owner's has admin skills
     * open from now.
     */
    async admit(id: string, label: string, passkey: Passkey): Promise<Browser> {
      mayPin(passkey, browsers.get(id));
      const b = pinOf(id, label, passkey, now());
      const mine = era;
      pinning.set(passkey.cred_id, passkey);
      await store.admit(b, passkey).finally(() => pinning.delete(passkey.cred_id));
      if (mine !== era)
        throw new IngleError('pairing_failed', 'This hub has another owner now. Ask it for a new code.');
      if (gone.has(b.person)) throw over();
      proven.take(id);
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
      await proven.drop(b.id);
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
      await store.putBrowser(b).catch((e) => {
        b.label = before;
        throw e;
      });
      return true;
    },
    /**
     * Forgets everybody, when `write` has made that durable: the hub has another owner, or its application another
     * address. Nobody is known meanwhile; if `write` fails, everybody is known again.
     */
    async forgetAll(write: () => Promise<unknown>): Promise<void> {
      const restore = [emptied(browsers), emptied(passkeys), proven.takeAll()];
      era++;
      try {
        await write();
      } catch (e) {
        for (const back of restore) back();
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
      proven.takeOf({ kind: 'person', person_id: person });
      return theirs;
    },
    /** False when there is no such browser. */
    async forget(id: string): Promise<boolean> {
      const b = browsers.get(id);
      browsers.delete(id);
      const p = proven.take(id);
      try {
        if (p) await store.dropProven(id);
        await store.dropBrowser(id);
      } catch (e) {
        // Else it would be unknown until the next start, and then be back.
        if (b) browsers.set(id, b);
        if (p) proven.putBack(p);
        throw e;
      }
      return b !== undefined;
    },
  };
}

const over = () =>
  new IngleError('forbidden', 'This invitation is over. Ask the owner of the hub for a new one.');

const isSame = (a: Passkey, b: Passkey): boolean =>
  a.person === b.person && toBase64url(a.public_key) === toBase64url(b.public_key);

const pinOf = (id: string, label: string, passkey: Passkey, at: number): Browser => ({
  ...{ id, label, paired_at: at, seen_at: at },
  ...{ elevated_until: elevation(passkey, at), cred_id: passkey.cred_id },
  ...personOf(grantOf(passkey)),
});

/** Until when what a checked passkey opens is open, Unix seconds: nothing of that is for people who were invited. */
const elevation = (p: Passkey, now: number): number => (p.person === undefined ? now + ELEVATION_TTL : 0);

export type Pins = Awaited<ReturnType<typeof openPins>>;

/** The passkey after a use with `counter`; going back is noted, not refused: synced passkeys always send 0. */
export function used(p: Passkey, counter: number): Passkey {
  const back = counter <= p.counter && (counter > 0 || p.counter > 0);
  return { ...p, counter, regressions: p.regressions + (back ? 1 : 0) };
}
