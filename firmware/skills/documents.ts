// The documents of a skill: which it keeps, how they are called, what may be in them. Pure.
import type { JsonObject } from '../documents/content.ts';
import { formatKey } from '../documents/key.ts';
import { refusal } from '../protocol/endpoint/check.ts';
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
    const faults = validateView(content);
    if (faults.length > 0) throw refusal(faults, 'The view at');
  };
}
