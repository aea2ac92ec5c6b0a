// timeout: 300 s
// Every part of a screen as the application draws it, at a phone's and a desk's size, in light and dark, in English and
// Russian: axe finds nothing, nothing scrolls sideways or moves, and keys alone reach and work all of it.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { languages } from '../../firmware/text/i18n.ts';
import { describedParts } from '../../firmware/ui/described.ts';
import { referencePage } from '../../services/cli/ui/reference.ts';
import { violations } from '../lab/browser/check.ts';
import { changedLooks, looksOf } from '../lab/browser/looks.ts';
import { launch, type Phone, phone } from '../lab/browser/phone.ts';

const test = suite('gallery');
const dir = mkdtempSync(join(tmpdir(), 'ingle-gallery-'));
const url = pathToFileURL(join(dir, 'index.html')).href;
const sizes = { phone: { width: 390, height: 844 }, desk: { width: 1280, height: 800 } };
const ids = describedParts().map((p) => p.id);

let browser: Browser;
test.before(async () => {
  writeFileSync(join(dir, 'index.html'), await referencePage('en'));
  browser = await launch();
});
test.after(async () => {
  await browser?.close();
  rmSync(dir, { recursive: true });
});

/** What moves, by the part it is in. */
const watch = () => {
  const moved: string[] = [];
  Object.assign(window, { moved });
  new PerformanceObserver((list) => {
    for (const e of list.getEntries() as (PerformanceEntry & {
      value: number;
      sources: { node: Element | null }[];
    })[])
      moved.push(`${e.value.toFixed(4)} ${e.sources.map((s) => s.node?.closest?.('section')?.id).join(' ')}`);
  }).observe({ type: 'layout-shift' });
};

async function gallery(o: { size: keyof typeof sizes; dark: boolean; language: string }): Promise<Phone> {
  const p = await phone(browser, {
    ...{ still: true, size: sizes[o.size], dark: o.dark, locale: o.language, bare: true },
  });
  await p.page.addInitScript(watch);
  await p.page.goto(url);
  await p.page
    .locator('.ref-part')
    .nth(ids.length - 1)
    .waitFor();
  await p.page.waitForFunction(() => !document.querySelector('[aria-busy="true"]'));
  // What moves from here on moves under a reader's eyes.
  await p.page.evaluate(async () => {
    await document.fonts.ready;
    (window as unknown as { moved: string[] }).moved.length = 0;
  });
  return p;
}

/** What is wrong with where things are: too wide, outside of its part, or a thumb's target too small. */
const misplaced = () => {
  const wrong: string[] = [];
  if (document.documentElement.scrollWidth > innerWidth) wrong.push('the page scrolls sideways');
  for (const part of document.querySelectorAll<HTMLElement>('.ref-part')) {
    const live = part.querySelector<HTMLElement>('.ref-live')!;
    const around = live.getBoundingClientRect();
    if (live.textContent.trim() === '') wrong.push(`${part.id} is blank`);
    if (live.scrollWidth > live.clientWidth) wrong.push(`${part.id} is too wide`);
    for (const e of live.querySelectorAll<HTMLElement>('*')) {
      const r = e.getBoundingClientRect();
      const outside = r.left < around.left - 1 || r.right > around.right + 1 || r.top < around.top - 1;
      if (r.width > 0 && outside && !e.closest('.v-table, .v-code, svg'))
        wrong.push(`${part.id} lets ${e.outerHTML.slice(0, 60)} out`);
      if (!e.matches('button:not(.v-link), select, input, textarea, summary, a.button')) continue;
      const target = e.closest('label') && e.matches('[type=checkbox]') ? e.closest('label')! : e;
      const t = target.getBoundingClientRect();
      if (t.width > 0 && (t.height < 43.5 || t.width < 43.5))
        wrong.push(`${part.id}: ${e.outerHTML.slice(0, 80)} ${t.width}x${t.height}`);
    }
  }
  return wrong;
};

