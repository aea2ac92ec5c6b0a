// Skills' pages for root, at the hub: what root may ask for and what it may not, whatever it says.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { IngleError } from '../../firmware/protocol/errors.ts';
import { isPagePath, pageWay } from '../../firmware/protocol/skill-page.ts';
import type { PagePiece } from '../../firmware/protocol/wire.ts';
import { checkAsked, skillPages } from '../../firmware/uplink/skill-pages.ts';
import { thrown } from '../lab/thrown.ts';
import { until } from '../lab/wait.ts';

const test = suite('skill pages for root');
const seen: IncomingMessage[] = [];
let answer: (q: IncomingMessage, s: ServerResponse) => void = () => {};
const server = createServer((q, s) => {
  seen.push(q);
  answer(q, s);
});
let port = 0;
test.before(async () => {
  await new Promise<void>((ok) => server.listen(0, '127.0.0.1', ok));
  port = (server.address() as AddressInfo).port;
});
test.before.each(() => {
  seen.length = 0;
  answer = (_, s) => {
    s.setHeader('content-type', 'text/html; charset=utf-8');
    s.setHeader('set-cookie', 'a=b');
    s.end('<p>page');
  };
});
test.after(() => {
  server.closeAllConnections();
  server.close();
});

function pages(owner: string | null = 'own_a') {
  const refused: string[] = [];
  let now = 0;
  const it = skillPages({
    api: { host: '127.0.0.1', port, token: { get: () => 'token', stale: () => false } },
    owner: () => owner ?? undefined,
    now: () => now,
    refused: (e: IngleError) => refused.push(e.code),
  });
  const later = (ms: number) => {
    now += ms;
  };
  return { ...it, refused, later };
}
let last = 0;
const asked = (more: object = {}) => ({
  ...{
    id: `abcdefgh${String(++last).padStart(8, '0')}`,
    owner_id: 'own_a',
    skill_id: 'dial',
    path: 'panel/a.html',
  },
  ...more,
});
const error = (p: PagePiece) => (p.ok ? 'none' : p.error);
const text = (p: PagePiece) => (p.ok ? Buffer.from(p.bytes).toString() : '');

test('a page is asked of the one path for it, as the owner without a passkey', async () => {
  const p = await pages().get(asked());
  assert.equal(
    { ...p, bytes: text(p) },
    { ok: true, type: 'text/html; charset=utf-8', bytes: '<p>page', end: true },
  );
  const [q] = seen;
  assert.equal([q!.method, q!.url], ['GET', '/api/skill-pages/dial/panel/a.html']);
  const said = Buffer.from(String(q!.headers['x-ingle-principal']), 'base64url').toString();
  assert.equal(JSON.parse(said), { owner_id: 'own_a', browser: 'root', role: 'owner', elevated_until: 0 });
});

test('another owner, and a hub without one, gets nothing', async () => {
  const it = pages();
  for (const owner_id of ['own_b', '', undefined, null, {}, ['own_a']])
    assert.is(error(await it.get(asked({ owner_id }))), 'forbidden', String(owner_id));
  assert.is(error(await pages(null).get(asked())), 'forbidden');
  assert.is(error(await pages(null).get(asked({ owner_id: undefined }))), 'forbidden');
  assert.is(seen.length, 0);
  assert.is(it.refused.length, 6);
});

test('no path leads out of the /v1/ui/ of its skill, however it is written', async () => {
  const hostile = [
    ...['../x', 'a/../b', '..', '.', './a', '/a', 'a/', 'a//b', '', 'a/./b', '..%2fx', '%2e%2e/x', 'a%00b'],
    ...[
      'a?b',
      'a#b',
      'a\\b',
      'a b',
      'a\nb',
      'ä',
      'http://x/',
      '//x',
      'a:b',
      'x'.repeat(201),
      '.env',
      'a/.git',
    ],
  ];
  const it = pages();
  for (const path of hostile)
    assert.is(error(await it.get(asked({ path }))), 'invalid_request', JSON.stringify(path));
  for (const skill_id of ['', 'A', '../dial', 'dial/..', 'dial?', '1a', 'x'.repeat(49), 1, null])
    assert.is(error(await it.get(asked({ skill_id }))), 'invalid_request', String(skill_id));
  assert.is(seen.length, 0);
});

