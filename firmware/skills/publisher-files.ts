// The lists of publishers on disk: the maker's beside the skills of the read-only root, the owner's on the data partition.
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { IngleError } from '../protocol/errors.ts';
import { writeWhole } from '../system/atomic.ts';
import type { Config } from '../system/config.ts';
import {
  MAX_PUBLISHERS,
  nobody,
  type Owned,
  type Publishers,
  parseOwned,
  parsePublisher,
  printOwned,
} from './publishers.ts';

type Folders = Pick<Config, 'skills' | 'data'>;

const ownersOf = (c: Folders) => join(c.data, 'skills', 'publishers.json');

/** @throws IngleError that names the file */
function read<V>(file: string, parse: (text: string) => V): V {
  try {
    if (statSync(file).size > MAX_PUBLISHERS)
      throw new IngleError('too_large', `The list of publishers has more than ${MAX_PUBLISHERS} bytes.`);
    return parse(readFileSync(file, 'utf8'));
  } catch (e) {
    if (e instanceof IngleError)
      throw new IngleError(e.code, `${file}: ${e.message}`, { ...e.details, file });
    throw new IngleError('unavailable', `${file} cannot be read: ${(e as Error).message}`, { file });
  }
}

/**
 * Whom this hub trusts: `<skills>/publishers/*.json`, a publisher each, and `<data>/skills/publishers.json`.
 * @throws IngleError for a file with a fault: what is left of it could lack a revoked key
 */
export function readPublishers(c: Folders): Publishers {
  const folder = join(c.skills, 'publishers');
  const names = existsSync(folder) ? readdirSync(folder).filter((n) => n.endsWith('.json')) : [];
  const maker = names.sort().map((name) => read(join(folder, name), parsePublisher));
  const owned = existsSync(ownersOf(c)) ? read(ownersOf(c), parseOwned) : nobody;
  return { maker, publishers: owned.publishers, first: owned.first };
}

/** Writes what is the owner's. Only the process that writes the table of skills may do this. */
export async function writePublishers(c: Folders, owned: Owned): Promise<void> {
  const text = printOwned(owned);
  parseOwned(text);
  mkdirSync(dirname(ownersOf(c)), { recursive: true, mode: 0o755 });
  await writeWhole(ownersOf(c), text, 0o644);
}
