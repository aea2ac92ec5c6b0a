// timeout: 300 s
// The application on a static host of its own, root at another origin: a phone pairs, comes back, and nobody else gets in.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { exportApp } from '../../services/cli/app.ts';
import type { House } from '../../services/cli/house/house.ts';
import { freePort } from '../../services/cli/house/runtime.ts';
import { ticketed } from '../lab/browser/framed.ts';
import { approve, at, launch, online, openStatus, phone, press } from '../lab/browser/phone.ts';
import { startHouse } from '../lab/house.ts';

const folder = mkdtempSync(join(tmpdir(), 'ingle-apphost-'));
const site = join(folder, 'site');
let [app, root, evil] = ['', '', ''];
let house: House;
let browser: Browser;
let servers: Server[] = [];
/** What the static host was asked for, as `GET /path`. */
const asked: string[] = [];

const types: Record<string, string> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
};
/** The plainest of static hosts: files and their types, and no header of its own. */
function host(port: number, read: (path: string) => Buffer): Server {
  return createServer((req, res) => {
    const path = new URL(req.url!, 'http://host').pathname;
    try {
      const body = read(path);
      res.writeHead(200, { 'content-type': types[extname(path) || '.html'] ?? 'application/octet-stream' });
      res.end(body);
    } catch {
      res.writeHead(404).end();
    }
  }).listen(port, '127.0.0.1');
}

test.before(async () => {
  const [a, r, e] = [await freePort('127.0.0.1'), await freePort('127.0.0.1'), await freePort('127.0.0.1')];
  [app, root, evil] = [
    `http://app.localhost:${a}`,
    `http://root.localhost:${r}`,
    `http://evil.localhost:${e}`,
  ];
  [house, browser] = await Promise.all([
    startHouse({ origin: app, api: root, port: r, host: '127.0.0.1', installed: [ticketed] }),
    launch(),
  ]);
  exportApp('dist/spa', root, site);
  servers = [
    host(a, (path) => {
      asked.push(path);
      return readFileSync(join(site, path === '/' ? 'index.html' : path));
    }),
    host(e, () => Buffer.from('<!doctype html><title>evil</title>')),
  ];
});
test.after(async () => {
  await browser?.close();
  await house?.stop();
  for (const s of servers) s.close();
  rmSync(folder, { recursive: true, force: true });
});

interface Kept {
  sid: string;
  session_jwt: string;
  browser: string;
}

