// The services as rollup bundles them. rollup.config.js builds again only what changed.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../firmware/system/exec.ts';

/** Parts of dist/ that run on another computer than the hub. */
const elsewhere = /^(root|screenshots|\.parts|\.lock|services\/cli\/(start|guard))/;

/** Files below `dir`, as paths relative to it. */
export function filesBelow(dir: string, at = ''): string[] {
  return readdirSync(join(dir, at), { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((e) => (e.isDirectory() ? filesBelow(dir, join(at, e.name)) : [join(at, e.name)]));
}

/** Which of dist/ a hub with these services carries; all when `only` is empty. */
export function carried(file: string, only: readonly string[]): boolean {
  if (elsewhere.test(file)) return false;
  const service = /^services\/([^/]+)\//.exec(file)?.[1];
  return only.length === 0 || (service !== undefined && only.includes(service));
}

/**
 * Brings dist/ up to date for the services of `only` (all when empty).
 * @returns the files the hub carries, relative to dist/, and a hash of their contents
 */
export async function bundles(
  top: string,
  only: readonly string[],
): Promise<{ files: string[]; hash: string }> {
  const node = (args: string[], env: Record<string, string> = {}) =>
    run(process.execPath, args, { cwd: top, env, timeoutMs: 600_000 });
  const all = await node([join(top, 'services/cli/build.mjs')]);
  if (all.code !== 0) {
    if (only.length === 0) throw new Error(all.stderr.trim());
    // Somebody else's part does not build; these may.
    for (const name of only) {
      const part = await node([join(top, 'node_modules/rollup/dist/bin/rollup'), '-c', '--silent'], {
        INGLE_BUILD: `services/${name}/main.ts`,
      });
      if (part.code !== 0) throw new Error(part.stderr.trim());
    }
  }
  const dist = join(top, 'dist');
  const files = existsSync(dist) ? filesBelow(dist).filter((f) => carried(f, only)) : [];
  const hash = createHash('sha256');
  for (const f of files) hash.update(f).update(readFileSync(join(dist, f)));
  return { files, hash: hash.digest('hex') };
}
