// Skills' own pages for root (D130). Root names owner, skill and path, and is believed in nothing: the hub gives its own
// owner's pages, of skills whose manifest says so (the local API looks at that), and nothing else of the local API.
import { openBucket, rate, take } from '../protocol/bucket.ts';
import { fromUtf8 } from '../protocol/bytes.ts';
import { fromBody, IngleError, toIngleError } from '../protocol/errors.ts';
import { isPagePath, pageWay } from '../protocol/skill-page.ts';
import type { PageAsked, PagePiece } from '../protocol/wire.ts';
import { forward, type LocalApi } from './forward.ts';

/** Files root may ask for at once, and more each second. */
const speed = rate(240, 20);
/** Bytes of an answer that is a refusal. */
const REFUSAL = 8192;

interface Way {
  from: AsyncIterator<Uint8Array>;
  /** What was read and has not gone on. */
  held: Uint8Array;
  bytes: number;
  busy: boolean;
  stop: AbortController;
  timer: NodeJS.Timeout;
}

export interface SkillPages {
  /** The first piece of a file that root asks for; never throws. */
  get(asked: unknown): Promise<PagePiece>;
  next(asked: unknown): Promise<PagePiece>;
  stop(asked: unknown): void;
  /** Root is away: nobody waits for any of them. */
  stopAll(): void;
}

/**
 * What root asks for, as it may be used.
 * @throws IngleError `invalid_request`, `forbidden` for an owner that is not this hub's
 */
export function checkAsked(m: unknown, owner: string | undefined): PageAsked {
  const { id, owner_id, skill_id, path } = Object(m) as Record<string, unknown>;
  if (typeof id !== 'string' || !/^[\w-]{16}$/.test(id)) throw new IngleError('invalid_request', 'No id.');
  if (typeof skill_id !== 'string' || !/^[a-z][a-z0-9_]{0,47}$/.test(skill_id))
    throw new IngleError('invalid_request', 'This is no skill.');
  if (typeof path !== 'string' || !isPagePath(path))
    throw new IngleError('invalid_request', 'This is no path below /v1/ui/.');
  if (owner === undefined || owner_id !== owner)
    throw new IngleError('forbidden', 'This hub is of another owner.');
  return { id, owner_id: owner, skill_id, path };
}

/** @param o.owner whose hub this is @param o.now milliseconds */
export function skillPages(o: {
  api: LocalApi;
  owner(): string | undefined;
  now(): number;
  refused(e: IngleError): void;
}): SkillPages {
  const ways = new Map<string, Way>();
  const bucket = openBucket(speed, o.now());

  function end(id: string): void {
    const way = ways.get(id);
    if (!way) return;
    ways.delete(id);
    clearTimeout(way.timer);
    way.stop.abort();
    way.from.return?.().catch(() => {});
  }
  const idOf = (m: unknown): string => String((Object(m) as { id?: unknown }).id).slice(0, 64);

  /** Takes a place; what is asked for is not there yet. */
  function begin(id: string): Way {
    if (ways.has(id)) throw new IngleError('conflict', 'This is under way.');
    if (ways.size >= pageWay.open || !take(bucket, speed, o.now()))
      throw new IngleError('rate_limited', 'Too many pages are on their way.', { retry_after: 1 });
    const way: Way = {
      from: (async function* () {})(),
      held: new Uint8Array(),
      bytes: 0,
      busy: true,
      stop: new AbortController(),
      timer: setTimeout(() => end(id), pageWay.whole),
    };
    ways.set(id, way);
    return way;
  }

  /** Reads until there is a piece, or all of it. @throws IngleError */
  async function piece(id: string, way: Way): Promise<PagePiece> {
    let done = false;
    while (way.held.length <= pageWay.piece) {
      const n = await way.from.next();
      if (n.done) {
        done = true;
        break;
      }
      way.bytes += n.value.length;
      if (way.bytes > pageWay.file)
        throw new IngleError('too_large', 'The file is too large to go through root.');
      way.held = Buffer.concat([way.held, n.value]);
    }
    const bytes = way.held.subarray(0, pageWay.piece);
    way.held = way.held.subarray(bytes.length);
    way.busy = false;
    if (done) end(id);
    return { ok: true, bytes, end: done };
  }

  async function first({ id, owner_id, skill_id, path }: PageAsked, way: Way): Promise<PagePiece> {
    const head = { method: 'GET', path: `/api/skill-pages/${skill_id}/${path}`, headers: {} };
    const root = { owner_id, browser: 'root', role: 'owner', elevated_until: 0 } as const;
    const answer = await forward(o.api, head, nothing(), root, way.stop.signal);
    way.from = piecesOf(answer.body);
    if (answer.status !== 200) throw await refusal(answer.status, way.from);
    return { ...(await piece(id, way)), type: answer.headers['content-type'] ?? '' } as PagePiece;
  }

  /** As an answer whatever becomes of it. */
  async function said(id: string, work: () => Promise<PagePiece>): Promise<PagePiece> {
    try {
      return await work();
    } catch (cause) {
      end(id);
      const e = toIngleError(cause);
      o.refused(e);
      return { ok: false, error: e.code, message: e.message };
    }
  }

  return {
    async get(m) {
      let asked: PageAsked;
      let way: Way;
      try {
        asked = checkAsked(m, o.owner());
        way = begin(asked.id);
      } catch (cause) {
        // One of this name that is under way goes on.
        const e = toIngleError(cause);
        o.refused(e);
        return { ok: false, error: e.code, message: e.message };
      }
      return said(asked.id, () => first(asked, way));
    },
    async next(m) {
      const id = idOf(m);
      return said(id, async () => {
        const way = ways.get(id);
        if (!way || way.busy) throw new IngleError('not_found', 'Nothing is under way.');
        way.busy = true;
        return piece(id, way);
      });
    },
    stop: (m) => end(idOf(m)),
    stopAll() {
      for (const id of [...ways.keys()]) end(id);
    },
  };
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

async function* piecesOf(body: AsyncIterable<Uint8Array> | Uint8Array | undefined) {
  if (body instanceof Uint8Array) yield body;
  else if (body) yield* body;
}

/** What the local API says instead of a file. */
async function refusal(status: number, from: AsyncIterator<Uint8Array>): Promise<IngleError> {
  let text = '';
  for (let n = await from.next(); !n.done && text.length < REFUSAL; n = await from.next())
    text += fromUtf8(n.value);
  let json: unknown = null;
  try {
    json = JSON.parse(text);
  } catch {}
  return fromBody(json, status);
}
