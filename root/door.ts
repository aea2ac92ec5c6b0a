// Who may open a socket: looked at before there is one, by address and cookie.
import type { HttpRequest, HttpResponse } from 'uWebSockets.js';
import type { openAway, openCrowd } from './crowd.ts';
import { clientKey, type Limit } from './limit.ts';

export interface DoorOptions {
  /** Counts connections by address. */
  limit: Limit;
  ipOf(header: (name: string) => string, peer: string): string;
  cookieOf(header: string): string;
}

export function openDoor(
  o: DoorOptions,
  crowd: Pick<ReturnType<typeof openCrowd>, 'isFull'>,
  away: Pick<ReturnType<typeof openAway>, 'seconds'>,
): { lets(res: HttpResponse, req: HttpRequest): boolean; refused(): number } {
  let refused = 0;
  /** Seconds until a client may connect; 0 = now. */
  function waits(ip: string, key: string, cookie: string): number {
    const seconds = away.seconds(cookie);
    if (seconds > 0) return seconds;
    if (crowd.isFull(key)) return 5;
    try {
      o.limit.take(ip);
      return 0;
    } catch {
      return 10;
    }
  }
  function lets(res: HttpResponse, req: HttpRequest): boolean {
    // A transport that takes another's place (Engine.IO's upgrade from polling) would come past all counts.
    if (new URLSearchParams(req.getQuery() ?? '').has('sid')) {
      res.writeStatus('400 Bad Request').end('', true);
      return false;
    }
    const header = (name: string) => req.getHeader(name);
    const ip = o.ipOf(header, Buffer.from(res.getRemoteAddressAsText()).toString());
    const key = clientKey(ip);
    const seconds = waits(ip, key, o.cookieOf(header('cookie')));
    if (seconds > 0) {
      res.writeStatus('429 Too Many Requests').writeHeader('retry-after', String(seconds));
      res.end('', true);
      return false;
    }
    Object.assign(req, { key });
    return true;
  }
  return {
    /** Whether a request for a socket may pass; it is answered when not. Notes the client's key on it. */
    lets(res, req) {
      const isIn = lets(res, req);
      if (!isIn) refused++;
      return isIn;
    },
    /** How many were not. */
    refused: () => refused,
  };
}
