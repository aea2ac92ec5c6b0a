// What the orders of `ingle scenario` work with.
import type { Language } from '../../../firmware/text/i18n.ts';
import type { AskJson } from '../hub/ask.ts';
import type { Say } from '../say.ts';
import { scenarioId } from './given.ts';
import type { Text } from './text.ts';

export interface Given {
  flags: ReadonlySet<string>;
  arguments: readonly string[];
  values: Readonly<Record<string, string>>;
  lists: Readonly<Record<string, readonly string[]>>;
}

export interface On {
  ask: AskJson;
  say: Say;
  t: Text;
  language: Language;
  given: Given;
}
/** An id as paths have it. */
export const dotted = (id: string, t: Text) => scenarioId(id, t).replace('/', '.');
