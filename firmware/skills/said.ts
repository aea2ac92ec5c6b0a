// What a skill throws. Its bundle has an error class of its own, so one of ours is known by its name and code.
import { IngleError, isErrorCode } from '../protocol/errors.ts';

/** The error a skill means its caller to see; undefined: it failed. */
export function saidBySkill(cause: unknown): IngleError | undefined {
  if (cause instanceof IngleError) return cause;
  const { name, code, message, details } = Object(cause) as Partial<IngleError>;
  if (name !== 'IngleError' || !isErrorCode(code) || typeof message !== 'string') return undefined;
  return new IngleError(code, message, details !== null && typeof details === 'object' ? details : undefined);
}
