// What a hub gives a role: the one answer for what is shown and for what may be used. Pure.
import type { CallerRole } from '../protocol/roles.ts';
import type { Manifest } from '../skills/manifest.ts';
import type { Layout } from '../ui/arranged.ts';
import type { Scenario } from './scenario.ts';

/** A skill that a role has. */
export interface Given {
  manifest: Manifest;
  /** It opens to the owner alone, after a passkey check. */
  ownerOnly: boolean;
  /** It has an icon. */
  shown: boolean;
}

export interface Effective {
  skills: Given[];
  layout: Layout;
}

/** `*` is every skill with a screen, and keeps nobody from one without: that has no place on a desktop. */
const has = (allowed: readonly string[], { id }: Manifest) => allowed.includes('*') || allowed.includes(id);

/** Whether a skill whose manifest names roles is for one: the owner's are all, and none is for another hub. */
const isFor = (named: readonly CallerRole[] | undefined, role: CallerRole): boolean =>
  role === 'owner' || (role !== 'member' && (named?.includes(role) ?? true));

/**
 * The desktop document and each manifest narrow, and neither widens: a role has at most what the owner has, never a skill
 * that is the owner's alone, and none whose manifest names others.
 */
export function effective(document: Scenario, role: CallerRole, manifests: Iterable<Manifest>): Effective {
  const { policy, layout } = document;
  const own = role === 'owner' || role === 'member' ? {} : (document.roles?.[role] ?? {});
  const closed = [...policy.ownerOnlySkills, ...(own.ownerOnlySkills ?? [])];
  const skills: Given[] = [];
  for (const manifest of manifests) {
    const { ownerOnly: isOwners = false, roles } = manifest.permissions ?? {};
    const ownerOnly = isOwners || closed.includes(manifest.id);
    if (!has(policy.allowSkills, manifest) || !has(own.allowSkills ?? ['*'], manifest)) continue;
    if (!isFor(roles, role) || (ownerOnly && role !== 'owner')) continue;
    const { visual, ui } = manifest.capabilities;
    skills.push({ manifest, ownerOnly, shown: visual === true && ui !== undefined });
  }
  return {
    skills,
    layout: {
      grid: { ...layout.grid, ...own.layout?.grid },
      statusBar: own.layout?.statusBar ?? layout.statusBar,
    },
  };
}
