// `npm ci` when node_modules is missing or older than the lock file. Plain Node.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { locked, top } from './build.mjs';

const packagesOf = (file) => Object.entries(JSON.parse(readFileSync(file, 'utf8')).packages);
const wanted = () => packagesOf(join(top, 'package-lock.json'));
/** npm writes it when all packages are there; whether their install scripts have run, it does not say. */
const mark = join(top, 'node_modules/.package-lock.json');
/** There from the beginning of an installation to its end, so one that was cut off does not count. */
const underWay = join(top, '.cache/installing');

/** Whether every package the lock file wants is there in its version. */
export function isInstalled() {
  if (!existsSync(mark) || existsSync(underWay)) return false;
  const have = new Map(packagesOf(mark));
  return wanted().every(
    ([path, p]) =>
      !path.startsWith('node_modules/') || p.optional || p.link || have.get(path)?.version === p.version,
  );
}

/**
 * Installs. `progress(seconds)` is called at once and then every ten seconds.
 * @param meanwhile what needs no package's install script: the compilers those call take one processor for minutes
 * @throws Error with npm's last words and what to do; or what `meanwhile` throws.
 */
export async function install(progress = () => {}, meanwhile = async () => {}) {
  const isDone = isInstalled() || (await locked(() => isInstalled() || fresh(progress, meanwhile)));
  if (isDone === true) await meanwhile();
}

async function fresh(progress, meanwhile) {
  mkdirSync(dirname(underWay), { recursive: true });
  writeFileSync(underWay, '');
  const began = Date.now();
  const tell = () => progress(Math.round((Date.now() - began) / 1000));
  tell();
  const timer = setInterval(tell, 10_000);
  try {
    await npm('ci', '--no-audit', '--no-fund', '--ignore-scripts');
    const both = [scripts().then(() => rmSync(underWay)), meanwhile()];
    // Nobody writes there any more when a failure is told.
    await Promise.allSettled(both);
    await Promise.all(both);
  } finally {
    clearInterval(timer);
  }
}

/** Runs the packages' install scripts. As with `npm ci`, an optional one whose script fails is not installed. */
async function scripts() {
  const all = wanted().filter(([path, p]) => p.hasInstallScript && existsSync(join(top, path)));
  const nameOf = ([path]) => path.split('node_modules/').at(-1);
  await npm('rebuild', ...all.filter(([, p]) => !p.optional).map(nameOf));
  for (const one of all.filter(([, p]) => p.optional))
    await npm('rebuild', nameOf(one)).catch(() => rmSync(join(top, one[0]), { recursive: true }));
}

/** @throws Error */
async function npm(...args) {
  const env = { ...process.env };
  // sqlite3 is compiled where no prebuilt file can be had; Node's own headers beside its binary spare a download.
  const own = dirname(dirname(process.execPath));
  if (!env.npm_config_nodedir && existsSync(join(own, 'include/node/node.h'))) env.npm_config_nodedir = own;
  // What node-gyp gives make: all processors.
  env.JOBS ??= 'max';
  await new Promise((resolve, reject) => {
    const child = spawn('npm', [...args, '--loglevel=error'], {
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
      if (code === 0) return resolve();
      const hint = /gyp|make|compiler|g\+\+|python/i.test(said)
        ? '\nA package wants a compiler: sudo apt-get install build-essential python3'
        : '';
      reject(new Error(`npm ${args[0]} failed:\n${said.trim().split('\n').slice(-15).join('\n')}${hint}`));
    });
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  await install((s) => console.log(s ? `  still installing, ${s} s` : 'Installing packages')).catch((e) => {
    console.error(e.message);
    process.exit(70);
  });
