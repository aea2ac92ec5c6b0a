// The skills that are installed, as ingle-api serves them: each with its manifest, checked.
import type { Config } from '../system/config.ts';
import type { Log } from '../system/log.ts';
import { checkManifest, type Manifest } from './manifest.ts';
import type { Slot } from './slots.ts';
import { manifestOf } from './table.ts';

/** Who lives where, with their manifests. A bundle without a manifest that fits is nobody's. */
export function installedIn(c: Pick<Config, 'skills' | 'data'>, slots: ReadonlyMap<number, Slot>, log: Log) {
  const found: { slot: number; manifest: Manifest }[] = [];
  for (const slot of slots.values())
    try {
      found.push({ slot: slot.slot, manifest: checkManifest(manifestOf(c, slot)) });
    } catch (cause) {
      log.error('a bundle cannot be used', { skill: slot.skill_id, slot: slot.slot, cause: cause as Error });
    }
  return found;
}
