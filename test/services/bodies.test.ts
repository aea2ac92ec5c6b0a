// How large a body may be: what is read, for whom, and how many at once.
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

test.run();
