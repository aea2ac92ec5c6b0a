// What a skill's page in a frame says to the application around it, checked: its page is anybody's code, so nothing of a
// message is taken for granted. Pure.
import { IngleError } from '../../protocol/errors.ts';

/** What a page may say at once and each second, and how much. */
export const pageBounds = {
  /** Messages at once, and each second. */
  burst: 60,
  perSecond: 20,
  /** Characters of a message, where each value counts 8 besides. */
  weight: 65_536,
  depth: 32,
  /** Requests under way. */
  open: 8,
  /** Bytes of an answer. */
  answer: 1024 * 1024,
  /** Until the page says hello, milliseconds. */
  hello: 10_000,
} as const;

export type Said =
  | { type: 'hello'; ticket: unknown }
  | { type: 'resize'; w: number | undefined; h: number | undefined }
  | { type: 'request'; id: string | number; method: 'GET' | 'POST'; api: string; body: unknown }
  /** A request that can be answered with nothing but this. */
  | { type: 'refused'; id: string | number; error: IngleError };

/** Whether a value is plain JSON within the bounds; looks at no more of it than they allow. */
export function isLight(value: unknown): boolean {
  let left: number = pageBounds.weight;
  const todo: [value: unknown, depth: number][] = [[value, 0]];
  for (let one = todo.pop(); one; one = todo.pop()) {
    const [v, depth] = one;
    left -= 8;
    if (typeof v === 'string') left -= v.length;
    if (left < 0 || depth > pageBounds.depth) return false;
    if (typeof v === 'number' && !Number.isFinite(v)) return false;
    if (v === null || ['string', 'number', 'boolean', 'undefined'].includes(typeof v)) continue;
    if (Array.isArray(v)) {
      // Before it is walked: an array of nothing can be as long as one likes.
      if (v.length * 8 > left) return false;
      for (const item of v) todo.push([item, depth + 1]);
    } else if (typeof v === 'object' && Object.getPrototypeOf(v) === Object.prototype) {
      const keys = Object.keys(v);
      if (keys.length * 8 > left) return false;
      for (const key of keys) {
        left -= key.length;
        todo.push([(v as Record<string, unknown>)[key], depth + 1]);
      }
    } else return false;
  }
  return true;
}

/** Whether a page's hello has the ticket that its frame was given; takes as long whatever it has instead. */
export function isTicket(said: unknown, ticket: string): boolean {
  const text = typeof said === 'string' ? said : '';
  let differs = text.length ^ ticket.length;
  for (let i = 0; i < ticket.length; i++) differs |= ticket.charCodeAt(i) ^ (text.charCodeAt(i) | 0);
  return differs === 0;
}

/**
 * The hub's path of a page's request: below its own skill's, and nothing that could be read as another.
 * @returns null for any other
 */
export function ownPath(skill_id: string, api: unknown): string | null {
  if (typeof api !== 'string' || api.length > 2000) return null;
  const [path = '', ...query] = api.split('?');
  if (!/^\/v1(?:\/[A-Za-z0-9_~-][\w.~-]*)+$/.test(path)) return null;
  if (query.length > 1 || !/^[\w.~!$&'()*+,;=:@/%-]*$/.test(query[0] ?? '')) return null;
  return `/skills/${skill_id}${api}`;
}

const refused = (id: string | number, code: 'invalid_request' | 'forbidden' | 'too_large', words: string) =>
  ({ type: 'refused', id, error: new IngleError(code, words) }) as const;

const lengthOf = (v: unknown) => (typeof v === 'number' && Number.isFinite(v) ? v : undefined);

/** A message as it may be used; null for what is none of those a page has. */
export function readSaid(data: unknown): Said | null {
  if (data === null || typeof data !== 'object' || Array.isArray(data)) return null;
  const { type, id, w, h, ticket, api, body, method = 'GET' } = data as Record<string, unknown>;
  if (type === 'hello') return { type, ticket };
  if (type === 'resize') return { type, w: lengthOf(w), h: lengthOf(h) };
  if (type !== 'request') return null;
  const named = typeof id === 'string' ? id !== '' && id.length <= 64 : Number.isSafeInteger(id);
  if (!named) return null;
  const of = id as string | number;
  if (!isLight(data)) return refused(of, 'too_large', 'A message is plain JSON of at most 64 KiB.');
  if (method !== 'GET' && method !== 'POST')
    return refused(of, 'invalid_request', 'A page asks by GET or POST.');
  if (method === 'GET' && body !== undefined) return refused(of, 'invalid_request', 'A GET has no body.');
  if (ownPath('x', api) === null)
    return refused(of, 'forbidden', 'A page asks its own skill alone: "api" is a path below /v1/.');
  return { type, id: of, method, api: api as string, body };
}

/** The size a page may have of that which it asks for, in whole pixels; what it does not ask for stays. */
export function sizeWithin(
  asked: { w: number | undefined; h: number | undefined },
  now: { w: number | undefined; h: number },
): { w: number | undefined; h: number } {
  const within = (v: number, [least, most]: readonly [number, number]) =>
    Math.round(Math.max(least, Math.min(most, v)));
  return {
    w: asked.w === undefined ? now.w : within(asked.w, [120, 4000]),
    h: asked.h === undefined ? now.h : within(asked.h, [40, 4000]),
  };
}
