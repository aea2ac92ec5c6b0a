// timeout: 240 s
// Skills' own pages through root: a ticket opens one page once, its files come while it is there, and neither a hostile
// client nor a hostile hub gets more than that.
import { generateKeyPairSync } from 'node:crypto';
import { request as ask } from 'node:http';
import { decodeJwt, decodeProtectedHeader, SignJWT, UnsecuredJWT } from 'jose';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { pageWay } from '../../firmware/protocol/skill-page.ts';
import type { PageAsked, PagePiece } from '../../firmware/protocol/wire.ts';
import { digest } from '../../root/digest.ts';
import { within } from '../lab/wait.ts';
import { call, newAddress, openDatabase, type RootProcess, signedIn, startRoot, until } from './kit.ts';

const test = suite<{ root: RootProcess }>('skill pages');
test.before(async (c) => {
  c.root = await startRoot({ INGLE_ROOT_GUESSES: '1000', INGLE_ROOT_SURGE: '1000' });
});
test.after((c) => c.root.stop());

const html = '<!doctype html><html><title>Dial</title><script src="dial.js"></script></html>';
type Said = PagePiece | 'nothing';

/** A hub that answers by `files`, and notes what it was asked. */
async function house(root: RootProcess, files: (m: PageAsked) => Said = page) {
  const { hub, tab } = await signedIn(root);
  const socket = hub.socket();
  const [asked, stopped]: [PageAsked[], string[]] = [[], []];
  const next: { answer: (m: { id: string }) => Said } = { answer: () => 'nothing' };
  const reply = (said: Said, ack: (p: PagePiece) => void) => {
    if (said !== 'nothing') ack(said);
  };
  socket.on('page.get', (m: PageAsked, ack) => {
    asked.push(m);
    reply(files(m), ack);
  });
  socket.on('page.next', (m, ack) => reply(next.answer(m), ack));
  socket.on('page.stop', (m: { id: string }) => stopped.push(m.id));
  const open = (body: object = {}, headers: Record<string, string> = {}) =>
    tab.post('/v1/skill-ui/open', { skill_id: 'dial', ...body }, { ...tab.bearer(), ...headers });
  await until(async () => (await open()).status === 200, 'the hub at root');
  return { hub, tab, socket, asked, stopped, next, open };
}
const bytes = (text: string) => Buffer.from(text);
function page(m: PageAsked): PagePiece {
  if (m.path.endsWith('.js')) return { ok: true, type: 'text/plain', bytes: bytes('let a = 1;'), end: true };
  return { ok: true, type: 'text/html; charset=utf-8', bytes: bytes(html), end: true };
}

/** What is at an address of root's, asked as a frame does: with a cookie that nobody should look at. */
const get = (root: RootProcess, url: string, headers: Record<string, string> = {}) =>
  call(root, 'GET', url.replace(root.api, ''), undefined, { 'x-forwarded-for': newAddress(), ...headers });
async function entered(root: RootProcess, h: Awaited<ReturnType<typeof house>>, body: object = {}) {
  const { ticket, entryUrl } = (await h.open(body)).body as Record<string, string>;
  const r = await get(root, entryUrl!);
  const base = /<base href="([^"]+)">/.exec(String(r.body))?.[1] ?? '';
  return { r, base, ticket: ticket!, entryUrl: entryUrl! };
}
const isRefused = (r: { status: number; body: { error?: string; message?: string } }) =>
  [403, 410].includes(r.status) && typeof r.body.error === 'string' && typeof r.body.message === 'string';

