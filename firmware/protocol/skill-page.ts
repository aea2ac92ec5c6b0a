// A page of a skill's own on its way through root: its paths, its ticket, and what the way may carry. Pure.

/** From the issue of a ticket to its page, seconds. */
export const TICKET_TTL = 300;
/** From a page to the last of its files, seconds. */
export const PAGE_TTL = 600;

/** What one file may be, and how it comes: a piece is asked for once the one before has gone on. */
export const pageWay = {
  /** Bytes of a file, and of a piece of it. */
  file: 2 * 1024 * 1024,
  piece: 48 * 1024,
  /** Files of one hub under way. */
  open: 8,
  /** Until the hub answers, milliseconds: a skill that sleeps is woken first. */
  head: 30_000,
  next: 10_000,
  /** Until all of a file is there, milliseconds. */
  whole: 60_000,
} as const;

/** Whether a text is a path below a skill's /v1/ui/, and nothing that could be read as another. */
export const isPagePath = (path: string): boolean =>
  path.length <= 200 && /^[A-Za-z0-9_][\w.-]*(?:\/[A-Za-z0-9_][\w.-]*)*$/.test(path);

/** Characters in which a page's doctype ends, where it has one. */
export const DOCTYPE_WITHIN = 400;

/**
 * A page with its ticket where its script finds it: `<meta name="ingle-ticket">`. Before a doctype it would change how
 * the page is laid out.
 * @param html the page, or at least its first DOCTYPE_WITHIN characters
 * @param ticket in base64url and dots
 * @param base where its relative addresses lead, if not beside it: a path without `"`
 */
export function withTicket(html: string, ticket: string, base = ''): string {
  const doctype = /^[^<]{0,100}<!doctype[^>]{0,200}>/i.exec(html)?.[0].length ?? 0;
  const from = base === '' ? '' : `<base href="${base}">`;
  return `${html.slice(0, doctype)}${from}<meta name="ingle-ticket" content="${ticket}">${html.slice(doctype)}`;
}

/** What a file is, by its ending: a skill answers texts, and says of most of them no more than that. */
const types: Record<string, string> = {
  ...{ js: 'text/javascript', mjs: 'text/javascript', css: 'text/css', json: 'application/json' },
  ...{ svg: 'image/svg+xml', txt: 'text/plain', html: 'text/html' },
};

/** @returns a Content-Type; a text, where neither its ending nor its skill says anything known of it */
export function fileType(path: string, said: string): string {
  const ending = path.slice(path.lastIndexOf('.') + 1).toLowerCase();
  const known = Object.hasOwn(types, ending) ? types[ending]! : undefined;
  const type = known ?? (said.startsWith('text/html') ? 'text/html' : 'text/plain');
  return `${type}; charset=utf-8`;
}

/**
 * Headers of a page that comes through root, and of its files, in place of the application's.
 * @param own address below which its files lie, with a slash at the end
 * @param application the one origin that may hold it in a frame
 */
export function skillPageHeaders(own: string, application: string): Record<string, string> {
  const policy = [
    'sandbox allow-scripts',
    "default-src 'none'",
    ...['script-src', 'style-src', 'img-src', 'font-src', 'base-uri'].map((d) => `${d} ${own}`),
    "connect-src 'none'",
    "frame-src 'none'",
    "form-action 'none'",
    `frame-ancestors ${application}`,
  ];
  return {
    'content-security-policy': policy.join('; '),
    // Nothing in its place: it cannot name an origin, and frame-ancestors does.
    'x-frame-options': '',
    'x-content-type-options': 'nosniff',
    'x-dns-prefetch-control': 'off',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
    // The page has an origin that no address names, so its own files are another's to it; scripts that are modules, and
    // fonts, ask as that origin.
    'cross-origin-resource-policy': 'cross-origin',
    'access-control-allow-origin': 'null',
    'permissions-policy': 'camera=(), microphone=(), geolocation=()',
  };
}
