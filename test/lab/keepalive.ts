// A client of HTTP/1.1 that costs next to nothing: one request at a time on a connection that stays, bytes in, bytes out.
import { connect, type Socket } from 'node:net';

export interface Asking {
  method: string;
  /** With its query, as it is sent. */
  path: string;
  headers: Readonly<Record<string, string>>;
  body?: string | Uint8Array;
}

export interface Heard {
  status: number;
  /** In lower case. */
  headers: Readonly<Record<string, string>>;
  /** Of an answer without a length only JSON is read; other streams are left at the end of their head. */
  text: string;
}

/** An answer that does not come in this time will not come, milliseconds. */
const HANG_MS = 60_000;

function headOf(text: string): Omit<Heard, 'text'> {
  const [first = '', ...lines] = text.split('\r\n');
  const headers = lines.map((line): [string, string] => {
    const at = line.indexOf(':');
    return [line.slice(0, at).toLowerCase(), line.slice(at + 1).trim()];
  });
  return { status: Number(first.slice(9, 12)), headers: Object.fromEntries(headers) };
}

/** The body that came in chunks (RFC 9112, section 7.1), without trailers, or nothing while its last is not there. */
function unchunked(bytes: Buffer): Buffer | undefined {
  const parts: Buffer[] = [];
  for (let at = 0; ; ) {
    const line = bytes.indexOf('\r\n', at);
    if (line < 0) return undefined;
    const size = Number.parseInt(bytes.toString('latin1', at, line), 16);
    at = line + 2;
    if (!(bytes.length >= at + size + 2)) return undefined;
    if (size === 0) return Buffer.concat(parts);
    parts.push(bytes.subarray(at, at + size));
    at += size + 2;
  }
}

/** The whole answer in `bytes`, or nothing yet; `isHead` says that it has no body. */
function answerIn(bytes: Buffer, isHead: boolean): Heard | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const head = headOf(bytes.toString('latin1', 0, end));
  if (
    !isHead &&
    head.headers['transfer-encoding'] &&
    head.headers['content-type']?.startsWith('application/json')
  ) {
    const body = unchunked(bytes.subarray(end + 4));
    return body && { ...head, text: body.toString('utf8') };
  }
  const size = isHead ? 0 : Number(head.headers['content-length'] ?? 0);
  if (bytes.length < end + 4 + size) return undefined;
  return { ...head, text: bytes.toString('utf8', end + 4, end + 4 + size) };
}

function requestOf({ method, path, headers, body }: Asking): Buffer {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const size = body === undefined ? '' : `content-length: ${Buffer.byteLength(body)}\r\n`;
  const head = Buffer.from(`${method} ${path} HTTP/1.1\r\nhost: localhost\r\n${size}${lines.join('')}\r\n`);
  return body === undefined ? head : Buffer.concat([head, Buffer.from(body as string)]);
}

/** One connection, made anew where the server ended it. A stream is left once its head is there. */
export function keepAlive(port: number): { ask(a: Asking): Promise<Heard>; close(): void } {
  let socket: Socket | undefined;
  const open = (): Socket => connect(port, '127.0.0.1').setNoDelay(true);
  return {
    ask(a) {
      const s = socket && !socket.destroyed && socket.writable ? socket : open();
      socket = s;
      return new Promise((resolve, reject) => {
        let bytes: Buffer = Buffer.alloc(0);
        const done = (settle: () => void) => {
          s.removeAllListeners().on('error', () => {});
          s.setTimeout(0);
          settle();
        };
        const fail = (why: string) => {
          done(() => reject(new Error(`${a.method} ${a.path.slice(0, 200)}: ${why}`)));
          s.destroy();
        };
        s.setTimeout(HANG_MS, () => fail('no answer'));
        s.on('error', (e) => fail(e.message));
        s.on('close', () => fail('the connection ended without an answer'));
        s.on('data', (chunk: Buffer) => {
          bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk]);
          const heard = answerIn(bytes, a.method === 'HEAD');
          if (!heard) return;
          // 304 has neither body nor length (RFC 9110, section 15.4.5).
          const isStream = !('content-length' in heard.headers) && heard.status !== 304;
          const isOver = heard.headers['connection'] === 'close' || isStream;
          done(() => resolve(heard));
          if (isOver) s.destroy();
        });
        s.write(requestOf(a));
      });
    },
    close: () => socket?.destroy(),
  };
}