test('a phone pairs, sees its hub and comes back; the relay serves no code, the host sees no call', async () => {
  const p = await phone(browser);
  const fromRoot: string[] = [];
  p.page.on('response', (r) => {
    const url = new URL(r.url());
    if (url.origin === root) fromRoot.push(`${r.headers()['content-type']} ${url.pathname}`);
  });
  const code = await house.issueCode();
  assert.ok(code.link.startsWith(`${app}/#`), code.link);
  assert.is(code.verify_uri, `${app}/`);
  await p.page.goto(code.link);
  await at(p.page, 'register');
  await press(p.page, 'Make a passkey');
  await approve(p);
  await openStatus(p.page);
  await p.page
    .locator('.window')
    .getByText(/Uptime/i)
    .first()
    .waitFor();
  const [passkey] = await p.passkeys.credentials();
  assert.is(passkey!.rpId, 'app.localhost');

  // From now on the page comes from the service worker.
  await p.page.evaluate(() => navigator.serviceWorker.ready);
  await p.page.reload();
  await at(p.page, 'desktop');
  await online(p.page);
  await p.page.waitForFunction(() => navigator.serviceWorker.controller !== null);
  const before = asked.length;
  await p.page.reload();
  await at(p.page, 'desktop');
  await online(p.page);
  assert.equal(
    asked.slice(before).filter((path) => path !== '/sw.js'),
    [],
    'the shell is kept',
  );

  // Another visit: no session, and the passkey is asked for.
  await p.page.evaluate(() => sessionStorage.clear());
  await p.page.goto('about:blank');
  await p.page.goto(app);
  await at(p.page, 'login');
  await press(p.page, 'Sign in with passkey');
  await at(p.page, 'desktop');
  await online(p.page);
  await openStatus(p.page);
  assert.equal(p.errors, []);
  assert.equal(await p.context.cookies(), [], 'root keeps no cookie here');

  assert.ok(fromRoot.length > 5);
  for (const r of fromRoot) assert.match(r, /^(application\/json; charset=utf-8|undefined) \/v1\//);
  assert.ok(asked.includes('/sw.js'));
  for (const path of asked) assert.not.match(path, /^\/(v1|socket\.io|health|\.well-known)\b/);
  await p.close();
});

test('a page of a skill that goes through root opens in the application of the other host, and in no other', async () => {
  const p = await phone(browser);
  const code = await house.issueCode({ newPasskey: true });
  await p.page.goto(code.link);
  await at(p.page, 'register');
  await press(p.page, 'Make a passkey');
  await approve(p);
  await p.page.locator('.tile[data-skill="ticketed"] .open').click();
  await p.page.locator('.window [data-frame="shown"]').waitFor();
  const src = (await p.page.locator('.window iframe').getAttribute('src'))!;
  assert.ok(src.startsWith(`${root}/skill-ui/ticketed/v1/ui/`), src);
  assert.is((await p.page.locator('.window iframe').boundingBox())!.height, 300);
  assert.equal(p.errors, []);
  // Whoever else takes a ticket may not show what it opens.
  const { ticket, entryUrl } = await p.page.evaluate(async (root) => {
    const { session_jwt, browser } = JSON.parse(sessionStorage.getItem('ingle.session')!);
    const headers = {
      'content-type': 'application/json',
      authorization: `Bearer ${session_jwt}`,
      'x-ingle-browser': browser,
    };
    const body = JSON.stringify({ skill_id: 'ticketed', page: 'panel/good.html' });
    return (await fetch(`${root}/v1/skill-ui/open`, { method: 'POST', headers, body })).json();
  }, root);
  assert.ok(entryUrl.endsWith(ticket));
  const stranger = await phone(browser);
  await stranger.page.goto(evil);
  await stranger.page.evaluate(async (address) => {
    const frame = document.createElement('iframe');
    frame.src = address;
    const loaded = new Promise((ok) => {
      frame.onload = ok;
    });
    document.body.append(frame);
    await loaded;
  }, entryUrl);
  assert.not(stranger.page.frames().some((f) => f.url().startsWith(`${root}/skill-ui/`)));
  await stranger.close();
  await p.close();
});

test('a page of a third origin gets nothing, nor does a session without its browser', async () => {
  const p = await phone(browser);
  await p.page.goto((await house.issueCode({ newPasskey: true })).link);
  await press(p.page, 'Make a passkey');
  await approve(p);
  const kept = await p.page.evaluate(() => JSON.parse(sessionStorage.getItem('ingle.session')!) as Kept);
  assert.match(kept.browser, /^[\w-]{44}$/);

  // Somebody who has the token, and even the secret, in a page of his own.
  const thief = await browser.newPage();
  await thief.goto(evil);
  const ask = (path: string, o: { method?: string; body?: string; headers?: Record<string, string> }) =>
    thief.evaluate(
      ([url, init]) =>
        fetch(url, init).then(
          (r) => `${r.type} ${r.status}`,
          () => 'refused',
        ),
      [root + path, o] as const,
    );
  const headers = { authorization: `Bearer ${kept.session_jwt}`, 'x-ingle-browser': kept.browser };
  assert.is(await ask('/v1/owner/credentials', { headers }), 'refused');
  assert.is(await ask('/v1/owner/logout', { method: 'POST', body: '{}', headers }), 'refused');
  assert.is(await ask('/v1/session', { method: 'POST', body: '{}' }), 'refused');
  const socket = (page: Page) =>
    page.evaluate(
      (url) =>
        new Promise<string>((ok) => {
          const s = new WebSocket(url);
          s.onmessage = () => ok('open');
          s.onclose = () => ok('refused');
        }),
      `${root.replace('http', 'ws')}/socket.io/?EIO=4&transport=websocket`,
    );
  assert.is(await socket(thief), 'refused');
  assert.is(await socket(p.page), 'open');
  await thief.close();

  const list = (headers: Record<string, string>) =>
    fetch(`${root.replace('root.localhost', '127.0.0.1')}/v1/owner/credentials`, {
      headers: { origin: app, authorization: `Bearer ${kept.session_jwt}`, ...headers },
    }).then((r) => r.status);
  assert.is(await list({}), 401, 'a stolen session without the secret of its browser');
  assert.is(await list({ 'x-ingle-browser': kept.browser }), 200);

  // The page's own policy holds without any header of its host.
  const leak = await p.page.evaluate(
    (to) =>
      new Promise<string>((ok) => {
        document.addEventListener('securitypolicyviolation', (e) => ok(e.effectiveDirective));
        fetch(to).then(
          () => ok('open'),
          // The other origin refuses as well; the policy speaks first.
          () => setTimeout(() => ok('no policy'), 1000),
        );
      }),
    evil,
  );
  assert.is(leak, 'connect-src');
  await p.close();
});

test('a root that has moved reaches a browser that keeps the shell', async () => {
  const p = await phone(browser);
  await p.page.goto(app);
  await at(p.page, 'entry');
  await p.page.evaluate(() => navigator.serviceWorker.ready);
  await p.page.reload();
  await p.page.waitForFunction(() => navigator.serviceWorker.controller !== null);
  const rootOf = () =>
    p.page.evaluate(() => document.querySelector<HTMLMetaElement>('[name=ingle-root]')!.content);
  assert.is(await rootOf(), root);
  // Another name of the same root.
  const moved = root.replace('root.', 'moved.');
  const [first, second] = [exportApp('dist/spa', root, site), exportApp('dist/spa', moved, site)];
  assert.is(first.build, second.build);
  assert.is.not(first.hash, second.hash);
  const renewed = p.page.waitForEvent('load');
  const replaced = p.page.evaluate(async () => {
    const r = (await navigator.serviceWorker.getRegistration())!;
    await r.update();
    const next = r.installing ?? r.waiting;
    if (!next) throw new Error('no new worker');
    if (next.state === 'installing')
      await new Promise((ok) => next.addEventListener('statechange', ok, { once: true }));
    next.postMessage('take over');
  });
  await Promise.all([replaced, renewed]);
  assert.is(await rootOf(), moved);
  const field = p.page.getByLabel('Code from the hub');
  await field.fill('000000');
  await press(p.page, 'Continue');
  await p.page.getByText('This code does not work').waitFor();
  await p.close();
});

test.run();
