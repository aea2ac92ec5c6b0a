// What a server says with the application's pages, be it root or a host of their own.

/** Where root's cookie does not reach (the application has a host of its own), this carries the browser's secret. */
export const BROWSER_HEADER = 'x-ingle-browser';

const socketsOf = (origin: string) => origin.replace(/^http/, 'ws');

/** The origin of an address that pages may be at or ask: https, or http on this very computer. `undefined` for others. */
export function secureOrigin(address: string): string | undefined {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const local = url?.hostname === 'localhost' || url?.hostname.endsWith('.localhost');
  return url?.protocol === 'https:' || (local && url?.protocol === 'http:') ? url?.origin : undefined;
}

/**
 * The content policy of the application: everything comes from its own origin, and it talks to root's API at the origin
 * `api`, which is its own as well if `own`.
 */
export function contentPolicy(api: string, own: boolean): string[] {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    // Older Safari does not take 'self' for WebSockets.
    `connect-src 'self' ${own ? '' : `${api} `}${socketsOf(api)}`,
    "manifest-src 'self'",
    "worker-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    // No text becomes code or markup; the one address that does is the service worker's.
    "require-trusted-types-for 'script'",
    'trusted-types ingle',
  ];
}

/** Headers that go with the application; arguments as of `contentPolicy`. */
export function pageHeaders(api: string, own: boolean): Record<string, string> {
  return {
    // A page cannot say by itself who may frame it.
    'content-security-policy': [...contentPolicy(api, own), "frame-ancestors 'none'"].join('; '),
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    // For what is embedded without CORS; what the application asks of root at another origin goes by CORS.
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy':
      'publickey-credentials-get=(self), publickey-credentials-create=(self), camera=(), microphone=(), geolocation=()',
    ...(api.startsWith('https:') ? { 'strict-transport-security': 'max-age=31536000' } : {}),
  };
}
