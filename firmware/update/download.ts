// Fetches a bundle to a file: goes on where it was cut, takes no byte too many, and believes only the hash.
import { createHash } from 'node:crypto';
import { createReadStream, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { mkdir, open, readdir, rename, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { IngleError } from '../protocol/errors.ts';
import type { Log } from '../system/log.ts';
import { MAX_INDEX } from './offer.ts';
import type { UpdateReason } from './verdict.ts';

export interface Wanted {
  url: string;
  size: number;
  sha256: string;
}

export interface Downloads {
  /** The finished file of a bundle, when it is there. */
  have(w: Wanted): string | undefined;
  /** Bytes that lie there of a bundle. */
  partial(w: Wanted): number;
  /** Whether the disk has room for the rest of it. */
  room(w: Wanted): Promise<boolean>;
  /** @throws IngleError with `details.reason` = an UpdateReason; `canceled` when `signal` aborts */
  fetch(w: Wanted, progress: (bytes: number) => void, signal: AbortSignal): Promise<string>;
  /** Removes all but the named bundle. */
  sweep(keep?: Wanted): Promise<void>;
}

/** Left free for what else the hub stores, bytes. */
const RESERVE = 32 * 1024 * 1024;
/** The file is made durable each so many bytes, so that a power cut costs at most as much. */
const SYNC_BYTES = 8 * 1024 * 1024;
/** Tries in a row that bring no byte. */
const MAX_TRIES = 6;

export function failed(reason: UpdateReason, message: string): IngleError {
  const codes: Partial<Record<UpdateReason, 'too_large' | 'conflict' | 'not_found' | 'unavailable'>> = {
    disk_full: 'too_large',
    canceled: 'conflict',
    not_found: 'not_found',
    cut: 'unavailable',
    no_index: 'unavailable',
  };
  return new IngleError(codes[reason] ?? 'invalid_request', message, { reason });
}

/**
 * Downloads below `dir`.
 * @param o.free bytes free there; given by tests
 * @param o.stallMs a connection silent for so long is lost; `o.pauseMs` is the first pause before another try
 */
export function downloads(
  dir: string,
  o: { log: Log; free?: () => Promise<number>; stallMs?: number; pauseMs?: number; reserve?: number },
): Downloads {
  const stallMs = o.stallMs ?? 30_000;
  const pauseMs = o.pauseMs ?? 1000;
  const reserve = o.reserve ?? RESERVE;
  const done = (w: Wanted) => join(dir, `${w.sha256}.raucb`);
  const part = (w: Wanted) => join(dir, `${w.sha256}.part`);
  /** The entity tag of what the part is of (RFC 9110 8.8.3). */
  const tagFile = (w: Wanted) => join(dir, `${w.sha256}.etag`);
  const sizeOf = (file: string) => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  const free =
    o.free ??
    (async () => {
      const s = await statfs(dir);
      return s.bavail * s.bsize;
    });

  function forget(w: Wanted): void {
    for (const f of [part(w), tagFile(w)]) rmSync(f, { force: true });
  }

  async function digest(file: string, signal: AbortSignal): Promise<string> {
    const hash = createHash('sha256');
    for await (const chunk of createReadStream(file, { signal })) hash.update(chunk as Buffer);
    return hash.digest('hex');
  }

  /** One request; settles when the body ended. Bytes are appended as they come. */
  async function pull(w: Wanted, progress: (n: number) => void, signal: AbortSignal): Promise<void> {
    const stall = new AbortController();
    let timer = setTimeout(() => stall.abort(), stallMs);
    const alive = () => {
      clearTimeout(timer);
      timer = setTimeout(() => stall.abort(), stallMs);
    };
    let file: Awaited<ReturnType<typeof open>> | undefined;
    try {
      let at = sizeOf(part(w));
      const tag = existsSync(tagFile(w)) ? readFileSync(tagFile(w), 'utf8') : '';
      const headers: Record<string, string> = { 'accept-encoding': 'identity' };
      if (at > 0) {
        headers['range'] = `bytes=${at}-`;
        // Without a strong tag the server cannot be asked; the hash finds out then.
        if (tag) headers['if-range'] = tag;
      }
      const r = await fetch(w.url, { headers, signal: AbortSignal.any([signal, stall.signal]) });
      // Nothing that was redirected may leave HTTPS.
      if (w.url.startsWith('https:') && !r.url.startsWith('https:'))
        throw failed('cut', 'The server leads away from HTTPS.');
      const newTag = r.headers.get('etag') ?? '';
      const strong = newTag.startsWith('"') ? newTag : '';
      if (r.status === 206) {
        const range = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(r.headers.get('content-range') ?? '');
        const fits = range && Number(range[1]) === at && (range[2] === '*' || Number(range[2]) === w.size);
        if (!fits || (tag && strong && strong !== tag)) {
          await r.body?.cancel();
          forget(w);
          throw failed('cut', 'The server answers another part than was asked for.');
        }
      } else if (r.status === 200) at = 0;
      else {
        await r.body?.cancel();
        if (r.status === 416) forget(w);
        if (r.status === 404 || r.status === 410 || r.status === 403)
          throw failed('not_found', `The server answers ${r.status} for the bundle.`);
        throw failed('cut', `The server answers ${r.status}.`);
      }
      const says = Number(r.headers.get('content-length') ?? Number.NaN);
      if (Number.isFinite(says) && !r.headers.get('content-encoding') && at + says !== w.size) {
        await r.body?.cancel();
        throw failed('wrong_size', `The server has ${at + says} bytes, the index says ${w.size}.`);
      }
      writeFileSync(tagFile(w), strong);
      file = await open(part(w), at === 0 ? 'w' : 'a', 0o600);
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
      if (code === 'ENOSPC' || code === 'EDQUOT') throw full(w, 0);
      throw failed('cut', `The server was lost${code ? ` (${code})` : ''}.`);
    } finally {
      clearTimeout(timer);
      await file?.close().catch(() => {});
    }
  }

  const mib = (n: number) => Math.ceil(n / 1024 / 1024);
  const full = (w: Wanted, there: number) =>
    failed(
      'disk_full',
      `The download needs ${mib(w.size + reserve)} MiB of room, there are ${mib(there)} MiB.`,
    );

  const downloads: Downloads = {
    have: (w) => (sizeOf(done(w)) === w.size ? done(w) : undefined),
    partial: (w) => Math.min(w.size, sizeOf(part(w))),
    async room(w) {
      await mkdir(dir, { recursive: true, mode: 0o700 });
      return (await free()) >= w.size - downloads.partial(w) + reserve;
    },
    async fetch(w, progress, signal) {
      await mkdir(dir, { recursive: true, mode: 0o700 });
      const there = downloads.have(w);
      if (there) return there;
      if (sizeOf(part(w)) > w.size) forget(w);
      if (!(await downloads.room(w))) throw full(w, await free());
      // Parts may be spoilt by a power cut or a server that lied about its tag: once, all is fetched anew.
      let inParts = false;
      let anew = false;
      for (let tries = 0; ; ) {
        const before = sizeOf(part(w));
        inParts ||= before > 0;
        if (before < w.size)
          try {
            await pull(w, progress, signal);
          } catch (e) {
            const reason = (e as IngleError).details?.['reason'];
            if (reason === 'wrong_size') forget(w);
            if (reason !== 'cut') throw e;
            tries = sizeOf(part(w)) > before ? 0 : tries + 1;
            if (tries >= MAX_TRIES) throw e;
            o.log.info('the download is tried again', { tries, bytes: sizeOf(part(w)), cause: e as Error });
            await pause(pauseMs * 2 ** tries, signal);
            continue;
          }
        if (sizeOf(part(w)) < w.size) {
          // The server ended early and called it the end.
          tries = sizeOf(part(w)) > before ? 0 : tries + 1;
          if (tries >= MAX_TRIES) throw failed('wrong_size', 'The server ends before the bundle is whole.');
          await pause(pauseMs * 2 ** tries, signal);
          continue;
        }
        progress(w.size);
        const have = await digest(part(w), signal).catch((e) => {
          throw signal.aborted ? failed('canceled', 'The download was stopped.') : e;
        });
        if (have === w.sha256) break;
        forget(w);
        if (!inParts || anew)
          throw failed('wrong_hash', 'What the server sends is not what the index promised.');
        o.log.warn('what was downloaded in parts has the wrong hash and is fetched anew');
        anew = true;
        inParts = false;
      }
      await rename(part(w), done(w));
      rmSync(tagFile(w), { force: true });
      await syncFolder(dir);
      return done(w);
    },
    async sweep(keep) {
      for (const name of await readdir(dir).catch(() => []))
        if (/\.(raucb|part|etag)$/.test(name) && !(keep && name.startsWith(keep.sha256)))
          await rm(join(dir, name), { force: true });
    },
  };
  return downloads;
}

async function syncFolder(dir: string): Promise<void> {
  const d = await open(dir, 'r');
  await d.sync().finally(() => d.close());
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(failed('canceled', 'The download was stopped.'));
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, ms);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}

/**
 * Fetches an index.
 * @throws IngleError with `details.reason` `no_index`
 */
export async function fetchIndex(url: string, timeoutMs = 20_000): Promise<Uint8Array> {
  try {
    const r = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) });
    if (url.startsWith('https:') && !r.url.startsWith('https:'))
      throw failed('no_index', 'The update server leads away from HTTPS.');
    if (r.status !== 200) {
      await r.body?.cancel();
      throw failed('no_index', `The update server answers ${r.status}.`);
    }
    const parts: Uint8Array[] = [];
    let size = 0;
    for await (const chunk of r.body as unknown as AsyncIterable<Uint8Array>) {
      size += chunk.length;
      if (size > MAX_INDEX) throw failed('bad_index', 'The index is too large.');
      parts.push(chunk);
    }
    return Buffer.concat(parts);
  } catch (e) {
    if (e instanceof IngleError) throw e;
    throw failed('no_index', 'The update server does not answer.');
  }
}
