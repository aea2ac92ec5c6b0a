// The services as rollup bundles them. rollup.config.js builds again only what changed.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../firmware/system/exec.ts';

/** Parts of dist/ that a hub has; the rest is of other computers, or was made of these (a snapshot of this one's Node). */
const ours = /^(services(?!\/cli\/(start|guard))|skills|spa|web-wizard)\/(?!.*\.blob)/;

/** Files below `dir`, as paths relative to it. */
export function filesBelow(dir: string, at = ''): string[] {
  return readdirSync(join(dir, at), { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((e) => (e.isDirectory() ? filesBelow(dir, join(at, e.name)) : [join(at, e.name)]));
}

/** Which of dist/ a hub with these services carries; all when `only` is empty. */
export function carried(file: string, only: readonly string[]): boolean {
  if (!ours.test(file)) return false;
  // The skills go where their host goes.
  const service = file.startsWith('skills/') ? 'skill-host' : /^services\/([^/]+)\//.exec(file)?.[1];
  return only.length === 0 || (service !== undefined && only.includes(service));
}

interface Part {
  /** Files it was made of. */
  sources: Record<string, string>;
  /** Files it was written to, from dist/ on. */
  outputs: string[];
}

/** What rollup.config.js wrote down of each part it built. */
function parts(top: string): Map<string, Part> {
  const dir = join(top, 'dist/.parts');
  const files = existsSync(dir) ? readdirSync(dir).filter((f) => f.endsWith('.json')) : [];
  return new Map(files.map((f) => [f, JSON.parse(readFileSync(join(dir, f), 'utf8')) as Part]));
}

/**
 * Files of dist/ without programs that the last build of their part did not write: pieces of earlier ones, whose names
 * end in another hash.
 */
export function current(top: string, files: readonly string[]): string[] {
  const written = new Set([...parts(top).values()].flatMap((p) => p.outputs ?? []));
  return files.filter((f) => !/^(services|skills)\/.*\.js$/.test(f) || written.has(`dist/${f}`));
}

/**
 * Folders of the npm modules that went into bundles, such as `node_modules/yjs`, sorted; rollup.config.js wrote down
 * what each was made of.
 * @param files of dist/
 */
export function bundled(top: string, files: readonly string[]): string[] {
  const found = new Set<string>();
  const outputs = new Set(files.map((f) => (/^(spa|web-wizard)\//.exec(f)?.[1] ?? f).replace(/^/, 'dist/')));
  const known = parts(top);
  for (const out of outputs) {
    const part = known.get(`${createHash('sha256').update(out).digest('hex').slice(0, 16)}.json`);
    for (const source of Object.keys(part?.sources ?? {})) {
      const folder = /(?:^|\/)(node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+)\//.exec(source)?.[1];
      if (folder) found.add(folder);
    }
  }
  return [...found].sort();
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
  const files = existsSync(dist)
    ? current(
        top,
        filesBelow(dist).filter((f) => carried(f, only)),
      )
    : [];
  const hash = createHash('sha256');
  for (const f of files) hash.update(f).update(readFileSync(join(dist, f)));
  return { files, hash: hash.digest('hex') };
}
