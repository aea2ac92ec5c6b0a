// What the body of an order says, or why it cannot be taken.
import { IngleError } from '../../../firmware/protocol/errors.ts';
import type { JsonObject } from '../../../firmware/skills/sdk/skill.ts';

/** @param pointer the faulty field, as a JSON pointer */
export const bad = (says: string, pointer: string): IngleError =>
  new IngleError('invalid_request', says, { pointer });

/** @throws IngleError `invalid_request` where it is no text, or a longer one */
export function textIn(body: JsonObject, key: string, most: number): string {
  const value = body[key];
  if (typeof value !== 'string' || value.length > most)
    throw bad(`Give "${key}", at most ${most} characters.`, `/${key}`);
  return value;
}
