// One WebSocket of the tunnel becomes one WebSocket to the local API.
import { WebSocket } from 'ws';
import { fromBody, IngleError } from '../protocol/errors.ts';
import { openQueue } from '../protocol/queue.ts';
import type { TunnelSocket } from '../protocol/tunnel/tunnel.ts';
import type { RequestHead } from '../protocol/wire.ts';
import { checkHead, type LocalApi } from './forward.ts';
import { type Principal, requestHeaders } from './headers.ts';

/** Largest message the local API may send, bytes. */
const MAX_MESSAGE = 16 * 1024 * 1024;

/**
 * Joins a tunnel's socket to `head.path` of the local API; settles when that accepted.
 * @throws IngleError what the API refused with; `unavailable` when it is away.
 */
export async function forwardSocket(
  api: LocalApi,
  head: RequestHead,
  socket: TunnelSocket,
  principal: Principal,
): Promise<void> {
  checkHead({ ...head, method: 'GET' });
  let local = await dial(api, head, principal);
  if ('refused' in local && local.refused === 401 && api.token.stale())
    local = await dial(api, head, principal);
  if ('refused' in local) throw local.error;
  join(local, socket);
}

/** `refused` is the HTTP status, 0 when there was none. */
interface Refusal {
  refused: number;
  error: IngleError;
}

function dial(api: LocalApi, head: RequestHead, principal: Principal): Promise<WebSocket | Refusal> {
  return new Promise((resolve) => {
    const host = api.host.includes(':') ? `[${api.host}]` : api.host;
    const ws = new WebSocket(`ws://${host}:${api.port}${head.path}`, {
      headers: requestHeaders(head.headers, principal, api.token.get()),
      handshakeTimeout: api.headTimeout ?? 30_000,
      maxPayload: MAX_MESSAGE,
      perMessageDeflate: false,
      followRedirects: false,
    });
    // Nothing may be read before the tunnel's side is listening.
    ws.once('open', () => {
      ws.pause();
      resolve(ws);
    });
    ws.once('unexpected-response', (_request, answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (d: string) => {
        if (text.length < 65_536) text += d;
      });
      answer.on('end', () => {
        let body: unknown;
        try {
          body = JSON.parse(text);
        } catch {}
        ws.terminate();
        const refused = answer.statusCode ?? 502;
        resolve({ refused, error: fromBody(body, refused) });
      });
    });
    ws.on('error', () =>
      resolve({
        refused: 0,
        error: new IngleError('unavailable', 'The hub is just starting this part. Trying again helps.'),
      }),
    );
  });
}

function join(local: WebSocket, socket: TunnelSocket): void {
  socket.onmessage = (data) =>
    new Promise<void>((resolve) => {
      if (local.readyState === WebSocket.OPEN) local.send(data, () => resolve());
      else resolve();
    });
  socket.onclose = () => local.close();
  // One message at a time towards the browser: its credit holds the local API's TCP connection back.
  const towards = openQueue();
  local.on('message', (data, binary) => {
    const message = binary ? new Uint8Array(data as Buffer) : data.toString();
    local.pause();
    towards
      .add(() => socket.send(message))
      .catch(() => local.terminate())
      .then(() => {
        if (towards.size === 0 && local.readyState === WebSocket.OPEN) local.resume();
      });
  });
  local.on('close', () => void towards.idle().then(() => socket.close()));
  setImmediate(() => local.resume());
}
