// Asking the hub's local API as local control, with its token.
import { join } from 'node:path';
import { fromBody, IngleError } from '../../../firmware/protocol/errors.ts';
import { readToken } from '../../../firmware/system/token.ts';
import type { Say } from '../say.ts';
import { plain } from '../show.ts';
import { type Answer, jsonOf, textOf, whole } from './answer.ts';

/** Where the API is, and whose state. */
export interface At {
  api: string;
  data: string;
}

/** Until the API has said what it has, until it answers, and between two pieces of an answer, milliseconds. */
export const waits = { first: 30_000, answer: 60_000 };

export type Ask = (
  url: URL,
  wait: number,
  init: { method: string; body?: Uint8Array | undefined; type?: string },
) => Promise<Answer>;

/** Asks with the token, and ends what is silent for longer than `wait`. */
export function asker(at: At, say: Say): Ask {
  const token = tokenOf(at, say);
  return async (url, wait, { method, body, type = 'application/json' }) => {
    const over = new AbortController();
    const silent = () => over.abort(new IngleError('timeout', say.text('apiSilent', { url: at.api })));
    let timer = setTimeout(silent, wait);
    const why = (cause: unknown, otherwise: IngleError) => {
      clearTimeout(timer);
      return over.signal.reason instanceof IngleError
        ? over.signal.reason
        : cause instanceof IngleError
          ? cause
          : otherwise;
    };
    const r = await fetch(url, {
      method,
      headers: { 'x-service-token': token, ...(body ? { 'content-type': type } : {}) },
      redirect: 'manual',
      signal: over.signal,
      ...(body ? { body: Buffer.from(body) } : {}),
    }).catch((cause) => {
      throw why(cause, new IngleError('unavailable', say.text('noHouse')));
    });
    async function* pieces() {
      try {
        for await (const piece of r.body ?? []) {
          clearTimeout(timer);
          timer = setTimeout(silent, wait);
          yield piece as Uint8Array;
        }
      } catch (cause) {
        throw why(cause, new IngleError('unavailable', say.text('apiEnded')));
      } finally {
        clearTimeout(timer);
      }
    }
    return {
      status: r.status,
      type: r.headers.get('content-type') ?? '',
      pieces: pieces(),
      end: () => over.abort(),
    };
  };
}

function tokenOf(at: At, say: Say): string {
  const file = join(at.data, 'api', 'token');
  try {
    return readToken(file);
  } catch (e) {
    const { code, message } = e as NodeJS.ErrnoException;
    if (code === 'EACCES') throw new IngleError('forbidden', say.text('tokenForbidden', { file }));
    throw new IngleError('unavailable', code === 'ENOENT' ? say.text('noHouse') : message);
  }
}

export function refusal(answer: Answer, bytes: Uint8Array, at: At, say: Say): IngleError {
  const file = join(at.data, 'api', 'token');
  if (answer.status === 401)
    return new IngleError('unauthenticated', say.text('apiToken', { url: at.api, file }));
  const e = fromBody(jsonOf(textOf(bytes) ?? ''), answer.status);
  return new IngleError(e.code, plain(e.message, 1000), e.details);
}

export type AskJson = <R>(method: string, path: string, body?: object | Uint8Array) => Promise<R>;

/** Asks for JSON. A body of bytes goes as it is. @throws IngleError what the API answered, `unavailable`, `timeout` */
export function jsonAsker(at: At, say: Say): AskJson {
  const ask = asker(at, say);
  return async <R>(method: string, path: string, body?: object | Uint8Array) => {
    const raw = body instanceof Uint8Array;
    const answer = await ask(new URL(path, at.api), waits.answer, {
      method,
      ...(raw ? { body, type: 'application/octet-stream' } : {}),
      ...(body && !raw ? { body: Buffer.from(JSON.stringify(body)) } : {}),
    });
    const bytes = await whole(answer, say);
    if (answer.status >= 300) throw refusal(answer, bytes, at, say);
    return jsonOf(textOf(bytes) ?? '') as R;
  };
}
