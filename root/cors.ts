// The application's pages at an origin of their own: what root answers so that a browser lets them ask (Fetch, "CORS").
import { BROWSER_HEADER } from '../firmware/protocol/page.ts';
import { POW_HEADER } from '../firmware/protocol/pairing/pow.ts';
import { isSplit, type RootConfig } from './config.ts';
import type { Reply, Request } from './http.ts';

type Origins = Pick<RootConfig, 'origin' | 'api'>;

/** What the application sends beside what needs no leave. */
const HEADERS = ['authorization', 'content-type', BROWSER_HEADER, POW_HEADER].join(', ');
/** Seconds a browser remembers the leave; Chromium takes no more. */
const REMEMBERED = 7200;

/** Whether a page of the application sent it, from its own host. */
export function fromApplication(config: Origins, req: Request): boolean {
  return isSplit(config) && req.header('origin') === config.origin;
}

/** Leave for the application's origin to read the answer, and for no other. No cookies go with it. */
export function crossOrigin(config: Origins, req: Request): Record<string, string> {
  if (!isSplit(config)) return {};
  // Caches keep what one origin was told from another.
  const vary = { vary: 'origin' };
  return fromApplication(config, req) ? { ...vary, 'access-control-allow-origin': config.origin } : vary;
}

/** Whether a browser asks ahead whether it may ask. */
export function isPreflight(config: Origins, req: Request): boolean {
  return (
    req.method === 'OPTIONS' &&
    req.header('access-control-request-method') !== '' &&
    fromApplication(config, req)
  );
}

export function preflight(methods: readonly string[]): Reply {
  const headers = {
    'access-control-allow-methods': methods.join(', '),
    'access-control-allow-headers': HEADERS,
    'access-control-max-age': String(REMEMBERED),
  };
  return { status: 200, headers, body: '' };
}
