// Files that are replaced whole or not at all.
import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Writes `text` so that a power cut leaves the old file or the new one: temporary file, fsync, rename, fsync. */
export async function writeWhole(file: string, text: string, mode: number): Promise<void> {
  const temporary = `${file}.new`;
  const f = await open(temporary, 'w', mode);
  try {
    await f.chmod(mode);
    await f.writeFile(text);
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