test('a ticket opens its page once, and the files of its skill follow by what the page was given', async ({
  root,
}) => {
  const h = await house(root);
  const opened = await h.open();
  assert.equal(Object.keys(opened.body).sort(), ['entryUrl', 'ticket']);
  const { ticket, entryUrl } = opened.body;
  assert.is(entryUrl, `${root.api}/skill-ui/dial/v1/ui/panel?ticket=${ticket}`);
  const first = await get(root, entryUrl);
  assert.is(first.status, 200, JSON.stringify(first.body));
  const base = /<base href="([^"]+)">/.exec(first.body)![1]!;
  const [, capability] = /^\/skill-ui\/dial\/([\w-]{65})\/v1\/ui\/$/.exec(base)!;
  assert.is(
    first.body,
    html.replace(
      '<!doctype html>',
      `<!doctype html><base href="${base}"><meta name="ingle-ticket" content="${ticket}">`,
    ),
  );
  const file = await get(root, `${base}dial.js`);
  assert.equal([file.status, file.body], [200, 'let a = 1;']);
  assert.is(file.headers.get('content-type'), 'text/javascript; charset=utf-8');
  const { id: _, ...last } = h.asked.at(-1)!;
  assert.equal(last, { owner_id: h.hub.owner_id, skill_id: 'dial', path: 'dial.js' });
  const again = await get(root, entryUrl);
  assert.equal([again.status, again.body.error], [410, 'ticket_spent']);
  // Both answers say the same of what the page may do.
  const own = `${root.api}/skill-ui/dial/${capability}/v1/ui/`;
  for (const { headers } of [first, file]) {
    assert.is(
      headers.get('content-security-policy'),
      `sandbox allow-scripts; default-src 'none'; script-src ${own}; style-src ${own}; img-src ${own}; font-src ${own}; base-uri ${own}; connect-src 'none'; frame-src 'none'; form-action 'none'; frame-ancestors ${root.origin}`,
    );
    const said = Object.fromEntries(headers);
    assert.is(said['referrer-policy'], 'no-referrer');
    assert.is(said['x-content-type-options'], 'nosniff');
    assert.is(said['cache-control'], 'no-store');
    assert.is(said['cross-origin-resource-policy'], 'cross-origin');
    assert.is(said['access-control-allow-origin'], 'null');
    assert.is(said['set-cookie'], undefined);
    assert.is(said['x-frame-options'], undefined, 'which could only say "nobody"');
  }
});

test('a page in a folder has its base there, and its words stay whole however they are cut', async ({
  root,
}) => {
  const text = `<!DOCTYPE html>\n<p>${'жар '.repeat(30_000)}</p>`;
  let rest = bytes(text);
  const piece = (most: number, type?: string): PagePiece => {
    const some = rest.subarray(0, most);
    rest = rest.subarray(some.length);
    return { ok: true, ...(type ? { type } : {}), bytes: some, end: rest.length === 0 };
  };
  const h = await house(root, () => piece(3, 'text/html'));
  h.next.answer = () => piece(rest.length > text.length ? 401 : 30_001);
  const { r, base } = await entered(root, h, { page: 'panel/good.html' });
  assert.match(base, /^\/skill-ui\/dial\/[\w-]{65}\/v1\/ui\/panel\/$/);
  assert.is(r.body.replace(/<base[^>]+><meta[^>]+>/, ''), text);
  assert.ok(r.body.startsWith('<!DOCTYPE html><base'));
  assert.equal(h.stopped, []);
});

test('a ticket is a JWT of its own kind: no other token of root is one, and it is no other', async ({
  root,
}) => {
  const h = await house(root);
  const { ticket } = (await h.open()).body;
  const { iat, exp, jti, ...claims } = decodeJwt(ticket);
  const { owner_id, hub_id } = h.hub;
  assert.equal(claims, {
    ...{ iss: root.api, aud: 'skill_ui', sub: `owner:${owner_id}` },
    ...{ skill_id: 'dial', hub_id, page: 'panel' },
  });
  assert.is(exp! - iat!, 300);
  assert.is(Buffer.from(jti!, 'base64url').length, 16);
  assert.not(ticket.includes(h.tab.sid));
  const head = decodeProtectedHeader(ticket);
  const other = decodeProtectedHeader(h.tab.token);
  assert.equal([head.typ, head.alg], ['skill-ui+jwt', 'EdDSA']);
  assert.is.not(head.kid, other.kid);
  const at = (t: string) => get(root, `/skill-ui/dial/v1/ui/panel?ticket=${t}`);
  for (const t of [h.tab.token, h.hub.certificate])
    assert.equal((await at(t)).body.error, 'ticket_invalid', t.slice(0, 20));
  const taken = await h.open({}, { authorization: `Bearer ${ticket}` });
  assert.is(taken.status, 401);
  const jwks = await call(root, 'GET', '/.well-known/jwks.json');
  assert.not(jwks.body.keys.some((k: { kid: string }) => k.kid === head.kid));
});

