// The peer of the bench `api`: Fastify answers the same two requests, with its own schemas on the way in and out.
import { createHash, timingSafeEqual } from 'node:crypto';
import { createRequire } from 'node:module';
import { cpus } from 'node:os';

const [, , folder, port, token, schemas] = process.argv;
const { default: fastify } = await import(createRequire(`${folder}/`).resolve('fastify'));
const { order, status } = JSON.parse(schemas);
const digest = (t) => createHash('sha256').update(t).digest();
const want = digest(token);

const app = fastify({ logger: false, bodyLimit: 64 * 1024 });
app.addHook('onRequest', async (request, reply) => {
  if (timingSafeEqual(digest(request.headers['x-service-token'] ?? ''), want)) return;
  return reply.code(401).send({ error: 'unauthenticated', message: 'This needs the service token.' });
});
const answer = {
  name: 'ingle',
  model: 'generic',
  version: '0.1.0',
  node_version: process.versions.node,
  sqlite_version: '3.50.0',
  link: { connected: true, root: 'http://localhost', hub_id: 'h', subnet_id: 's', browsers: 1, channels: 1 },
  skills: { known: cpus().length, available: 2 },
  developer_mode: false,
  mcp: false,
  requests: 1,
  streams: 0,
  sockets: 0,
};
app.get('/api/status', { schema: { response: { 200: status } } }, async () => ({
  ...answer,
  uptime_s: Math.floor(process.uptime()),
}));
let rows = 0;
app.post('/api/order', { schema: { body: order.body, response: { 200: order.answer } } }, async (request) => {
  rows += request.body.rows.length;
  return { ok: true, rows };
});
await app.listen({ host: '127.0.0.1', port: Number(port) });
