// What a machine leaves when its suite failed: its disks, the memory of its firmware and its console, to look at.
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { must } from '../../../firmware/system/exec.ts';
import { top } from '../../../image/build.ts';

/** Each may be some gigabytes. */
const KEPT = 3;
/** Only what a machine is made of: its sockets cannot be copied. */
const parts = /\.(raw|fd|log|base)$/;

/**
 * Copies the machine's files to `<folder>/<suite>-<time>` and drops all but the newest few there.
 * @returns where they are
 */
export async function keepFailed(dir: string, folder = join(top, 'dist/failed')): Promise<string> {
  const suite = basename(process.argv[1] ?? 'machine').replace(/(\.test)?\.[jt]s$/, '');
  const to = join(folder, `${suite}-${new Date().toISOString().replace(/[:.]/g, '-')}`);
  mkdirSync(to, { recursive: true });
  for (const f of readdirSync(dir).filter((name) => parts.test(name)))
    await must('cp', ['--sparse=always', join(dir, f), to], { timeoutMs: 300_000 });
  const time = (name: string) => name.slice(-'2026-01-01T00-00-00-000Z'.length);
  const old = readdirSync(folder).sort((a, b) => time(b).localeCompare(time(a)));
  for (const name of old.slice(KEPT)) rmSync(join(folder, name), { recursive: true, force: true });
  if (!existsSync(to)) throw new Error(`${to} is gone`);
  return to;
}
