// timeout: 1200 s
// What a hub is for, on the image that is flashed: its owner pairs a phone by the link its console gives, and reaches
// it through root, whatever is killed. The hub has a cable; root and the phone (a real browser) are on this computer.
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { start } from '../../firmware/system/exec.ts';
import { top } from '../../image/build.ts';
import { flash } from '../../image/flash.ts';
import { freePort } from '../../services/cli/house/runtime.ts';
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
} from '../lab/browser/phone.ts';
import { call, consoles, without } from '../lab/vm/hub.ts';
import { boot, cannotRun } from '../lab/vm/lab.ts';
import { checksOf, type Lab } from '../lab/vm/suite.ts';

/** An emulated machine takes its time to start a service. */
const slow = 240_000;

interface World extends Lab {
  root: ChildProcess;
  browser: Browser;
  p: Phone;
  data: string;
  startRoot(): Promise<void>;
}

const why = cannotRun();
if (why) console.log(`SKIP ${why}`);
const test = suite<World>('the owner of a flashed hub');
const check = checksOf(test, why);

test.before(async (c) => {
  if (why) return;
  const { build } = await import('../../services/cli/build.mjs' as string);
  await build();
  c.data = mkdtempSync(join(tmpdir(), 'ingle-root-'));
  const port = await freePort('127.0.0.1');
  const origin = `http://localhost:${port}`;
  c.startRoot = async () => {
    const flags = ['--port', `${port}`, '--data', c.data, '--origin', origin, '--spa', join(top, 'dist/spa')];
    flags.push('--audience', `http://10.0.2.2:${port}`);
    c.root = start(process.execPath, [join(top, 'dist/root/main.js'), ...flags], { stdio: 'ignore' });
    while (!(await fetch(`${origin}/health/live`).catch(() => null))?.ok)
      await new Promise((resolve) => setTimeout(resolve, 50));
  };
  await c.startRoot();
  c.browser = await launch();
  c.p = await phone(c.browser);
  c.p.page.setDefaultTimeout(slow);
  c.vm = await boot({
    flash: await flash(),
    cable: true,
    // Nobody sits at its consoles; each service of a boot is emulated.
    cmdline: `systemd.setenv=INGLE_ROOT=http://10.0.2.2:${port} ${without(consoles)}`,
  });
});
test.after(async (c) => {
  await c.browser?.close();
  c.root?.kill('SIGKILL');
  await c.vm?.stop();
  if (c.data) rmSync(c.data, { recursive: true, force: true });
});

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

check('the hub gives a link, and a phone that opens it is paired by passkey', async ({ vm, p }) => {
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

check("the hub's status is live in the phone", async ({ p }) => {
  await openStatus(p.page);
  await moves(p.page);
  await shot(p.page, 'flashed-hub-status');
});

// One by one, on a computer that is not emulated, they die in test/browser. hub_status lives in slot 1.
check('kill -9 of uplink, API and skill at once heals by itself', async ({ vm, p }) => {
  const units = ['ingle-uplink', 'ingle-api', 'ingle-skill@1'];
  const pids = `systemctl show -p MainPID --value ${units.join(' ')}`;
  const before = (await vm.must(pids)).split(/\n+/);
  assert.is(before.length, 3);
  await vm.must(`systemctl kill -s KILL ${units.join(' ')}`);
  const isNew = (pid: string) => pid !== '0' && !before.includes(pid);
  await vm.until(pids, { test: (said) => said.trim().split(/\n+/).every(isNew), timeoutMs: slow });
  await online(p.page);
  await p.page.locator('[data-live="yes"]').waitFor();
  await moves(p.page);
});

check('kill -9 of root heals by itself', async ({ root, startRoot, p }) => {
  root.kill('SIGKILL');
  await p.page.locator('[data-link="down"]').waitFor();
  await startRoot();
  await online(p.page);
  await p.page.locator('[data-live="yes"]').waitFor();
  await moves(p.page);
  await p.page.keyboard.press('Escape');
});

check(
  'the power fails: the phone says so, and what it does meanwhile arrives when the hub is back',
  async (c) => {
    const { vm, p } = c;
    await vm.must('sync');
    await vm.kill();
    await p.page.locator('[data-link="offline"]').waitFor();
    await p.page
      .getByRole('button', { name: /Options for/ })
      .first()
      .click();
    await press(p.page, /^Pin$/);
    await p.page.getByText('One change waits to be sent').waitFor();
    await vm.start();
    await online(p.page);
    await p.page.getByText('One change waits to be sent').waitFor({ state: 'detached' });
    await p.page.locator('.tile .pin').first().waitFor();
    await openStatus(p.page);
    await moves(p.page);
    assert.equal(p.errors, []);
  },
);

test.run();
