// Where a benchmark is: a line on stderr when a step begins, while it lasts, and when it is over.

/** Between two lines of one step, milliseconds. */
const STILL_MS = 30_000;

export type Step = <T>(what: string, work: () => Promise<T>) => Promise<T>;

/** @param o.write takes each line; `o.now` is in milliseconds */
export function steps(
  o: { write?: (line: string) => void; now?: () => number; stillMs?: number } = {},
): Step {
  const { write = (line) => process.stderr.write(`${line}\n`), now = () => performance.now() } = o;
  const began = now();
  const at = () => `[${String(Math.round((now() - began) / 1000)).padStart(4)} s]`;
  return async (what, work) => {
    const since = now();
    const lasted = () => `${Math.round((now() - since) / 1000)} s`;
    write(`${at()} ${what}`);
    const still = setInterval(() => write(`${at()} ${what}: still, ${lasted()}`), o.stillMs ?? STILL_MS);
    try {
      const result = await work();
      write(`${at()} ${what}: done in ${lasted()}`);
      return result;
    } catch (e) {
      write(`${at()} ${what}: failed after ${lasted()}`);
      throw e;
    } finally {
      clearInterval(still);
    }
  };
}
