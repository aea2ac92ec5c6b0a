// Fetches a bundle to a file: goes on where it was cut, takes no byte too many, and believes only the hash.
import { createHash } from 'node:crypto';
import { createReadStream, rmSync } from 'node:fs';
import { mkdir, open, readdir, rename, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { IngleError } from '../protocol/errors.ts';
import type { Log } from '../system/log.ts';
import { MAX_INDEX } from './offer.ts';
import { type Files, filesOf, pull, sizeOf, type Wanted } from './pull.ts';
import { failed } from './verdict.ts';

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
/** Tries in a row that bring no byte. */
const MAX_TRIES = 6;

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
  const free =
    o.free ??
    (async () => {
      const s = await statfs(dir);
      return s.bavail * s.bsize;
    });

  const mib = (n: number) => Math.ceil(n / 1024 / 1024);
  const full = (w: Wanted, there: number) =>
    failed(
      'disk_full',
      `The download needs ${mib(w.size + reserve)} MiB of room, there are ${mib(there)} MiB.`,
    );

  /** Fetches the rest of the part, as often as it is cut. @returns whether it came in parts */
  async function complete(files: Files, w: Wanted, progress: (bytes: number) => void, signal: AbortSignal) {
    let inParts = false;
    for (let tries = 0; ; ) {
      const before = sizeOf(files.part);
      inParts ||= before > 0;
      if (before >= w.size) return inParts;
      // A server that ended early called it the end.
      let cut = failed('wrong_size', 'The server ends before the bundle is whole.');
      try {
        await pull(files, w, { stallMs, full: () => full(w, 0) }, progress, signal);
        if (sizeOf(files.part) >= w.size) return inParts;
      } catch (e) {
        const reason = (e as IngleError).details?.['reason'];
        if (reason === 'wrong_size') files.forget();
        if (reason !== 'cut') throw e;
        cut = e as IngleError;
      }
      const bytes = sizeOf(files.part);
      tries = bytes > before ? 0 : tries + 1;
      if (tries >= MAX_TRIES) throw cut;
      o.log.info('the download is tried again', { tries, bytes, cause: cut });
      await pause(pauseMs * 2 ** tries, signal);
    }
  }

  const downloads: Downloads = {
    have(w) {
      const { done } = filesOf(dir, w);
      return sizeOf(done) === w.size ? done : undefined;
    },
    partial: (w) => Math.min(w.size, sizeOf(filesOf(dir, w).part)),
    async room(w) {
      await mkdir(dir, { recursive: true, mode: 0o700 });
      return (await free()) >= w.size - downloads.partial(w) + reserve;
    },
    async fetch(w, progress, signal) {
      await mkdir(dir, { recursive: true, mode: 0o700 });
      const there = downloads.have(w);
      if (there) return there;
      const files = filesOf(dir, w);
      if (sizeOf(files.part) > w.size) files.forget();
      if (!(await downloads.room(w))) throw full(w, await free());
      // Parts may be spoilt by a power cut or a server that lied about its tag: once, all is fetched anew.
      for (let anew = false; ; anew = true) {
        const inParts = await complete(files, w, progress, signal);
        progress(w.size);
        const have = await digest(files.part, signal).catch((e) => {
          throw signal.aborted ? failed('canceled', 'The download was stopped.') : e;
        });
        if (have === w.sha256) break;
        files.forget();
        if (!inParts || anew)
          throw failed('wrong_hash', 'What the server sends is not what the index promised.');
        o.log.warn('what was downloaded in parts has the wrong hash and is fetched anew');
      }
      await rename(files.part, files.done);
      rmSync(files.tag, { force: true });
      await syncFolder(dir);
      return files.done;
    },
    async sweep(keep) {
      for (const name of await readdir(dir).catch(() => []))
        if (/\.(raucb|part|etag)$/.test(name) && !(keep && name.startsWith(keep.sha256)))
          await rm(join(dir, name), { force: true });
    },
  };
  return downloads;
}

async function digest(file: string, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file, { signal })) hash.update(chunk as Buffer);
  return hash.digest('hex');
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
