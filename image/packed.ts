// Packages of npm that hold machine code for one kind of machine: npm installs those of this computer, an image may need
// another's.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { must } from '../firmware/system/exec.ts';

/**
 * The folder of a package that the lock file names: installed, or fetched from the registry once and checked against it.
 * @param cache folder it is kept in
 * @throws Error for a package the lock file does not name, one that is not what it names, and what npm says
 */
export async function packed(top: string, cache: string, name: string): Promise<string> {
  const at = join('node_modules', name);
  if (existsSync(join(top, at, 'package.json'))) return join(top, at);
  const lock = JSON.parse(readFileSync(join(top, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { version: string; integrity: string } | undefined>;
  };
  const named = lock.packages[at];
  if (!named) throw new Error(`package-lock.json names no ${name}.`);
  const kept = join(cache, `${name.replace(/[@/]/g, '_')}-${named.version}`);
  if (existsSync(kept)) return join(kept, 'package');
  const work = `${kept}.${process.pid}`;
  try {
    mkdirSync(work, { recursive: true });
    const said = await must('npm', [
      ...['pack', `${name}@${named.version}`, '--json', '--silent', '--pack-destination', work],
    ]);
    const [{ filename }] = JSON.parse(said.toString()) as [{ filename: string }];
    const file = join(work, filename);
    const is = `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`;
    if (is !== named.integrity) throw new Error(`${name} is not what package-lock.json names.`);
    await must('tar', ['-xzf', file, '-C', work]);
    renameSync(work, kept);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return join(kept, 'package');
}
