// From navigation to the first live value on the screen, over a slow network and on a processor four times slower: our
// desktop, whose tile tells a value of its skill through root and the end-to-end channel, beside a bare page that shows
// the same value of a plain y-websocket document. Cold: nothing of the page is there but our keys and session; warm: the
// visit before has left what it leaves. The value is another one in each visit, so that nothing kept counts.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import type { Browser, CDPSession, Page } from 'playwright-core';
import { checkManifest } from '../../firmware/skills/manifest.ts';
import { freePort } from '../../services/cli/house/runtime.ts';
import { askHub, launch, pairByLink, phone } from '../lab/browser/phone.ts';
import { child } from '../lab/child.ts';
import { startHouse } from '../lab/house.ts';
import { tried, until } from '../lab/wait.ts';
import { peersFolder } from './_peers.ts';
import { median } from './_sides.ts';
import { SLOW, slowWay } from './_slow.ts';
import { steps } from './_steps.ts';

const ROUNDS = Number(process.env['ROUNDS'] ?? 7);
const SLOWER = 4;

interface Site {
  name: 'ours' | 'peer';
  origin: string;
  page: Page;
  cdp: CDPSession;
  way: Awaited<ReturnType<typeof slowWay>>;
  /** Another value, of which the browser has not heard. */
  change(value: string): Promise<void>;
  /** What a visit leaves, all but keys and session. */
  forget(): Promise<void>;
  /** Settles when the page has nothing more to bring here. */
  settled(): Promise<void>;
}

const lux = {
  manifest: checkManifest({
    id: 'lux',
    version: '1.0.0',
    capabilities: {
      visual: true,
      ui: { title: 'Lux', modes: ['modal'], schema: 'ui/v0', glance: { value: '{{state.value}}' } },
    },
  }),
  code: {
    text: `export const skill = { start: (ctx) => ({
      attached(owner) {
        ctx.setView(owner, { schema: 'ui/v0', layout: { type: 'text', text: '{{state.value}}' } });
        if (ctx.state(owner).value === undefined) ctx.setState(owner, { value: 'none' });
      },
      endpoints: [{ method: 'POST', path: '/v1/set', answer: ({ body }) => ({ body: {}, state: () => body }) }],
    }) };`,
  },
};

/** Notes in the page when a value stood there first, and was live. */
const watch = `(() => {
  window.seen = {};
  const look = () => {
    const tile = document.querySelector('.tile[data-skill="lux"] .told');
    const text = tile ? !tile.querySelector('[data-age]') && tile.textContent : document.getElementById('value')?.textContent;
    if (text) window.seen[text.trim()] ??= performance.now();
  };
  new MutationObserver(look).observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
})()`;

const step = steps();
const peers = peersFolder();
const dir = mkdtempSync(join(tmpdir(), 'ingle-visit-'));
const browsers: Browser[] = [];

/** All of localhost lies behind the slow way. */
async function behind(port: number) {
  const way = await slowWay(port);
  const browser = await launch([`--host-resolver-rules=MAP localhost 127.0.0.1:${way.port}`]);
  browsers.push(browser);
  return { way, browser };
}

const house = await startHouse({ installed: [lux] });
async function ours(): Promise<Site> {
  const { way, browser } = await behind(Number(new URL(house.origin).port));
  const p = await phone(browser, { still: true });
  await pairByLink(p, house);
  await p.page.addInitScript(watch);
  const { page, cdp } = p;
  const { origin } = house;
  return {
    ...{ name: 'ours', origin, page, cdp, way },
    async change(value) {
      const r = await askHub(house, '/skills/lux/v1/set', { method: 'POST', body: { value } });
      if (r.status !== 200) throw new Error(await r.text());
    },
    async forget() {
      await page.evaluate(
        () =>
          new Promise<void>((ok, no) => {
            const r = indexedDB.open('ingle', 1);
            r.onsuccess = () => {
              const t = r.result.transaction(['icons', 'prefs'], 'readwrite');
              for (const name of ['icons', 'prefs']) t.objectStore(name).clear();
              t.oncomplete = () => ok();
              t.onabort = () => no(t.error);
            };
          }),
      );
      await page.goto('about:blank');
      await cdp.send('Storage.clearDataForOrigin', { origin, storageTypes: 'service_workers,cache_storage' });
      await cdp.send('Network.clearBrowserCache');
    },
    settled: () => page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined)),
  };
}

