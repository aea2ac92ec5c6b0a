// A Socket.IO connection reduced to bytes on a TCP socket, so that the load generator is never the slow side.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface Line {
  tcp: Socket;
  /** Called with each message; `payload` is valid during the call only. */
  onMessage: (binary: boolean, payload: Buffer) => void;
  text(message: string): void;
}

/** A client's WebSocket message (RFC 6455, section 5.2). The mask is zero, which leaves the payload as it is. */
export function message(binary: boolean, payload: Uint8Array): Buffer {
  const n = payload.length;
  const head =
    n < 126
      ? [0x80 | n, 0, 0, 0, 0]
      : n < 65_536
        ? [0x80 | 126, n >> 8, n & 255, 0, 0, 0, 0]
        : [0x80 | 127, 0, 0, 0, 0, n >>> 24, (n >> 16) & 255, (n >> 8) & 255, n & 255, 0, 0, 0, 0];
  return Buffer.concat([Buffer.from([binary ? 0x82 : 0x81, ...head]), payload]);
}

/**
 * Connects to a namespace, or to none (''); settles once the server has let us in.
 * @param hear is told of messages until `onMessage` is set: the first may come with the word that lets us in
 */
export async function openLine(
  port: number,
  namespace: string,
  auth: object,
  headers: Record<string, string> = {},
  hear: (line: Line, payload: Buffer) => void = () => {},
): Promise<Line> {
  const tcp = connect(port, '127.0.0.1');
  tcp.setNoDelay(true);
  await once(tcp, 'connect');
  const extra = Object.entries(headers).map(([k, v]) => `${k}: ${v}\r\n`);
  tcp.write(
    `GET /socket.io/?EIO=4&transport=websocket HTTP/1.1\r\nHost: localhost:${port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n${extra.join('')}Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
  );
  const line: Line = {
    tcp,
    onMessage: (_, payload) => hear(line, payload),
    text: (t) => tcp.write(message(false, Buffer.from(t))),
  };
  let rest: Buffer = Buffer.alloc(0);
  let upgraded = false;
  let inside = false;
  return new Promise((resolve, refused) => {
    // Who is not let in would otherwise keep the connection until the server's patience ends.
    const reject = (why: Error) => {
      refused(why);
      if (!inside) tcp.destroy();
    };
    tcp.on('error', reject);
    tcp.on('close', () => reject(new Error('the server closed the connection')));
    tcp.on('data', (chunk: Buffer) => {
      let b = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      if (!upgraded) {
        const end = b.indexOf('\r\n\r\n');
        if (end < 0) {
          rest = b;
          return;
        }
        if (!b.toString('latin1', 0, 12).endsWith('101')) reject(new Error(b.toString('latin1', 0, 300)));
        upgraded = true;
        b = b.subarray(end + 4);
      }
      let at = 0;
      while (b.length - at >= 2) {
        let n = b[at + 1]!;
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
        const binary = (b[at]! & 15) === 2;
        const payload = b.subarray(at + head, at + head + n);
        at += head + n;
        if (!binary && payload[0] === 0x30 && namespace === '') {
          inside = true;
          resolve(line);
        } else if (!binary && payload[0] === 0x30) line.text(`40${namespace},${JSON.stringify(auth)}`);
        else if (!binary && payload[0] === 0x32) line.text('3');
        else if (!binary && payload[0] === 0x34 && payload[1] === 0x30) {
          inside = true;
          resolve(line);
        } else if (!binary && payload[0] === 0x34 && payload[1] === 0x34 && !inside)
          reject(new Error(payload.toString()));
        else line.onMessage(binary, payload);
      }
      rest = at === b.length ? Buffer.alloc(0) : Buffer.from(b.subarray(at));
    });
  });
}