test('whatever root says, what is asked is a file of a skill or nothing', () => {
  const part = fc.oneof(
    fc.constantFrom(
      '..',
      '.',
      '',
      'a',
      '%2e%2e',
      '%2f',
      '\\',
      'panel',
      '~',
      'a.js',
      '\u2025',
      '.. ',
      '..;',
      '?',
      '#',
    ),
    fc.string({ maxLength: 6, unit: 'grapheme' }),
  );
  const path = fc.oneof(
    fc.array(part, { maxLength: 8 }).map((p) => p.join('/')),
    fc.string(),
    fc.anything(),
  );
  const anything = fc.oneof(
    fc.record({ id: fc.constant('abcdefghijklmnop'), owner_id: fc.constant('own_a'), skill_id: part, path }),
    fc.record({ id: fc.anything(), owner_id: fc.anything(), skill_id: fc.anything(), path }),
    fc.anything(),
  );
  fc.assert(
    fc.property(anything, (m) => {
      let of: ReturnType<typeof checkAsked>;
      try {
        of = checkAsked(m, 'own_a');
      } catch (e) {
        return ['invalid_request', 'forbidden'].includes((e as IngleError).code);
      }
      const base = `/api/skill-pages/${of.skill_id}/`;
      const { pathname, search, host } = new URL(`http://hub${base}${of.path}`);
      return pathname === base + of.path && search === '' && host === 'hub' && of.owner_id === 'own_a';
    }),
    { numRuns: 5000 },
  );
  assert.is(thrown(() => checkAsked(null, 'own_a')).code, 'invalid_request');
});

test('a long file goes in pieces, each when it is asked for', async () => {
  const whole = Buffer.from('0123456789'.repeat(20_000));
  answer = (_, s) => s.end(whole);
  const it = pages();
  const m = asked();
  const got: Buffer[] = [];
  let p = await it.get(m);
  for (;;) {
    assert.ok(p.ok && p.bytes.length <= pageWay.piece, error(p));
    got.push(Buffer.from(p.bytes));
    if (p.end) break;
    p = await it.next({ id: m.id });
  }
  assert.is(got.length, Math.ceil(whole.length / pageWay.piece));
  assert.ok(Buffer.concat(got).equals(whole));
  assert.is(error(await it.next({ id: m.id })), 'not_found', 'after its end');
});

test('a refusal of the local API is told as it is, and no cookie goes along', async () => {
  answer = (_, s) => {
    s.statusCode = 403;
    s.end(JSON.stringify({ error: 'forbidden', message: 'The pages of this skill do not go through root.' }));
  };
  const it = pages();
  const p = await it.get(asked());
  assert.equal(p, {
    ok: false,
    error: 'forbidden',
    message: 'The pages of this skill do not go through root.',
  });
  answer = (_, s) => {
    s.statusCode = 500;
    s.end('x'.repeat(100_000));
  };
  assert.is(error(await it.get(asked())), 'unavailable');
});

test('a file without end is given up, and the local API is let go', async () => {
  let closed = 0;
  answer = (q, s) => {
    q.socket.on('close', () => closed++);
    const more = () => {
      while (s.write(Buffer.alloc(64 * 1024)));
    };
    s.on('drain', more);
    more();
  };
  const it = pages();
  const m = asked();
  let p = await it.get(m);
  let bytes = 0;
  while (p.ok && !p.end) {
    bytes += p.bytes.length;
    p = await it.next({ id: m.id });
  }
  assert.is(error(p), 'too_large');
  assert.ok(bytes <= pageWay.file);
  await until(() => closed === 1, 'the local API let go');
});

test('a place is taken until the end, a stop, or the end of the socket', async () => {
  let closed = 0;
  answer = (q, s) => {
    q.socket.on('close', () => closed++);
    s.write(Buffer.alloc(pageWay.piece + 1));
  };
  const it = pages();
  const all = Array.from({ length: pageWay.open }, () => asked());
  const first = all.map((m) => it.get(m));
  await until(() => seen.length === pageWay.open, 'all under way');
  assert.is(error(await it.get(asked())), 'rate_limited');
  assert.is(error(await it.get(all[0])), 'conflict', 'its name is taken');
  for (const p of await Promise.all(first)) assert.ok(p.ok && !p.end);
  it.stop({ id: all[0]!.id });
  await until(() => closed === 1, 'one let go');
  const again = await it.get(asked());
  assert.ok(again.ok);
  it.stopAll();
  await until(() => closed === pageWay.open + 1, 'all let go');
  assert.is(error(await it.next({ id: all[1]!.id })), 'not_found');
});

test('two pieces of one file are not asked for at once', async () => {
  answer = (_, s) => s.write(Buffer.alloc(pageWay.piece + 1));
  const it = pages();
  const m = asked();
  assert.ok((await it.get(m)).ok);
  const one = it.next({ id: m.id });
  assert.is(error(await it.next({ id: m.id })), 'not_found');
  it.stopAll();
  await one;
});

test('root may ask for much, and not without end', async () => {
  const it = pages();
  let refused = 0;
  for (let i = 0; i < 300; i++) if (error(await it.get(asked())) === 'rate_limited') refused++;
  assert.is(refused, 60);
  it.later(1000);
  assert.is(error(await it.get(asked())), 'none');
});

test('a path of a page is short, and plain', () => {
  assert.ok(isPagePath('a'.repeat(200)));
  assert.not(isPagePath('a'.repeat(201)));
});

test.run();