for (const size of ['phone', 'desk'] as const)
  for (const language of languages)
    for (const dark of [false, true]) {
      const name = `gallery-${size}-${language}-${dark ? 'dark' : 'light'}`;
      test(`every part is drawn, for everybody to read, and stands still: ${name}`, async () => {
        const p = await gallery({ size, dark, language });
        const { page } = p;
        assert.is(await page.evaluate(() => document.documentElement.lang), language);
        assert.equal(await page.locator('.ref-part').evaluateAll((all) => all.map((e) => e.id)), ids);
        assert.is(await page.locator('.v-note').count(), 0);
        assert.equal(await page.evaluate(misplaced), []);
        assert.equal(await violations(page), []);
        assert.equal(await page.evaluate(() => (window as unknown as { moved: string[] }).moved), []);
        mkdirSync('dist/screenshots', { recursive: true });
        const png = await page.screenshot({ path: `dist/screenshots/${name}.png`, fullPage: true });
        const looks = await looksOf(browser, page, '.ref-live', png);
        assert.equal(Object.keys(looks).sort(), [...ids].sort());
        // INGLE_WRITE=1 keeps how they look now; look at dist/screenshots first.
        assert.equal(changedLooks('test/browser/gallery.json', name, looks), []);
        assert.equal(p.errors, []);
        await p.close();
      });
    }

/** What takes longer to move than an eye sees, by its first words. */
const moving = () =>
  [...document.querySelectorAll('*')].flatMap((e) =>
    [undefined, '::before', '::after'].flatMap((part) => {
      const s = getComputedStyle(e, part);
      const longest = Math.max(
        ...`${s.transitionDuration},${s.animationName === 'none' ? '' : s.animationDuration}`
          .split(',')
          .map((t) => Number.parseFloat(t) || 0),
      );
      return longest > 0.001 ? [`${e.outerHTML.slice(0, 60)} ${part ?? ''} ${longest}`] : [];
    }),
  );

test('more contrast, less motion and another direction of reading leave it for everybody to read', async () => {
  const p = await gallery({ size: 'phone', dark: false, language: 'en' });
  const { page } = p;
  const line = () => page.evaluate(() => getComputedStyle(document.body).getPropertyValue('--line'));
  const soft = await line();
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, contrast: 'more' });
    // What is on its way from one colour to the other has neither.
    await page.evaluate(async () => {
      await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
      await Promise.all(document.getAnimations().map((a) => a.finished));
    });
    assert.is.not(await line(), soft);
    assert.equal(await violations(page), []);
  }
  assert.equal(await page.evaluate(misplaced), []);
  await page.emulateMedia({ colorScheme: 'light', contrast: 'no-preference' });
  assert.equal(await page.evaluate(moving), []);
  await page.evaluate(() => {
    document.documentElement.dir = 'rtl';
  });
  // A line of time goes one way in every language, and what is said below it does so too.
  const [from, to] = await live(page, 'ui-v0-chart-line')
    .locator('.xs span')
    .evaluateAll((all) => all.map((e) => e.getBoundingClientRect().left));
  assert.ok(from! < to!, 'the first value is on the left of the last');
  for (const size of Object.values(sizes)) {
    await page.setViewportSize(size);
    assert.equal(await page.evaluate(misplaced), []);
  }
  await page.emulateMedia({ reducedMotion: 'no-preference' });
  assert.ok((await page.evaluate(moving)).length > 10, 'as otherwise there is some');
  await p.close();
});

/** Each element that takes keys, by its place in the page. */
const reachable = () =>
  [
    ...document.querySelectorAll<HTMLElement>(
      'a[href], button, input, select, textarea, summary, [tabindex="0"]',
    ),
  ]
    .filter((e) => e.checkVisibility() && e.tabIndex >= 0 && !(e as HTMLButtonElement).disabled)
    .map((e, i) => {
      e.dataset['n'] = String(i);
      return i;
    });

