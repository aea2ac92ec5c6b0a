// The documents of a skill: which it keeps, how they are called, what may be in them. Pure.
import type { JsonObject } from '../documents/content.ts';
import { formatKey } from '../documents/key.ts';
import { IngleError } from '../protocol/errors.ts';
import { validateView } from '../ui/schema.ts';

/** What a skill writes for each owner. */
export const documents = ['view:main', 'state:main'];

/** The key of `doc` ("view:main") of a skill for an owner. */
export function documentKey(owner_id: string, skill_id: string, doc: string): string {
  const [doc_type = '', ...branch] = doc.split(':');
  return formatKey({ owner_id, skill_id, doc_type: doc_type as 'view', branch: branch.join(':') });
}

/** What `doc`'s content must pass: a view that breaks its schema never reaches a screen. */
export function contentCheck(doc: string): ((content: JsonObject) => void) | undefined {
  if (!doc.startsWith('view:')) return undefined;
  return (content) => {
    const [fault] = validateView(content);
    if (fault)
      throw new IngleError('invalid_request', `The view at ${fault.pointer || '/'} ${fault.message}.`);
  };
}
