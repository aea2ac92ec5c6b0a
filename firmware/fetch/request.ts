// What a skill may ask for, and what goes out of it and comes back. Pure.
import { isIP } from 'node:net';
import { IngleError } from '../protocol/errors.ts';

/** Bounds of one fetch: characters of the address, headers, their bytes, bytes of the body and of the answer, time. */
export const BOUNDS = {
  url: 2048,
  headers: 32,
  headerBytes: 8 * 1024,
  body: 64 * 1024,
  answer: 1024 * 1024,
  ms: 15_000,
  redirects: 5,
} as const;

/** One fetch as it is asked for. */
export interface Asked {
  url: string;
  method: string;
  headers: Readonly<Record<string, string>>;
  body: Uint8Array;
}

/** One fetch as it goes out. */
export interface Outgoing {
  url: URL;
  method: 'GET' | 'POST';
  /** Names in lower case. */
  headers: Record<string, string>;
  body: Uint8Array;
}

export interface Fetched {
  status: number;
  /** Where the answer came from, after redirects. */
  url: string;
  /** Names in lower case. */
  headers: Record<string, string>;
  body: Uint8Array;
}

/** Headers of one connection (RFC 9110, 7.6.1), and those that are the hub's own to set. */
const connection = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];
const ours = ['host', 'user-agent', 'accept-encoding', 'content-length', 'expect', 'via', 'forwarded'];
const dropped = new Set([...connection, ...ours, 'cookie', 'cookie2', 'set-cookie', 'set-cookie2']);
/** Of an answer: its length and coding are those of the connection, not of what is handed on. */
const notHanded = new Set([...connection, 'content-length', 'content-encoding', 'set-cookie', 'set-cookie2']);

const bad = (message: string) => new IngleError('invalid_request', message);

/**
 * An address that may be fetched.
 * @param hosts of the skill's manifest
 * @throws IngleError `invalid_request`, `forbidden`
 */
export function checkUrl(text: string, hosts: readonly string[]): URL {
  if (text.length > BOUNDS.url) throw bad(`An address has at most ${BOUNDS.url} characters.`);
  if (!URL.canParse(text)) throw bad('That is no address. Give a whole one, as https://api.example.org/v1.');
  const url = new URL(text);
  if (url.protocol !== 'https:') throw bad('Only https is fetched.');
  if (url.username || url.password) throw bad('An address carries no user or password. Use a header.');
  if (url.port) throw bad('Only the port of https is fetched, 443. Leave it out.');
  if (isIP(url.hostname.replace(/^\[|\]$/g, '')) || !hosts.includes(url.hostname))
    throw new IngleError(
      'forbidden',
      `Nothing may be fetched from ${url.hostname.slice(0, 253)} here: a skill's manifest (permissions.hosts) or a scenario (hosts) names where from.`,
    );
  url.hash = '';
  return url;
}

/** @throws IngleError `invalid_request`, `too_large` */
function checkHeaders(given: Readonly<Record<string, string>>): Record<string, string> {
  const all = Object.entries(given);
  const bytes = all.reduce((sum, [name, value]) => sum + name.length + Buffer.byteLength(value), 0);
  if (all.length > BOUNDS.headers || bytes > BOUNDS.headerBytes)
    throw new IngleError(
      'too_large',
      `At most ${BOUNDS.headers} headers of ${BOUNDS.headerBytes} bytes are sent.`,
    );
  const headers: Record<string, string> = Object.create(null);
  for (const [name, value] of all) {
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name))
      throw bad('A header has a name that HTTP does not know.');
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value))
      throw bad(`The header ${name} has a character that no header has.`);
    const key = name.toLowerCase();
    if (!dropped.has(key) && !key.startsWith('proxy-') && !key.startsWith('x-forwarded-'))
      headers[key] = value;
  }
  return headers;
}

/**
 * A fetch that may go out: checked, without what is the connection's or a cookie.
 * @throws IngleError `invalid_request`, `forbidden`, `too_large`
 */
export function checkAsked(asked: Asked, hosts: readonly string[]): Outgoing {
  const { method, body } = asked;
  if (method !== 'GET' && method !== 'POST') throw bad('Only GET and POST are fetched.');
  if (method === 'GET' && body.length > 0) throw bad('GET has no body.');
  if (body.length > BOUNDS.body)
    throw new IngleError('too_large', `At most ${BOUNDS.body} bytes are sent in a body.`);
  return { url: checkUrl(asked.url, hosts), method, headers: checkHeaders(asked.headers), body };
}

/**
 * Where a redirect leads; undefined for an answer that is none. What was sent to prove oneself stays with its host.
 * @throws IngleError as `checkUrl`
 */
export function followed(
  before: Outgoing,
  status: number,
  location: string | undefined,
  hosts: readonly string[],
): Outgoing | undefined {
  if (![301, 302, 303, 307, 308].includes(status) || location === undefined) return undefined;
  if (!URL.canParse(location, before.url)) throw bad('The host redirects to what is no address.');
  const url = checkUrl(new URL(location, before.url).href, hosts);
  const headers = { ...before.headers };
  if (url.hostname !== before.url.hostname) delete headers['authorization'];
  if (status >= 307 || before.method === 'GET') return { ...before, url, headers };
  // RFC 9110, 15.4: what was posted is not posted again.
  for (const name of Object.keys(headers)) if (name.startsWith('content-')) delete headers[name];
  return { url, method: 'GET', headers, body: new Uint8Array() };
}

/** Headers of an answer as the skill gets them. Raw pairs, as Node has them. */
export function handed(raw: readonly string[]): Record<string, string> {
  const out: Record<string, string> = Object.create(null);
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = raw[i]!.toLowerCase();
    // The bus carries no such character.
    const value = raw[i + 1]!.replaceAll('\0', '');
    if (!notHanded.has(name)) out[name] = name in out ? `${out[name]}, ${value}` : value;
  }
  return { ...out };
}
