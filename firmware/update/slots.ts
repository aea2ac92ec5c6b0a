// What runs, what lies in the other slot, and whether it may be gone back to.
import { IngleError } from '../protocol/errors.ts';
import type { UpdateParts } from './parts.ts';
import type { Slot } from './rauc.ts';
import type { Memory } from './record.ts';
import { compareVersions, isVersion } from './version.ts';

export interface Facts {
  compatible: string;
  running: Slot;
  other: Slot | undefined;
  /** Version that runs. */
  version: string;
}

/** Whether an offered version is newer than the one that runs. */
export const isNewer = (offered: string, running: string): boolean =>
  !isVersion(running) || compareVersions(offered, running) > 0;

/** @param none what is said where no slot runs */
export function slotsOf(
  o: Pick<UpdateParts, 'rauc' | 'boot' | 'settings'>,
  memory: () => Pick<Memory, 'seen'>,
  none: string,
) {
  let newest: Facts | undefined;
  return {
    /** What RAUC says of the slots. @throws IngleError `conflict` while it installs */
    async look(): Promise<Facts> {
      const [compatible, slots] = await Promise.all([o.rauc.compatible(), o.rauc.slots()]);
      const running = slots.find((s) => s.booted);
      if (!running) throw new IngleError('unavailable', none);
      const other = slots.find((s) => !s.booted);
      const version = o.boot.version || running.version || o.boot.built;
      newest = { compatible, running, other, version };
      return newest;
    },
    /** The newest look, without asking. */
    known: (): Facts | undefined => newest,
    /** The version in the other slot that may be gone back to. */
    previous(f: Facts): { slot: string; version: string } | undefined {
      const s = f.other;
      const version = s ? s.version || (memory().seen[s.name] ?? '') : '';
      if (!s?.good || !s.whole || !isVersion(version)) return undefined;
      const { min_version } = o.settings;
      if (isVersion(min_version) && compareVersions(version, min_version) < 0) return undefined;
      return { slot: s.name, version };
    },
  };
}
