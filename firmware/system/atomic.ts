// Files that are replaced whole or not at all.
import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Writes `what` so that a power cut leaves the old file or the new one: temporary file, fsync, rename, fsync. */
export async function writeWhole(file: string, what: string | Uint8Array, mode: number): Promise<void> {
  const temporary = `${file}.new`;
  const f = await open(temporary, 'w', mode);
  try {
    await f.chmod(mode);
    await f.writeFile(what);
    await f.sync();
  } finally {
    await f.close();
  }
  await rename(temporary, file);
  const folder = await open(dirname(file), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
