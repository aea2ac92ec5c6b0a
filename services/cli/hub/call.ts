// `ingle api call`: one question to the hub's local API as local control, checked against what that API says it has.
import { createReadStream } from 'node:fs';
import type { Method } from '../../../firmware/protocol/endpoint/endpoint.ts';
import { router } from '../../../firmware/protocol/endpoint/router.ts';
import { IngleError, toIngleError } from '../../../firmware/protocol/errors.ts';
import { parseObject } from '../../../firmware/protocol/json.ts';
import { MAX_BODY } from '../../../firmware/protocol/limits.ts';
import type { Say } from '../say.ts';
import { plain } from '../show.ts';
import { follow, isError, jsonOf, show, textOf, whole } from './answer.ts';
import { type Ask, type At, asker, refusal, waits } from './ask.ts';

export interface Question {
  method: string;
  /** With or without a query. */
  path: string;
  /** `name=value` each. */
  query: readonly string[];
  /** A file, or `-`. */
  body?: string | undefined;
  /** A body that is at hand. */
  json?: Readonly<Record<string, unknown>>;
}

/**
 * Prints the answer; of a stream each event until SIGINT or SIGTERM.
 * @param wait replaces all waits, for tests
 * @throws IngleError what the API answered, `unavailable` where none is, `timeout` where it is silent
 */
export async function callApi(at: At, q: Question, say: Say, wait?: number): Promise<void> {
  const method = q.method.toUpperCase();
  const url = addressOf(at, q, say);
  const ask = asker(at, say);
  const operation = await find(ask, at, wait ?? waits.first, method, url.pathname, say);
  const body = q.json
    ? Buffer.from(JSON.stringify(q.json))
    : q.body === undefined
      ? undefined
      : await bodyOf(q.body, operation, `${method} ${url.pathname}`, say);
  const answer = await ask(url, wait ?? waits.answer, { method, ...(body ? { body } : {}) });
  if (/^text\/event-stream\b/.test(answer.type)) return follow(answer, say);
  const bytes = await whole(answer, say);
  if (answer.status >= 300) throw refusal(answer, bytes, at, say);
  show(answer, bytes, say);
}

function addressOf(at: At, q: Question, say: Say): URL {
  // Nothing but a slash may follow the address: "@", "." or a digit would lead the token to another one.
  if (!q.path.startsWith('/') || !URL.canParse(at.api + q.path))
    throw new IngleError('invalid_request', say.text('apiPath'));
  const url = new URL(at.api + q.path);
  for (const pair of q.query) {
    const [, name, value] = /^([^=]+)=(.*)$/s.exec(pair) ?? [];
    if (name === undefined) throw new IngleError('invalid_request', say.text('apiQuery'));
    url.searchParams.append(name, value!);
  }
  return url;
}

interface Operation {
  requestBody?: { content?: Record<string, unknown>; 'x-max-bytes'?: number };
  parameters?: { name: string; 'x-rest'?: true }[];
}

type Document = { paths: Record<string, Record<string, Operation>> };

const isDocument = (d: unknown): d is Document => {
  const paths = (d as Partial<Document> | null)?.paths;
  return typeof paths === 'object' && paths !== null;
};

/**
 * What the hub's own document says of a path and method.
 * @throws IngleError `not_found`, `method_not_allowed`
 */
async function find(
  ask: Ask,
  at: At,
  wait: number,
  method: string,
  path: string,
  say: Say,
): Promise<Operation> {
  const answer = await ask(new URL('/api/openapi.json', at.api), wait, { method: 'GET' });
  const bytes = await whole(answer, say);
  if (answer.status === 401) throw refusal(answer, bytes, at, say);
  const document = textOf(bytes) && jsonOf(textOf(bytes)!);
  if (answer.status !== 200 || !isDocument(document))
    throw isError(document) ? refusal(answer, bytes, at, say) : strange(at, say);
  try {
    const all = Object.entries(document.paths).flatMap(([template, operations]) =>
      Object.entries(operations).map(([m, operation]) => {
        const rest = operation.parameters?.find((p) => p['x-rest'])?.name;
        const whole = rest === undefined ? template : template.replace(`{${rest}}`, `{${rest}*}`);
        return { endpoint: { method: m.toUpperCase() as Method, path: whole }, operation };
      }),
    );
    return router(all).find(method, path).bound.operation;
  } catch (e) {
    const { code, details } = toIngleError(e);
    if (code === 'not_found') throw new IngleError(code, say.text('apiNothing', { path: plain(path, 200) }));
    const allow = String(details?.['allow']);
    // A document of another shape makes other errors.
    if (code !== 'method_not_allowed') throw strange(at, say);
    const words = { path: plain(path, 200), method: plain(method, 20), allow };
    throw new IngleError(code, say.text('apiMethod', words), { allow });
  }
}

const strange = (at: At, say: Say) => new IngleError('unavailable', say.text('apiStrange', { url: at.api }));

/** What is sent. @throws IngleError `invalid_request`, `not_found`, `too_large` before anything is */
async function bodyOf(file: string, operation: Operation, what: string, say: Say): Promise<Uint8Array> {
  const content = operation.requestBody?.content;
  if (!content) {
    const [method = '', path = ''] = what.split(' ');
    throw new IngleError('invalid_request', say.text('apiNoBody', { method, path: plain(path, 200) }));
  }
  const most = operation.requestBody?.['x-max-bytes'] ?? MAX_BODY;
  return readBody(file, say, most, Object.hasOwn(content, 'application/json'));
}

/** A file of a person as a body. @throws IngleError as `bodyOf` does */
export async function readBody(file: string, say: Say, most = MAX_BODY, isJson = true): Promise<Uint8Array> {
  const name = plain(file, 200);
  const parts: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const part of file === '-' ? process.stdin : createReadStream(file)) {
      size += (part as Uint8Array).byteLength;
      // A file without an end (a device, a pipe) is not read to it.
      if (size > most) break;
      parts.push(part as Uint8Array);
    }
  } catch (e) {
    const { code, message } = e as NodeJS.ErrnoException;
    const why = say.text('apiFile', { file: name, why: code ?? message });
    throw new IngleError(code === 'ENOENT' ? 'not_found' : 'invalid_request', why);
  }
  const refuse = (code: 'too_large' | 'invalid_request', why: string, details?: Record<string, unknown>) =>
    new IngleError(code, say.text('apiBody', { file: name, why }), details);
  if (size > most) throw refuse('too_large', say.text('apiLarge', { most }));
  const body = Buffer.concat(parts);
  if (isJson)
    try {
      parseObject(body);
    } catch (e) {
      throw refuse('invalid_request', toIngleError(e).message, toIngleError(e).details);
    }
  return body;
}
