// What a visit of a signed-in browser is certain to need, asked for by the first script of the page, while the
// application itself is still on its way: its parts, and the socket to root. Bundled by itself; it imports types alone.
import type { Session } from './sid.ts';

/** Addresses of the scripts of a desktop, but the application's own. */
declare const INGLE_DESKTOP: string[];

/** A WebSocket that waits for Socket.IO to take it up (route.ts). */
export interface Early {
  ws: WebSocket;
  /** Whose it is: the route of another session opens its own. */
  session_jwt: string;
  /** What has come over it meanwhile. */
  got: MessageEvent[];
}

/** Until it is given back, milliseconds: this tab may turn out not to be the one. */
const UNUSED = 10_000;

const early = (): Early | undefined => {
  // A link may change whose session it is.
  if (location.hash) return undefined;
  const s = JSON.parse(sessionStorage.getItem('ingle.session') ?? 'null') as Session | null;
  if (!s?.session_jwt) return undefined;
  const root = document.querySelector<HTMLMetaElement>('[name=ingle-root]')?.content || location.origin;
  const ws = new WebSocket(`${root.replace('http', 'ws')}/socket.io/?at=&EIO=4&transport=websocket`);
  ws.binaryType = 'arraybuffer';
  const got: MessageEvent[] = [];
  ws.onmessage = (e) => got.push(e);
  const it: Early = { ws, session_jwt: s.session_jwt, got };
  for (const href of INGLE_DESKTOP)
    document.head.append(Object.assign(document.createElement('link'), { rel: 'modulepreload', href }));
  setTimeout(() => {
    if (globalThis.ingleEarly === it) ws.close();
  }, UNUSED);
  return it;
};

declare global {
  var ingleEarly: Early | undefined;
}

try {
  globalThis.ingleEarly = early();
} catch {
  // The application asks for all of it by itself.
}
