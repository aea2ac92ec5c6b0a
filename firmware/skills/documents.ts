// The documents of a skill: which it keeps, how they are called, what may be in them. Pure.
import { type JsonObject, sourceOf } from '../documents/content.ts';
import { formatKey } from '../documents/key.ts';
import { refusal } from '../protocol/endpoint/check.ts';
import { toIngleError } from '../protocol/errors.ts';
import { frontEndOf } from '../ui/compile.ts';
import { type Coded, validateView } from '../ui/schema.ts';
import type { Problem } from '../ui/tree.ts';

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
    const source = sourceOf(content);
    // The other front ends mark what they do not know, and refuse nothing.
    if (frontEndOf(source) !== 'ui/v0') return;
    const faults = validateView(source);
    if (faults.length > 0) throw refusal(faults, 'The view at');
  };
}

/** Of one that is refused, every problem, as far as the refusal tells them. */
export function problemsOf(cause: unknown): Problem[] {
  const e = toIngleError(cause);
  const faults = e.details?.['faults'];
  if (Array.isArray(faults))
    return (faults as Coded[]).map(({ pointer, code, says }) => ({
      pointer,
      code: code ?? e.code,
      hint: says,
    }));
  return [{ pointer: String(e.details?.['pointer'] ?? ''), code: e.code, hint: e.message }];
}
