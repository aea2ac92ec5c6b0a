// One small request over HTTP, for services that rest most of their lives: Node's fetch keeps 5 MB once it was used.
import { type IncomingHttpHeaders, request as overHttp } from 'node:http';
import { request as overHttps } from 'node:https';

export interface Told {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

export interface Question {
  method?: 'GET' | 'POST';
  headers?: Record<string, string>;
  body?: string;
  /** Until the whole answer is there. */
  timeoutMs: number;
  /** Bytes of the answer's body. */
  maxBytes: number;
}

/**
 * Asks once, over a connection of its own. A redirect is an answer like any other and is not followed.
 * @throws Error of the network; when the answer is late, or longer than it may be
 */
export function exchange(url: string, o: Question): Promise<Told> {
  return new Promise((resolve, reject) => {
    const to = new URL(url);
    const { method = 'GET', body = '' } = o;
    const length = body ? { 'content-length': String(Buffer.byteLength(body)) } : {};
    const request = (to.protocol === 'https:' ? overHttps : overHttp)(to, {
      method,
      headers: { ...o.headers, ...length },
      agent: false,
    });
    const failed = (e: Error) => {
      clearTimeout(late);
      reject(e);
      request.destroy();
    };
    const late = setTimeout(() => failed(new Error('the answer is late')), o.timeoutMs);
    request.on('error', failed);
    request.on('response', (answer) => {
      const parts: Buffer[] = [];
      let size = 0;
      answer.on('data', (part: Buffer) => {
        size += part.length;
        parts.push(part);
        if (size > o.maxBytes) failed(new RangeError('the answer is too long'));
      });
      // One that breaks off ends in no `end`.
      answer.on('error', failed);
      answer.on('end', () => {
        clearTimeout(late);
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(parts) });
      });
    });
    request.end(body);
  });
}
