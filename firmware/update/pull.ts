// The rest of a bundle's file, by one request: from where the last one was cut, and not a byte too many.
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { IngleError } from '../protocol/errors.ts';
import { failed } from './verdict.ts';

export interface Wanted {
  url: string;
  size: number;
  sha256: string;
}

/** The file is made durable each so many bytes, so that a power cut costs at most as much. */
const SYNC_BYTES = 8 * 1024 * 1024;
export const sizeOf = (file: string) => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

export type Files = ReturnType<typeof filesOf>;

/** The files of a bundle below `dir`: done, and while it is fetched. */
export function filesOf(dir: string, w: Wanted) {
  const part = join(dir, `${w.sha256}.part`);
  /** The entity tag of what the part is of (RFC 9110 8.8.3). */
  const tag = join(dir, `${w.sha256}.etag`);
  return {
    done: join(dir, `${w.sha256}.raucb`),
    part,
    tag,
    forget(): void {
      for (const f of [part, tag]) rmSync(f, { force: true });
    },
  };
}

/** What lies there of a bundle, and by its tag of what. */
interface There {
  at: number;
  tag: string;
}

function headersFor({ at, tag }: There): Record<string, string> {
  return {
    'accept-encoding': 'identity',
    ...(at > 0 ? { range: `bytes=${at}-` } : {}),
    // Without a strong tag the server cannot be asked; the hash finds out then.
    ...(at > 0 && tag ? { 'if-range': tag } : {}),
  };
}

/**
 * What an answer's body is: from where on, and of what.
 * @returns `fault` where it is of no use; `isStale`: what lies there is of none either
 */
export function bodyOf(
  r: Pick<Response, 'status' | 'headers' | 'url'>,
  w: Wanted,
  there: There,
): There | { fault: IngleError; isStale: boolean } {
  const no = (fault: IngleError, isStale = false) => ({ fault, isStale });
  // Nothing that was redirected may leave HTTPS.
  if (w.url.startsWith('https:') && !r.url.startsWith('https:'))
    return no(failed('cut', 'The server leads away from HTTPS.'));
  const said = r.headers.get('etag') ?? '';
  const tag = said.startsWith('"') ? said : '';
  if (r.status === 206) {
    const range = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(r.headers.get('content-range') ?? '');
    const fits = range && Number(range[1]) === there.at && (range[2] === '*' || Number(range[2]) === w.size);
    if (!fits || (there.tag && tag && tag !== there.tag))
      return no(failed('cut', 'The server answers another part than was asked for.'), true);
  } else if (r.status === 404 || r.status === 410 || r.status === 403)
    return no(failed('not_found', `The server answers ${r.status} for the bundle.`));
  else if (r.status !== 200) return no(failed('cut', `The server answers ${r.status}.`), r.status === 416);
  const at = r.status === 206 ? there.at : 0;
  const size = Number(r.headers.get('content-length') ?? Number.NaN);
  if (Number.isFinite(size) && !r.headers.get('content-encoding') && at + size !== w.size)
    return no(failed('wrong_size', `The server has ${at + size} bytes, the index says ${w.size}.`));
  return { at, tag };
}

/**
 * One request; settles when the body ended. Bytes are appended as they come.
 * @param o.stallMs a connection silent for so long is lost @param o.full the error of a disk without room
 */
export async function pull(
  files: Files,
  w: Wanted,
  o: { stallMs: number; full(): IngleError },
  progress: (n: number) => void,
  signal: AbortSignal,
): Promise<void> {
  const stall = new AbortController();
  let timer = setTimeout(() => stall.abort(), o.stallMs);
  const alive = () => {
    clearTimeout(timer);
    timer = setTimeout(() => stall.abort(), o.stallMs);
  };
  let file: Awaited<ReturnType<typeof open>> | undefined;
  try {
    const there = {
      at: sizeOf(files.part),
      tag: existsSync(files.tag) ? readFileSync(files.tag, 'utf8') : '',
    };
    const headers = headersFor(there);
    const r = await fetch(w.url, { headers, signal: AbortSignal.any([signal, stall.signal]) });
    const body = bodyOf(r, w, there);
    if ('fault' in body) {
      await r.body?.cancel();
      if (body.isStale) files.forget();
      throw body.fault;
    }
    let { at } = body;
    writeFileSync(files.tag, body.tag);
    file = await open(files.part, at === 0 ? 'w' : 'a', 0o600);
    let synced = at;
    for await (const chunk of r.body as unknown as AsyncIterable<Uint8Array>) {
      alive();
      if (at + chunk.length > w.size)
        throw failed('wrong_size', `The server sends more than the ${w.size} bytes of the index.`);
      await file.appendFile(chunk);
      at += chunk.length;
      if (at - synced >= SYNC_BYTES) {
        await file.sync();
        synced = at;
      }
      progress(at);
    }
    await file.sync();
  } catch (e) {
    if (signal.aborted) throw failed('canceled', 'The download was stopped.');
    if (e instanceof IngleError) throw e;
    const code =
      (e as NodeJS.ErrnoException).code ?? (e as { cause?: NodeJS.ErrnoException }).cause?.code ?? '';
    if (code === 'ENOSPC' || code === 'EDQUOT') throw o.full();
    throw failed('cut', `The server was lost${code ? ` (${code})` : ''}.`);
  } finally {
    clearTimeout(timer);
    await file?.close().catch(() => {});
  }
}
