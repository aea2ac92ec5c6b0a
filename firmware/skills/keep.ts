// A skill's data over its versions: read, brought to the version that starts or back to an older one, written.
//
// `data.json` holds everything with the version that wrote it; `before.json` the data as it was before the last update.
// A migration works on a draft in memory. The old data is stored as `before.json`, then the draft as `data.json`: each
// step replaces one file whole, so a kill leaves the data of one version or of the other.
import { join } from 'node:path';
import { IngleError } from '../protocol/errors.ts';
import type { Log } from '../system/log.ts';
import { compareVersions, isVersion } from '../update/version.ts';
import { type Disk, diskIn } from './disk.ts';
import { isEmpty, KEPT, type Kept, nothingKept, parseKept, printKept } from './kept.ts';
import type { SkillDefinition } from './sdk/skill.ts';
import { openStorage, openVault, type Vault } from './storage.ts';

const DATA = 'data.json';
const BEFORE = 'before.json';
/** Time a migration may take, milliseconds. */
const MIGRATE_MS = 10_000;

/** The disk of a skill in its slot's folder. Names grow when they are escaped. */
export const skillDisk = (folder: string): Disk => diskIn(join(folder, '.kept'), 4 * KEPT.total);

/** Reads a file; one that cannot be used is put aside and told. */
function readKept(disk: Disk, name: string, log: Log): Kept | undefined {
  try {
    const text = disk.read(name);
    return text === undefined ? undefined : parseKept(text);
  } catch (cause) {
    log.error("the skill's data cannot be used; it is put aside", { file: name, cause: cause as Error });
    disk.aside(name);
    return undefined;
  }
}

/** What an update does to data of another version. */
export type Way = 'keep' | 'restore' | 'migrate' | 'refuse';

/**
 * @param from version whose data is there; undefined: none is
 * @param before version of the copy aside
 * @param to version that starts
 */
export function wayOf(from: string | undefined, before: string | undefined, to: string): Way {
  if (from === undefined || from === to) return 'keep';
  const older = isVersion(from) && isVersion(to) && compareVersions(to, from) < 0;
  if (!older) return 'migrate';
  return before === to ? 'restore' : 'refuse';
}

function within(work: Promise<void>, ms: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new Error(`it takes longer than ${ms / 1000} s`));
    const timer = setTimeout(late, ms);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** The data of `from` as the new version wants it. The draft is nobody's when this fails. */
async function migrated(
  from: Kept,
  to: string,
  migrate: NonNullable<SkillDefinition['migrate']>,
  ms: number,
): Promise<Kept> {
  const draft = openVault({ ...from, version: to }, async () => {});
  let open = true;
  const change: Vault['change'] = async (what) => {
    if (!open) throw new IngleError('conflict', 'The migration is over.');
    return draft.change(what);
  };
  try {
    const work = async () => migrate({ from: from.version, to, storage: openStorage({ ...draft, change }) });
    await within(work(), ms);
    // What it did not wait for is in the draft before this.
    await draft.change((k) => k);
    return draft.now();
  } catch (e) {
    const why = e instanceof Error ? e.message : String(e);
    throw new IngleError(
      'unavailable',
      `The skill's data of version ${from.version} cannot be brought to ${to}: ${why}. The data is as it was; use version ${from.version}.`,
      { migration: { from: from.version, to } },
    );
  } finally {
    open = false;
  }
}

/**
 * Opens a skill's data for the version that starts.
 * @throws IngleError `unavailable` when the data cannot be brought to this version (details `migration`), or when the disk
 * does not take it; what was stored stays as it was
 */
export async function openKept(
  disk: Disk,
  version: string,
  o: { log: Log; migrate?: SkillDefinition['migrate']; timeoutMs?: number },
): Promise<Vault> {
  const found = readKept(disk, DATA, o.log);
  const kept = !found ? await mark() : found.version === version ? found : await bring(found);
  return openVault(kept, (k) => disk.write(DATA, printKept(k)));

  /** Says from the first start on whose data this is, so that an update of it can be undone. */
  async function mark(): Promise<Kept> {
    const none = nothingKept(version);
    const failed = (cause: Error) => o.log.error("the skill's data cannot be written", { cause });
    await disk.write(DATA, printKept(none)).catch(failed);
    return none;
  }
  async function bring(from: Kept): Promise<Kept> {
    const before = readKept(disk, BEFORE, o.log);
    const way = wayOf(from.version, before?.version, version);
    try {
      if (way === 'restore') {
        await disk.move(BEFORE, DATA);
        o.log.notice("the skill's data is as it was before the update", { from: from.version, to: version });
        return before!;
      }
      if (way === 'migrate') {
        const next =
          o.migrate && !isEmpty(from)
            ? await migrated(from, version, o.migrate, o.timeoutMs ?? MIGRATE_MS)
            : { ...from, version };
        await disk.write(BEFORE, printKept(from));
        await disk.write(DATA, printKept(next));
        o.log.notice("the skill's data is brought to a new version", { from: from.version, to: version });
        return next;
      }
    } catch (e) {
      if (e instanceof IngleError) throw e;
      throw new IngleError('unavailable', `The disk does not take the skill's data: ${(e as Error).message}`);
    }
    throw new IngleError(
      'unavailable',
      `The skill's data is of version ${from.version}, and ${version} is older. Install ${from.version} or a newer one.`,
      { migration: { from: from.version, to: version } },
    );
  }
}
