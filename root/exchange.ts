// One request of uWebSockets.js as plain values, and its answer written back.
import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import { STATUS_CODES } from 'node:http';
import { IngleError } from '../firmware/protocol/errors.ts';
import { MAX_BODY } from '../firmware/protocol/limits.ts';
import { pageWay } from '../firmware/protocol/skill-page.ts';
import type { Pieces, Reply, Request } from './http.ts';
import { tooMany } from './limit.ts';
import { log } from './log.ts';
import type { Uploads } from './uploads.ts';

/** How long a client may take to send a body, milliseconds. */
const BODY_MS = 15_000;
/** The largest body that is read to its end once it was refused, bytes. */
const MAX_DROPPED = 16 * MAX_BODY;

export type Incoming = Request & {
  aborted: boolean;
  answered: boolean;
  complete: boolean;
  /** Its body may be read to its end after the answer; else the connection ends with that. */
  lingers: boolean;
  /** The answer is written but for its end, which comes after the body's. */
  pending: boolean;
  /** Its body is under way no more. */
  ended(): void;
  /** Called when the client has gone while its answer is written. */
  left: (() => void) | undefined;
};

/** Copies what we need out of uWebSockets.js's request, which is gone after this turn. */
export function read(
  res: HttpResponse,
  req: HttpRequest,
  ipOf: (header: (n: string) => string, peer: string) => string,
  uploads: Uploads,
): Incoming {
  const headers = new Map<string, string>();
  req.forEach((k, v) => {
    headers.set(k, v);
  });
  const header = (name: string) => headers.get(name) ?? '';
  let body: Promise<Uint8Array> | undefined;
  const isWhole = Number(header('content-length')) === 0 && header('transfer-encoding') === '';
  const ip = ipOf(header, Buffer.from(res.getRemoteAddressAsText()).toString());
  const ended = isWhole ? () => {} : uploads.begin(ip);
  const incoming: Incoming = {
    method: req.getMethod().toUpperCase(),
    path: req.getUrl(),
    query: req.getQuery() ?? '',
    header,
    ip,
    aborted: false,
    answered: false,
    ended: ended ?? (() => {}),
    left: undefined,
    complete: isWhole,
    lingers: ended !== undefined,
    pending: false,
    body: () => body!,
  };
  body = new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let size = 0;
    if (!ended) reject(tooMany(1));
    let late: NodeJS.Timeout | undefined;
    res.onAborted(() => {
      clearTimeout(late);
      incoming.ended();
      incoming.aborted = true;
      incoming.left?.();
      reject(new IngleError('invalid_request', 'The request was cut off.'));
    });
    // Told of data, uWebSockets.js tells of the end of none, too, and lets the connection idle for ever after it.
    if (isWhole) {
      resolve(new Uint8Array(0));
      return;
    }
    late = setTimeout(() => {
      // Else it was answered, and uWebSockets.js throws.
      if (!incoming.answered || incoming.pending) res.close();
    }, BODY_MS);
    res.onData((chunk, last) => {
      size += chunk.byteLength;
      if (size > MAX_BODY) {
        parts.length = 0;
        reject(new IngleError('too_large', `A body may have at most ${MAX_BODY} bytes.`));
      } else if (ended) parts.push(Buffer.from(chunk.slice(0)));
      if (last) {
        incoming.complete = true;
        incoming.ended();
        clearTimeout(late);
        if (incoming.pending) res.cork(() => void res.end());
      } else if (incoming.pending && size > MAX_DROPPED) res.close();
      if (last && size <= MAX_BODY) resolve(parts.length === 1 ? parts[0]! : Buffer.concat(parts));
    });
  });
  // Not every endpoint asks for the body.
  body.catch(() => {});
  return incoming;
}

const isPieces = (body: Reply['body']): body is Pieces => typeof body === 'object' && 'next' in body;

/** Writes an answer. @returns when one that comes in pieces is through */
export function write(
  res: HttpResponse,
  req: Incoming,
  reply: Reply,
  security: [string, string][],
): Promise<void> | void {
  const { body } = reply;
  const head = () => {
    res.writeStatus(`${reply.status} ${STATUS_CODES[reply.status] ?? ''}`);
    for (const [k, v] of security) if (reply.headers[k] === undefined) res.writeHeader(k, v);
    for (const [k, v] of Object.entries(reply.headers)) if (v !== '') res.writeHeader(k, v);
  };
  if (req.aborted) {
    if (isPieces(body)) body.stop();
    return;
  }
  req.answered = true;
  req.ended();
  if (isPieces(body)) {
    return stream(res, req, head, body);
  }
  res.cork(() => {
    head();
    const close = !req.complete;
    const isHead = req.method === 'HEAD';
    // Who still sends a body might never read an answer with which the connection ends.
    if (close && req.lingers && !isHead) {
      req.pending = true;
      res.write(body);
    } else if (!isHead && reply.status !== 304) res.end(body, close);
    else if (close) res.end('', true);
    else {
      // uWebSockets would wait for a length it is told, and the next request end the connection.
      if (isHead) res.writeHeader('content-length', String(Buffer.byteLength(body)));
      res.endWithoutBody();
    }
  });
}

/**
 * Writes an answer as its reader takes it. Where it breaks off, or takes too long, the connection ends without the end of
 * the answer, so that nobody takes it for whole.
 */
async function stream(res: HttpResponse, req: Incoming, head: () => void, body: Pieces): Promise<void> {
  let go = () => {};
  const cut = () => {
    if (!req.aborted) res.close();
  };
  const late = setTimeout(cut, pageWay.whole);
  req.left = () => {
    body.stop();
    go();
  };
  res.onWritable(() => {
    go();
    return true;
  });
  try {
    if (!req.aborted) res.cork(head);
    while (!req.aborted) {
      const piece = await body.next();
      if (piece === null || req.aborted) break;
      let isThrough = true;
      if (piece.length > 0)
        res.cork(() => {
          isThrough = res.write(piece);
        });
      if (!isThrough)
        await new Promise<void>((resolve) => {
          go = resolve;
        });
    }
    clearTimeout(late);
    if (!req.aborted) res.cork(() => void res.end());
  } catch (e) {
    if (!(e instanceof IngleError)) log('error', 'an answer broke off', { cause: e });
    cut();
  } finally {
    clearTimeout(late);
    body.stop();
  }
}