async function bare(): Promise<Site> {
  const port = await freePort('127.0.0.1');
  const script = join(dir, 'bare.js');
  await build({
    stdin: {
      contents: `
        import * as Y from 'yjs';
        import { WebsocketProvider } from 'y-websocket';
        const doc = new Y.Doc();
        const content = doc.getMap('content');
        const value = document.getElementById('value');
        content.observe(() => { value.textContent = content.get('value'); });
        new WebsocketProvider(location.origin.replace('http', 'ws'), 'room', doc);`,
      resolveDir: process.cwd(),
    },
    ...{ bundle: true, minify: true, format: 'esm', outfile: script },
  });
  child(process.execPath, ['test/bench/_bare.mjs', peers, String(port), script]);
  const put = (value: string) => fetch(`http://127.0.0.1:${port}/value`, { method: 'PUT', body: value });
  await until(
    tried(async () => (await put('none')).ok),
    'the bare page',
  );
  const { way, browser } = await behind(port);
  const p = await phone(browser, { still: true, bare: true });
  const { page, cdp } = p;
  await page.addInitScript(watch);
  await page.goto(`http://localhost:${port}`);
  return {
    ...{ name: 'peer', origin: `http://localhost:${port}`, page, cdp, way },
    change: async (value) => void (await put(value)),
    async forget() {
      await page.goto('about:blank');
      await cdp.send('Network.clearBrowserCache');
    },
    settled: async () => {},
  };
}

type Seen = { seen: Record<string, number> };

/** One visit, milliseconds from navigation. */
async function visit(site: Site, value: string): Promise<number> {
  const { page, cdp, way } = site;
  await page.goto('about:blank');
  await site.change(value);
  way.slow(true);
  await cdp.send('Emulation.setCPUThrottlingRate', { rate: SLOWER });
  try {
    await page.goto(site.origin, { waitUntil: 'commit' });
    const seen = () => page.evaluate((v) => (window as unknown as Seen).seen?.[v], value);
    return (await until(seen, `${value} on the page`)) as number;
  } finally {
    await cdp.send('Emulation.setCPUThrottlingRate', { rate: 1 });
    way.slow(false);
    await site.settled();
  }
}

const took: Record<string, number[]> = {};
try {
  const sites = [await ours(), await bare()];
  for (let n = 0; n < ROUNDS; n++)
    for (const site of n % 2 ? sites.toReversed() : sites)
      await step(`round ${n + 1} of ${ROUNDS}, ${site.name}`, async () => {
        for (const kind of ['cold', 'warm'] as const) {
          if (kind === 'cold') await site.forget();
          const key = `${site.name}_${kind}_ms`;
          took[key] = [...(took[key] ?? []), await visit(site, `${kind}${n}`)];
        }
      });
} finally {
  for (const b of browsers) await b.close();
  await house.stop();
  rmSync(dir, { recursive: true });
}
const all = Object.fromEntries(Object.entries(took).map(([k, v]) => [k, Math.round(median(v))]));
const ratio = (kind: string) => Number((all[`ours_${kind}_ms`]! / all[`peer_${kind}_ms`]!).toFixed(2));
console.log(
  JSON.stringify({
    bench: 'visit',
    ...{ ours: all['ours_cold_ms'], peer: all['peer_cold_ms'], unit: 'ms', ratio: ratio('cold') },
    ...{ target: '<= 1.5 cold, <= 1.2 warm', warm_ratio: ratio('warm'), ...all },
    ...{ rtt_ms: SLOW.rtt, bits_per_s: SLOW.bits, processor: `1/${SLOWER}`, rounds: ROUNDS },
  }),
);
process.exit(0);
