// Writes that go into a store's tables together, a while later. Until then a log beside the store has them on the disk:
// one short write for all that comes at once, where SQLite would write a page of a table for each.
import { createHash, randomBytes } from 'node:crypto';
import { close, constants, open, write } from 'node:fs';
import { open as openHandle, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import type { Store } from './store.ts';

export interface Deferred {
  /**
   * Settles when the entry is on the disk; it is in the tables before anything else is asked of the store. One comes after
   * the other.
   */
  add(entry: Uint8Array): Promise<void>;
  /** Puts all into the tables. @throws what keeps it out; it stays in the log */
  settle(): Promise<void>;
  /** What the tables lack, oldest first; undefined where nobody knows, as the log could not be read. */
  lacking(): readonly Buffer[] | undefined;
  /** Puts all into the tables, where they take it, and closes the log. */
  close(): Promise<void>;
}

export interface DeferredOptions {
  store: Pick<Store, 'file' | 'before'>;
  /**
   * Puts entries into the tables, the oldest first; what waits is given by the megabyte.
   * @param again it comes from the log of a process that was killed, or was refused: somebody else has used the tables, and
   *   nothing is to be replaced there
   */
  write(tx: Pick<Store, 'run' | 'all' | 'get'>, entries: readonly Buffer[], again: boolean): Promise<void>;
  /**
   * Whether `write` can read an entry; asked of what another process has left, which may be of another build. What it cannot
   * read is put into a file of its own, so that it keeps out nothing else.
   */
  isKnown(entry: Buffer): boolean;
  /** Told of the file where so many entries were put. */
  setAside?: (file: string, count: number) => void;
  /** The longest that anything waits for the tables, milliseconds. */
  wait?: number;
  /** From how many bytes on a log goes into the tables at once; at four times as many, what comes waits for it. */
  enough?: number;
}

const WAIT_MS = 5000;
const ENOUGH = 4 << 20;
/** So many bytes of entries go into the tables at a time. */
const TOGETHER = 1 << 20;
/** Epoch, length, digest. */
const HEAD = 4 + 4 + 16;

const [opened, written, closed] = [promisify(open), promisify(write), promisify(close)];

/** What has been logged since the tables had it all: an epoch, each in the other one of two files. */
interface Epoch {
  epoch: number;
  /** Kept as bytes: objects that outlive a turn are what a garbage collector works for. */
  entries: Buffer[];
  /** Where its file goes on, bytes. */
  at: number;
  /** Settles when nothing of it is being written. */
  writing: Promise<unknown>;
  /** It is to go into the tables soon. */
  isDue: boolean;
  /** A write failed; what of it may be on the disk nonetheless means nothing any more once the epoch is over. */
  isBroken: boolean;
}
const begin = (epoch: number): Epoch => ({
  ...{ epoch, entries: [], at: 0 },
  ...{ writing: Promise.resolve(), isDue: false, isBroken: false },
});

/** The same entries in groups that hold no more than they have to. */
function together(entries: readonly Buffer[]): Buffer[][] {
  const groups: Buffer[][] = [];
  let size = TOGETHER;
  for (const entry of entries) {
    if (size >= TOGETHER) {
      groups.push([]);
      size = 0;
    }
    groups.at(-1)!.push(entry);
    size += entry.length;
  }
  return groups;
}

/** An entry with its head, as the file has it. The salt is the store's: another one's log means nothing to it. */
function entryOf(salt: Uint8Array, epoch: number, body: Uint8Array): Buffer {
  const entry = Buffer.allocUnsafe(HEAD + body.length);
  entry.writeUInt32LE(epoch, 0);
  entry.writeUInt32LE(body.length, 4);
  digest(salt, entry.subarray(0, 8), body).copy(entry, 8);
  entry.set(body, HEAD);
  return entry;
}
const digest = (...parts: Uint8Array[]): Buffer => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest().subarray(0, 16);
};

/**
 * The bodies of a file's entries, as far as they are of one epoch and whole: what follows is older, or was cut off.
 * @param known the newest epoch of which nothing is asked any more
 */
function entriesOf(salt: Uint8Array, file: Buffer, known: number): { epoch: number; bodies: Buffer[] } {
  const bodies: Buffer[] = [];
  const epoch = file.length >= HEAD ? file.readUInt32LE(0) : 0;
  for (let at = 0; epoch > known && at + HEAD <= file.length; ) {
    const [head, length] = [file.subarray(at, at + 8), file.readUInt32LE(at + 4)];
    const body = file.subarray(at + HEAD, at + HEAD + length);
    if (head.readUInt32LE(0) !== epoch || body.length < length) break;
    if (!digest(salt, head, body).equals(file.subarray(at + 8, at + HEAD))) break;
    bodies.push(body);
    at += HEAD + length;
  }
  return { epoch, bodies };
}

/** Those of the entries that can be written; the others go into the file `aside`. */
async function knownOf(bodies: Buffer[], aside: string, o: DeferredOptions): Promise<Buffer[]> {
  const [known, unknown]: [Buffer[], Buffer[]] = [[], []];
  for (const entry of bodies) (o.isKnown(entry) ? known : unknown).push(entry);
  if (unknown.length > 0) {
    await writeFile(aside, Buffer.concat(unknown), { mode: 0o640, flush: true });
    o.setAside?.(aside, unknown.length);
  }
  return known;
}

