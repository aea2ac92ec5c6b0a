// timeout: 240 s
// Charts in Vega-Lite in a real browser under the application's own policy: drawn by an interpreter in the page's colours
// and language, following data, width and theme, with their values as a table; and what a chart may not do.
import { mkdirSync } from 'node:fs';
import fc from 'fast-check';
import type { Browser, Page } from 'playwright-core';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { violations } from '../lab/browser/check.ts';
import { type DrawnPage, drawnPage } from '../lab/browser/drawn.ts';
import { launch } from '../lab/browser/phone.ts';
import { until } from '../lab/wait.ts';

const test = suite('charts in Vega-Lite');

const page = `
import { html } from 'htm/preact';
import { render } from 'preact';
import { bounds } from './spa/drawing.ts';
import { View } from './spa/render.ts';
import { chooseLanguage } from './spa/text.ts';
import { chooseTheme } from './spa/theme.ts';
import { patcher } from './spa/vega-patch.ts';
const app = document.getElementById('app');
Object.assign(window, { ran: [], moved: 0, asked: [], chooseLanguage, chooseTheme });
addEventListener('securitypolicyviolation', (e) => window.ran.push(e.violatedDirective + ' ' + e.blockedURI));
addEventListener('error', (e) => window.ran.push('error ' + e.message));
addEventListener('unhandledrejection', (e) => window.ran.push('rejected ' + e.reason));
new PerformanceObserver((list) => {
  for (const e of list.getEntries()) window.moved += e.value;
}).observe({ type: 'layout-shift' });
/** Turns of the page's work, those that a worker's message begins too, wait until the test lets them through. */
const after = setTimeout;
const pause = () => new Promise((done) => after(done, 60));
const waiting = [];
let isHeld = false;
window.setTimeout = (f, ms) => (isHeld && !ms ? waiting.push(f) : after(f, ms));
/** What the worker says beside the drawing; it hangs on a chart with the text "hangs". */
const workers = (window.workers = { ended: 0, forged: undefined });
window.Worker = class extends Worker {
  set onmessage(f) {
    super.onmessage = (e) => {
      if (e.data === 'drawn' && workers.forged) f({ data: workers.forged });
      return isHeld ? waiting.push(() => f(e)) : f(e);
    };
  }
  postMessage(order) {
    if (!JSON.stringify(order).includes('hangs')) super.postMessage(order);
  }
  terminate() {
    workers.ended++;
    super.terminate();
  }
};
/** What stands in a box that was given these drawings one after the other, the first part of each in a frame of its own. */
window.patched = async (drawings) => {
  const box = document.createElement('div');
  const patch = patcher(box);
  for (const d of drawings) await patch([d.slice(0, 3), d.slice(3)], () => false);
  return box.innerHTML.replace(/vega\\d+-/g, '');
};
window.hold = () => {
  isHeld = true;
};
window.letThrough = async (turns) => {
  await pause();
  for (let n = 0; n < turns && waiting.length > 0; n++) {
    waiting.shift()();
    await pause();
  }
};
window.release = async () => {
  await window.letThrough(Infinity);
  isHeld = false;
};
window.drawNode = (node, state) => {
  const drawing = {
    scope: { state, meta: {}, budget: { steps: bounds.steps } },
    left: { parts: bounds.parts },
    act: async () => ({ done: true }),
  };
  const after = { is: 'text', of: ['below it'] };
  const tree = { tree: 1, from: 'test', needs: ['vega'], main: [node, after].flat() };
  render(node && html\`<main><h1>x</h1><\${View} tree=\${tree} drawing=\${drawing} /></main>\`, app);
};
`;
interface Window_ {
  drawNode(node: unknown, state: unknown): void;
  chooseLanguage(language: string): void;
  chooseTheme(choice: object): void;
  hold(): void;
  letThrough(turns: number): Promise<void>;
  release(): Promise<void>;
  patched(drawings: unknown[]): Promise<string>;
  workers: { ended: number; forged: unknown };
  moved: number;
  ran: string[];
}

let site: DrawnPage;
let browser: Browser;
test.before(async () => {
  site = await drawnPage(page);
  browser = await launch();
});
test.after(async () => {
  await browser?.close();
  site?.close();
});

const rows = [1, 2, 3, 4].map((n) => ({ at: `2026-11-0${n}T10:00:00Z`, day: `d${n}`, kwh: n * 1000.5 }));
const data = { path: ['state', 'rows'] };
const bars = {
  mark: 'bar',
  encoding: { x: { field: 'day', type: 'nominal' }, y: { field: 'kwh', type: 'quantitative' } },
};
const line = {
  mark: 'line',
  encoding: {
    x: { field: 'at', type: 'temporal', title: { i18n: { en: 'Day', ru: 'День' } } },
    y: { field: 'kwh', type: 'quantitative' },
  },
};
const node = (chart: object, more: object = {}) => ({
  ...{ is: 'vega', title: 'Energy', spec: chart, data },
  ...more,
});

