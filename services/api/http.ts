// A request and its answer, as uWebSockets.js reads and writes them.
import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import { toIngleError } from '../../firmware/protocol/errors.ts';

/** A request before its body. */
export interface Head {
  method: string;
  /** As sent, not decoded. */
  path: string;
  query: URLSearchParams;
  /** Those of `read`, under their lower-case names; one that is not there or empty is left out. */
  headers: Record<string, string>;
}

/** A request that may send its body. */
export interface Admitted {
  /** Whose request it is, as the places are shared by those who ask. */
  who: string;
  /** The largest body it may bring, bytes. */
  maxBody: number;
  /** What `handle` needs of a body it has read when it returns: no copy is made of one that came whole. */
  isReadAtOnce?: boolean;
  /**
   * Answers at once where it can.
   * @param left calls when the client has gone before its answer
   */
  handle(body: Uint8Array, left: (f: () => void) => void): Response | Promise<Response>;
}

export interface Response {
  status: number;
  headers?: Readonly<Record<string, string>>;
  body?: string | Uint8Array | undefined;
  /** Instead of a body. `write` keeps what it is given and says whether there is room for more. */
  stream?: (write: (chunk: string) => boolean) => Streaming;
}

/** What the server tells who writes a stream. */
export interface Streaming {
  /** There may be room again. Only a write shows it, and moves on what was kept. */
  writable(): void;
  /** The client is gone; called once. */
  stop(): void;
}

/** Before the body is read: refuses by throwing, answers what needs no body, or lets the body come. */
export type Admit = (head: Head) => Response | Promise<Response> | Admitted;

/** For uWebSockets, to which a string is made bytes at each call. */
const bytes = (text: string) => new TextEncoder().encode(text).buffer as ArrayBuffer;

const named = (...names: string[]) => names.map((name) => ({ name, key: bytes(name) }));
/** The headers of any request: to look for one costs a call, there or not. */
const ofAll = named('x-service-token', 'x-ingle-principal', 'idempotency-key', 'content-length');
/** Where a stream goes on. */
const ofReads = named('last-event-id');
/** Says that there is a body where no length does. */
const ofUnknownLength = named('transfer-encoding');
const ofSockets = named('sec-websocket-key', 'sec-websocket-protocol', 'sec-websocket-extensions');
/** What only paths below one read. The router takes these words as they stand, so no other spelling leads there. */
const ofPaths = [
  { below: '/api/mcp', names: named('origin', 'mcp-protocol-version', 'mcp-method', 'mcp-name') },
  { below: '/hooks/', names: named('webhook-id', 'webhook-timestamp', 'webhook-signature') },
];
const noQuery = new URLSearchParams();

export function readHead(req: HttpRequest, isSocket = false): Head {
  const headers: Record<string, string> = {};
  const read = (some: ReturnType<typeof named>) => {
    for (const { name, key } of some) {
      const value = req.getHeader(key);
      if (value !== '') headers[name] = value;
    }
  };
  read(ofAll);
  if (headers['content-length'] === undefined) read(ofUnknownLength);
  const method = req.getCaseSensitiveMethod();
  if (method === 'GET') read(ofReads);
  if (isSocket) read(ofSockets);
  const path = req.getUrl();
  for (const { below, names } of ofPaths) if (path.startsWith(below)) read(names);
  const query = req.getQuery();
  return {
    method,
    path,
    query: query ? new URLSearchParams(query) : noQuery,
    headers,
  };
}

const common = Object.entries({
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
});
/** The headers of an answer of JSON. With this very object they are made bytes once for all. */
export const ofJson: Readonly<Record<string, string>> = Object.freeze({ 'content-type': 'application/json' });
const linesOfJson = [...common, ...Object.entries(ofJson)].map((line) => line.join(': ')).join('\r\n');
/** The first line's name, and its value with all other lines: each call of uWebSockets costs as much as to route. */
const nameOfJson = bytes(linesOfJson.slice(0, linesOfJson.indexOf(': ')));
const valueOfJson = bytes(linesOfJson.slice(linesOfJson.indexOf(': ') + 2));

function writeHeaders(res: HttpResponse, headers: Readonly<Record<string, string>> = {}): void {
  if (headers === ofJson) {
    res.writeHeader(nameOfJson, valueOfJson);
    return;
  }
  for (const [name, value] of common) if (headers[name] === undefined) res.writeHeader(name, value);
  for (const name of Object.keys(headers)) res.writeHeader(name, headers[name]!);
}

/**
 * Writes an answer, or where it is a stream its head.
 * @param isHead its body is left out
 */
export function writeAnswer(res: HttpResponse, r: Response, isHead: boolean): void {
  // uWebSockets writes 200 by itself.
  if (r.status !== 200) res.writeStatus(String(r.status));
  writeHeaders(res, r.headers);
  if (isHead) {
    // uWebSockets would wait for a length it is told, and the next request end the connection; it takes `undefined`
    // for one, too.
    if (!r.stream) res.writeHeader('content-length', String(Buffer.byteLength(r.body ?? '')));
    res.endWithoutBody();
  } else if (!r.stream) res.end(r.body ?? '');
}

/** Writes all of an answer but its end. @param isHead its body is left out */
export function beginAnswer(res: HttpResponse, r: Response, isHead: boolean): void {
  res.writeStatus(String(r.status));
  writeHeaders(res, r.headers);
  if (!isHead) res.write(r.body ?? '');
}

/** The one error shape as a response. */
export function errorResponse(cause: unknown): Response {
  const e = toIngleError(cause);
  const after = e.details?.['retry_after'] ?? (e.code === 'rate_limited' ? 1 : undefined);
  const retry: Record<string, string> = after === undefined ? {} : { 'retry-after': String(after) };
  const allow = e.details?.['allow'];
  return {
    status: e.status,
    headers: { ...ofJson, ...retry, ...(typeof allow === 'string' ? { allow } : {}) },
    body: JSON.stringify(e.body()),
  };
}
