// Packages that only peers need, from a folder of their own with a lock file of their own.
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** The folder whose `node_modules` has the peers; installed when the lock file has changed. */
export function peersFolder(): string {
  const here = join(dirname(new URL(import.meta.url).pathname), 'peers');
  const cache = resolve('.cache/peers');
  mkdirSync(cache, { recursive: true });
  const lock = readFileSync(join(here, 'package-lock.json'), 'utf8');
  const mark = join(cache, 'node_modules/.installed');
  if (existsSync(mark) && readFileSync(mark, 'utf8') === lock) return cache;
  for (const f of ['package.json', 'package-lock.json']) copyFileSync(join(here, f), join(cache, f));
  execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: cache, stdio: ['ignore', 2, 2] });
  writeFileSync(mark, lock);
  return cache;
}