test('what is forged, altered, without signature or for something else is refused and spends nothing', async ({
  root,
}) => {
  const h = await house(root);
  const { ticket, entryUrl } = (await h.open()).body;
  const count = h.asked.length;
  const claims = decodeJwt(ticket);
  const key = generateKeyPairSync('ed25519').privateKey;
  const header = { alg: 'EdDSA', typ: 'skill-ui+jwt', kid: decodeProtectedHeader(ticket).kid! };
  const [head, body, signature] = ticket.split('.');
  const forged = [
    await new SignJWT(claims).setProtectedHeader(header).sign(key),
    await new SignJWT(claims)
      .setProtectedHeader({ ...header, alg: 'HS256' })
      .sign(bytes(header.kid.repeat(2))),
    new UnsecuredJWT(claims).encode(),
    `${head}.${body}.`,
    `${head}.${Buffer.from(JSON.stringify({ ...claims, skill_id: 'other' })).toString('base64url')}.${signature}`,
    '',
    'a',
    'x'.repeat(2100),
  ];
  for (const t of forged) {
    const r = await get(root, `/skill-ui/dial/v1/ui/panel?ticket=${t}`);
    assert.equal([r.status, r.body.error], [403, 'ticket_invalid'], t.slice(0, 40));
  }
  for (const path of [
    '/skill-ui/other/v1/ui/panel',
    '/skill-ui/dial/v1/ui/panel/more',
    '/skill-ui/dial/v1/ui/x',
  ]) {
    const r = await get(root, `${path}?ticket=${ticket}`);
    assert.equal([r.status, r.body.error], [403, 'ticket_invalid'], path);
  }
  const head405 = await call(root, 'HEAD', entryUrl.replace(root.api, ''));
  assert.is(head405.status, 405);
  assert.is(h.asked.length, count, 'no hub was asked');
  assert.is((await get(root, entryUrl)).status, 200);
});

test('of a hundred who bring a ticket at once one gets the page', async ({ root }) => {
  const h = await house(root);
  const { entryUrl } = (await h.open()).body;
  const all = await Promise.all(Array.from({ length: 100 }, () => get(root, entryUrl)));
  assert.is(all.filter((r) => r.status === 200).length, 1);
  for (const r of all) if (r.status !== 200) assert.ok(isRefused(r), JSON.stringify(r.body));
  assert.is(h.asked.length, 1);
});

test('a ticket and a page end with their time, and with the session', async ({ root }) => {
  const h = await house(root);
  const db = await openDatabase(root);
  const { ticket, entryUrl } = (await h.open()).body;
  const id = digest(decodeJwt(ticket).jti!);
  await db.run('UPDATE skill_page SET exp = 1 WHERE id = ?', id);
  assert.equal((await get(root, entryUrl)).body.error, 'ticket_invalid');
  const { base } = await entered(root, h);
  assert.is((await get(root, `${base}dial.js`)).status, 200);
  await db.run('UPDATE skill_page SET exp = 1 WHERE spent = 1');
  assert.equal((await get(root, `${base}dial.js`)).status, 404);
  const second = await entered(root, h);
  const open = (await h.open()).body;
  assert.is((await h.tab.post('/v1/owner/logout', {}, h.tab.bearer())).status, 200);
  assert.is((await get(root, `${second.base}dial.js`)).status, 404);
  assert.equal((await get(root, open.entryUrl)).body.error, 'ticket_invalid');
  await db.close();
});

