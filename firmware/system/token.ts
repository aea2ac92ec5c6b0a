// The local API's service token: made once, rotated by hand, compared in constant time.
import { randomBytes, timingSafeEqual } from 'node:crypto';
import {
  chownSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';

const form = /^[A-Za-z0-9_-]{43}$/;

function draft(file: string): string {
  mkdirSync(dirname(file), { recursive: true, mode: 0o750 });
  const name = `${file}.${process.pid}.${randomBytes(4).toString('hex')}`;
  writeFileSync(name, randomBytes(32).toString('base64url') + '\n', { mode: 0o640, flag: 'wx', flush: true });
  return name;
}

/** The token of `file`. @throws the file system's error, or an Error when the file holds no token. */
export function readToken(file: string): string {
  const token = readFileSync(file, 'utf8').trim();
  if (!form.test(token)) throw new Error(`${file} holds no token; run: ingle api token rotate`);
  return token;
}

/** The token of `file`, which is made (0640) when it is not there. Of several that start at once, one makes it. */
export function ensureToken(file: string): string {
  try {
    return readToken(file);
  } catch (e) {
    if ((e as NodeJS.ErrnoException).code !== 'ENOENT') throw e;
  }
  const name = draft(file);
  try {
    linkSync(name, file);
  } catch (e) {
    if ((e as NodeJS.ErrnoException).code !== 'EEXIST') throw e;
  } finally {
    rmSync(name, { force: true });
  }
  return readToken(file);
}

/** Replaces the token at once and for all; who could read the old one can read the new one, and the old one is refused within a second. */
export function rotateToken(file: string): string {
  const was = statSync(file);
  const name = draft(file);
  chownSync(name, was.uid, was.gid);
  renameSync(name, file);
  return readToken(file);
}

export interface TokenCheck {
  /** Compares in time that depends on nothing of the token. */
  matches(given: string): boolean;
  /** Reads the file again now (SIGHUP). */
  reload(): void;
}

/** Checks against the token of `file`, following a rotation within a second. */
export function tokenCheck(file: string): TokenCheck {
  // A token's length is no secret; of one that has another only a part could be compared.
  const bytes = (t: string) => Buffer.from(t, 'latin1');
  const stamp = () => {
    const s = statSync(file, { throwIfNoEntry: false });
    return s ? `${s.ino} ${s.mtimeMs}` : '';
  };
  let want = bytes(ensureToken(file));
  /** What is compared now: memory of its own for each would cost more than to compare it. */
  let tried = Buffer.alloc(want.length);
  let seen = stamp();
  let looked = Date.now();
  function reload(): void {
    const now = stamp();
    want = bytes(readToken(file));
    tried = Buffer.alloc(want.length);
    seen = now;
  }
  return {
    reload,
    matches(given) {
      if (Math.abs(Date.now() - looked) >= 1000) {
        looked = Date.now();
        // A file that is away or half written changes nothing: the token in use stays.
        if (stamp() !== seen)
          try {
            reload();
          } catch {}
      }
      if (given.length !== want.length) return false;
      tried.write(given, 'latin1');
      return timingSafeEqual(tried, want);
    },
  };
}
