// Builds dist/ when a source has changed since. Plain Node, so that it runs before anything is installed.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const top = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const sources = ['firmware', 'services', 'root', 'spa', 'web-wizard'];
const rollups = [
  'rollup.config.js',
  ...['app', 'native', 'page', 'scenarios', 'schemas', 'sdk'].map((n) => `services/cli/rollup.${n}.js`),
];
const configs = ['package.json', 'package-lock.json', ...rollups, 'tsconfig.json'];
const stampFile = join(top, 'dist/.stamp');
const lockFile = join(top, 'dist/.lock');

/** A digest of path, size and time of every source. */
function stamp() {
  const hash = createHash('sha256');
  const add = (path) => {
    const s = statSync(path, { throwIfNoEntry: false });
    if (!s) return;
    if (s.isDirectory()) {
      for (const name of readdirSync(path).sort()) if (name !== 'node_modules') add(join(path, name));
    } else hash.update(`${path} ${s.size} ${s.mtimeMs}\n`);
  };
  for (const name of [...sources, ...configs]) add(join(top, name));
  return hash.digest('hex');
}

const read = (file) => (existsSync(file) ? readFileSync(file, 'utf8') : '');

/** Whether dist/ was built from the sources as they are. Where there are no sources, it is. */
export function isFresh() {
  return !existsSync(join(top, 'rollup.config.js')) || read(stampFile) === stamp();
}

function alive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** One process at a time: whoever makes the lock file works, the others wait for it. Builders and installers share one. */
export async function locked(work, file = lockFile) {
  mkdirSync(dirname(file), { recursive: true });
  for (;;) {
    try {
      writeFileSync(file, String(process.pid), { flag: 'wx' });
      break;
    } catch (e) {
      if (e.code !== 'EEXIST') throw e;
      const holder = Number(read(file));
      if (holder && !alive(holder)) rmSync(file, { force: true });
      else await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
  try {
    return await work();
  } finally {
    rmSync(file, { force: true });
  }
}

/**
 * Builds when needed.
 * @param progress gets a line for each part built.
 * @throws Error with the bundler's own words.
 */
export async function build(progress = () => {}) {
  if (isFresh()) return false;
  return locked(async () => {
    const now = stamp();
    if (read(stampFile) === now) return false;
    await rollup(progress);
    writeFileSync(stampFile, now);
    return true;
  });
}

/** Rollup works on one processor: two of them share the parts. */
async function rollup(progress) {
  const count = Math.min(2, availableParallelism());
  const all = Array.from({ length: count }, (_, i) => rollupShare(`${i}/${count}`, progress));
  // Nobody writes to dist/ any more when a failure is told.
  await Promise.allSettled(all);
  await Promise.all(all);
}

function rollupShare(share, progress) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(top, 'node_modules/rollup/dist/bin/rollup'), '-c'], {
      cwd: top,
      env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: '0', INGLE_BUILD_SHARE: share },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let said = '';
    // A service of several programs is made in several goes.
    const parts = new Set();
    const hear = (data) => {
      said += data;
      for (const [, what] of String(data).matchAll(/created (dist\S*)/g)) {
        if (!parts.has(what)) progress(what);
        parts.add(what);
      }
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    child.on('error', reject);
    child.on('close', (code) =>
      code === 0 ? resolve() : reject(new Error(`The build failed:\n${said.slice(-4000)}`)),
    );
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    const built = await build((what) => console.log(`built ${what}`));
    if (!built) console.log('dist is up to date');
  } catch (e) {
    console.error(e.message);
    process.exit(70);
  }
}
