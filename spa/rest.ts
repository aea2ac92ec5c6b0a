// What the application asks of root over HTTP.
import { fromBody, IngleError } from '../firmware/protocol/errors.ts';
import { BROWSER_HEADER } from '../firmware/protocol/page.ts';
import type { Opened } from '../firmware/protocol/sign-in.ts';
import { root } from './root.ts';
import { keepSession, type Session, session } from './sid.ts';

/** POST with a JSON body; as `request`. */
export const post = <R>(path: string, body: unknown, jwt?: string, headers?: Record<string, string>) =>
  request<R>('POST', path, body, jwt, headers);

/**
 * One call of root's API, with a JSON body where one is given. What is no JSON comes as text.
 * @throws IngleError what root said, or `unavailable` when it did not answer.
 */
export async function request<R>(
  method: string,
  path: string,
  body: unknown,
  jwt?: string,
  headers: Record<string, string> = {},
): Promise<R> {
  let response: Response;
  let text: string;
  const browser = session()?.browser;
  try {
    response = await fetch(root + path, {
      method,
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(jwt ? { authorization: `Bearer ${jwt}` } : {}),
        ...(browser ? { [BROWSER_HEADER]: browser } : {}),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      credentials: 'same-origin',
      signal: AbortSignal.timeout(20_000),
    });
    text = await response.text();
  } catch {
    throw new IngleError('unavailable', 'No answer.');
  }
  let said: unknown = text;
  try {
    said = JSON.parse(text);
  } catch {}
  if (!response.ok) throw fromBody(said, response.status);
  return said as R;
}

/** This tab's session, opened at root when there is none. */
export async function openSession(): Promise<Session> {
  return session() ?? keepSession(await newSession());
}

/** A session beside the tab's own. */
export async function newSession(): Promise<Session> {
  const { sid, browser } = await post<Opened>('/v1/session', {});
  return { sid, browser };
}
