// A skill's storage over what is kept: reads from memory, each change tried, stored, and only then shown.
import { isOwnerId } from '../documents/key.ts';
import { IngleError } from '../protocol/errors.ts';
import { checkName, type Kept, textOfValue, withValue } from './kept.ts';
import type { Json, SkillStorage, Storage } from './sdk/skill.ts';

/** A change of what is kept; throws when it may not be. */
export type Change = (k: Kept) => Kept;

export interface Vault {
  now(): Kept;
  /** Settles when it is stored. @throws IngleError what the change throws; `unavailable` when the disk does not take it */
  change(what: Change): Promise<void>;
}

/**
 * @param store settles when the whole is on the disk
 * Changes that come while one is stored go together with the next.
 */
export function openVault(begin: Kept, store: (k: Kept) => Promise<void>): Vault {
  let now = begin;
  let waiting: { what: Change; done: () => void; failed: (e: unknown) => void }[] = [];
  let busy = false;

  async function flush(): Promise<void> {
    busy = true;
    while (waiting.length > 0) {
      const group = waiting;
      waiting = [];
      let next = now;
      // One that may not be harms no other.
      const taken = group.filter(({ what, failed }) => {
        try {
          next = what(next);
          return true;
        } catch (e) {
          failed(e);
          return false;
        }
      });
      try {
        if (next !== now) await store(next);
        now = next;
        for (const t of taken) t.done();
      } catch (e) {
        const why = (e as Error).message;
        const refused = new IngleError('unavailable', `The disk does not take the skill's data: ${why}`);
        for (const t of taken) t.failed(refused);
      }
    }
    busy = false;
  }
  return {
    now: () => now,
    change: (what) =>
      new Promise((done, failed) => {
        waiting.push({ what, done, failed });
        if (!busy) void flush();
      }),
  };
}

export function openStorage(vault: Vault): SkillStorage {
  const scoped = (scope: string): Storage => {
    const texts = () => vault.now().values.get(scope);
    return {
      get: <T extends Json>(key: string) => {
        const text = texts()?.get(key);
        return text === undefined ? undefined : (JSON.parse(text) as T);
      },
      keys: () => [...(texts()?.keys() ?? [])],
      async set(key, value) {
        checkName(key);
        const text = textOfValue(key, value);
        // What is there already costs no write.
        await vault.change((k) =>
          k.values.get(scope)?.get(key) === text ? k : withValue(k, scope, key, text),
        );
      },
      async delete(key) {
        checkName(key);
        await vault.change((k) => (k.values.get(scope)?.has(key) ? withValue(k, scope, key, undefined) : k));
      },
    };
  };
  return {
    ...scoped(''),
    of(owner_id) {
      if (!isOwnerId(owner_id)) throw new IngleError('invalid_request', 'That is no owner id.');
      return scoped(owner_id);
    },
  };
}
