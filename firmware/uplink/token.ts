// The local API's service token, as that service keeps it in a file.
import { readFileSync } from 'node:fs';

/** Reads the token when first needed, and again after `stale()`: the owner may rotate it at any time. */
export function serviceToken(file: string) {
  let known: string | undefined;
  return {
    /** '' while the file is not there: the local API has not started yet. */
    get(): string {
      if (known === undefined) {
        try {
          known = readFileSync(file, 'utf8').trim();
        } catch {
          return '';
        }
      }
      return known;
    },
    /** The API refused the token. True when the file holds another one now. */
    stale(): boolean {
      const before = known;
      known = undefined;
      return this.get() !== before;
    },
  };
}

export type ServiceToken = ReturnType<typeof serviceToken>;
