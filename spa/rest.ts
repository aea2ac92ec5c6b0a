// What the application asks of root over HTTP.
import { fromBody, IngleError } from '../firmware/protocol/errors.ts';
import { BROWSER_HEADER } from '../firmware/protocol/page.ts';
import { root } from './root.ts';
import { keepSession, type Session, session } from './sid.ts';

/**
 * POST with a JSON body.
 * @throws IngleError what root said, or `unavailable` when it did not answer.
 */
export async function post<R>(
  path: string,
  body: unknown,
  jwt?: string,
  headers: Record<string, string> = {},
): Promise<R> {
  let response: Response;
  const browser = session()?.browser;
  try {
    response = await fetch(root + path, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(jwt ? { authorization: `Bearer ${jwt}` } : {}),
        ...(browser ? { [BROWSER_HEADER]: browser } : {}),
        ...headers,
      },
      body: JSON.stringify(body),
      credentials: 'same-origin',
      signal: AbortSignal.timeout(20_000),
    });
  } catch {
    throw new IngleError('unavailable', 'No answer.');
  }
  const json: unknown = await response.json().catch(() => null);
  if (!response.ok) throw fromBody(json, response.status);
  return json as R;
}

/** This tab's session, opened at root when there is none. */
export async function openSession(): Promise<Session> {
  return session() ?? keepSession(await newSession());
}

/** A session beside the tab's own. */
export async function newSession(): Promise<Session> {
  const { sid, browser } = await post<{ sid: string; browser?: string }>('/v1/session', {});
  return { sid, browser };
}
