// A tap on a TCP line: forwards, and keeps what passed as root reads it: HTTP bodies unpacked, WebSocket frames unmasked.
import { connect, createServer, type Server } from 'node:net';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';

export interface Tap {
  /** All that passed until now, one line a message; bytes as latin1. What `isPublic` knows is left out. */
  heard(isPublic?: (body: Buffer) => boolean): string;
  close(): void;
}

/** Listens on `port` and forwards to `to`, both on loopback. */
export async function tap(port: number, to: number): Promise<Tap> {
  const lines: Buffer[][] = [];
  const server: Server = createServer((from) => {
    const there = connect(to, '127.0.0.1');
    for (const [a, b] of [
      [from, there],
      [there, from],
    ] as const) {
      const kept: Buffer[] = [];
      lines.push(kept);
      a.on('data', (d: Buffer) => {
        kept.push(Buffer.from(d));
        b.write(d);
      });
      a.on('close', () => b.destroy());
      a.on('error', () => b.destroy());
    }
  });
  await new Promise<void>((ok) => server.listen(port, '127.0.0.1', ok));
  return {
    heard: (isPublic = () => false) => lines.flatMap((l) => messages(Buffer.concat(l), isPublic)).join('\n'),
    close: () => void server.close(),
  };
}

/** Heads and bodies of one direction of a connection (RFC 9112), then frames once it is a WebSocket. */
function messages(all: Buffer, isPublic: (body: Buffer) => boolean): string[] {
  const out: string[] = [];
  for (let at = 0; at < all.length; ) {
    const end = all.indexOf('\r\n\r\n', at);
    if (end < 0) return [...out, all.toString('latin1', at)];
    const head = all.toString('latin1', at, end);
    out.push(head);
    if (/^upgrade: websocket/im.test(head)) return [...out, ...frames(all.subarray(end + 4))];
    // An answer without a body still tells its length (RFC 9110 section 15.4.5).
    const size = /^HTTP\/1\.1 304/.test(head) ? 0 : Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0);
    const body = all.subarray(end + 4, end + 4 + size);
    const coding = /^content-encoding: (\w+)/im.exec(head)?.[1];
    const plain =
      body.length < size || !coding ? body : coding === 'br' ? brotliDecompressSync(body) : gunzipSync(body);
    if (!isPublic(plain)) out.push(plain.toString('latin1'));
    at = end + 4 + size;
  }
  return out;
}

/** Payloads of WebSocket frames, unmasked (RFC 6455 section 5.2). */
function frames(all: Buffer): string[] {
  const out: string[] = [];
  for (let at = 0; at + 2 <= all.length; ) {
    let size = all[at + 1]! & 127;
    const masked = (all[at + 1]! & 128) !== 0;
    at += 2;
    if (size === 126) {
      size = all.readUInt16BE(at);
      at += 2;
    } else if (size === 127) {
      size = Number(all.readBigUInt64BE(at));
      at += 8;
    }
    const mask = masked ? all.subarray(at, at + 4) : undefined;
    at += masked ? 4 : 0;
    const payload = Buffer.from(all.subarray(at, at + size));
    if (mask) for (let i = 0; i < payload.length; i++) payload[i]! ^= mask[i % 4]!;
    out.push(payload.toString('latin1'));
    at += size;
  }
  return out;
}