async function opened(o: { dark?: boolean; width?: number } = {}): Promise<Page> {
  const p = await browser.newPage({
    colorScheme: o.dark ? 'dark' : 'light',
    viewport: { width: o.width ?? 390, height: 700 },
    reducedMotion: 'reduce',
  });
  await p.goto(site.url);
  return p;
}
const draw = (p: Page, n: unknown, state: unknown = { rows }) =>
  p.evaluate(([a, b]) => (window as unknown as Window_).drawNode(a, b), [n, state] as const);
/** The texts of the drawing itself. */
const texts = (p: Page) => p.locator('.v-vega svg text').allTextContents();
const barsOf = (p: Page) => p.locator('.v-vega .mark-rect.role-mark path');
const ended = async (p: Page) => {
  assert.equal(await p.evaluate(() => (window as unknown as Window_).ran), []);
  assert.equal(site.reports, []);
  await p.close();
};

for (const [dark, width] of [
  [false, 390],
  [true, 390],
  [false, 1000],
  [true, 1000],
] as const)
  test(`a chart is drawn for everybody, in the page's colours: ${dark ? 'dark' : 'light'}, ${width}`, async () => {
    const p = await opened({ dark, width });
    await draw(p, node({ layer: [bars, { ...bars, mark: { type: 'text', dy: -6 } }] }));
    await barsOf(p).nth(3).waitFor();
    const token = await p.evaluate(() =>
      getComputedStyle(document.documentElement).getPropertyValue('--line-1').trim(),
    );
    assert.is(await barsOf(p).first().getAttribute('fill'), token);
    await p.getByRole('img', { name: 'Energy' }).waitFor();
    assert.equal(await violations(p), []);
    const over = await p.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.is(over, 0);
    mkdirSync('dist/screenshots', { recursive: true });
    await p.screenshot({ path: `dist/screenshots/vega-${width}-${dark ? 'dark' : 'light'}.png` });
    await ended(p);
  });

test('new data moves what is drawn, without drawing it anew', async () => {
  const p = await opened();
  await draw(p, node(bars));
  await barsOf(p).nth(3).waitFor();
  await p.evaluate(() => document.querySelector('.v-vega svg')!.setAttribute('data-first', ''));
  const more = [...rows, { day: 'd5', kwh: 9000 }];
  await draw(p, node(bars), { rows: more });
  await barsOf(p).nth(4).waitFor();
  await draw(p, node(bars), { rows: more.slice(3) });
  await until(async () => (await barsOf(p).count()) === 2, 'two bars');
  assert.is(await p.locator('.v-vega svg[data-first]').count(), 1);
  await ended(p);
});

test('what changes while a chart is still being read is in the drawing: data, width, language, and that it is gone', async () => {
  const p = await opened({ width: 1000 });
  const more = Array.from({ length: 8 }, (_, i) => ({ day: `n${i}`, kwh: i + 1 }));
  const during = (turns: number, then: unknown) =>
    p.evaluate(
      async ([n, state, count, last]) => {
        const w = window as unknown as Window_;
        const app = document.getElementById('app')!;
        app.style.width = '';
        w.drawNode(null, {});
        await w.letThrough(0);
        w.hold();
        w.drawNode(n, state);
        await w.letThrough(count);
        const isReading = !document.querySelector('.v-vega svg');
        if (last) app.style.width = '500px';
        // Another language begins anew, by which time the width is the last one.
        if (count % 2 === 0) w.chooseLanguage(document.documentElement.lang === 'ru' ? 'en' : 'ru');
        w.drawNode(last && n, last);
        await w.letThrough(1);
        await w.release();
        return isReading;
      },
      [node(bars), { rows }, turns, then] as const,
    );
  let met = 0;
  for (let turns = 0; turns < 7; turns++) {
    if (await during(turns, { rows: more })) met++;
    await until(async () => (await barsOf(p).count()) === more.length, `the last data (${turns})`);
    await until(async () => {
      const wide = await p.locator('.v-vega svg').evaluate((svg) => Number(svg.getAttribute('width')));
      return wide > 300 && wide <= 500;
    }, `the last width, in one drawing (${turns})`);
    await during(turns, null);
    assert.is(await p.locator('.v-vega').count(), 0);
  }
  assert.ok(met > 2, `${met} of seven changes came while it was read`);
  await ended(p);
});

