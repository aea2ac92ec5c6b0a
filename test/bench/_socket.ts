// A WebSocket client reduced to bytes on a TCP socket, so that the load generator is never the slow side.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { message } from './_line.ts';

export interface Wire {
  tcp: Socket;
  /** Called with each message; it is valid during the call only. */
  onMessage: (payload: Buffer) => void;
  /** Ready to be given to `send`. */
  frame(payload: Uint8Array): Buffer;
  /** What is sent while one message is heard is written at once. */
  send(frame: Buffer): void;
}

/** Read by one socket at a time, each within its own turn. */
const chunk = Buffer.alloc(1 << 16);

/** Settles once the server has taken the handshake. @throws Error when it does not */
export async function openWire(
  port: number,
  path: string,
  headers: Record<string, string> = {},
): Promise<Wire> {
  let hear: (b: Buffer) => void = () => {};
  const tcp = connect({
    ...{ port, host: '127.0.0.1', noDelay: true },
    // Without a stream's buffers: a read is what most of this process' time goes into.
    onread: {
      buffer: chunk,
      callback(n) {
        hear(chunk.subarray(0, n));
        return true;
      },
    },
  });
  await once(tcp, 'connect');
  const extra = Object.entries(headers).map(([k, v]) => `${k}: ${v}\r\n`);
  tcp.write(
    `GET ${path} HTTP/1.1\r\nHost: localhost:${port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n${extra.join('')}Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
  );
  let unsent: Buffer[] = [];
  const flush = () => {
    tcp.write(unsent.length === 1 ? unsent[0]! : Buffer.concat(unsent));
    unsent = [];
  };
  const wire: Wire = {
    ...{ tcp, onMessage: () => {}, frame: (payload) => message(true, payload) },
    send(frame) {
      if (unsent.push(frame) === 1) process.nextTick(flush);
    },
  };
  let rest: Buffer = Buffer.alloc(0);
  let isUp = false;
  return new Promise((resolve, reject) => {
    tcp.on('error', reject);
    tcp.on('close', () => reject(new Error('the server closed the connection')));
    hear = (more) => {
      let b = rest.length === 0 ? more : Buffer.concat([rest, more]);
      if (!isUp) {
        const end = b.indexOf('\r\n\r\n');
        if (end < 0) {
          rest = Buffer.from(b);
          return;
        }
        if (!b.toString('latin1', 0, 12).endsWith('101')) reject(new Error(b.toString('latin1', 0, 300)));
        isUp = true;
        b = b.subarray(end + 4);
        resolve(wire);
      }
      let at = 0;
      while (b.length - at >= 2) {
        let n = b[at + 1]! & 127;
        let head = 2;
        if (n === 126) {
          if (b.length - at < 4) break;
          n = b.readUInt16BE(at + 2);
          head = 4;
        } else if (n === 127) {
          if (b.length - at < 10) break;
          n = b.readUInt32BE(at + 6);
          head = 10;
        }
        if (b.length - at < head + n) break;
        const kind = b[at]! & 15;
        const payload = b.subarray(at + head, at + head + n);
        at += head + n;
        if (kind === 2) wire.onMessage(payload);
        // A pong (RFC 6455, section 5.5.3), with a mask of zero.
        else if (kind === 9) tcp.write(Buffer.concat([Buffer.from([0x8a, 0x80 | n, 0, 0, 0, 0]), payload]));
        else if (kind === 8)
          throw new Error(`The server closed: ${payload.readUInt16BE(0)} ${payload.toString('utf8', 2)}`);
      }
      rest = at === b.length ? Buffer.alloc(0) : Buffer.from(b.subarray(at));
    };
  });
}
