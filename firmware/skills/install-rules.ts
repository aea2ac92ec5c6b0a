// What may be installed and used here, and in whose name.
import { IngleError } from '../protocol/errors.ts';
import type { Config } from '../system/config.ts';
import { unconfined } from './confined.ts';
import { mayHave } from './grants.ts';
import { type Kept, keptOf } from './install-machine.ts';
import type { MOST, Row } from './install-parts.ts';
import type { Package } from './package.ts';
import { mayFollow, type Publishers, trustIn } from './publishers.ts';
import type { Root } from './slots.ts';

/** What is written of a row. */
type Written = Pick<Row, 'state' | 'memory'>;

/** @param kept all that is kept already @throws IngleError unless a package may be kept at all */
export function mayKeep(
  { meta, trust }: Pick<Package, 'meta' | 'trust'>,
  here: { root: Root; kept: readonly Kept[]; most: typeof MOST; isDeveloper: boolean },
): void {
  const { root, kept, most } = here;
  if (root.builtin.includes(meta.id) || root.pins.has(meta.id))
    throw new IngleError('forbidden', `The skill "${meta.id}" is part of the image and cannot be replaced.`);
  if (trust === 'unsigned' && !here.isDeveloper)
    throw new IngleError(
      'forbidden',
      'The package is not signed. Sign it, or turn on developer mode to try it.',
      { reason: 'unsigned' },
    );
  const sum = kept.reduce((n, k) => n + k.size, 0);
  const size = meta.files.reduce((n, f) => n + f.size, 0);
  if (kept.length >= most.packages || sum + size > most.bytes)
    throw new IngleError(
      'conflict',
      `At most ${most.packages} packages and ${most.bytes / 2 ** 20} MiB are kept. Remove a skill or a prepared package first.`,
      { reason: 'no_space', packages: kept.length, bytes: sum },
    );
}

/** The same package, where it is kept already. @throws IngleError `conflict` for another with its version */
export function sameKept(row: Written | undefined, pkg: Pick<Package, 'meta' | 'digest'>): Kept | undefined {
  const { id, version } = pkg.meta;
  if (row?.state === 'removing')
    throw new IngleError('conflict', `The skill "${id}" is being removed. Try again in a moment.`);
  const same = row && keptOf(row.memory, version);
  if (same && same.digest !== pkg.digest)
    throw new IngleError(
      'conflict',
      `Version ${version} is here with other content. A new release needs a new version, or remove the prepared one.`,
    );
  const current = row && keptOf(row.memory, row.memory.current);
  if (!same) mayFollow(current, { version, digest: pkg.digest });
  return same;
}

/** @throws IngleError unless a version that is kept may be used, by its publisher and what it asks for */
export function mayUse(
  skill_id: string,
  { key, manifest }: Kept,
  here: { publishers: Publishers; isDeveloper: boolean; unconfined: Config['unconfined'] },
): void {
  const trust = trustIn(here.publishers, skill_id, key ?? undefined);
  if (trust === 'unknown')
    throw new IngleError(
      'forbidden',
      'Nobody here trusts the publisher of this package. Trust its key first, if you know whose it is.',
      { reason: 'unknown_publisher', key },
    );
  if (trust === 'unsigned' && !here.isDeveloper)
    throw new IngleError('forbidden', 'The package is not signed. Turn on developer mode to use it.', {
      reason: 'unsigned',
    });
  if (here.unconfined && !here.isDeveloper) throw unconfined('forbidden', here.unconfined);
  mayHave(manifest, here.publishers, key);
}

/** @throws IngleError unless a version lies there and is not used */
export function mayDiscard({ memory }: Written, skill_id: string, version: string): void {
  if (!keptOf(memory, version)) throw notHere(skill_id, version);
  if (version === memory.current || version === memory.trying)
    throw new IngleError(
      'conflict',
      `Version ${version} is in use. Remove the skill, or go to another first.`,
    );
}

export const notHere = (skill_id: string, version: string): IngleError =>
  new IngleError('not_found', `Version ${version.slice(0, 64)} of "${skill_id}" is not here.`);
