// What of a browser's request reaches the local API, and what of the answer goes back. Pure.
import { toBase64url, utf8 } from '../protocol/bytes.ts';
import type { CallerRole } from '../protocol/roles.ts';

/** Who asks, as the local API is told (ARCHITECTURE D10). */
export interface Principal {
  /** Whose documents are theirs: the hub's owner, or a person who was invited. */
  owner_id: string;
  /** Base64url of the browser's static key. */
  browser: string;
  role: CallerRole;
  /** Unix seconds; 0 = admin skills are closed. */
  elevated_until: number;
  /** Whose hub it is, where that is somebody else: a person the owner has invited is none of the owner's browsers. */
  household?: string;
  /** Id of the member that asks. */
  hub?: string;
}

/** Belong to one connection, not to the message (RFC 9110 section 7.6.1), or are set anew for the next one. */
const hop = new Set([
  'connection',
  'proxy-connection',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'host',
  'content-length',
  'expect',
]);
/** Would let a browser speak with another's rights. */
const rights = new Set(['cookie', 'authorization', 'proxy-authorization', 'x-service-token', 'forwarded']);
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/;

function kept(name: string, value: unknown): value is string {
  const n = name.toLowerCase();
  return (
    token.test(name) &&
    typeof value === 'string' &&
    value.length <= 8192 &&
    // biome-ignore lint/suspicious/noControlCharactersInRegex: exactly these split headers (RFC 9110 section 5.5)
    !/[\x00-\x08\x0a-\x1f\x7f]|[^\x00-\xff]/.test(value) &&
    !hop.has(n) &&
    !rights.has(n) &&
    !n.startsWith('x-ingle-') &&
    !n.startsWith('x-forwarded-') &&
    !n.startsWith('sec-websocket-')
  );
}

/** Headers for the local API: the browser's harmless ones, then the service token and the principal. */
export function requestHeaders(
  given: Record<string, unknown>,
  principal: Principal,
  serviceToken: string,
): Record<string, string> {
  const out: Record<string, string> = {};
  for (const [name, value] of Object.entries(given).slice(0, 64))
    if (kept(name, value)) out[name.toLowerCase()] = value;
  out['x-service-token'] = serviceToken;
  out['x-ingle-principal'] = toBase64url(utf8(JSON.stringify(principal)));
  return out;
}

/** Headers of the local API's answer that concern the browser. */
export function responseHeaders(
  given: Record<string, string | string[] | undefined>,
): Record<string, string> {
  const out: Record<string, string> = {};
  for (const [name, value] of Object.entries(given)) {
    const text = Array.isArray(value) ? value.join(', ') : value;
    if (name.toLowerCase() === 'content-length' && typeof text === 'string') out['content-length'] = text;
    else if (name.toLowerCase() !== 'set-cookie' && kept(name, text)) out[name.toLowerCase()] = text;
  }
  return out;
}

/** Is this the path of one request on the local API, and nothing that could mean another host? */
export function isPath(path: unknown): path is string {
  return typeof path === 'string' && path.length <= 8192 && /^\/(?!\/)[\x21-\x22\x24-\x7e]*$/.test(path);
}