test('it follows the language and the theme, with numbers, dates and titles of the reader', async () => {
  const p = await opened({ width: 1000 });
  await draw(p, node(line));
  await p.locator('.v-vega .mark-line path').waitFor();
  const has = (text: string | RegExp) => p.locator('.v-vega svg text', { hasText: text }).first().waitFor();
  await has('4,000');
  await has('Day');
  await p.evaluate(() => (window as unknown as Window_).chooseLanguage('ru'));
  await has(/^4\s000$/);
  await has('День');
  await has(/нояб/);
  assert.not.ok((await texts(p)).some((text) => /AM|PM|Nov/.test(text)));
  const fill = () => p.locator('.v-vega .mark-text.role-axis-title text').first().getAttribute('fill');
  const before = await fill();
  await p.evaluate(() => (window as unknown as Window_).chooseTheme({ theme: 'dark' }));
  await until(async () => (await fill()) === '#b8aa99', 'the colours of the night');
  assert.is.not(before, '#b8aa99');
  await ended(p);
});

test('it has the width of its place, and nothing moves while it comes and while its place changes', async () => {
  const p = await opened({ width: 390 });
  await draw(p, node(bars));
  await p.locator('.v-vega svg').waitFor();
  const width = () => p.locator('.v-vega svg').getAttribute('width');
  assert.is(await width(), '390');
  assert.is(await p.evaluate(() => (window as unknown as Window_).moved), 0);
  await p.setViewportSize({ width: 700, height: 700 });
  await until(async () => (await width()) === '700', 'the width of the window');
  assert.is(await p.locator('.v-vega [role="img"]').evaluate((e) => e.getBoundingClientRect().height), 240);
  await ended(p);
});

test('who does not see it reads its values as a table, of all its layers', async () => {
  const p = await opened();
  await draw(
    p,
    node({ layer: [bars, { mark: 'line', encoding: { x: bars.encoding.x, y: { field: 'n' } } }] }),
  );
  await p.getByText('Show as table').click();
  const table = p.getByRole('region', { name: 'Energy' });
  await table.getByRole('columnheader', { name: 'n', exact: true }).waitFor();
  await table.getByRole('cell', { name: '4,002' }).waitFor();
  await draw(p, { is: 'vega', spec: { ...bars, data: { values: rows } } });
  await p.getByRole('img', { name: 'Chart of day, kwh' }).waitFor();
  await until(async () => (await barsOf(p).count()) === 4, 'its own four bars');
  await ended(p);
});

test('fields without a type are drawn by what they hold, in the order of the rows', async () => {
  const p = await opened();
  const spec = { mark: 'bar', encoding: { x: { field: 'hour' }, y: { field: 'kWh' } } };
  await draw(p, node(spec), {
    rows: [
      { hour: '23:00', kWh: 2 },
      { hour: '00:00', kWh: 1 },
    ],
  });
  await barsOf(p).nth(1).waitFor();
  const axis = p.locator('.v-vega .role-axis-label text', { hasText: ':00' });
  assert.equal(await axis.allTextContents(), ['23:00', '00:00']);
  await ended(p);
});

test('what it cannot be stands as a plain chart or a table, also where only drawing finds it out', async () => {
  const p = await opened();
  const instead = { is: 'text', of: ['in words'] };
  // What a hub of an earlier version lets through is read here once more.
  await draw(p, node({ ...bars, transform: [{ sequence: { start: 0, stop: 1e9 } }] }, { instead }));
  await p.getByText('in words').waitFor();
  await draw(
    p,
    node({ ...bars, encoding: { x: { field: 'day', type: 'nominal', scale: { type: 'nope' } } } }),
  );
  await p.getByText('below it').waitFor();
  // What breaks in the midst of it.
  await draw(p, node({ ...bars, transform: [{ calculate: 'datum.none.deeper', as: 'z' }] }));
  await p.getByRole('columnheader', { name: 'kwh' }).waitFor();
  await draw(p, null);
  await draw(p, node({ mark: 'image', encoding: bars.encoding }));
  await p.getByRole('columnheader', { name: 'kwh' }).waitFor();
  await ended(p);
});

test('more rows than are drawn are said, and a spec of the worst kind draws within its bounds', async () => {
  const p = await opened();
  const many = Array.from({ length: 30_000 }, (_, n) => ({
    day: `d${n}`,
    kwh: n % 2 ? 1e308 : -1e308,
    s: 'x'.repeat(900),
  }));
  const worst = {
    layer: Array.from({ length: 8 }, () => ({
      mark: { type: 'line', point: true },
      encoding: { ...bars.encoding, color: { field: 's' }, text: { field: 's' } },
    })),
  };
  await draw(p, node(worst), { rows: many });
  await p.getByText(/Drawn are the first 250 of 30,?000 rows/).waitFor();
  await p.locator('.v-vega svg').waitFor();
  await ended(p);
});

