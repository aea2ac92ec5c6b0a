// How large a body may be: what is read, for whom, and how many at once.
import { once } from 'node:events';
import { connect } from 'node:net';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { MAX_BODY } from '../../firmware/protocol/limits.ts';
import { listen, type Server } from '../../services/api/server.ts';
import { until } from '../lab/wait.ts';

const LARGEST = 300_000;
const test = suite<{ server: Server; base: string }>('bodies');
test.before(async (c) => {
  c.server = await listen('127.0.0.1', 0, {
    admit({ path }) {
      if (path === '/forbidden') throw new IngleError('forbidden', 'Not for you.');
      return {
        who: 'somebody',
        maxBody: path === '/large' ? LARGEST : MAX_BODY,
        handle: async (body) => ({ status: 200, body: String(body.length) }),
      };
    },
    upgrade() {
      throw new IngleError('not_found', 'No sockets here.');
    },
  });
  c.base = `http://127.0.0.1:${c.server.port}`;
});
test.after((c) => c.server.close(0));

const post = async (url: string, size: number, isChunked = false) => {
  const bytes = new Uint8Array(size);
  const body = isChunked ? new Blob([bytes]).stream() : bytes;
  const r = await fetch(url, { method: 'POST', body, duplex: 'half' } as RequestInit);
  return [r.status, await r.text()] as const;
};

test('an endpoint takes what it says it takes, with a length or in chunks, and not a byte more', async ({
  base,
}) => {
  for (const isChunked of [false, true]) {
    assert.equal(await post(`${base}/large`, LARGEST, isChunked), [200, String(LARGEST)]);
    assert.equal(await post(`${base}/small`, MAX_BODY, isChunked), [200, String(MAX_BODY)]);
  }
  assert.is((await post(`${base}/large`, LARGEST + 1))[0], 413);
  assert.is((await post(`${base}/small`, MAX_BODY + 1))[0], 413);
});

test('whose body is too large hears so, however long it takes to send it, and goes on with the same connection', async ({
  base,
  server,
}) => {
  for (let i = 0; i < 20; i++) assert.is((await post(`${base}/large`, 4_000_000))[0], 413, `${i}`);
  assert.is((await post(`${base}/large`, 4_000_000, true))[0], 413);
  const answers: string[] = [];
  const one = connect(server.port, '127.0.0.1');
  one.on('error', (e) => answers.push(e.message));
  one.on('data', (d) => {
    for (const [, status] of String(d).matchAll(/HTTP\/1\.1 (\d+)/g)) answers.push(status!);
  });
  const head = (size: number) => `POST /large HTTP/1.1\r\nhost: x\r\ncontent-length: ${size}\r\n\r\n`;
  one.write(head(LARGEST + 50_000));
  await until(() => answers.length === 1, 'the refusal, before the body has come');
  for (let i = 0; i < 35; i++) one.write(new Uint8Array(10_000));
  one.write(`${head(3)}abc`);
  await until(() => answers.length === 2, 'the next answer');
  assert.equal(answers, ['413', '200']);
  one.destroy();
});

test('whose body of unknown length is too large hears so, and goes on with the same connection', async ({
  server,
}) => {
  const chunk = `${(100_000).toString(16)}\r\n${'x'.repeat(100_000)}\r\n`;
  const one = connect(server.port, '127.0.0.1');
  const errors: string[] = [];
  one.on('error', (e) => errors.push(e.message));
  one.write('POST /large HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n');
  for (let i = 0; i < 40; i++) {
    one.write(chunk);
    await until(() => one.writableLength === 0 || errors.length > 0, 'what was sent to be taken');
  }
  one.write('0\r\n\r\nPOST /small HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\n\r\nabc');
  let said = '';
  one.on('data', (d) => {
    said += String(d);
  });
  await until(() => said.endsWith('\r\n\r\n3') || errors.length > 0, 'both answers');
  assert.equal(errors, []);
  assert.equal(
    [...said.matchAll(/HTTP\/1\.1 (\d+)/g)].map((m) => m[1]),
    ['413', '200'],
  );
  one.destroy();
});

test('a body without an end is not read to the end', async ({ server }) => {
  const chunk = Buffer.from(`${(100_000).toString(16)}\r\n${'x'.repeat(100_000)}\r\n`);
  for (const length of [`content-length: ${1e12}`, 'transfer-encoding: chunked']) {
    const one = connect(server.port, '127.0.0.1');
    let [isClosed, said] = [false, ''];
    one.on('close', () => {
      isClosed = true;
    });
    one.on('error', () => {});
    one.on('data', (d) => {
      said += String(d);
    });
    one.write(`POST /large HTTP/1.1\r\nhost: x\r\n${length}\r\n\r\n`);
    await until(() => {
      if (!isClosed && one.writableLength < 1e6) one.write(chunk);
      return isClosed;
    }, `the end of the connection, ${length}`);
    assert.match(said, /^HTTP\/1.1 413/, length);
  }
});