test('a capability is for its page, its skill and its hub', async ({ root }) => {
  const [a, b] = [await house(root), await house(root)];
  const [one, two] = [await entered(root, a), await entered(root, b)];
  const capability = (base: string) => base.split('/')[3]!;
  const [x, y] = [capability(one.base), capability(two.base)];
  const wrong = [
    ['other', x],
    ['dial', x.slice(0, 43) + y.slice(43)],
    ['dial', y.slice(0, 43) + x.slice(43)],
    ['dial', `${x.slice(0, -1)}${x.endsWith('A') ? 'B' : 'A'}`],
    ['dial', x.slice(0, 43)],
    ['dial', `${x}A`],
    ['dial', 'A'.repeat(65)],
    ['dial', one.ticket],
  ];
  const asked = a.asked.length + b.asked.length;
  for (const [skill, c] of wrong) {
    const r = await get(root, `/skill-ui/${skill}/${c}/v1/ui/dial.js`);
    assert.equal([r.status, r.body.error], [404, 'not_found'], `${skill} ${c}`);
  }
  for (const path of [
    'a/../b',
    '%2e%2e/x',
    'a%2fb',
    'a//b',
    './x',
    '.x',
    'a\\b',
    'a?b/../c',
    'x'.repeat(201),
    '',
  ]) {
    const r = await raw(root, `${one.base}${path.replace('?', '%3f')}`);
    assert.is(r.status, 404, path);
  }
  assert.is(a.asked.length + b.asked.length, asked, 'no hub was asked');
  await get(root, `${one.base}dial.js`);
  assert.is(a.asked.at(-1)!.owner_id, a.hub.owner_id);
});

test('only the owner opens a page, at a hub of theirs that is there', async ({ root }) => {
  const [a, b] = [await house(root), await house(root)];
  const foreign = await a.open({ hub_id: b.hub.hub_id });
  assert.equal([foreign.status, foreign.body.error], [403, 'forbidden']);
  assert.is((await a.open({ hub_id: 'hub_none' })).status, 403);
  assert.is((await a.open({ hub_id: a.hub.hub_id })).status, 200);
  const bearer = { ...a.tab.bearer(), cookie: b.tab.cookie };
  const without = await call(root, 'POST', '/v1/skill-ui/open', { skill_id: 'dial' }, bearer);
  assert.is(without.status, 401, "another browser's");
  for (const body of [
    { skill_id: 'A' },
    { skill_id: '../x' },
    { skill_id: 1 },
    { page: '../x' },
    { page: 'a b' },
  ])
    assert.is((await a.open(body)).status, 400, JSON.stringify(body));
  const db = await openDatabase(root);
  await db.run('UPDATE webauthn_cred SET guest = 1 WHERE owner_id = ?', a.hub.owner_id);
  const guest = await a.open();
  assert.equal([guest.status, guest.body.error], [403, 'forbidden']);
  // The hub of a ticket got another owner before it was used.
  const { entryUrl } = (await b.open()).body;
  await db.run("UPDATE hub SET owner_id = 'own_else' WHERE hub_id = ?", b.hub.hub_id);
  assert.equal((await get(root, entryUrl)).body.error, 'ticket_invalid');
  await db.close();
});

test('a hub that is away costs no ticket and says so', async ({ root }) => {
  const h = await house(root);
  const { entryUrl } = (await h.open()).body;
  h.socket.disconnect();
  await until(async () => (await h.open()).status === 503, 'the hub gone');
  const gone = await h.open();
  assert.is(gone.body.error, 'hub_offline');
  const away = await get(root, entryUrl);
  assert.equal([away.status, away.body.error], [503, 'hub_offline']);
  h.socket.connect();
  await until(async () => (await h.open()).status === 200, 'the hub back');
  assert.is((await get(root, entryUrl)).status, 200);
});