test('Tab alone goes to all that can be used, in order, and shows where it is', async () => {
  const p = await gallery({ size: 'desk', dark: false, language: 'en' });
  const all = await p.page.evaluate(reachable);
  assert.ok(all.length > 150, `${all.length} are few`);
  const seen: number[] = [];
  const unseen: string[] = [];
  for (let steps = 0; steps < all.length * 3 && seen.at(-1) !== all.at(-1); steps++) {
    await p.page.keyboard.press('Tab');
    const at = await p.page.evaluate(() => {
      const e = document.activeElement as HTMLElement;
      const s = getComputedStyle(e);
      const isShown = s.outlineStyle !== 'none' && Number.parseFloat(s.outlineWidth) >= 2;
      return { n: Number(e.dataset['n'] ?? -1), fault: isShown ? '' : e.outerHTML.slice(0, 100) };
    });
    if (at.fault) unseen.push(at.fault);
    if (at.n >= 0 && at.n !== seen.at(-1)) seen.push(at.n);
  }
  assert.equal(seen, all);
  assert.equal(unseen, []);
  console.log(`FIGURE gallery_reached_by_tab ${seen.length} of ${all.length}`);
  await p.close();
});

const live = (page: Page, id: string) => page.locator(`#${id} .ref-live`);

test('keys alone work tabs, order, search, boxes and what a tap asks for', async () => {
  const p = await gallery({ size: 'phone', dark: true, language: 'en' });
  const { page } = p;
  await live(page, 'ui-v0-tabs').getByRole('tab', { name: 'Today' }).focus();
  await page.keyboard.press('ArrowRight');
  await live(page, 'ui-v0-tabs').getByRole('tabpanel', { name: 'This week' }).waitFor();
  const table = live(page, 'usdl-0-2-table');
  await table.getByRole('button', { name: 'How many' }).focus();
  await page.keyboard.press('Enter');
  await table.locator('[aria-sort="ascending"]').waitFor();
  await page.keyboard.press('Enter');
  await table.getByRole('cell', { name: '12' }).waitFor();
  await table.getByRole('searchbox').focus();
  await page.keyboard.type('bread');
  await table
    .getByText('1–4 of 4')
    .or(table.getByRole('cell', { name: '11' }))
    .first()
    .waitFor();
  await page.locator('#ui-v0-button .ref-live').getByRole('button', { name: 'Turn on' }).focus();
  await page.keyboard.press('Enter');
  await page.locator('#ui-v0-button .ref-asks').getByText('"lamp": true').waitFor();
  await live(page, 'ui-v0-chart-bar').locator('summary').focus();
  await page.keyboard.press('Enter');
  await live(page, 'ui-v0-chart-bar').getByRole('table').waitFor();
  assert.equal(await page.evaluate(misplaced), []);
  assert.equal(p.errors, []);
  await p.close();
});

test('a dialog takes the focus, is right for everybody, and gives the focus back', async () => {
  for (const dark of [false, true]) {
    const p = await gallery({ size: 'phone', dark, language: dark ? 'ru' : 'en' });
    const { page } = p;
    const box = live(page, 'usdl-0-2-page').getByRole('checkbox').first();
    await box.focus();
    await page.keyboard.press('Space');
    const dialog = page.getByRole('dialog');
    await dialog.waitFor();
    assert.ok(await dialog.evaluate((d) => d.contains(document.activeElement)));
    assert.equal(await violations(page), []);
    await page.screenshot({ path: `dist/screenshots/gallery-dialog-${dark ? 'dark' : 'light'}.png` });
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    assert.ok(await box.evaluate((b) => b === document.activeElement));
    await live(page, 'usdl-0-2-page').getByRole('checkbox').nth(1).focus();
    await page.keyboard.press('Space');
    await page.locator('.v-toast').waitFor();
    assert.equal(await violations(page), []);
    await p.close();
  }
});

test('what is typed into the search leaves the parts that have all of its words', async () => {
  const p = await gallery({ size: 'phone', dark: false, language: 'en' });
  const { page } = p;
  await page.getByLabel('Search').first().fill('chart.bar');
  await page.getByText('1 part', { exact: true }).waitFor();
  assert.equal(await page.locator('.ref-part').evaluateAll((all) => all.map((e) => e.id)), [
    'ui-v0-chart-bar',
  ]);
  await page.getByLabel('Search').first().fill('hologram');
  await page.getByText('Nothing here has this word').waitFor();
  await p.close();
});

test.run();
