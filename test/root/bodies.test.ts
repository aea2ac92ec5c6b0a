// Requests that root answers before their bodies have come: who sends hears the answer, and is not listened to for ever.
import { connect } from 'node:net';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { type RootProcess, startRoot, until } from './kit.ts';

const test = suite<{ root: RootProcess }>('bodies at root');
test.before(async (c) => {
  c.root = await startRoot();
});
test.after((c) => c.root?.stop());

/** A connection, what it heard, and how it ended. */
function line({ port }: RootProcess) {
  const socket = connect(port, '127.0.0.1');
  const heard = { said: '', errors: [] as string[], isClosed: false };
  socket.on('data', (d) => {
    heard.said += String(d);
  });
  socket.on('error', (e) => heard.errors.push(e.message));
  socket.on('close', () => {
    heard.isClosed = true;
  });
  return {
    socket,
    heard,
    statuses: () => [...heard.said.matchAll(/HTTP\/1\.1 (\d+)/g)].map((m) => m[1]),
  };
}
const post = (length: string, path = '/v1/hub/renew') =>
  `POST ${path} HTTP/1.1\r\nhost: x\r\n${length}\r\n\r\n`;
/** Is answered without its body. */
const early = post('content-length: 20000', '/v1/nothing');
const live = 'GET /health/live HTTP/1.1\r\nhost: x\r\n\r\n';
const chunk = `${(10_000).toString(16)}\r\n${'x'.repeat(10_000)}\r\n`;

test('who is refused before the body has come hears so, and goes on with the same connection', async ({
  root,
}) => {
  const { socket, heard, statuses } = line(root);
  socket.write(early);
  await until(() => statuses().length === 1, 'the refusal');
  socket.write('x'.repeat(20_000) + live);
  await until(() => statuses().length === 2 || heard.isClosed, 'the next answer');
  assert.equal([statuses(), heard.errors], [['404', '200'], []]);
  socket.destroy();
});

test('whose body is too large hears so, although it was still sending', async ({ root }) => {
  const { socket, heard, statuses } = line(root);
  socket.pause();
  socket.write(post('transfer-encoding: chunked'));
  for (let i = 0; i < 20; i++) {
    socket.write(chunk);
    await until(() => socket.writableLength === 0 || heard.isClosed, 'what was sent to be taken');
  }
  socket.write(`0\r\n\r\n${live}`);
  socket.resume();
  await until(() => statuses().length === 2 || heard.isClosed, 'both answers');
  assert.equal([statuses(), heard.errors], [['413', '200'], []]);
  socket.destroy();
});

test('a body without an end is not read to the end, nor waited for', async ({ root }) => {
  for (const length of ['transfer-encoding: chunked', `content-length: ${1e12}`]) {
    const { socket, heard, statuses } = line(root);
    socket.write(post(length));
    await until(() => {
      if (!heard.isClosed && socket.writableLength < 1e6) socket.write(chunk);
      return heard.isClosed;
    }, `the end of the connection, ${length}`);
    assert.equal(statuses(), ['413'], length);
  }
  const silent = line(root);
  silent.socket.write(early);
  await until(() => silent.heard.isClosed, 'the end of one that sends nothing', 30);
  assert.equal(silent.statuses(), ['404']);
});

test.run();
