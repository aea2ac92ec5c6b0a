// timeout: 400 s
// Taps during repeated deaths of everything on the way: what the page has taken is done, and done once.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { House } from '../../services/cli/house/house.ts';
import { home } from '../lab/browser/home.ts';
import { askHub, countKept, online, openStatus, type Phone } from '../lab/browser/phone.ts';
import { until } from '../lab/wait.ts';

let house: House;
let p: Phone;
const rooms = home(test);
test.before(async () => {
  [house, , p] = await rooms.paired();
});

/** Commands the page still keeps: each leaves only when the hub has said done. */
const waiting = () => countKept(p.page, 'ops_outbox');

/** What the skill itself has counted. */
async function counted(): Promise<number> {
  const r = await until(async () => {
    const r = await askHub(house, '/skills/hub_status/v1/state').catch(() => undefined);
    return r?.ok && r;
  }, 'the state of the skill');
  return ((await r.json()) as { refresh?: { count: number } }).refresh?.count ?? 0;
}

test('each tap taken while root, uplink, api and the skill die at random is done exactly once', async () => {
  await openStatus(p.page);
  const button = p.page.locator('.window .v-row.end button');
  await button.waitFor();
  await p.page.evaluate(() => {
    const failed: string[] = [];
    Object.assign(window, { failed });
    new MutationObserver(() => {
      const said = document.querySelector('.toast')?.textContent ?? '';
      if (/did not do that/.test(said)) failed.push(said);
    }).observe(document.body, { childList: true, subtree: true, characterData: true });
  });
  const before = await counted();
  const names = ['root', 'uplink', 'api', 'skill hub_status'];
  let taps = 0;
  let kills = 0;
  let killsSinceTap = 0;
  let over = false;
  const killer = (async () => {
    while (!over) {
      await new Promise((done) => setTimeout(done, Math.random() * 3500));
      // Whoever is still starting is left to start, else its supervisor would wait ever longer.
      const name = names[Math.floor(Math.random() * names.length)]!;
      // On a busy computer all of them die sooner than they start: one tap is let through then, however long it takes.
      if (over || !house.pid(name) || killsSinceTap >= 6) continue;
      house.kill(name);
      kills++;
      killsSinceTap++;
    }
  })();
  const end = Date.now() + 45_000;
  try {
    while (Date.now() < end || taps < 15 || kills < 8) {
      await p.page.locator('.window .v-row.end button:not([aria-busy])').waitFor();
      killsSinceTap = 0;
      await button.click();
      taps++;
      await p.page.waitForTimeout(Math.random() * 400);
    }
  } finally {
    over = true;
    await killer;
  }
  await online(p.page);
  await until(async () => (await waiting()) === 0, 'all taps to be acknowledged');
  await p.page.locator('[data-live="yes"]').waitFor();
  assert.equal(await p.page.evaluate(() => (window as unknown as { failed: string[] }).failed), []);
  assert.is((await counted()) - before, taps, 'taps done on the hub');
  assert.ok(kills >= 8, `only ${kills} deaths`);
  console.log(`FIGURE taps_once ${taps}`);
  console.log(`FIGURE deaths_meanwhile ${kills}`);
});

test('nothing broke on the way', () => assert.equal(p.errors, []));

test.run();
