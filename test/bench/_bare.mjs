// A peer of the bench `visit`: a bare page that shows one value of a document, and the reference y-websocket server
// beside it on one port. `PUT /value` changes the value.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';

const [, , folder, port, script] = process.argv;
const resolve = createRequire(`${folder}/`).resolve;
const { getYDoc, setupWSConnection } = await import(
  pathToFileURL(`${folder}/node_modules/@y/websocket-server/src/utils.js`)
);
const { default: ws } = await import(pathToFileURL(resolve('ws')));
const code = gzipSync(readFileSync(script));
const page = gzipSync(
  '<!doctype html><html lang="en"><meta charset="utf-8"><title>Bare</title><link rel="icon" href="data:,"><p id="value"></p><script type="module" src="/bare.js"></script>',
);
const zipped = { 'content-encoding': 'gzip' };
const server = createServer((q, r) => {
  if (q.method === 'PUT') {
    let value = '';
    q.on('data', (d) => (value += d)).on('end', () => {
      getYDoc('room').getMap('content').set('value', value);
      r.end();
    });
  } else if (q.url === '/bare.js')
    r.writeHead(200, {
      ...zipped,
      'content-type': 'text/javascript',
      'cache-control': 'public, max-age=31536000, immutable',
    }).end(code);
  else r.writeHead(200, { ...zipped, 'content-type': 'text/html', 'cache-control': 'no-cache' }).end(page);
});
const sockets = new ws.WebSocketServer({ noServer: true });
sockets.on('connection', setupWSConnection);
server.on('upgrade', (q, socket, head) =>
  sockets.handleUpgrade(q, socket, head, (ws) => sockets.emit('connection', ws, q)),
);
server.listen(Number(port), '127.0.0.1');