test('a chart that is not drawn in time is a table, and takes no other chart with it', async () => {
  const p = await opened();
  await draw(p, [node(bars), node({ ...bars, title: 'hangs' }), node(line)]);
  await p.locator('.v-vega .mark-line path').waitFor();
  assert.is(await p.locator('.v-vega').count(), 2);
  assert.is(await barsOf(p).count(), 4);
  await p.getByRole('columnheader', { name: 'kwh' }).waitFor();
  assert.is(await p.evaluate(() => (window as unknown as Window_).workers.ended), 1);
  await draw(p, [node(bars), node(line)], { rows: rows.slice(2) });
  await until(async () => (await barsOf(p).count()) === 2, 'two bars');
  await ended(p);
});

test('where no worker can be started a table stands there, until one can', async () => {
  const p = await opened();
  await p.evaluate(() => Object.assign(window, { Worker: undefined, other: window.Worker }));
  await draw(p, node(bars));
  await p.getByRole('columnheader', { name: 'kwh' }).waitFor();
  assert.is(await p.locator('.v-vega').count(), 0);
  await p.evaluate(() => Object.assign(window, { Worker: (window as unknown as { other: unknown }).other }));
  await draw(p, null);
  await draw(p, node(bars));
  await barsOf(p).nth(3).waitFor();
  await ended(p);
});

test('nothing is drawn of what a worker says beyond shapes and texts', async () => {
  const p = await opened();
  await p.evaluate(() => {
    const w = window as unknown as Window_;
    const run = { onload: 'ran.push("load")', onclick: 'x', href: 'javascript:ran.push("href")' };
    w.workers.forged = [
      [1, 'g', { class: 'forged mark-x v-modal', style: 'position: fixed;', ...run }, ''],
      [2, 'script', {}, 'ran.push("script")'],
      [2, 'a', run, ''],
      [3, 'text', {}, 'in a link'],
      [2, 'foreignObject', {}, ''],
      [2, 'image', { href: '/there.png' }, ''],
      [2, 'rect', { fill: 'url(/there.svg#x)', filter: 'url(#x)', width: '1' }, ''],
      [0, 'svg', run, ''],
      ...[
        null,
        7,
        'svg',
        [[]],
        [9, 'g', {}, ''],
        [Number.NaN, 'g'],
        [1, 'text', null, '<script>ran.push(1)</script>'],
      ],
    ];
  });
  await draw(p, node(bars));
  await p.locator('.v-vega svg text', { hasText: '<script>' }).waitFor();
  const has = await p.locator('.v-vega').evaluate((chart) => {
    const all = [...chart.querySelectorAll('[role="img"] *')];
    const tags = [...new Set(all.map((e) => e.tagName))].sort();
    const names = all
      .flatMap((e) => e.getAttributeNames())
      .filter((name) => /^(on|href|style|filter)/.test(name));
    return { tags, names, text: chart.textContent!, forged: chart.innerHTML.match(/forged|v-modal|there/) };
  });
  assert.equal(has.tags, ['DIV', 'clipPath', 'defs', 'g', 'line', 'path', 'rect', 'svg', 'text']);
  assert.equal([has.names, has.forged], [[], null]);
  assert.not.match(has.text, /in a link/);
  assert.is(await p.locator('.v-vega [role="img"] svg').count(), 1);
  await ended(p);
});

test('a drawing put over any other is what it would be by itself', async () => {
  const p = await opened();
  const says = fc.constantFrom('', '1', 'none', 'red');
  const names = fc.constantFrom('d', 'fill', 'x', 'id', 'stroke-width');
  const tag = fc.constantFrom('g', 'path', 'text', 'linearGradient', 'script');
  const drawing = fc.array(
    fc.tuple(fc.nat(4), tag, fc.dictionary(names, says, { noNullPrototype: true }), says),
    { maxLength: 40 },
  );
  const whole = (parts: unknown[]) => [[0, 'svg', {}, ''], ...parts];
  const patched = (...drawings: unknown[][]) =>
    p.evaluate((all) => (window as unknown as Window_).patched(all), drawings.map(whole));
  // The order of attributes says nothing.
  const sorted = (html: string) =>
    html.replace(/ [\w-]+="[^>]*"/g, (all) => (all.match(/ [\w-]+="[^"]*"/g) ?? []).sort().join(''));
  for (const [a, b, c] of fc.sample(fc.tuple(drawing, drawing, drawing), { numRuns: 150, seed: 7 }))
    assert.is(sorted(await patched(a, b, c)), sorted(await patched(c)), JSON.stringify([a, b, c]));
  await ended(p);
});

test('nothing of it is left when it goes', async () => {
  const p = await opened();
  await draw(p, node(bars));
  await barsOf(p).nth(3).waitFor();
  await draw(p, null);
  await p.locator('.v-vega').waitFor({ state: 'detached' });
  await p.setViewportSize({ width: 700, height: 700 });
  await p.evaluate(() => (window as unknown as Window_).chooseTheme({ theme: 'dark' }));
  await p.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));
  await ended(p);
});

test.run();
