// `ctx.fetch` of a skill over whatever fetches for it: the hub's service, or a test's stand-in.
import type { Asked, Fetched } from '../fetch/request.ts';
import { fromUtf8, utf8 } from '../protocol/bytes.ts';
import type { FetchAnswer, Json, SkillContext } from './sdk/skill.ts';

/** Settles with the answer; whoever fetches checks what is asked. */
export type Fetches = (asked: Asked) => Promise<Fetched>;

const answerOf = ({ status, url, headers, body }: Fetched): FetchAnswer => ({
  status,
  ok: status >= 200 && status <= 299,
  url,
  headers,
  body,
  text: () => fromUtf8(body),
  json: () => JSON.parse(fromUtf8(body)) as Json,
});

export function fetchOver(fetches: Fetches): SkillContext['fetch'] {
  return async (url, { method = 'GET', headers = {}, body = '', signal } = {}) => {
    signal?.throwIfAborted();
    const asked = { url, method, headers, body: typeof body === 'string' ? utf8(body) : body };
    let stop = () => {};
    const aborted = new Promise<never>((_, reject) => {
      stop = () => reject(signal?.reason);
      signal?.addEventListener('abort', stop);
    });
    try {
      return answerOf(await Promise.race([fetches(asked), aborted]));
    } finally {
      signal?.removeEventListener('abort', stop);
    }
  };
}
