// The bounds of the slots in which installed skills live, by their manifests on the disk.
import { type Bounds, boundsOf } from '../skills/limits.ts';
import { checkManifest } from '../skills/manifest.ts';
import { manifestOf, readSlots } from '../skills/table.ts';
import type { Config } from '../system/config.ts';
import { unitOfSlot } from './own.ts';

/** By unit. Skills of the image have what their unit says; so has one whose manifest has a fault, which does not run. */
export function boundsIn(c: Pick<Config, 'skills' | 'data'>): ReadonlyMap<string, Bounds> {
  const found = new Map<string, Bounds>();
  for (const slot of readSlots(c).slots.values())
    if (slot.bundle !== undefined)
      try {
        found.set(unitOfSlot(slot.slot), boundsOf(checkManifest(manifestOf(c, slot)).limits));
      } catch {
        found.set(unitOfSlot(slot.slot), boundsOf());
      }
  return found;
}
