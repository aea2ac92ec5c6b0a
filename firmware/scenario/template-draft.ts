// A template (T): a local draft from which a new prototype begins. Pure.
import { refusal } from '../protocol/endpoint/check.ts';
import { checkPrototype, type Surroundings } from './check.ts';
import type { Localizable, Prototype, Step } from './schema.ts';
import { mapLists } from './walk.ts';

/**
 * A prototype of one's own, from a template or another prototype: the same steps under a new id and name, at the
 * version 0.1.0. It has no history, so no step in it was called otherwise before.
 * @throws IngleError `invalid_request` with all that is wrong with what comes of it
 */
export function draftOf(
  template: Prototype,
  { id, name }: { id: string; name: Localizable },
  around: Surroundings = {},
): Prototype {
  const { $schema: _, steps, ...rest } = structuredClone(template);
  const fresh = mapLists(steps, (list) => list.map(({ was: __, ...step }): Step => step));
  const draft: Prototype = { ...rest, id, name, version: '0.1.0', steps: fresh };
  const faults = checkPrototype(draft, around);
  if (faults.length > 0) throw refusal(faults, 'The draft has a fault:');
  return draft;
}

/** The template where none is named: said by the hub each morning, once somebody turns it on. */
export const starter: Prototype = {
  id: 'my/starter',
  version: '0.1.0',
  dslVersion: '1',
  name: 'Starter',
  doc: { en: 'Says good morning.', ru: 'Желает доброго утра.' },
  triggers: [{ type: 'time', cron: '0 8 * * *' }],
  params: { greeting: 'Good morning' },
  paramDocs: { greeting: { en: 'What is said.', ru: 'Что сказать.' } },
  // biome-ignore lint/suspicious/noTemplateCurlyInString: an expression of the scenario
  steps: [{ id: 'greet', do: 'say', text: '${params.greeting}' }],
};
