// The effective scenario of a person: the implementation (I) merged deeply over the prototype (P), which it can only
// narrow. Pure.
import { refusal } from '../protocol/endpoint/check.ts';
import { checkImplementation } from './check-implementation.ts';
import { rewritten } from './rewrite.ts';
import type { Implementation, Prototype } from './schema.ts';
import { mergedValue } from './value-type.ts';

export interface Effective {
  scenario: Prototype;
  /** Ids of steps that are left out. */
  dropped: string[];
  /** What stands aside in the implementation since a newer prototype had no place for it. */
  notes: NonNullable<Implementation['notes']>;
  /** Whether triggers start it. */
  isEnabled: boolean;
  /** Which skills and devices it has: a secret of the person, and so no part of the scenario. */
  bindings: NonNullable<Implementation['bindings']>;
}

type Values = Record<string, unknown>;

function over(of: Values | undefined, ...more: (Values | undefined)[]): Values | undefined {
  if (!of) return undefined;
  const merged = { ...of };
  for (const values of more)
    for (const [id, value] of Object.entries(values ?? {})) merged[id] = mergedValue(of[id], value);
  return merged;
}

/**
 * @param prototype one that passed `checkPrototype`
 * @throws IngleError `invalid_request` with all that is wrong with the implementation
 */
export function effective(prototype: Prototype, implementation: Implementation): Effective {
  const faults = checkImplementation(implementation, prototype);
  if (faults.length > 0) throw refusal(faults, 'The changes of the scenario have a fault:');
  const { params, io, rewrite, bindings, notes, enabled, hosts } = implementation;
  const now = rewritten(prototype, rewrite ?? []);
  const { slots } = prototype;
  const settings = over(prototype.io?.settings, io?.settings, now.settings);
  const merged = over(prototype.params, params, now.params);
  return {
    scenario: {
      ...prototype,
      steps: now.steps,
      ...(merged ? { params: merged } : {}),
      ...(hosts ? { hosts } : {}),
      ...(prototype.io ? { io: { ...prototype.io, ...(settings ? { settings } : {}) } } : {}),
      ...(slots
        ? {
            slots: Object.fromEntries(
              Object.entries(slots).map(([id, slot]) => [id, { ...slot, cap: now.caps[id] ?? slot.cap }]),
            ),
          }
        : {}),
    },
    dropped: now.dropped,
    notes: notes ?? [],
    isEnabled: enabled ?? true,
    bindings: bindings ?? {},
  };
}