test('a ticket outlives a restart of root, and is then good once', async ({ root }) => {
  const h = await house(root);
  const { entryUrl } = (await h.open()).body;
  const before = await entered(root, h);
  await root.kill();
  await root.again();
  await until(async () => (await h.open()).status === 200, 'the hub at root again');
  assert.equal((await get(root, before.entryUrl)).body.error, 'ticket_spent');
  assert.is((await get(root, `${before.base}dial.js`)).status, 200, 'and so does a page');
  const [x, y] = await Promise.all([get(root, entryUrl), get(root, entryUrl)]);
  assert.equal([x.status, y.status].sort(), [200, 410]);
});

test('what a hub says of a refusal is told in the one shape, and no more of it', async ({ root }) => {
  const says: Record<string, Said> = {
    none: { ok: false, error: 'not_found', message: 'There is nothing.' },
    mode: { ok: false, error: 'forbidden', message: 'Not through root.' },
    odd: { ok: false, error: '<script>', message: 'x'.repeat(5000) },
    login: { ok: false, error: 'unauthenticated', message: 'Sign in.' },
    text: { ok: true, type: 'text/plain', bytes: bytes('no page'), end: true },
    nobytes: { ok: true, type: 'text/html', end: true } as never,
    large: { ok: true, type: 'text/html', bytes: Buffer.alloc(pageWay.piece + 1), end: true },
    garbage: 7 as never,
  };
  const h = await house(root, (m) => says[m.path] ?? page(m));
  const told: Record<string, [number, string]> = {};
  for (const name of Object.keys(says)) {
    const { r } = await entered(root, h, { page: name });
    told[name] = [r.status, r.body.error];
    assert.ok(r.body.message.length <= 200, name);
    assert.is(r.headers.get('content-type'), 'application/json; charset=utf-8');
  }
  assert.equal(told, {
    none: [404, 'not_found'],
    mode: [403, 'forbidden'],
    odd: [503, 'unavailable'],
    login: [503, 'unavailable'],
    text: [501, 'not_supported'],
    nobytes: [503, 'unavailable'],
    large: [503, 'unavailable'],
    garbage: [503, 'unavailable'],
  });
});

test('a hub that says nothing ends in an answer, one that goes in another, and neither keeps its places', async ({
  root,
}) => {
  const h = await house(root, () => 'nothing');
  const some = await Promise.all(Array.from({ length: pageWay.open + 2 }, async () => (await h.open()).body));
  const asked = some.map((s) => get(root, s.entryUrl));
  await until(() => h.asked.length === pageWay.open, 'all of its places taken');
  let busy = 0;
  for (const r of asked)
    void r.then((r) => {
      if (r.status === 429 && r.body.error === 'rate_limited') busy++;
    });
  await until(() => busy === 2, 'the others refused');
  h.socket.disconnect();
  const all = await Promise.all(asked);
  assert.equal(
    all.map((r) => r.body.error).sort(),
    [...Array(pageWay.open).fill('hub_offline'), 'rate_limited', 'rate_limited'].sort(),
  );
});

test('a page that breaks off on its way ends the connection, so nobody takes it for whole', async ({
  root,
}) => {
  const half: PagePiece = { ok: true, type: 'text/html', bytes: bytes(`<p>${'x'.repeat(2000)}`), end: false };
  const h = await house(root, () => half);
  const cut = async (why: string) => {
    const { entryUrl } = (await h.open()).body;
    const r = await raw(root, entryUrl.replace(root.api, ''));
    assert.is(r.status, 200);
    assert.is(r.whole, false, why);
    assert.ok(r.text.includes('ingle-ticket'));
  };
  h.next.answer = () => ({ ok: false, error: 'timeout', message: 'x' });
  await cut('a refusal');
  let said = 0;
  h.next.answer = () => {
    said++;
    return { ok: true, bytes: new Uint8Array(), end: false };
  };
  await cut('a hub that only says "more"');
  assert.is(said, 1);
  let sent = 0;
  h.next.answer = () => {
    sent += pageWay.piece;
    return { ok: true, bytes: Buffer.alloc(pageWay.piece, 120), end: false };
  };
  await cut('a hub without end');
  assert.ok(sent <= pageWay.file + pageWay.piece, `${sent} bytes`);
  await until(() => h.stopped.length === 3, 'the hub told that nobody waits');
  h.next.answer = () => {
    h.socket.disconnect();
    return 'nothing';
  };
  await cut('a hub that goes');
});