test('what still comes of refused bodies takes no place from others', async ({ base, server }) => {
  const senders = Array.from({ length: 70 }, () => connect(server.port, '127.0.0.1'));
  try {
    await Promise.all(
      senders.map(async (one) => {
        one.write(`POST /large HTTP/1.1\r\nhost: x\r\ncontent-length: ${LARGEST + 1}\r\n\r\nx`);
        const [said] = await once(one, 'data');
        assert.match(String(said), /^HTTP\/1.1 413/);
      }),
    );
    assert.is((await post(`${base}/small`, 1))[0], 200);
  } finally {
    for (const one of senders) one.destroy();
  }
});

test('who may not call sends no large body', async ({ base }) => {
  assert.is((await post(`${base}/forbidden`, MAX_BODY + 1))[0], 403);
});

test('large bodies that come slowly leave room for small ones, and for large ones once they are gone', async ({
  base,
  server,
}) => {
  const head = `POST /large HTTP/1.1\r\nhost: x\r\ncontent-length: ${LARGEST}\r\n\r\n`;
  const slow = Array.from({ length: 4 }, () => connect(server.port, '127.0.0.1'));
  for (const s of slow) s.on('error', () => {}).write(head);
  await until(() => server.counts().requests === 4, 'the slow bodies');
  const full = await post(`${base}/large`, LARGEST);
  assert.is(full[0], 429);
  assert.equal(await post(`${base}/small`, 10), [200, '10']);
  for (const s of slow) s.destroy();
  await until(() => server.counts().requests === 0, 'their end');
  assert.equal(await post(`${base}/large`, LARGEST), [200, String(LARGEST)]);
});

test('what comes of a body is what was sent, kept or read at once, in one piece or in several', async () => {
  const kept: Uint8Array[] = [];
  const mine = await listen('127.0.0.1', 0, {
    admit({ path }) {
      if (path === '/kept')
        return {
          who: 'somebody',
          maxBody: MAX_BODY,
          handle(body) {
            kept.push(body);
            return { status: 200, body: 'kept' };
          },
        };
      const isReadAtOnce = path === '/read';
      const handle = (body: Uint8Array) => ({ status: 200, body: Buffer.from(body).toString() });
      return { who: 'somebody', maxBody: MAX_BODY, isReadAtOnce, handle };
    },
    upgrade() {
      throw new IngleError('not_found', 'No sockets here.');
    },
  });
  const to = (path: string) => `http://127.0.0.1:${mine.port}${path}`;
  const send = (path: string, body: string) =>
    fetch(to(path), { method: 'POST', body }).then((r) => r.text());
  for (const text of ['', 'a', 'b'.repeat(1024)]) {
    assert.is(await send('/read', text), text);
    assert.is(await send('/kept', text), 'kept');
  }
  assert.equal(
    kept.map((b) => Buffer.from(b).toString()),
    ['', 'a', 'b'.repeat(1024)],
  );
  const half = connect(mine.port, '127.0.0.1');
  const said = new Promise<string>((resolve) => half.on('data', (d) => resolve(d.toString())));
  half.write('POST /read HTTP/1.1\r\nhost: x\r\ncontent-length: 8\r\n\r\nabcd');
  await until(() => mine.counts().requests === 1, 'the first half');
  half.write('efgh');
  assert.match(await said, /abcdefgh$/);
  half.destroy();
  await until(() => mine.counts().requests === 0, 'its end');
  await mine.close(0);
});

test('requests that come in one piece are answered in their order, those at once and those later', async () => {
  const mine = await listen('127.0.0.1', 0, {
    admit({ path }) {
      const body = path.slice(1);
      if (body === 'throws') throw new IngleError('forbidden', 'Not for you.');
      return {
        who: 'somebody',
        maxBody: MAX_BODY,
        handle() {
          if (body === 'fails') throw new IngleError('conflict', 'Not now.');
          const r = { status: 200, body };
          return body.startsWith('later') ? new Promise((done) => setTimeout(() => done(r), 20)) : r;
        },
      };
    },
    upgrade() {
      throw new IngleError('not_found', 'No sockets here.');
    },
  });
  const socket = connect(mine.port, '127.0.0.1');
  let all = '';
  socket.on('data', (d) => {
    all += d.toString();
  });
  for (const path of ['now1', 'later2', 'now3', 'throws', 'fails', 'later4']) {
    const before = all.length;
    socket.write(`GET /${path} HTTP/1.1\r\nhost: x\r\n\r\n`);
    await until(() => all.length > before, path);
  }
  assert.equal(
    [...all.matchAll(/HTTP\/1\.1 (\d+)/g)].map((m) => m[1]),
    ['200', '200', '200', '403', '409', '200'],
  );
  for (const text of ['now1', 'later2', 'now3', 'later4']) assert.match(all, `\r\n\r\n${text}`);
  assert.is(mine.counts().requests, 0);
  socket.destroy();
  await mine.close(0);
});

test.run();
