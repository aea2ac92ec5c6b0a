// One stream of a tunnel: pieces in and out under credit; and what a message of the tunnel looks like.
import { concat, fromUtf8, utf8 } from '../bytes.ts';
import { IngleError, isErrorCode } from '../errors.ts';
import { parseObject } from '../json.ts';
import { CHUNK, WINDOW } from '../limits.ts';
import { flag, messageKind } from '../wire.ts';

/** What a piece costs of the credit beside its bytes, so that empty pieces are not free either. */
export const PIECE = 64;
/** Largest head, bytes. */
const MAX_HEAD = 32 * 1024;
/** Largest WebSocket message, bytes. */
export const MAX_WS_MESSAGE = 4 * 1024 * 1024;

export const bad = (message: string) => new IngleError('invalid_request', message);

export function u32(value: number): Uint8Array {
  return Uint8Array.of(value >>> 24, value >>> 16, value >>> 8, value);
}
export function readU32(b: Uint8Array, at: number): number {
  return ((b[at]! << 24) | (b[at + 1]! << 16) | (b[at + 2]! << 8) | b[at + 3]!) >>> 0;
}

export function encode(kind: number, id: number, rest: Uint8Array, flags?: number): Uint8Array {
  return concat(
    Uint8Array.of(kind),
    u32(id),
    flags === undefined ? new Uint8Array(0) : Uint8Array.of(flags),
    rest,
  );
}
export const encodeHead = (kind: number, id: number, flags: number, head: object) => {
  const json = utf8(JSON.stringify(head));
  if (json.length > MAX_HEAD)
    throw new IngleError('too_large', `Headers may have at most ${MAX_HEAD} bytes.`);
  return encode(kind, id, json, flags);
};

/** A head from outside: its strings, checked. @throws IngleError `invalid_request`, `too_large` */
export function decodeHead(bytes: Uint8Array): Record<string, unknown> & { headers: Record<string, string> } {
  const head = parseObject(bytes, MAX_HEAD);
  const headers = (head['headers'] ?? {}) as Record<string, unknown>;
  if (typeof headers !== 'object' || Array.isArray(headers)) throw bad('Headers must be an object.');
  for (const [name, value] of Object.entries(headers))
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) || typeof value !== 'string' || /[\r\n\0]/.test(value))
      throw bad('A header is not well formed.');
  return { ...head, headers: headers as Record<string, string> };
}

export function decodeReset(bytes: Uint8Array): IngleError {
  let code: unknown;
  try {
    code = fromUtf8(bytes.subarray(0, 64));
  } catch {}
  return new IngleError(isErrorCode(code) ? code : 'internal', 'The other side ended the request.');
}

interface Piece {
  bytes: Uint8Array;
  flags: number;
}

export interface Stream {
  readonly id: number;
  /** Why it ended; null while it goes on or when it ended in order. */
  readonly error: IngleError | null;
  /** Both directions have ended. */
  readonly done: boolean;
  readonly ended: Promise<void>;
  /** A data message came. @throws IngleError `too_large` beyond the credit, `invalid_request` after the end. */
  push(bytes: Uint8Array, flags: number): void;
  addCredit(bytes: number): void;
  /** The next piece, or null at the end; taking it gives credit for it back. @throws what ended the stream. */
  pull(): Promise<Piece | null>;
  /** Sends bytes in pieces of at most CHUNK as credit allows. @throws what ended the stream. */
  write(bytes: Uint8Array, flags?: number): Promise<void>;
  /** No more will be sent; `said` when the head's flag has told it already. */
  end(said?: boolean): Promise<void>;
  /** Ends both directions at once. */
  fail(error: IngleError): void;
  /** Nothing more will be pulled: what still comes is dropped, with its credit given back. */
  discard(): void;
}

/** @param send one message into the channel. */
export function stream(id: number, send: (message: Uint8Array) => Promise<void>, onDone: () => void): Stream {
  let credit = WINDOW;
  let room = WINDOW;
  let owed = 0;
  let error: IngleError | null = null;
  let inEnded = false;
  let outEnded = false;
  let dropping = false;
  const pieces: Piece[] = [];
  /** Wakes whoever waits for pieces or for credit. */
  let wake: (() => void)[] = [];
  let settle: () => void;
  const ended = new Promise<void>((r) => {
    settle = r;
  });
  const stir = () => {
    const all = wake;
    wake = [];
    for (const f of all) f();
  };
  const pause = () => new Promise<void>((r) => wake.push(r));
  const finished = () => {
    if (!(inEnded && outEnded)) return;
    settle();
    onDone();
  };
  /** Credit goes back in halves of the window, not piece by piece. */
  const giveBack = (cost: number) => {
    owed += cost;
    if (owed < WINDOW / 2 || inEnded || error) return;
    room += owed;
    send(encode(messageKind.credit, id, u32(owed))).catch(() => {});
    owed = 0;
  };
  const s: Stream = {
    id,
    get error() {
      return error;
    },
    get done() {
      return inEnded && outEnded;
    },
    ended,
    push(bytes, flags) {
      if (inEnded) throw bad('Data came after the end of a stream.');
      const cost = bytes.length + PIECE;
      if (bytes.length > CHUNK || cost > room) throw new IngleError('too_large', 'More data than credit.');
      room -= cost;
      if (flags & flag.end) inEnded = true;
      if (dropping) giveBack(cost);
      else if (bytes.length || flags & ~flag.end) pieces.push({ bytes, flags: flags & ~flag.end });
      stir();
      if (inEnded) finished();
    },
    addCredit(bytes) {
      if (credit + bytes > WINDOW) throw bad('More credit than the window.');
      credit += bytes;
      stir();
    },
    async pull() {
      for (;;) {
        if (error) throw error;
        const piece = pieces.shift();
        if (piece) {
          giveBack(piece.bytes.length + PIECE);
          return piece;
        }
        if (inEnded || dropping) return null;
        await pause();
      }
    },
    async write(bytes, flags = 0) {
      let at = 0;
      do {
        const part = bytes.subarray(at, at + CHUNK);
        while (!error && credit < part.length + PIECE) await pause();
        if (error) throw error;
        if (outEnded) throw bad('The stream has ended.');
        at += part.length;
        credit -= part.length + PIECE;
        const more = at < bytes.length ? flag.more : 0;
        await send(encode(messageKind.data, id, part, flags | (flags ? more : 0)));
      } while (at < bytes.length);
    },
    async end(said = false) {
      while (!said && !error && credit < PIECE) await pause();
      if (error) throw error;
      if (outEnded) return;
      outEnded = true;
      credit -= PIECE;
      if (!said) await send(encode(messageKind.data, id, new Uint8Array(0), flag.end));
      finished();
    },
    fail(e) {
      if (error || (inEnded && outEnded)) return;
      error = e;
      pieces.length = 0;
      inEnded = outEnded = true;
      stir();
      finished();
    },
    discard() {
      dropping = true;
      for (const p of pieces.splice(0)) giveBack(p.bytes.length + PIECE);
      stir();
    },
  };
  return s;
}

/** A stream's pieces as a body. Leaving the loop early calls `onLeave`. */
export async function* bodyOf(s: Stream, onLeave: () => void): AsyncGenerator<Uint8Array> {
  let whole = false;
  try {
    for (let p = await s.pull(); p; p = await s.pull()) yield p.bytes;
    whole = true;
  } finally {
    if (!whole) onLeave();
  }
}
