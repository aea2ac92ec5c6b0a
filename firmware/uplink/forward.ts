// One request of the tunnel becomes one request to the local API. Streams both ways; nothing is kept between requests.
import { type IncomingMessage, request } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { utf8 } from '../protocol/bytes.ts';
import { IngleError, toIngleError } from '../protocol/errors.ts';
import { MAX_BODY } from '../protocol/limits.ts';
import type { Body } from '../protocol/tunnel/tunnel.ts';
import type { RequestHead, ResponseHead } from '../protocol/wire.ts';
import { isPath, type Principal, requestHeaders, responseHeaders } from './headers.ts';
import type { ServiceToken } from './token.ts';

/** Where the local API listens and how to speak for a browser there. */
export interface LocalApi {
  host: string;
  port: number;
  token: ServiceToken;
  /** An answer's head is awaited this long, milliseconds. */
  headTimeout?: number;
}

type Answer = ResponseHead & { body?: Body };

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** @throws IngleError `invalid_request` on a path or method that is none. */
export function checkHead(head: RequestHead): void {
  if (!isPath(head.path)) throw new IngleError('invalid_request', 'The path is not one of the local API.');
  if (!methods.has(head.method)) throw new IngleError('method_not_allowed', 'The method is not known here.');
}

/** What the browser reads while the local API is away; asking again soon is right. */
export function unavailable(): Answer {
  const e = new IngleError('unavailable', 'The hub is just starting this part. Trying again helps.');
  const body = utf8(JSON.stringify(e.body()));
  return {
    status: e.status,
    headers: { 'content-type': 'application/json', 'retry-after': '1' },
    body,
  };
}

/**
 * Replays a request against the local API in the name of `principal`.
 * A refused service token is read anew and tried once more, when the body is still at hand.
 * @throws IngleError `invalid_request`, `method_not_allowed`, `timeout`
 */
export async function forward(
  api: LocalApi,
  head: RequestHead,
  body: AsyncIterable<Uint8Array>,
  principal: Principal,
  signal: AbortSignal,
): Promise<Answer> {
  checkHead(head);
  const { first, rest } = await gather(body);
  const attempt = () => once(api, head, first, rest, principal, signal);
  try {
    let answer = await attempt();
    if (answer.statusCode === 401 && !rest && api.token.stale()) {
      answer.resume();
      answer = await attempt();
    }
    return {
      status: answer.statusCode ?? 502,
      headers: responseHeaders(answer.headers),
      body: chunks(answer),
    };
  } catch (e) {
    if (e instanceof IngleError) throw e;
    if (signal.aborted) throw new IngleError('timeout', 'The request was given up.');
    return unavailable();
  }
}

/** A small body whole, so that it has a length and can be sent again; of a large one the beginning and the rest. */
async function gather(
  body: AsyncIterable<Uint8Array>,
): Promise<{ first: Buffer; rest?: AsyncIterator<Uint8Array> }> {
  const parts: Uint8Array[] = [];
  let size = 0;
  const from = body[Symbol.asyncIterator]();
  for (;;) {
    const next = await from.next();
    if (next.done) return { first: Buffer.concat(parts) };
    parts.push(next.value);
    size += next.value.length;
    if (size > MAX_BODY) return { first: Buffer.concat(parts), rest: from };
  }
}

function once(
  api: LocalApi,
  head: RequestHead,
  first: Buffer,
  rest: AsyncIterator<Uint8Array> | undefined,
  principal: Principal,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = requestHeaders(head.headers, principal, api.token.get());
    if (!rest && (first.length > 0 || !['GET', 'HEAD'].includes(head.method)))
      headers['content-length'] = String(first.length);
    const outgoing = request({
      ...{ host: api.host, port: api.port, method: head.method, path: head.path, headers, signal },
      // A connection of its own: one that is kept may be closed by the other side just as it is used again.
      agent: false,
    });
    const late = setTimeout(
      () => outgoing.destroy(new IngleError('timeout', 'The hub took too long to answer.')),
      api.headTimeout ?? 30_000,
    );
    outgoing.on('response', (answer) => {
      clearTimeout(late);
      resolve(answer);
    });
    outgoing.on('error', (e) => {
      clearTimeout(late);
      reject(e);
    });
    // One that is destroyed without an error says only this.
    outgoing.on('close', () => {
      clearTimeout(late);
      reject(new IngleError('unavailable', 'The request was given up.'));
    });
    if (!rest) outgoing.end(first);
    else
      pipeline(async function* () {
        yield first;
        for (let n = await rest.next(); !n.done; n = await rest.next()) {
          // A large body on a slow line comes for longer than an answer may take.
          late.refresh();
          yield n.value;
        }
      }, outgoing).catch((e) => outgoing.destroy(e as Error));
  });
}

/** The answer's body; leaving the loop lets the API go. */
async function* chunks(answer: IncomingMessage): AsyncIterable<Uint8Array> {
  try {
    for await (const c of answer) yield c as Buffer;
  } catch {
    throw new IngleError('unavailable', 'The answer broke off. Trying again helps.');
  } finally {
    answer.destroy();
  }
}

/** An error as an answer in the one shape. */
export function errorAnswer(cause: unknown): Answer {
  const e = toIngleError(cause);
  return {
    status: e.status,
    headers: { 'content-type': 'application/json' },
    body: utf8(JSON.stringify(e.body())),
  };
}
