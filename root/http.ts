// HTTP as plain values: what a request is, what an answer is, and the headers every answer carries.
import { IngleError, toIngleError } from '../firmware/protocol/errors.ts';
import { log } from './log.ts';

export interface Request {
  method: string;
  path: string;
  /** '' when absent; names in lower case. */
  header(name: string): string;
  /** Address of the client, behind our own proxies if there are any. */
  ip: string;
  /** Settles once, whole. @throws IngleError `too_large` */
  body(): Promise<Uint8Array>;
}

export interface Reply {
  status: number;
  headers: Record<string, string>;
  body: string | Uint8Array;
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

/** Security headers for `origin`; scripts, styles and connections come from ourselves alone. */
export function securityHeaders(origin: string): Record<string, string> {
  const csp = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    // Older Safari does not take 'self' for WebSockets.
    `connect-src 'self' ${origin.replace(/^http/, 'ws')}`,
    "manifest-src 'self'",
    "worker-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    // No text becomes code or markup; the one address that does is the service worker's.
    "require-trusted-types-for 'script'",
    'trusted-types ingle',
  ];
  const headers: Record<string, string> = {
    'content-security-policy': csp.join('; '),
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy':
      'publickey-credentials-get=(self), publickey-credentials-create=(self), camera=(), microphone=(), geolocation=()',
  };
  if (origin.startsWith('https:')) headers['strict-transport-security'] = 'max-age=31536000';
  return headers;
}