/** The two files, open for writing; a write is on the disk when it is over. */
async function openLogs(file: string, salt: Uint8Array) {
  const paths = [`${file}-log0`, `${file}-log1`];
  const flags = constants.O_RDWR | constants.O_CREAT | (constants.O_DSYNC ?? constants.O_SYNC);
  const fds: number[] = [];
  const shut = () => Promise.all(fds.splice(0).map((fd) => closed(fd)));
  try {
    for (const path of paths) fds.push(await opened(path, flags, 0o640));
  } catch (e) {
    await shut();
    throw e;
  }
  const folder = await openHandle(dirname(file));
  await folder.sync();
  await folder.close();
  return {
    /** What was logged after an epoch, oldest first. */
    async after(known: number) {
      const all = await Promise.all(paths.map(async (path) => entriesOf(salt, await readFile(path), known)));
      return all.filter(({ bodies }) => bodies.length > 0).sort((a, b) => a.epoch - b.epoch);
    },
    /** @returns the body, as it was kept */
    async append(to: { epoch: number; at: number }, body: Uint8Array): Promise<Buffer> {
      const entry = entryOf(salt, to.epoch, body);
      for (let done = 0; done < entry.length; ) {
        const { bytesWritten } = await written(
          fds[to.epoch % 2]!,
          entry,
          done,
          entry.length - done,
          to.at + done,
        );
        done += bytesWritten;
      }
      to.at += entry.length;
      return entry.subarray(HEAD);
    },
    close: shut,
  };
}

/**
 * A crash loses nothing that `add` has settled for. An epoch is in the tables by the same transaction that says so. While
 * the tables take nothing (a full disk), what is logged stays, what comes is refused, and what is asked of the store is
 * answered without it.
 */
export function openDeferred(o: DeferredOptions): Deferred {
  const { store, wait = WAIT_MS, enough = ENOUGH } = o;
  let logs: Awaited<ReturnType<typeof openLogs>> | undefined;
  let now: Epoch | undefined;
  /** Being put into the tables. */
  let old: Epoch | undefined;
  /** Why the tables or the log took nothing; until they do, an epoch goes on. */
  let failed: { cause: unknown } | undefined;
  let isAsked = false;
  let timer: NodeJS.Timeout | undefined;

  const later = () => {
    timer ??= setTimeout(() => void ask(), wait).unref();
  };
  const run = store.before(async (transaction) => {
    // What failed is not tried again for each question.
    if (failed && !isAsked) return;
    isAsked = false;
    try {
      now ??= await transaction(recover);
      await empty(transaction, now);
      failed = undefined;
    } catch (cause) {
      failed = { cause };
      later();
    }
  });

  function ask(): Promise<void> {
    isAsked = true;
    return run();
  }

  /** Puts what a killed process left into the tables. */
  async function recover(tx: Pick<Store, 'run' | 'all' | 'get'>): Promise<Epoch> {
    if (!store.file) return begin(1);
    await tx.run('CREATE TABLE IF NOT EXISTS deferred (salt BLOB NOT NULL, epoch INTEGER NOT NULL)');
    let row = await tx.get<{ salt: Buffer; epoch: number }>('SELECT salt, epoch FROM deferred');
    if (!row) {
      row = { salt: randomBytes(16), epoch: 0 };
      await tx.run('INSERT INTO deferred VALUES (?, 0)', row.salt);
    }
    logs ??= await openLogs(store.file, row.salt);
    let last = row.epoch;
    for (const { epoch, bodies } of await logs.after(row.epoch)) {
      const known = await knownOf(bodies, `${store.file}-log-unknown${epoch}`, o);
      for (const some of together(known)) await o.write(tx, some, true);
      last = epoch;
    }
    if (last !== row.epoch) await tx.run('UPDATE deferred SET epoch = ?', last);
    return begin(last + 1);
  }

  async function empty(transaction: Store['transaction'], it: Epoch): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    if (it.entries.length === 0 && !it.isBroken) return;
    // What comes meanwhile goes to the other file, unless that still holds what the tables lack.
    if (!failed && logs) now = begin(it.epoch + 1);
    old = it;
    try {
      await it.writing;
      const put = (again: boolean) =>
        transaction(async (tx) => {
          for (const some of together(it.entries)) await o.write(tx, some, again);
          if (logs) await tx.run('UPDATE deferred SET epoch = ?', it.epoch);
        });
      await put(false).catch(() => put(true));
      if (now === it) now = begin(it.epoch + 1);
    } catch (e) {
      if (now !== it) now!.entries = [...it.entries, ...now!.entries];
      throw e;
    } finally {
      old = undefined;
    }
  }

  async function settle(): Promise<void> {
    await ask();
    if (failed) throw failed.cause;
  }

  async function log(to: NonNullable<typeof logs>, it: Epoch, entry: Uint8Array): Promise<void> {
    const logged = to.append(it, entry).then((kept) => {
      it.entries.push(kept);
    });
    it.writing = logged.catch(() => {
      it.isBroken = true;
    });
    later();
    await logged;
  }

  /** Of a store in memory. */
  async function addNow(it: Epoch, entry: Uint8Array): Promise<void> {
    it.entries.push(Buffer.from(entry));
    try {
      await settle();
    } catch (e) {
      it.entries.pop();
      throw e;
    }
  }

  return {
    settle,
    async add(entry) {
      if (!now || failed || now.isBroken || now.at > 4 * enough) await settle();
      const it = now!;
      if (!logs) return addNow(it, entry);
      await log(logs, it, entry);
      if (it.at > enough && !it.isDue) {
        it.isDue = true;
        void ask();
      }
    },
    lacking: () => now && [...(old && old !== now ? old.entries : []), ...now.entries],
    async close() {
      await ask();
      await logs?.close();
    },
  };
}
