// gate: out, it starts a bus
// Fetching over a bus: who asks, what its manifest on disk says, and how much.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { fetch1 } from '../../firmware/fetch/contract.ts';
import { skill1, skillBusName } from '../../firmware/skills/contract.ts';
import { agentOf, serveFetch } from '../../firmware/skills/fetching.ts';
import { checkManifest } from '../../firmware/skills/manifest.ts';
import { startSkill } from '../../firmware/skills/sdk/test.ts';
import { connect } from '../../firmware/system/bus.ts';
import { version } from '../../firmware/system/config.ts';
import type { Log } from '../../firmware/system/log.ts';
import { standIn } from '../fetch/standin.ts';
import { privateBus } from '../lab/bus.ts';
import { assertContract } from '../lab/contract.ts';
import { until, within } from '../lab/wait.ts';

const test = suite('fetches of skills');
const data = mkdtempSync(join(tmpdir(), 'ingle-fetch-'));
const config = { skills: join(data, 'image'), data, contact: 'https://maker.example/about' };
const told: string[] = [];
const log = new Proxy(
  {},
  {
    get:
      () =>
      (...what: unknown[]) =>
        told.push(JSON.stringify(what)),
  },
) as Log;
const hung: (() => void)[] = [];
/** Notices that came. */
const noticed: string[] = [];
const host = await standIn(
  {
    'api.example.org': ['93.184.216.34'],
    'other.example.org': ['93.184.216.34'],
    'home.example.org': ['192.168.1.9'],
  },
  (q, r) => {
    if (q.url === '/hang') hung.push(() => r.end());
    else if (q.url === '/moved') r.writeHead(307, { location: '/notice' }).end();
    else if (q.url === '/notice') {
      let body = '';
      q.on('data', (d) => (body += d)).on('end', () => {
        noticed.push(`${q.method} ${q.headers['ttl']} ${q.headers['authorization']} ${body}`);
        r.writeHead(202).end('a long answer');
      });
    } else r.end(q.headers['user-agent']);
  },
);
const manifest = (id: string, hosts: string[]) => ({
  id,
  version: '1.0.0',
  capabilities: {},
  permissions: { hosts },
});
const daemon = await privateBus();
const service = await connect(daemon.address);
const served = await serveFetch(service, { config, way: host.way, log });

function put(id: string, hosts: unknown): void {
  mkdirSync(join(config.skills, id), { recursive: true });
  writeFileSync(join(config.skills, id, 'manifest.json'), JSON.stringify(manifest(id, hosts as string[])));
  writeFileSync(join(config.skills, id, 'skill.js'), '');
}
put('one', ['api.example.org']);
put('two', ['other.example.org']);
put('bad', ['*']);
writeFileSync(join(config.skills, 'slots.json'), '{"one": 3, "two": 4, "bad": 5, "busy": 6}');
put('busy', ['api.example.org']);

const nobody = {
  Manifest: () => ({}),
  Attach: () => ({}),
  Watch: () => ({}),
  Request: () => ({}),
  Leave: () => ({}),
};
async function asSlot(slot?: number) {
  const bus = await connect(daemon.address);
  if (slot) await bus.serve(skill1, nobody as never, { busName: skillBusName(slot) });
  const ask = (url: string) =>
    within(bus.client(fetch1).Fetch({ url, method: 'GET', headers: {}, body: new Uint8Array() }), url);
  return {
    bus,
    ask,
    code: (url: string) =>
      ask(url).then(
        (r) => `${r.status}`,
        (e) => e.code,
      ),
  };
}
const api = 'https://api.example.org/v1?key=hidden';
const other = 'https://other.example.org/';

test.after(async () => {
  service.close();
  await daemon.stop();
  await host.stop();
  rmSync(data, { recursive: true });
});

test('the service offers on the bus what its contract says', () => assertContract(service, fetch1));

test('a skill fetches from the hosts of its own manifest, whoever it is on the bus', async () => {
  const [one, two, bad] = [await asSlot(3), await asSlot(4), await asSlot(5)];
  const r = await one.ask(api);
  assert.is(Buffer.from(r.body).toString(), `Ingle/${version} (+https://maker.example/about)`);
  assert.equal(
    [await one.code(other), await two.code(other), await two.code(api)],
    ['forbidden', '200', 'forbidden'],
  );
  assert.is(await bad.code(api), 'invalid_request', 'a manifest that fits nothing allows nothing');
  assert.not.match(told.join(), 'hidden');
  for (const x of [one, two, bad]) x.bus.close();
});

test('who owns no slot, or a slot without a skill, or gave its name up, has nothing fetched', async () => {
  const [none, empty, gone] = [await asSlot(), await asSlot(9), await asSlot(3)];
  assert.is(await none.code(api), 'forbidden');
  assert.is(await empty.code(api), 'forbidden');
  assert.is(await gone.code(api), '200');
  await gone.bus.retire();
  assert.is(await gone.code(api), 'forbidden');
  for (const x of [none, empty, gone]) x.bus.close();
});

test('a fifth fetch at once and the one after sixty are refused, and another skill does not feel it', async () => {
  const [busy, two] = [await asSlot(6), await asSlot(4)];
  const four = Array.from({ length: 4 }, () => busy.ask('https://api.example.org/hang'));
  await until(() => hung.length === 4, 'four fetches');
  assert.ok(served.busy());
  assert.is(await busy.code(api), 'rate_limited');
  for (const go of hung) go();
  await Promise.all(four);
  assert.not.ok(served.busy());
  const codes: string[] = [];
  // More than come back while they are asked one by one.
  for (let i = 0; i < 400 && codes.at(-1) !== 'rate_limited'; i++) codes.push(await busy.code(api));
  assert.is(codes.at(-1), 'rate_limited');
  assert.ok(codes.length > 50, `${codes.length}`);
  assert.is(await two.code(other), '200');
  for (const x of [busy, two]) x.bus.close();
});

