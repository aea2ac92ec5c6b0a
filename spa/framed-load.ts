// A skill's own page: fetched through the tunnel with all that it names, as one text of which root sees nothing; or, where
// its skill's manifest says so, by a ticket from root, whose address the frame itself opens.
import { fromUtf8, toBase64url } from '../firmware/protocol/bytes.ts';
import { fromBody, IngleError, toIngleError } from '../firmware/protocol/errors.ts';
import { FRAME_PATH, SKILL_UI } from '../firmware/protocol/page.ts';
import { assetBounds, assetsOf, wholePage } from '../firmware/ui/page/assets.ts';
import { reached } from './current.ts';
import { post } from './rest.ts';
import { root } from './root.ts';
import { session } from './sid.ts';
import { app } from './store.ts';

/** Bytes of the page itself. */
const PAGE = 512 * 1024;
/** Files that are asked for side by side. */
const AT_ONCE = 4;
/** Until all of it is there, milliseconds. */
const WAIT = 30_000;

/** What a frame shows, and by what its page proves itself. */
export interface Page {
  /** The address of the frame. */
  src: string;
  /** What is handed to the page at FRAME_PATH; null where the address is the page's own. */
  html: string | null;
  ticket: string;
}

/** @throws IngleError where there is no such page */
export async function loadPage(skill: string, page: string, stop: AbortSignal): Promise<Page> {
  const way = app().icons?.find((i) => i.skill_id === skill)?.pages;
  if (way !== 'root') return wholly(skill, page, stop);
  // For a guest root has no ticket, and the tunnel needs none.
  return ticketed(skill, page).catch((e) => {
    if (toIngleError(e).code !== 'forbidden') throw e;
    return wholly(skill, page, stop);
  });
}

/** @throws IngleError what root said, or `internal` where its address is none of such a page */
async function ticketed(skill: string, page: string): Promise<Page> {
  const body = { skill_id: skill, page };
  const { ticket, entryUrl } = await post<{ ticket: unknown; entryUrl: unknown }>(
    '/v1/skill-ui/open',
    body,
    session()?.session_jwt,
  );
  // What root names is opened in a frame, so it may be nothing but this.
  const src = `${root || location.origin}${SKILL_UI}/${skill}/v1/ui/${page}?ticket=${ticket}`;
  if (typeof ticket !== 'string' || !/^[\w.-]{1,2048}$/.test(ticket) || entryUrl !== src)
    throw new IngleError('internal', 'This is no address of a page.');
  return { src, html: null, ticket };
}

interface Fetched {
  type: string;
  bytes: Uint8Array;
}

/** @throws IngleError what the hub said, or `too_large` */
async function fetched(skill: string, path: string, most: number, signal: AbortSignal): Promise<Fetched> {
  const r = await reached()
    .tunnel()
    .request({ method: 'GET', path: `/skills/${skill}/v1/ui/${path}`, signal });
  const bytes = await r.body(most);
  if (r.status !== 200) throw fromBody(null, r.status);
  return { type: r.headers['content-type'] ?? '', bytes };
}

/** @throws IngleError where there is no such page */
async function wholly(skill: string, page: string, stop: AbortSignal): Promise<Page> {
  const ended = new AbortController();
  const end = () => ended.abort();
  const timer = setTimeout(end, WAIT);
  stop.addEventListener('abort', end);
  try {
    const { type, bytes } = await fetched(skill, page, PAGE, ended.signal);
    if (!type.startsWith('text/html')) throw new IngleError('not_supported', 'This is no page.');
    const html = fromUtf8(bytes);
    const files = new Map<string, Uint8Array>();
    let left: number = assetBounds.bytes;
    const paths = assetsOf(html, page);
    for (let i = 0; i < paths.length && left > 0; i += AT_ONCE)
      await Promise.all(
        paths.slice(i, i + AT_ONCE).map(async (path) => {
          // A page without one of its files shows what it can.
          const file = await fetched(skill, path, left, ended.signal).catch(() => null);
          if (!file || file.bytes.length > left) return;
          left -= file.bytes.length;
          files.set(path, file.bytes);
        }),
      );
    ended.signal.throwIfAborted();
    const ticket = toBase64url(crypto.getRandomValues(new Uint8Array(24)));
    return { src: FRAME_PATH, html: wholePage(html, page, files, ticket), ticket };
  } finally {
    clearTimeout(timer);
    stop.removeEventListener('abort', end);
  }
}
