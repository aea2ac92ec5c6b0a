// Documents that go for good, once those who look at them have gone.
import type { Library } from '../../firmware/documents/library.ts';

/** How long those who look may take to be gone, tries of 50 ms. */
const TRIES = 60;

/** @throws Error when somebody still looks at one */
export async function removeDocuments(library: Library, keys: readonly string[]): Promise<void> {
  for (const key of keys)
    for (let left = TRIES; !(await library.remove(key)); left--) {
      if (left === 0) throw new Error(`${key} is still looked at`);
      await new Promise((done) => setTimeout(done, 50));
    }
}
