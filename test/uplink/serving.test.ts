// Whether the local API answers, as the hub looks at it for browsers.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { apiServing } from '../../firmware/uplink/serving.ts';

const test = suite('serving');

test('an API that answers, one that stands still, one that is gone; asked once a second for all', async () => {
  let asked = 0;
  let frozen = false;
  const api = createServer((q, s) => {
    asked++;
    assert.is(q.url, '/health/live');
    if (!frozen) s.end('{}');
  });
  api.listen(0, '127.0.0.1');
  await once(api, 'listening');
  const serving = apiServing({ host: '127.0.0.1', port: (api.address() as AddressInfo).port });
  assert.equal(await Promise.all(Array.from({ length: 50 }, serving)), Array(50).fill(true));
  assert.is(asked, 1);
  frozen = true;
  await new Promise((done) => setTimeout(done, 1010));
  const began = performance.now();
  assert.is(await serving(), false);
  assert.ok(performance.now() - began < 1500);
  api.closeAllConnections();
  await new Promise((done) => api.close(done));
  await new Promise((done) => setTimeout(done, 1010));
  assert.is(await serving(), false);
});

test.run();
