// What a person made of the icons: pins, order, groups; each order for it gives the next arrangement. Pure.
import { type Fault, refusal } from '../protocol/endpoint/check.ts';
import type { Arrangement, Group } from '../ui/arranged.ts';

/** The parts an order gives anew; what it leaves out stays. */
export interface Parts {
  pins?: unknown[];
  order?: unknown[];
  groups?: { name: string; skills: unknown[] }[];
}

/** Each of a list must be a skill the person has, once. */
function faultsIn(list: readonly unknown[], at: string, has: (id: string) => boolean, seen: Set<unknown>) {
  return list.flatMap((id, i): Fault[] => {
    const bad = (says: string) => [{ pointer: `${at}/${i}`, says }];
    if (typeof id !== 'string' || !has(id)) return bad('names no skill');
    if (seen.has(id)) return bad('is there twice');
    seen.add(id);
    return [];
  });
}

/** @throws IngleError `invalid_request` with every fault */
export function arranged(
  now: Arrangement,
  { pins, order, groups }: Parts,
  has: (id: string) => boolean,
): Arrangement {
  const names = new Set<string>();
  const inGroups = new Set<unknown>();
  const faults = [
    ...faultsIn(pins ?? [], '/pins', has, new Set()),
    ...faultsIn(order ?? [], '/order', has, new Set()),
    ...(groups ?? []).flatMap((g, i): Fault[] => {
      const twice = names.has(g.name) ? [{ pointer: `/groups/${i}/name`, says: 'is there twice' }] : [];
      names.add(g.name);
      return [...twice, ...faultsIn(g.skills, `/groups/${i}/skills`, has, inGroups)];
    }),
  ];
  if (faults.length > 0) throw refusal(faults, "The arrangement's");
  return {
    pins: (pins as string[] | undefined) ?? now.pins,
    order: (order as string[] | undefined) ?? now.order,
    groups: (groups as Group[] | undefined)?.filter((g) => g.skills.length > 0) ?? now.groups,
  };
}

export function pinned(now: Arrangement, skill_id: string, on: boolean): Arrangement {
  const others = now.pins.filter((id) => id !== skill_id);
  return { ...now, pins: on ? [...others, skill_id] : others };
}

/** Without the skills that a person does not have, at least not now. */
export function seenOf(now: Arrangement, has: (id: string) => boolean): Arrangement {
  return {
    pins: now.pins.filter(has),
    order: now.order.filter(has),
    groups: now.groups
      .map((g) => ({ ...g, skills: g.skills.filter(has) }))
      .filter((g) => g.skills.length > 0),
  };
}
