// What the hub's maker alone gives to a skill: asked before a package is kept, and again by who gives it.
import { IngleError } from '../protocol/errors.ts';
import type { Bus } from '../system/bus.ts';
import type { Config } from '../system/config.ts';
import { checkManifest, type Grant, type Manifest } from './manifest.ts';
import { readPublishers } from './publisher-files.ts';
import { isMakers, type Publishers } from './publishers.ts';
import type { Slot } from './slots.ts';
import { manifestOf, readSlots } from './table.ts';
import { slotOf } from './whose.ts';

/**
 * Whether a package may have what it asks for.
 * @param key of its signature, which was verified
 * @throws IngleError `forbidden`
 */
export function mayHave({ id, permissions }: Manifest, p: Publishers, key: string | null): void {
  const { grants = [] } = permissions ?? {};
  if (grants.length === 0 || isMakers(p, id, key)) return;
  throw new IngleError(
    'forbidden',
    `The package asks for "${grants.join('", "')}" (permissions.grants), which only the maker of this hub gives. Take it out of the manifest, or have the maker sign the package.`,
    { reason: 'not_granted', grants },
  );
}

/** What the skill in a slot was given. @throws IngleError for a bundle or a list of publishers with a fault */
export function grantsOf(c: Pick<Config, 'skills' | 'data'>, slot: Slot): readonly Grant[] {
  const { id, permissions } = checkManifest(manifestOf(c, slot));
  const asked = permissions?.grants ?? [];
  // The verified root answers for itself; of a package, who published the skill first has published all of it.
  if (slot.bundle === undefined || asked.length === 0) return asked;
  const p = readPublishers(c);
  return isMakers(p, id, p.first.get(id)) ? asked : [];
}

/** Lets a caller on the bus through that was given this. */
export function granting(bus: Bus, c: Pick<Config, 'skills' | 'data'>, grant: Grant) {
  const says = `Only a skill that the maker of this hub has given "${grant}" may ask for this.`;
  /** @returns the skill's id @throws IngleError `forbidden` */
  return async (sender: string): Promise<string> => {
    const slot = await slotOf(bus, readSlots(c).slots, sender, says);
    if (!grantsOf(c, slot).includes(grant)) throw new IngleError('forbidden', says);
    return slot.skill_id;
  };
}
