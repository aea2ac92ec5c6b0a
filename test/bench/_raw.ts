// The limit of the bench `relay`: uWebSockets.js by itself hands two messages on to whom the first one names. It says as
// much of Engine.IO and Socket.IO as its clients wait for, and looks at nothing else.
import { App, type WebSocket } from 'uWebSockets.js';

interface Data {
  /** A browser's hub; undefined for a hub. */
  hub: string | undefined;
  /** To whom the next binary message goes. */
  to: WebSocket<Data> | undefined;
}
const owners = new Map<string, WebSocket<Data>>();
const hubs = new Map<string, WebSocket<Data>>();
const CONNECT = '40';
const SID = '"sid":"';

/** Lets somebody in: `40/hub,{"hub_id":...}` or `40/owner,{"sid":...,"hub_id":...}`. */
function connect(ws: WebSocket<Data>, text: string): void {
  const comma = text.indexOf(',');
  const auth = JSON.parse(text.slice(comma + 1)) as { sid?: string; hub_id: string };
  if (auth.sid === undefined) hubs.set(auth.hub_id, ws);
  else {
    ws.getUserData().hub = auth.hub_id;
    owners.set(auth.sid, ws);
  }
  ws.send(`${text.slice(0, comma)},{"sid":"x"}`);
}

const app = App();
app.ws<Data>('/socket.io/', {
  maxPayloadLength: 128 * 1024,
  upgrade(res, req, context) {
    const header = (name: string) => req.getHeader(`sec-websocket-${name}`);
    const data: Data = { hub: undefined, to: undefined };
    res.upgrade(data, header('key'), header('protocol'), header('extensions'), context);
  },
  open: (ws) => void ws.send('0{"sid":"x","upgrades":[],"pingInterval":600000,"pingTimeout":600000}'),
  message(ws, message, isBinary) {
    const data = ws.getUserData();
    if (isBinary) {
      data.to?.send(message, true);
      return;
    }
    const text = Buffer.from(message).toString('latin1');
    if (text.startsWith(CONNECT)) {
      connect(ws, text);
      return;
    }
    if (data.hub !== undefined) data.to = hubs.get(data.hub);
    else {
      const at = text.indexOf(SID) + SID.length;
      data.to = owners.get(text.slice(at, text.indexOf('"', at)));
    }
    data.to?.send(message, false);
  },
});
app.get('/health/ready', (res) => {
  res.end('{"ok":true}');
});
app.listen('127.0.0.1', Number(process.env['PORT']), (s) => {
  if (!s) process.exit(1);
});
