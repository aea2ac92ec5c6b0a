// The peer of the benches `relay` and `idle`: Socket.IO on uWebSockets.js that forwards and checks nothing.

import { App } from 'uWebSockets.js';
import { Server, type Socket } from 'socket.io';

const app = App();
const io = new Server({ serveClient: false, transports: ['websocket'], maxHttpBufferSize: 128 * 1024 });
io.attachApp(app);
const owners = new Map<string, { socket: Socket; hub: string }>();
const hubs = new Map<string, Socket>();

io.of('/hub').on('connection', (socket) => {
  hubs.set(socket.handshake.auth['hub_id'], socket);
  socket.on('relay.to_browser', (m) => owners.get(m.sid)?.socket.emit('relay.to_browser', m));
});
io.of('/owner').on('connection', (socket) => {
  const { sid, hub_id } = socket.handshake.auth as { sid: string; hub_id: string };
  owners.set(sid, { socket, hub: hub_id });
  socket.on('relay.to_hub', (m) => hubs.get(owners.get(m.sid)!.hub)?.emit('relay.to_hub', m));
});
app.get('/health/ready', (res) => {
  res.end('{"ok":true}');
});
app.listen('127.0.0.1', Number(process.env['PORT']), (s) => {
  if (!s) process.exit(1);
});
