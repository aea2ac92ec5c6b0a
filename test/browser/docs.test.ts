// The page of the local API in a browser: it looks right under its own content policy, and loads nothing else.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { localPage } from '../../services/api/areas.ts';
import { check, faults } from '../lab/browser/check.ts';
import { launch, phone } from '../lab/browser/phone.ts';

let browser: Browser;
let server: Server;
const asked: string[] = [];
test.before(async () => {
  const { body, policy } = localPage();
  server = createServer((req, res) => {
    asked.push(req.url!);
    if (req.url !== '/api/docs') return void res.writeHead(404).end();
    res.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': policy });
    res.end(body);
  });
  await new Promise<void>((ok) => server.listen(0, '127.0.0.1', ok));
  browser = await launch();
});
test.after(async () => {
  await browser?.close();
  server?.close();
});

for (const [name, options] of [
  ['phone-light', {}],
  ['phone-dark', { dark: true }],
  ['desk-light', { size: { width: 1280, height: 800 } }],
] as const)
  test(`the page of the local API reads well: ${name}`, async () => {
    const p = await phone(browser, { still: true, ...options });
    await p.page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/api/docs`);
    const background = await p.page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    assert.is(background, name === 'phone-dark' ? 'rgb(22, 18, 14)' : 'rgb(247, 243, 236)');
    await check(p.page, `${name}-20-api`);
    // By keyboard to an area.
    await p.page.keyboard.press('Tab');
    await p.page.keyboard.press('Enter');
    assert.is(new URL(p.page.url()).hash, '#system');
    assert.equal(p.errors, []);
    await p.close();
  });

test('nothing but the page was asked for, and no fault was found', () => {
  assert.equal(
    asked.filter((path) => path !== '/favicon.ico'),
    ['/api/docs', '/api/docs', '/api/docs'],
  );
  assert.equal(faults, []);
});

test.run();
