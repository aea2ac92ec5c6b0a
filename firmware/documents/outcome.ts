// An answer to a request, and what the journal keeps of it. Pure.
import { fromBody } from '../protocol/errors.ts';
import { MAX_RESULT, type Outcome } from './command.ts';

/** An HTTP answer whose body is at hand. */
export interface Answer {
  status: number;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
}

/** What of an answer is written down: JSON where it is, else text; what is too long is left out. */
export function outcomeOf(r: Answer): Outcome {
  const text = typeof r.body === 'string' ? r.body : new TextDecoder().decode(r.body ?? new Uint8Array());
  let body: unknown = null;
  if (text.length <= MAX_RESULT)
    try {
      body = text === '' ? null : JSON.parse(text);
    } catch {
      body = text;
    }
  if (r.status >= 400) return { status: 'failed', error: fromBody(body, r.status).body() };
  return { status: 'done', result: { status: r.status, body } };
}

/** The answer a repeated id gets. @throws IngleError what the first one failed with. */
export function answerOf(o: Outcome): Answer {
  if (o.status === 'failed') {
    const e = fromBody(o.error, 500);
    throw e;
  }
  const empty = o.result?.body === null || o.result?.body === undefined;
  return {
    status: o.result?.status ?? 200,
    headers: empty ? {} : { 'content-type': 'application/json' },
    body: empty ? '' : JSON.stringify(o.result?.body),
  };
}
