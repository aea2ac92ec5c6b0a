// Where a skill's data lies: a few small files in its slot's folder, each replaced whole.
import { existsSync, lstatSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { writeWhole } from '../system/atomic.ts';

export interface Disk {
  /** The text of a file; undefined where none is. @throws when it is no file, too large or cannot be read */
  read(name: string): string | undefined;
  /** Settles when the whole file is on the disk; a power cut leaves the old one or this one. */
  write(name: string, text: string): Promise<void>;
  /** Gives a file the name of another, which goes. */
  move(from: string, to: string): Promise<void>;
  /** Takes what cannot be used out of the way, whatever it is, under a name that nobody reads. */
  aside(name: string): void;
}

/** @param most bytes of a file that is read */
export function diskIn(folder: string, most: number): Disk {
  const at = (name: string) => join(folder, name);
  return {
    read(name) {
      const is = lstatSync(at(name), { throwIfNoEntry: false });
      if (!is) return undefined;
      // The skill can write here: a pipe or a flood of bytes in a file's place must not hold up its next start.
      if (!is.isFile()) throw new Error('is no file');
      if (is.size > most) throw new Error(`is larger than ${most} bytes`);
      return readFileSync(at(name), 'utf8');
    },
    async write(name, text) {
      if (!existsSync(folder)) mkdirSync(folder, { mode: 0o700 });
      try {
        await writeWhole(at(name), text, 0o600);
      } catch (e) {
        // What was begun must not fill the disk further.
        rmSync(`${at(name)}.new`, { recursive: true, force: true });
        throw e;
      }
    },
    move: (from, to) => rename(at(from), at(to)),
    aside(name) {
      rmSync(at(`${name}.bad`), { recursive: true, force: true });
      renameSync(at(name), at(`${name}.bad`));
    },
  };
}

/** A disk in memory, for a skill without a hub. */
export function memoryDisk(): Disk {
  const files = new Map<string, string>();
  const move = (from: string, to: string) => {
    const text = files.get(from);
    if (text === undefined) throw new Error(`${from} is not there`);
    files.set(to, text);
    files.delete(from);
  };
  return {
    read: (name) => files.get(name),
    async write(name, text) {
      files.set(name, text);
    },
    move: async (from, to) => move(from, to),
    aside: (name) => move(name, `${name}.bad`),
  };
}
