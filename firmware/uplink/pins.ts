// Who may come in: pinned browsers and passkeys, browsers proven by a window. Read from memory, written through.
import { IngleError } from '../protocol/errors.ts';
import { ELEVATION_TTL, PAIRING_TRIES } from '../protocol/limits.ts';
import type { Browser, Passkey, Proven, UplinkStore } from './store.ts';

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
>;

/** Loads the pins. Reads answer at once; writes settle when durable. `now` in Unix seconds. */
export async function openPins(store: PinStore, now: () => number) {
  const browsers = new Map((await store.browsers()).map((b) => [b.id, b]));
  const passkeys = new Map((await store.passkeys()).map((p) => [p.cred_id, p]));
  const proven = new Map((await store.proven()).map((p) => [p.id, p]));
  /** Counts how often everybody was forgotten. */
  let era = 0;

  return {
    browsers: (): Browser[] => [...browsers.values()],
    browser: (id: string): Browser | undefined => browsers.get(id),
    passkeys: (): Passkey[] => [...passkeys.values()],
    passkey: (id: string): Passkey | undefined => passkeys.get(id),
    get hasPasskey(): boolean {
      return passkeys.size > 0;
    },

    /** A browser that knew the secret of a window, until it asserts or its time is up. */
    proven(id: string): Proven | undefined {
      const p = proven.get(id);
      return p && now() < p.expires_at ? p : undefined;
    },
    async prove(id: string, newPasskey: boolean): Promise<void> {
      const p: Proven = { id, new_passkey: newPasskey, expires_at: now() + PROVEN_TTL, failures: 0 };
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
      if (!p) return 0;
      p.failures++;
      const left = PAIRING_TRIES - p.failures;
      if (left > 0) await store.putProven(p);
      else {
        proven.delete(id);
        await store.dropProven(id);
      }
      return Math.max(0, left);
    },

    /** Pins a proven browser and the passkey that spoke for it; admin skills are open to it from now. */
    async admit(id: string, label: string, passkey: Passkey): Promise<Browser> {
      const at = now();
      const until = at + ELEVATION_TTL;
      const b = {
        ...{ id, label, paired_at: at, seen_at: at },
        ...{ elevated_until: until, cred_id: passkey.cred_id },
      };
      const mine = era;
      await store.admit(b, passkey);
      if (mine !== era)
        throw new IngleError('pairing_failed', 'This hub has another owner now. Ask it for a new code.');
      proven.delete(id);
      browsers.set(id, b);
      passkeys.set(passkey.cred_id, passkey);
      return b;
    },
    async elevate(b: Browser, passkey: Passkey): Promise<void> {
      passkeys.set(passkey.cred_id, passkey);
      await store.putPasskey(passkey);
      b.elevated_until = now() + ELEVATION_TTL;
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
      b.label = label;
      await store.putBrowser(b);
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
    /** False when there is no such browser. */
    async forget(id: string): Promise<boolean> {
      const had = browsers.delete(id);
      if (proven.delete(id)) await store.dropProven(id);
      await store.dropBrowser(id);
      return had;
    },
  };
}

export type Pins = Awaited<ReturnType<typeof openPins>>;

/** The passkey after a use with `counter`; going back is noted, not refused: synced passkeys always send 0. */
export function used(p: Passkey, counter: number): Passkey {
  const back = counter <= p.counter && (counter > 0 || p.counter > 0);
  return { ...p, counter, regressions: p.regressions + (back ? 1 : 0) };
}
