// Waiting in tests: it ends, and says what was waited for.

/** For a machine that hangs, not for a slow one; below the 120 s a file has. */
let patience = 80;

function inVain(what: string): Error {
  // Said at once: a file that is stopped never comes to its summary.
  console.error(`waited in vain for ${what}`);
  // Where one thing did not come others do not either, and all of them are to be named before the file's time is up.
  patience = 8;
  return new Error(`waited in vain for ${what}`);
}

/** A check that has no answer yet where it throws. */
export function tried<T>(check: () => T | Promise<T>): () => Promise<T | undefined> {
  return async () => {
    try {
      return await check();
    } catch {
      return undefined;
    }
  };
}

type Truthy<T> = Exclude<T, false | 0 | '' | null | undefined>;

/** Waits until `check` gives something true, at most `seconds`. */
export async function until<T>(
  check: () => T | Promise<T>,
  what = String(check),
  seconds = patience,
): Promise<Truthy<Awaited<T>>> {
  const end = performance.now() + seconds * 1000;
  for (let i = 0; ; i++) {
    const left = (end - performance.now()) / 1000;
    if (left <= 0) throw inVain(what);
    const v = await within(Promise.resolve(check()), what, left);
    if (v) return v as Truthy<Awaited<T>>;
    await new Promise((r) => setTimeout(r, i < 100 ? 1 : 10));
  }
}

/** The promise's value, if it comes within `seconds`. */
export async function within<T>(promise: Promise<T>, what: string, seconds = patience): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(inVain(what)), seconds * 1000);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
