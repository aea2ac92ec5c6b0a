// HTTP as plain values: what a request is, what an answer is, and the headers every answer carries.
import { IngleError, toIngleError } from '../firmware/protocol/errors.ts';
import { log } from './log.ts';

export interface Request {
  method: string;
  path: string;
  /** Everything after the `?`. */
  query: string;
  /** '' when absent; names in lower case. */
  header(name: string): string;
  /** Address of the client, behind our own proxies if there are any. */
  ip: string;
  /** Settles once, whole. @throws IngleError `too_large` */
  body(): Promise<Uint8Array>;
}

export interface Reply {
  status: number;
  /** '' is not sent, and takes the place of what every answer carries. */
  headers: Record<string, string>;
  body: string | Uint8Array | Pieces;
}

/** A body that comes piece by piece, each when the one before has gone on. */
export interface Pieces {
  /** The next one; null after the last. Not asked while one is awaited. @throws IngleError when it breaks off */
  next(): Promise<Uint8Array | null>;
  /** Nobody waits for more; may be called at any time. */
  stop(): void;
}

export function json(value: unknown, status = 200, headers: Record<string, string> = {}): Reply {
  return {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store', ...headers },
    body: JSON.stringify(value),
  };
}

/** The answer to any failure: the one error shape. */
export function failure(e: unknown): Reply {
  if (!(e instanceof IngleError)) log('error', 'a request failed', { cause: e });
  const error = toIngleError(e);
  const retry = error.details?.['retry_after'];
  const allow = error.details?.['allow'];
  const headers: Record<string, string> = {};
  if (typeof retry === 'number') headers['retry-after'] = String(retry);
  if (typeof allow === 'string') headers['allow'] = allow;
  if (error.code === 'unauthenticated') headers['www-authenticate'] = 'Bearer';
  return json(error.body(), error.status, headers);
}