test('for scenarios it fetches from the hosts that are named, also where it is led on, and 60 a minute', async () => {
  const bus = await connect(daemon.address);
  const from = (url: string, hosts: string[]) =>
    bus
      .client(fetch1)
      .FetchFrom({ url, method: 'GET', headers: {}, body: new Uint8Array(), hosts })
      .then(
        (r) => `${r.status}`,
        (e) => e.code,
      );
  assert.is(await from(api, ['api.example.org']), '200');
  assert.is(await from(api, ['other.example.org']), 'forbidden');
  assert.is(await from(api, []), 'forbidden');
  assert.is(await from('https://home.example.org/', ['home.example.org']), 'forbidden', 'a network at home');
  const { status } = await bus
    .client(fetch1)
    .FetchFrom({ url: api, method: 'GET', headers: {}, body: new Uint8Array(), hosts: ['api.example.org'] });
  assert.is(status, 200);
  assert.not.match(told.join(), 'hidden');
  const codes: string[] = [];
  for (let i = 0; i < 400 && codes.at(-1) !== 'rate_limited'; i++)
    codes.push(await from(api, ['api.example.org']));
  assert.is(codes.at(-1), 'rate_limited');
  bus.close();
});

test('a notice is posted to a public host, its answer is a number, and a ninth at once waits', async () => {
  const bus = await connect(daemon.address);
  const push = (url: string) =>
    bus
      .client(fetch1)
      .Push({ url, headers: { ttl: '60', authorization: 'vapid t=x' }, body: Buffer.from('sealed') })
      .then(
        (r) => r.status,
        (e) => e.code,
      );
  assert.is(await push('https://other.example.org/notice'), 202);
  assert.equal(noticed, ['POST 60 vapid t=x sealed']);
  assert.is(await push('https://other.example.org/moved'), 307, 'nothing is followed');
  assert.is(noticed.length, 1);
  for (const [url, code] of [
    ['http://other.example.org/', 'invalid_request'],
    ['https://other.example.org:8443/', 'invalid_request'],
    ['https://user@other.example.org/', 'invalid_request'],
    ['https://home.example.org/', 'forbidden'],
    ['https://127.0.0.1/', 'forbidden'],
    ['https://[::1]/', 'forbidden'],
    ['nothing', 'invalid_request'],
    ['', 'invalid_request'],
    ['https://gone.example.org/', 'unavailable'],
  ] as const)
    assert.is(await push(url), code, url);
  hung.length = 0;
  const eight = Array.from({ length: 8 }, () => push('https://api.example.org/hang'));
  await until(() => hung.length === 8, 'eight notices');
  assert.ok(served.busy());
  assert.is(await push('https://other.example.org/notice'), 'rate_limited');
  for (const go of hung) go();
  assert.equal(await Promise.all(eight), Array(8).fill(200));
  assert.not.ok(served.busy());
  bus.close();
});

test('a manifest names exact hosts, at most sixteen', () => {
  const many = Array.from({ length: 17 }, (_, i) => `h${i}.example.org`);
  checkManifest(manifest('x', many.slice(1)));
  for (const hosts of [
    many,
    ['*.example.org'],
    ['localhost'],
    ['10.0.0.1'],
    ['Api.example.org'],
    ['https://a.org'],
    ['a.org:443'],
    ['a..org'],
    ['-a.org'],
    ['a.org', 'a.org'],
    [''],
  ])
    assert.throws(() => checkManifest(manifest('x', hosts)), /hosts/, String(hosts));
});

test('what the maker says of itself cannot break the header it is in', () => {
  assert.is(agentOf({ contact: '' }), `Ingle/${version}`);
  assert.is(agentOf({ contact: 'a@b.example) \r\nX: (y' }), `Ingle/${version} (+a@b.exampleX:y)`);
});

test('in a test without a hub a skill meets the same hosts and bounds, and an abort is heard', async () => {
  const seen: string[] = [];
  let wait: Promise<void> | undefined;
  const s = await startSkill(
    {
      start: (ctx) => ({
        endpoints: [
          {
            method: 'POST',
            path: '/v1/go',
            async answer({ body }) {
              const signal = body['abort'] ? AbortSignal.abort(new Error('enough')) : undefined;
              const r = await ctx.fetch(String(body['url']), {
                headers: { Cookie: 'a' },
                ...(signal ? { signal } : {}),
              });
              return { body: { status: r.status, ok: r.ok, json: r.json() } };
            },
          },
        ],
      }),
    },
    {
      manifest: manifest('x', ['api.example.org']),
      async fetch(asked) {
        seen.push(`${asked.url} ${Object.keys(asked.headers)}`);
        await wait;
        return { status: 404, body: { a: 1 } };
      },
    },
  );
  await s.attach('ann');
  const go = (body: Record<string, string | boolean>) => s.request('POST', '/v1/go', { body });
  assert.equal((await go({ url: api })).body, { status: 404, ok: false, json: { a: 1 } });
  const codeOf = (body: Record<string, string | boolean>) =>
    go(body).then(
      () => 'done',
      (e) => e.code,
    );
  assert.is(await codeOf({ url: other }), 'forbidden');
  assert.is(await codeOf({ url: api, abort: true }), 'internal');
  assert.equal(seen, [`${api} `]);
});

test.run();
