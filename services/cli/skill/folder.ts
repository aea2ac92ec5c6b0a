// The files of a skill's folder, as a package takes them.
import { closeSync, constants, fstatSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { IngleError } from '../../../firmware/protocol/errors.ts';
import type { PackedFile } from '../../../firmware/skills/package.ts';
import { isPackedPath, LIMITS } from '../../../firmware/skills/package-meta.ts';
import { plain } from '../show.ts';
import type { Text } from './text.ts';

/** Faults told at once. */
const MAX_TOLD = 20;

/** Paths of all files, each with what is wrong with its kind or name. Stops where there are too many. */
function walk(folder: string, t: Text) {
  const paths: string[] = [];
  const faults: string[] = [];
  const visit = (below: string): void => {
    for (const e of readdirSync(join(folder, below), { withFileTypes: true })) {
      const path = below ? `${below}/${e.name}` : e.name;
      if (paths.length + faults.length > LIMITS.files) return;
      if (e.isDirectory() && isPackedPath(path)) visit(path);
      else if (e.isFile() && isPackedPath(path)) paths.push(path);
      else faults.push(t(e.isFile() || e.isDirectory() ? 'badName' : 'notFile', { path: plain(path, 120) }));
    }
  };
  visit('');
  if (paths.length > LIMITS.files) faults.push(t('tooMany', { most: LIMITS.files }));
  return { paths, faults };
}

/** Opens without following a link that has just taken the file's place. */
function readWithin(file: string, most: number): Uint8Array | undefined {
  const f = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    return fstatSync(f).size > most ? undefined : new Uint8Array(readFileSync(f));
  } finally {
    closeSync(f);
  }
}

/**
 * Reads a skill's folder. Links are not followed.
 * @throws IngleError `invalid_request` with everything that is wrong, `not_found`, `unavailable`
 */
export function filesIn(folder: string, t: Text): PackedFile[] {
  const files: PackedFile[] = [];
  let faults: string[];
  try {
    const found = walk(folder, t);
    faults = found.faults;
    const has = (name: string) => found.paths.includes(name);
    if (!has('manifest.json')) faults.push(t('noManifest'));
    if (!has('skill.js'))
      faults.push(has('skill.ts') ? t('onlySource', { name: plain(basename(folder)) }) : t('noCode'));
    let total = 0;
    for (const path of faults.length > 0 ? [] : found.paths) {
      const bytes = readWithin(join(folder, path), LIMITS.file);
      if (!bytes) faults.push(t('fileLarge', { path, most: LIMITS.file }));
      else files.push({ path, bytes });
      total += bytes?.length ?? 0;
      if (total > LIMITS.unpacked) {
        faults.push(t('allLarge', { most: LIMITS.unpacked }));
        break;
      }
    }
  } catch (e) {
    const { code, message } = e as NodeJS.ErrnoException;
    const absent = code === 'ENOENT' || code === 'ENOTDIR';
    throw new IngleError(
      absent ? 'not_found' : 'unavailable',
      t('noFolder', { folder, why: plain(message, 300) }),
    );
  }
  if (faults.length === 0) return files;
  const told = faults.slice(0, MAX_TOLD);
  if (faults.length > MAX_TOLD) told.push(t('moreFaults', { count: faults.length - MAX_TOLD }));
  throw new IngleError('invalid_request', t('folderFaults', { folder, faults: `\n  ${told.join('\n  ')}` }), {
    faults: told,
  });
}
