// What a server says with the application's pages, be it root or a host of their own.

/** Where root's cookie does not reach (the application has a host of its own), this carries the browser's secret. */
export const BROWSER_HEADER = 'x-ingle-browser';

/** Below it lie skills' own pages at root. */
export const SKILL_UI = '/skill-ui';

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
 * @param inline sources of the scripts that stand in the page (inline.ts)
 */
export function contentPolicy(api: string, own: boolean, inline: readonly string[]): string[] {
  return [
    "default-src 'none'",
    ["script-src 'self'", ...inline].join(' '),
    "style-src 'self'",
    "img-src 'self' data:",
    // Older Safari does not take 'self' for WebSockets.
    `connect-src 'self' ${own ? '' : `${api} `}${socketsOf(api)}`,
    "manifest-src 'self'",
    "worker-src 'self'",
    // The one page that holds a skill's own (`frameHeaders`), and those that come through root.
    `frame-src 'self'${own ? '' : ` ${api}${SKILL_UI}/`}`,
    "base-uri 'none'",
    "form-action 'none'",
    // No text becomes code or markup; the addresses that do are those of the service worker and of what draws charts.
    "require-trusted-types-for 'script'",
    'trusted-types ingle ingle-vega',
  ];
}

/** Headers that go with the application; arguments as of `contentPolicy`. */
export function pageHeaders(api: string, own: boolean, inline: readonly string[]): Record<string, string> {
  return {
    // A page cannot say by itself who may frame it.
    'content-security-policy': [...contentPolicy(api, own, inline), "frame-ancestors 'none'"].join('; '),
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

/** Where the page lies that holds a skill's own page in a frame. */
export const FRAME_PATH = '/frame.html';

/**
 * What that page and all in it may do: run what stands in the page itself, and nothing else. It loads nothing, and leads
 * nowhere: `frame-src` also rules where what it holds may go.
 */
export const framePolicy = [
  "default-src 'none'",
  "script-src 'unsafe-inline'",
  "style-src 'unsafe-inline'",
  'img-src data:',
  'font-src data:',
  "connect-src 'none'",
  "frame-src 'none'",
  "form-action 'none'",
  "base-uri 'none'",
];

/** Headers of the page at `FRAME_PATH`, in place of the application's. */
export const frameHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': ['sandbox allow-scripts', ...framePolicy, "frame-ancestors 'self'"].join('; '),
  'x-frame-options': 'SAMEORIGIN',
  // A name that is looked up says something as well.
  'x-dns-prefetch-control': 'off',
};
