// timeout: 240 s
// How often one may ask, at root itself: an address at every endpoint and for sockets, a session and a hub wherever they
// call from. How the counts work: limit.test.ts.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { rootApi } from '../../root/endpoints.ts';
import { openLine } from '../bench/_line.ts';
import { keepAlive } from '../lab/keepalive.ts';
import { newAddress, newHub, type RootProcess, signedIn, startRoot } from './kit.ts';

const test = suite<{ root: RootProcess }>('bounds');
test.before(async (c) => {
  c.root = await startRoot({ INGLE_ROOT_SURGE: '1000000', INGLE_ROOT_GUESSES: '1000000' });
});
test.after((c) => c.root.stop());

/** A minute and an address, as root/README.md says. */
const ofAddress = { session: 240, enrol: 60, hub: 120, verify: 20, command: 10, webauthn: 240, page: 600 };

/** How many pass before the first that does not. What is asked within a minute may lie in two, each with its own count. */
async function passed(one: (n: number) => Promise<boolean>, most: number): Promise<number> {
  for (let n = 0; n <= 2 * most + 1; n++) if (!(await one(n))) return n;
  return Number.POSITIVE_INFINITY;
}
/** @param before what may have been asked already, on the way here */
function bounded(count: number, most: number, what: string, before = 0): void {
  assert.ok(count >= most - before && count <= 2 * most, `${count} of ${most} ${what}`);
}

test('an address asks every endpoint as often as its limit says, and is told how long to wait', async ({
  root,
}) => {
  const http = keepAlive(root.port);
  for (const [name, { method, path, limit }] of Object.entries(rootApi)) {
    if (limit === null) continue;
    const at = path.replace(/\{[^}]+\}/g, 'x');
    const headers = { 'x-forwarded-for': newAddress() };
    let last = { status: 0, headers: {} as Readonly<Record<string, string>> };
    const ask = async () => {
      last = await http.ask({ method, path: at, headers });
      return last.status !== 429;
    };
    const most = ofAddress[limit as keyof typeof ofAddress];
    bounded(await passed(ask, most), most, name);
    assert.ok(Number(last.headers['retry-after']) >= 1, name);
  }
  http.close();
});

test('an address asks for sockets, and on them to be let in, as often as its limit says', async ({
  root,
}) => {
  const mine = { 'x-forwarded-for': newAddress() };
  /** How root refuses the connection itself. */
  const refusals: string[] = [];
  const knock = async () => {
    try {
      const line = await openLine(root.port, '', {}, mine);
      line.tcp.on('error', () => {}).destroy();
      return true;
    } catch (e) {
      const [, wait] = /retry-after: (\d+)/i.exec((e as Error).message) ?? [];
      // Five seconds are of too many connections at once: those that just left are still counted.
      if (wait === '5') return true;
      refusals.push((e as Error).message);
      return false;
    }
  };
  bounded(await passed(knock, 600), 600, 'connections');
  assert.match(refusals[0]!, /^HTTP\/1\.1 429 /);

  const other = { 'x-forwarded-for': newAddress() };
  let answered = 0;
  let isOver = false;
  while (!isOver && answered <= 1300) {
    const line = await openLine(root.port, '', {}, other);
    line.tcp.on('error', () => {});
    await new Promise<void>((resolve) => {
      let left = 6;
      line.onMessage = (_, m) => {
        if (/rate_limited/.test(m.toString())) isOver = true;
        else answered++;
        if (--left === 0) resolve();
      };
      line.tcp.once('close', () => resolve());
      for (let i = 0; i < 6; i++) line.text('40/owner,{}');
    });
    line.tcp.destroy();
  }
  assert.ok(answered >= 600 && answered <= 1206, `${answered} of 600 requests to be let in`);
});

test('a session asks as often as its limit says, whatever addresses it calls from, and others are undisturbed', async ({
  root,
}) => {
  const { tab } = await signedIn(root);
  const other = await signedIn(root);
  const http = keepAlive(root.port);
  const ask = async ({ bearer }: Pick<typeof tab, 'bearer'>) => {
    const headers = { ...bearer(), 'x-forwarded-for': newAddress() };
    const { status } = await http.ask({ method: 'GET', path: '/v1/owner/credentials', headers });
    assert.ok([200, 429].includes(status), `${status}`);
    return status === 200;
  };
  bounded(await passed(() => ask(tab), 600), 600, 'requests', 10);
  assert.ok(await ask(other.tab));
  http.close();
});

test('a hub proves itself as often as its limit says, whatever addresses it calls from', async ({ root }) => {
  const [hub, other] = [await newHub(root), await newHub(root)];
  const http = keepAlive(root.port);
  const ask = async (h: typeof hub) => {
    const headers = { ...(await h.headers('renew')), 'x-forwarded-for': newAddress() };
    const { status } = await http.ask({
      ...{ method: 'POST', path: '/v1/hub/renew', body: '{}' },
      headers: { ...headers, 'content-type': 'application/json' },
    });
    assert.ok([200, 429].includes(status), `${status}`);
    return status === 200;
  };
  bounded(await passed(() => ask(hub), 600), 600, 'proofs', 2);
  assert.ok(await ask(other));
  http.close();
});

test.run();
