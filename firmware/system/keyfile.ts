// A key that is made at the first start and never replaced.
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** What is in `file`; where it is not there, what `make` gives, which is written first (0600). */
export function readOrMake(file: string, make: () => string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (e) {
    if ((e as NodeJS.ErrnoException).code !== 'ENOENT') throw e;
  }
  mkdirSync(dirname(file), { recursive: true, mode: 0o750 });
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, make(), { mode: 0o600, flag: 'wx', flush: true });
  try {
    // A link fails where the name is taken: whoever was first keeps the key.
    linkSync(draft, file);
  } catch (e) {
    if ((e as NodeJS.ErrnoException).code !== 'EEXIST') throw e;
  } finally {
    rmSync(draft, { force: true });
  }
  return readFileSync(file, 'utf8');
}
