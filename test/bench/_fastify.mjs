// The peer of the bench `api`: Fastify answers the same two requests, with its own schemas on the way in and out. Its
// hook and handlers are the quickest it has, without promises, and its token is compared as ours is.
import { timingSafeEqual } from 'node:crypto';
import { createRequire } from 'node:module';
import { cpus } from 'node:os';

const [, , folder, port, token, schemas] = process.argv;
const { default: fastify } = await import(createRequire(`${folder}/`).resolve('fastify'));
const { order, status } = JSON.parse(schemas);
const want = Buffer.from(token, 'latin1');
const tried = Buffer.alloc(want.length);

function isRight(given = '') {
  if (given.length !== want.length) return false;
  tried.write(given, 'latin1');
  return timingSafeEqual(tried, want);
}

const app = fastify({ logger: false, bodyLimit: 64 * 1024 });
app.addHook('onRequest', (request, reply, done) => {
  if (isRight(request.headers['x-service-token'])) return done();
  reply.code(401).send({ error: 'unauthenticated', message: 'This needs the service token.' });
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
app.get('/api/status', { schema: { response: { 200: status } } }, (_request, reply) => {
  reply.send({ ...answer, uptime_s: Math.floor(process.uptime()) });
});
let rows = 0;
app.post(
  '/api/order',
  { schema: { body: order.body, response: { 200: order.answer } } },
  (request, reply) => {
    rows += request.body.rows.length;
    reply.send({ ok: true, rows });
  },
);
await app.listen({ host: '127.0.0.1', port: Number(port) });
