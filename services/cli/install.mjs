// `npm ci` when node_modules is missing or older than the lock file. Plain Node.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { locked, top } from './build.mjs';

const mark = join(top, 'node_modules/.package-lock.json');

/** Whether every package the lock file wants is there in its version. npm writes the mark last, so a run cut off does not count. */
export function isInstalled() {
  if (!existsSync(mark)) return false;
  const read = (file) => JSON.parse(readFileSync(file, 'utf8')).packages;
  const have = read(mark);
  return Object.entries(read(join(top, 'package-lock.json'))).every(
    ([path, p]) =>
      !path.startsWith('node_modules/') || p.optional || p.link || have[path]?.version === p.version,
  );
}

/**
 * Installs. `progress(seconds)` is called at once and then every ten seconds.
 * @throws Error with npm's last words and what to do.
 */
export async function install(progress = () => {}) {
  if (isInstalled()) return false;
  return locked(async () => !isInstalled() && npmCi(progress));
}

async function npmCi(progress) {
  const env = { ...process.env };
  // sqlite3 is compiled where no prebuilt file can be had; Node's own headers beside its binary spare a download.
  const own = dirname(dirname(process.execPath));
  if (!env.npm_config_nodedir && existsSync(join(own, 'include/node/node.h'))) env.npm_config_nodedir = own;
  // What node-gyp gives make: all processors.
  env.JOBS ??= 'max';
  await new Promise((resolve, reject) => {
    const began = Date.now();
    progress(0);
    const timer = setInterval(() => progress(Math.round((Date.now() - began) / 1000)), 10_000);
    const child = spawn('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
      cwd: top,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let said = '';
    const hear = (data) => {
      said = (said + data).slice(-8000);
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    child.on('error', reject);
    child.on('close', (code) => {
      clearInterval(timer);
      if (code === 0) return resolve();
      const hint = /gyp|make|compiler|g\+\+|python/i.test(said)
        ? '\nA package wants a compiler: sudo apt-get install build-essential python3'
        : '';
      reject(new Error(`npm ci failed:\n${said.trim().split('\n').slice(-15).join('\n')}${hint}`));
    });
  });
  return true;
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  await install((s) => console.log(s ? `  still installing, ${s} s` : 'Installing packages')).catch((e) => {
    console.error(e.message);
    process.exit(70);
  });
