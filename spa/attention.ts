// What needs a person first: skills that do not run, then what a skill itself calls not as it should be. Pure.
import { inOrder } from '../firmware/ui/arranged.ts';
import type { Glance, Said } from '../firmware/ui/glance.ts';
import type { Icon } from './store.ts';
import { titleOf } from './text.ts';

export interface Wanting {
  icon: Icon;
  /** null: it does not run. */
  says: Said | null;
}

/** In the order of the desktop among those of one kind. */
export function wanting(icons: readonly Icon[], glances: Readonly<Record<string, Glance>>): Wanting[] {
  const all = inOrder(icons, titleOf);
  const stopped = all.filter((i) => i.available === false).map((icon) => ({ icon, says: null }));
  const alerts = all.flatMap((icon) => {
    const says = icon.available === false ? undefined : glances[icon.skill_id]?.alert;
    return says === undefined ? [] : [{ icon, says }];
  });
  return [...stopped, ...alerts];
}
