// USB sticks with bundles. They are mounted read-only by a root unit, when asked for and no sooner (D21's way).
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

export interface StickBundle {
  path: string;
  /** Bytes. */
  size: number;
}

/** Mount points below `below`, from the text of /proc/self/mounts (proc(5)). Pure. */
export function mountsBelow(mounts: string, below: string): string[] {
  return mounts
    .split('\n')
    .map((line) =>
      (line.split(' ')[1] ?? '').replace(/\\([0-7]{3})/g, (_, o) => String.fromCharCode(parseInt(o, 8))),
    )
    .filter((at) => at.startsWith(`${below}/`));
}

/** Bundles in the top folder of each mounted stick, newest first. */
export function findBundles(
  below: string,
  mounts = readFileSync('/proc/self/mounts', 'utf8'),
): StickBundle[] {
  return mountsBelow(mounts, below)
    .flatMap((at) => {
      try {
        return readdirSync(at)
          .filter((n) => n.endsWith('.raucb') && !n.startsWith('.'))
          .map((n) => join(at, n))
          .map((path) => ({ path, stat: statSync(path) }));
      } catch {
        // Pulled out meanwhile.
        return [];
      }
    })
    .filter(({ stat }) => stat.isFile())
    .sort((a, b) => b.stat.mtimeMs - a.stat.mtimeMs)
    .map(({ path, stat }) => ({ path, size: stat.size }));
}

/**
 * Asks for sticks to be mounted by a file whose sight starts ingle-stick, and waits until it is taken away.
 * @param wish the file
 */
export async function askForSticks(wish: string, waitMs: number): Promise<void> {
  if (!existsSync(dirname(wish))) return;
  writeFileSync(wish, '');
  for (const end = Date.now() + waitMs; existsSync(wish) && Date.now() < end; )
    await new Promise((done) => setTimeout(done, 100));
  rmSync(wish, { force: true });
}
