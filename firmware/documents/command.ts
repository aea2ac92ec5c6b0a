// Commands: what a browser asks for by writing it down. Pure.
import { type ErrorBody, IngleError } from '../protocol/errors.ts';
import { isSkillId } from './key.ts';

export type CommandAction =
  | { type: 'http.get'; path: string }
  | { type: 'http.post'; path: string; body: Record<string, unknown> }
  | { type: 'bus.publish'; topic: string; payload: unknown };

export interface Command {
  id: string;
  /** When the browser wrote it, Unix milliseconds; for people, never trusted. */
  at: number;
  skill_id: string;
  action: CommandAction;
}

/** How a command ended, and the answer kept for whoever asks with the same id. */
export interface Outcome {
  status: 'done' | 'failed';
  result?: { status: number; body: unknown };
  error?: ErrorBody;
}

/** Commands a document may hold that are not done. */
export const MAX_PENDING = 64;
/** Largest body kept in a command's result, bytes. */
export const MAX_RESULT = 8 * 1024;

const id = /^[A-Za-z0-9][A-Za-z0-9_.:-]{0,63}$/;

/** Whether a text may be a command's id. */
export function isCommandId(text: string): boolean {
  return id.test(text);
}

const isObject = (v: unknown): v is Record<string, unknown> =>
  v !== null && typeof v === 'object' && !Array.isArray(v);

/**
 * Reads one entry of a command document.
 * @throws IngleError `invalid_request` with the JSON pointer of what is wrong.
 */
export function checkCommand(key: string, value: unknown): Command {
  const bad = (pointer: string, says: string) =>
    new IngleError('invalid_request', `The command${pointer ? ` at ${pointer}` : ''} ${says}.`, { pointer });
  if (!isObject(value)) throw bad('', 'is not an object');
  if (value['id'] !== key) throw bad('/id', 'is not the entry it stands under');
  if (typeof value['at'] !== 'number' || !Number.isFinite(value['at'])) throw bad('/at', 'is not a time');
  const skill_id = value['skill_id'];
  if (typeof skill_id !== 'string' || !isSkillId(skill_id)) throw bad('/skill_id', 'names no skill');
  const a = value['action'];
  if (!isObject(a)) throw bad('/action', 'is not an object');
  const common = { id: key, at: value['at'], skill_id };
  if (a['type'] === 'http.get' || a['type'] === 'http.post') {
    const path = a['path'];
    if (typeof path !== 'string' || path.length > 512 || !path.startsWith('/'))
      throw bad('/action/path', 'is not a path');
    if (a['type'] === 'http.get') return { ...common, action: { type: 'http.get', path } };
    const body = a['body'] ?? {};
    if (!isObject(body)) throw bad('/action/body', 'is not an object');
    return { ...common, action: { type: 'http.post', path, body } };
  }
  if (a['type'] === 'bus.publish') {
    const topic = a['topic'];
    // The owner's screen may speak as the screen, and as nobody else.
    if (typeof topic !== 'string' || !/^ui\.[a-z][a-z0-9_.]{0,60}$/.test(topic))
      throw bad('/action/topic', 'is not a topic below "ui."');
    return { ...common, action: { type: 'bus.publish', topic, payload: a['payload'] ?? {} } };
  }
  throw bad('/action/type', 'is not http.get, http.post or bus.publish');
}

/** The entries of a command document that wait to be done. */
export function pendingEntries(content: Record<string, unknown>): [string, unknown][] {
  return Object.entries(content).filter(
    ([, v]) => !isObject(v) || !['done', 'failed'].includes(String(v['status'])),
  );
}
