// Steps of other files in the place of `include: <file>#<fragment>`. A file of fragments is a map of names to lists of
// steps. Pure.
import { below, faultAt, formFaults, type ScenarioFault } from './fault.ts';
import { MOST_STEPS, type Prototype, prototypeSchema, type Step } from './schema.ts';

export interface PlacedFault extends ScenarioFault {
  /** The file in which the pointer is. */
  file: string;
}

interface Place {
  file: string;
  pointer: string;
}

/** Fragments are steps; a scenario around them lets the one schema judge them. */
const around = (steps: unknown) => ({ id: 'x', version: '1.0.0', dslVersion: '1', name: 'x', steps });

type Fragment = { steps: Step[]; place: Place; faults?: never } | { faults: PlacedFault[] };

/** A fragment's steps, or what keeps it from having any. */
function fragmentOf(files: ReadonlyMap<string, unknown>, ref: string, from: Place): Fragment {
  const [file = '', name = ''] = ref.split('#');
  const fault = (code: 'no_fragment' | 'no_steps', place: Place) => ({
    faults: [{ ...faultAt(place.pointer, code, { id: ref }), file: place.file }],
  });
  const all = files.get(file);
  if (all === null || typeof all !== 'object' || Array.isArray(all) || !Object.hasOwn(all, name))
    return fault('no_fragment', from);
  const steps = (all as Record<string, unknown>)[name];
  const place = { file, pointer: below('', name) };
  if (!Array.isArray(steps)) return fault('no_steps', place);
  const form = formFaults(prototypeSchema, around(steps)).map((f) => ({
    ...f,
    file,
    pointer: f.pointer.replace(/^\/steps/, place.pointer),
  }));
  return form.length > 0 ? { faults: form } : { steps: steps as Step[], place };
}

/**
 * A prototype with all its includes put in. A fragment may include others; an include with a condition becomes a step
 * with the fragment's steps in it.
 * @param file the name of the prototype's own file, for the places of faults
 * @param files the other files of its folder by name, parsed
 * @param most steps that may come of it
 */
export function withIncludes(
  p: Prototype,
  file: string,
  files: ReadonlyMap<string, unknown>,
  most = MOST_STEPS,
): { prototype: Prototype; faults: PlacedFault[] } {
  const faults: PlacedFault[] = [];
  let count = 0;
  let isFull = false;

  function fragment(ref: string, from: Place, way: readonly string[]): Step[] {
    if (way.includes(ref)) {
      const circle = [...way.slice(way.indexOf(ref)), ref].join(' > ');
      faults.push({ ...faultAt(from.pointer, 'circle', { way: circle }), file: from.file });
      return [];
    }
    const found = fragmentOf(files, ref, from);
    if (found.faults) {
      faults.push(...found.faults);
      return [];
    }
    return put(found.steps, found.place, [...way, ref]);
  }

  function put(steps: readonly Step[], place: Place, way: readonly string[]): Step[] {
    return steps.flatMap((step, i): Step[] => {
      const at = { ...place, pointer: below(place.pointer, i) };
      // Once there are too many nothing more is put in: fragments in fragments grow by powers.
      if (isFull) return [];
      if (++count > most) {
        isFull = true;
        faults.push({ ...faultAt(at.pointer, 'too_many_included', { most }), file: at.file });
        return [];
      }
      if (step.include !== undefined) {
        const { include, ...rest } = step;
        const inside = fragment(include, { ...at, pointer: below(at.pointer, 'include') }, way);
        return Object.keys(rest).length > 0 ? [{ ...rest, do: inside }] : inside;
      }
      return [
        {
          ...step,
          ...(Array.isArray(step.do)
            ? { do: put(step.do, { ...at, pointer: `${at.pointer}/do` }, way) }
            : {}),
          ...(step.steps ? { steps: put(step.steps, { ...at, pointer: `${at.pointer}/steps` }, way) } : {}),
        },
      ];
    });
  }

  const { include, ...rest } = p;
  const before = (include ?? []).flatMap((ref, i) => fragment(ref, { file, pointer: `/include/${i}` }, []));
  const own = put(p.steps, { file, pointer: '/steps' }, []);
  return { prototype: { ...rest, steps: [...before, ...own] }, faults };
}