test('a reader who does not read holds the hub up, not root, and one who goes sets it free', async ({
  root,
}) => {
  const half = (type?: string): PagePiece => {
    return { ok: true, ...(type ? { type } : {}), bytes: Buffer.alloc(pageWay.piece, 120), end: false };
  };
  const h = await house(root, () => half('text/html'));
  let pulled = 0;
  h.next.answer = () => {
    pulled++;
    // A file without end for as long as this takes: what holds it up is its reader alone.
    return half();
  };
  const { entryUrl } = (await h.open()).body;
  const reader = await began(root, entryUrl.replace(root.api, ''));
  reader.pause();
  reader.destroy();
  await until(() => h.stopped.length === 1, 'the hub told that nobody waits');
  assert.ok(pulled * pageWay.piece <= pageWay.file);
});

test('a hub that floods with pieces nobody asked for costs nothing that stays', async ({ root }) => {
  const h = await house(root);
  const before = await memory(root);
  for (let i = 0; i < 400; i++) h.socket.emit('page.next', { bytes: Buffer.alloc(60_000) });
  await until(async () => (await h.open()).status !== 0, 'root to answer');
  assert.ok((await memory(root)) - before < 64 * 1024 * 1024);
  assert.ok(root.alive());
});

test('an owner opens sixty pages a minute, and an address asks as often as its limit says', async ({
  root,
}) => {
  const h = await house(root);
  // A limit counts by the minute, and what is asked here may lie in two.
  const all = await Promise.all(Array.from({ length: 130 }, () => h.open()));
  assert.ok(all.filter((r) => r.status === 200).length <= 120);
  const last = all.find((r) => r.status === 429)!;
  assert.is(last.body.error, 'rate_limited');
  assert.ok(Number(last.headers.get('retry-after')) > 0);
  const { base } = await entered(root, await house(root));
  const files: number[] = [];
  while (!files.includes(429) && files.length < 500) files.push((await get(root, `${base}dial.js`)).status);
  assert.ok(files.includes(429) && files.length > 240, `${files.length} files`);
  const from = { 'x-forwarded-for': newAddress() };
  const path = '/skill-ui/dial/v1/ui/panel?ticket=a';
  let refused = 0;
  for (let i = 0; i < 26 && refused < 50; i++) {
    const some = await Promise.all(
      Array.from({ length: 50 }, () => call(root, 'GET', path, undefined, from)),
    );
    refused += some.filter((r) => r.status === 429).length;
  }
  assert.ok(refused >= 50, `${refused}`);
});

/** Resident memory of root, bytes. */
async function memory(root: RootProcess): Promise<number> {
  const { readFileSync } = await import('node:fs');
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${root.pid()}/status`, 'utf8'))![1]) * 1024;
}

/** An answer that has begun; nothing of its path is put right before it is sent. */
function began(root: RootProcess, path: string): Promise<import('node:http').IncomingMessage> {
  const answered = new Promise<import('node:http').IncomingMessage>((resolve, reject) => {
    const headers = { 'x-forwarded-for': newAddress() };
    ask({ host: '127.0.0.1', port: root.port, path, headers, agent: false }, resolve)
      .on('error', reject)
      .end();
  });
  return within(answered, `the answer to ${path.slice(0, 80)}`);
}
/** A whole answer, or what of it came. */
async function raw(
  root: RootProcess,
  path: string,
): Promise<{ status: number; text: string; whole: boolean }> {
  const answer = await began(root, path);
  let [text, whole] = ['', true];
  const read = (async () => {
    try {
      for await (const part of answer) text += part;
    } catch {
      whole = false;
    }
  })();
  await within(read, 'the end of the answer');
  return { status: answer.statusCode!, text, whole };
}

test.run();
