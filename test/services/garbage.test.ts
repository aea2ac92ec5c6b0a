// timeout: 600 s
// At least 100,000 requests drawn from the OpenAPI document: each is answered, in the one shape, and nothing is worn out.
import { readFileSync } from 'node:fs';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { errorTable, isErrorCode } from '../../firmware/protocol/errors.ts';
import { type Heard, keepAlive } from '../lab/keepalive.ts';
import { type Operation, operationsOf, requestOf } from './garbled.ts';
import { startHub, type TestHub } from './hub.ts';

/** Kept; `INGLE_SEED` draws from another one. */
const seeds = process.env['INGLE_SEED'] ? [Number(process.env['INGLE_SEED'])] : [12, 1947];
const REQUESTS = 104_000;
const AT_ONCE = 24;
const MIB = 1024 * 1024;

const test = suite<{ hub: TestHub }>('garbage');
test.before(async (c) => {
  // Without its flags V8 lets a process grow by half as much again as the bound below while it has much to do.
  c.hub = await startHub({ skills: ['hub_status'], asUnit: true });
});
test.after((c) => c.hub.stop());

/** What is wrong with an answer, or nothing. */
function faultOf(o: Operation, method: string, { status, headers, text }: Heard): string | undefined {
  if (status >= 500 && method === o.method && !o.responses[status]) return 'a failure that is not declared';
  if (status === 500) return 'a failure inside';
  if (status < 200 || status > 599) return 'no status of HTTP';
  if (status < 400 || method === 'HEAD') return undefined;
  if (headers['content-type'] !== 'application/json') return 'an error that is no JSON';
  const { error, message, details, ...more } = JSON.parse(text) as Record<string, unknown>;
  if (!isErrorCode(error) || errorTable[error].http !== status)
    return 'a code that is not that of its status';
  if (typeof message !== 'string' || message === '') return 'an error without a sentence';
  if (details !== undefined && (details === null || typeof details !== 'object'))
    return 'details of another form';
  return Object.keys(more).length > 0 ? 'more than the one shape' : undefined;
}

const rss = (hub: TestHub): number =>
  Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${hub.children.get('api')!.pid}/status`, 'utf8'))![1]) *
  1024;

test('whatever is asked, the answer comes, in the one shape, and the hub is as it was', async ({ hub }) => {
  const operations = operationsOf((await hub.ask('GET', '/api/openapi.json')).body);
  const port = Number(new URL(hub.base).port);
  const token = hub.token();
  const faults: string[] = [];
  const reached = new Set<string>();
  const statuses = new Map<number, number>();
  let next = 0;
  let settled = 0;
  const each = REQUESTS / seeds.length;
  async function worker(): Promise<void> {
    const line = keepAlive(port);
    while (next < REQUESTS && faults.length < 10) {
      const n = next++;
      const seed = seeds[Math.floor(n / each)]!;
      const { operation, asking } = requestOf(operations, token, seed, n % each);
      const heard = await line.ask(asking);
      statuses.set(heard.status, (statuses.get(heard.status) ?? 0) + 1);
      // This hub has no uplink, supervisor or scenarios; who was passed on to one of them had got past the keepers.
      const passed =
        heard.status === 200 || (heard.status === 503 && /io\.ingle\.|scenario service/.test(heard.text));
      if (passed && asking.method === operation.method) reached.add(operation.operationId);
      const fault = faultOf(operation, asking.method, heard);
      const says = `${asking.method} ${asking.path.slice(0, 100)} ${heard.status} ${heard.text.slice(0, 200)}`;
      if (fault) faults.push(`seed ${seed}, request ${n % each}: ${fault}: ${says}`);
      // What takes no changes any more would refuse all that is to be tried.
      if (operation.operationId === 'admin.drain' && heard.status === 200)
        await line.ask({
          ...asking,
          method: 'POST',
          path: '/api/admin/drain',
          headers: { 'x-service-token': token },
          body: '{"on":false}',
        });
      if (n === REQUESTS / 4) settled = rss(hub);
    }
    line.close();
  }
  console.log(`seeds ${seeds.join(', ')}`);
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  console.log(
    [...statuses]
      .sort()
      .map(([s, n]) => `${s}: ${n}`)
      .join(', '),
  );
  assert.equal(faults, []);
  const grown = rss(hub) - settled;
  console.log(`FIGURE garbage_grown_mib ${Math.round(grown / MIB)}`);
  assert.ok(grown < 48 * MIB, `grown by ${grown} bytes`);

  // It is not only their keepers that were tried.
  assert.ok(
    reached.size > operations.length / 2,
    `only ${reached.size} of ${operations.length} were reached, not ${operations
      .map((o) => o.operationId)
      .filter((id) => !reached.has(id))
      .join(', ')}`,
  );
  const { requests } = (await hub.ask('GET', '/api/status')).body;
  assert.is(requests, 1, 'no request is still under way');
  assert.is((await hub.ask('POST', '/skills/hub_status/v1/refresh', { as: {} })).status, 200);
  const pin = { as: {}, body: { skill_id: 'hub_status', pinned: true } };
  assert.is((await hub.ask('POST', '/v1/icons/pin', pin)).status, 200);
  assert.is((await hub.ask('GET', '/v1/icons', { as: {} })).body[0].pinned, true);
});

test.run();
