// What a hub is for: its owner pairs a phone by the link its console gives, and reaches it through root, whatever is
// killed. Root and the phone (a real browser) are on this computer, at the hub's cable.
import type { ChildProcess } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import * as assert from 'uvu/assert';
import { start } from '../../../firmware/system/exec.ts';
import { top } from '../../../image/build.ts';
import {
  approve,
  at,
  launch,
  online,
  openStatus,
  type Phone,
  phone,
  press,
  shot,
} from '../../lab/browser/phone.ts';
import { call } from '../../lab/vm/hub.ts';
import type { Vm } from '../../lab/vm/lab.ts';
import type { Check } from '../../lab/vm/suite.ts';

/** An emulated machine takes its time to start a service. */
const slow = 240_000;

export interface Outside {
  /** Root as the machine finds it. */
  url: string;
  root?: ChildProcess;
  startRoot(): Promise<void>;
  /** The owner's phone; its browser starts when it is first asked for. */
  phone(): Promise<Phone>;
  stop(): Promise<void>;
}

/** A port that nothing has and the kernel gives nobody: root listens there long after the hub was told of it. */
async function quietPort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 30_000);
    const server = createServer();
    const free = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => resolve(true));
    });
    await new Promise((resolve) => server.close(resolve));
    if (free) return port;
  }
}

export async function outside(): Promise<Outside> {
  const { build } = await import('../../../services/cli/build.mjs' as string);
  await build();
  const data = mkdtempSync(join(tmpdir(), 'ingle-root-'));
  const port = await quietPort();
  const origin = `http://localhost:${port}`;
  const url = `http://10.0.2.2:${port}`;
  let browser: Browser | undefined;
  let p: Phone | undefined;
  const o: Outside = {
    url,
    async startRoot() {
      const flags = ['--port', `${port}`, '--data', data, '--origin', origin, '--audience', url];
      flags.push('--spa', join(top, 'dist/spa'));
      o.root = start(process.execPath, [join(top, 'dist/root/main.js'), ...flags], { stdio: 'ignore' });
      while (!(await fetch(`${origin}/health/live`).catch(() => null))?.ok)
        await new Promise((resolve) => setTimeout(resolve, 50));
    },
    async phone() {
      browser ??= await launch();
      p ??= await phone(browser);
      p.page.setDefaultTimeout(slow);
      return p;
    },
    async stop() {
      await browser?.close();
      o.root?.kill('SIGKILL');
      rmSync(data, { recursive: true, force: true });
    },
  };
  return o;
}

/** The chart's words, which hold its newest values. */
const chart = (page: Page) => page.locator('.v-chart desc').first().textContent();

/** The open window's numbers move: they come from the hub, now. */
async function moves(page: Page): Promise<void> {
  const before = await chart(page);
  for (const end = Date.now() + slow; (await chart(page).catch(() => before)) === before; ) {
    assert.ok(Date.now() < end, `still ${before}`);
    await page.waitForTimeout(200);
  }
}

export function owner(check: Check, o: () => Outside): void {
  check('the hub gives a link, and a phone that opens it is paired by passkey', async ({ vm }) => {
    await o().startRoot();
    const p = await o().phone();
    let link = '';
    for (const end = Date.now() + slow; !link; ) {
      const said = await call(vm, 'Setup1', 'PairingLink').catch((e) => e as Error);
      if (Array.isArray(said)) link = String(said[0]);
      else assert.ok(Date.now() < end, said.message);
    }
    assert.match(link, /#v1\./);
    await p.page.goto(link);
    await at(p.page, 'register');
    await press(p.page, 'Make a passkey');
    await approve(p);
  });

  check("the hub's status is live in the phone", async () => {
    const p = await o().phone();
    await openStatus(p.page);
    await moves(p.page);
    await shot(p.page, 'flashed-hub-status');
  });

  // Services of the hub die one by one in test/browser, and all at once when the power fails.
  check('kill -9 of root heals by itself', async () => {
    const p = await o().phone();
    o().root?.kill('SIGKILL');
    await p.page.locator('[data-link="down"]').waitFor();
    await o().startRoot();
    await online(p.page);
    await p.page.locator('[data-live="yes"]').waitFor();
    await moves(p.page);
    await p.page.keyboard.press('Escape');
  });
}

/** @param underWay what the hub has just begun when the power fails. @param words for the kernel of the next boot */
export function powerFails(
  check: Check,
  o: () => Outside,
  underWay: (vm: Vm) => Promise<void>,
  words: () => string,
): void {
  check(
    'the power fails: the phone says so, and what it does meanwhile arrives when the hub is back',
    async ({ vm }) => {
      const p = await o().phone();
      await vm.must('sync');
      await underWay(vm);
      await vm.kill();
      await p.page.locator('[data-link="offline"]').waitFor();
      await p.page
        .getByRole('button', { name: /Options for/ })
        .first()
        .click();
      await press(p.page, /^Pin$/);
      await p.page.getByText('One change waits to be sent').waitFor();
      await vm.start(words());
      await online(p.page);
      await p.page.getByText('One change waits to be sent').waitFor({ state: 'detached' });
      await p.page.locator('.tile .pin').first().waitFor();
      await openStatus(p.page);
      await moves(p.page);
      assert.equal(p.errors, []);
      // While it looks, the hub measures every two seconds.
      await p.page.close();
    },
  );
}
