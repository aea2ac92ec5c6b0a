// A document of USDL with all its slots, in a real browser: what is drawn of it, and what a person does with it.
import type { Browser, Page } from 'playwright-core';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { compile } from '../../firmware/ui/compile.ts';
import { type DrawnPage, drawnPage } from '../lab/browser/drawn.ts';
import { launch } from '../lab/browser/phone.ts';
import { until } from '../lab/wait.ts';

const test = suite('slots');

/** The page: a skill's screen with its acts as they are, over a hub that is made up. */
const page = `
import { html } from 'htm/preact';
import { render } from 'preact';
import { IngleError } from './firmware/protocol/errors.ts';
import { overlayState } from './firmware/ui/overlay.ts';
import { openActs } from './spa/acts.ts';
import { setLink } from './spa/current.ts';
import { bounds } from './spa/drawing.ts';
import { changes } from './spa/icons.ts';
import { View } from './spa/render.ts';
import { app, set } from './spa/store.ts';
window.wrong = [];
addEventListener('error', (e) => window.wrong.push(e.message));
addEventListener('unhandledrejection', (e) => window.wrong.push(String(e.reason)));
window.asked = [];
window.stopped = 0;
window.answers = true;
const all = Array.from({ length: 5 }, (_, i) => ({ id: i + 1, name: 'Order ' + (i + 1) }));
const link = {
  up: true,
  hubId: 'h',
  close() {},
  async request(method, path, body, headers, stop) {
    if (!window.answers || !path.endsWith('/query')) throw new IngleError('not_found', 'No such path.');
    window.asked.push({ path, ...body });
    stop.addEventListener('abort', () => window.stopped++);
    // A search for "slow" is answered by whoever overtakes it.
    if (body.search === 'slow') await new Promise((go) => stop.addEventListener('abort', go));
    const found = all.filter((o) => !body.search || o.name.includes(body.search));
    if (body.sort?.descending) found.reverse();
    return { rows: found.slice(body.page * body.pageSize, (body.page + 1) * body.pageSize), total: found.length };
  },
};
setLink(link);
set({ link: 'up', icons: [] });
let state = {};
let tree;
let acts;
const root = document.getElementById('app');
const draw = () => {
  const stored = overlayState(tree.state ?? {}, state);
  const drawing = {
    scope: { state: acts.over(stored), meta: {}, budget: { steps: bounds.steps } },
    left: { parts: bounds.parts },
    act: acts.act,
    rows: acts.rows,
  };
  render(html\`<\${View} tree=\${tree} drawing=\${drawing} />\`, root);
};
window.show = (t) => {
  tree = t;
  acts = openActs({ skill_id: 'shop', modes: [] }, () => overlayState(tree.state ?? {}, state), draw);
  draw();
};
window.tell = (s) => {
  state = s;
  draw();
};
window.toast = () => app().toast?.text;
window.pending = async () => (await changes()).pending.map((o) => o.body);
`;
interface Window1 {
  show(tree: unknown): void;
  tell(state: unknown): void;
  toast(): string | undefined;
  pending(): Promise<{ action: { type: string; path: string; body: Record<string, unknown> } }[]>;
  asked: Record<string, unknown>[];
  stopped: number;
  answers: boolean;
  wrong: string[];
}

const orders = {
  version: 'usdl/0.2',
  meta: { title: 'Orders' },
  viewModel: {
    filter: { text: 'first' },
    stock: [
      { name: 'Bolt', left: 2 },
      { name: 'Nut', left: 40 },
    ],
  },
  actions: {
    list: { emit: 'ui.query', query: 'orders.list' },
    pay: { emit: 'ui.action', payload: { n: 1 } },
  },
  components: [
    { slot: 'header', type: 'Card', title: 'The top' },
    { type: 'Input', id: 'text', label: 'Filter', bind: '$.filter.text' },
    { type: 'Input', id: 'sure', label: 'Sure', input: 'check', bind: '$.asking' },
    { type: 'Card', id: 'seen', body: 'Filtered by {{$.filter.text}}' },
    {
      type: 'Table',
      columns: [{ key: 'name', title: 'Short of' }],
      data: { bind: '$.stock[?@.left < 10]' },
    },
    { type: 'Card', title: 'Nothing is short', when: '!$..left' },
    {
      type: 'Table',
      title: 'All orders',
      search: true,
      columns: [
        { key: 'id', title: 'Number', sort: true },
        { key: 'name', title: 'Name' },
      ],
      data: { source: 'lazy', query: 'orders.list', pageSize: 2, params: { text: '$.filter.text' } },
    },
    { type: 'Button', text: 'Ask again', action: 'list' },
    { type: 'Button', text: 'Elsewhere', navigate: { to: 'page:orders' } },
    { slot: 'aside', type: 'Card', title: 'Help', body: 'Press what you like.' },
    {
      slot: 'modal',
      type: 'Card',
      title: 'Pay now?',
      when: '$.asking',
      actions: [{ text: 'Pay', action: 'pay' }],
    },
    { slot: 'toast', type: 'Card', body: 'Saved {{$.saved}}', when: '$.saved' },
  ],
};

let site: DrawnPage;
let browser: Browser;
let p: Page;
test.before(async () => {
  site = await drawnPage(page);
  browser = await launch();
  p = await browser.newPage({ viewport: { width: 1000, height: 800 } });
  await p.goto(site.url);
  const { tree, problems } = await compile(orders);
  assert.equal(problems, []);
  await p.evaluate((t) => (window as unknown as Window1).show(t), tree as never);
});
test.after(async () => {
  await browser?.close();
  site?.close();
});

const tell = (viewModel: object) =>
  p.evaluate((s) => (window as unknown as Window1).tell(s), { viewModel } as never);
const asked = () => p.evaluate(() => (window as unknown as Window1).asked);
const toast = (text: string) =>
  until(async () => (await p.evaluate(() => (window as unknown as Window1).toast())) === text, text);
const names = (table: string) =>
  p.getByRole('region', { name: table }).locator('tbody tr td:last-child').allInnerTexts();
const shows = (table: string, wanted: string[]) =>
  until(async () => (await names(table)).join() === wanted.join(), `${table}: ${wanted.join(', ')}`);

test('a document shows its first state, what its query finds, and its header and aside beside it', async () => {
  await p.getByText('Filtered by first').waitFor();
  await shows('Short of', ['Bolt']);
  assert.is(await p.getByText('Nothing is short').count(), 0);
  const box = async (text: string) => (await p.getByText(text, { exact: true }).boundingBox())!;
  const [top, main, aside] = [await box('The top'), await box('Filtered by first'), await box('Help')];
  assert.ok(top.y < main.y);
  assert.ok(aside.x > main.x + 300, 'the aside is a column');
  assert.is(await p.getByRole('dialog').count(), 0);
  assert.is(await p.locator('.v-toast').isVisible(), false);
});

test('on a narrow window the aside is a tab', async () => {
  await p.setViewportSize({ width: 380, height: 800 });
  await p.getByRole('tab', { name: 'More' }).click();
  await p.getByText('Press what you like.').waitFor();
  await p.setViewportSize({ width: 1000, height: 800 });
  await p.locator('aside').getByText('Help').waitFor();
});

test('what is set here is seen at once, and the skill has the last word', async () => {
  await p.getByLabel('Filter').fill('lamp');
  await p.getByText('Filtered by lamp').waitFor();
  await tell({ filter: { text: 'lamp' } });
  await p.getByText('Filtered by lamp').waitFor();
  await tell({ filter: { text: 'Lamps' } });
  await p.getByText('Filtered by Lamps').waitFor();
  await tell({ filter: { text: 'Lamps' }, stock: [] });
  await p.getByText('Nothing is short').waitFor();
});

test('rows come page by page, in the order and by the search a person asks for', async () => {
  await shows('All orders', ['Order 1', 'Order 2']);
  await p.getByText('1–2 of 5').waitFor();
  await p.getByRole('button', { name: 'Next' }).click();
  await shows('All orders', ['Order 3', 'Order 4']);
  // Another order begins with its first page.
  await p.getByRole('button', { name: 'Number' }).click();
  await p.getByRole('button', { name: 'Number' }).click();
  await shows('All orders', ['Order 5', 'Order 4']);
  const search = p.getByRole('searchbox');
  await search.fill('slow');
  await until(async () => (await asked()).at(-1)!['search'] === 'slow', 'a question');
  await search.pressSequentially('er');
  await search.fill('Order 3');
  await shows('All orders', ['Order 3']);
  const all = await asked();
  const { context, ...last } = all.at(-1)!;
  assert.equal(last, {
    path: '/skills/shop/v1/ui/query',
    query: 'orders.list',
    params: { text: 'Lamps' },
    page: 0,
    pageSize: 2,
    sort: { key: 'id', descending: true },
    search: 'Order 3',
  });
  assert.equal(Object.keys(context as object).sort(), ['path', 'session', 'skill']);
  assert.is(all.filter((a) => a['search'] === 'slower').length, 0, 'not each key is a question');
  assert.ok((await p.evaluate(() => (window as unknown as Window1).stopped)) >= 1, 'overtaken');
  await p.getByRole('button', { name: 'Ask again' }).click();
  await until(async () => (await asked()).length === all.length + 1, 'another question');
});

test('a dialog holds the focus, closes by Escape, gives the focus back and opens again', async () => {
  await p.getByLabel('Sure').focus();
  await p.keyboard.press('Space');
  const dialog = p.getByRole('dialog', { name: 'Orders' });
  await dialog.waitFor();
  for (let i = 0; i < 5; i++) {
    await p.keyboard.press('Tab');
    assert.ok(await p.evaluate(() => document.activeElement?.closest('dialog') !== null));
  }
  await p.keyboard.press('Escape');
  await dialog.waitFor({ state: 'hidden' });
  await p.waitForFunction(() => document.activeElement?.getAttribute('name') === 'sure');
  await p.getByRole('button', { name: 'Open' }).click();
  await dialog.waitFor();
});

test('an action goes to its skill by a command with its context', async () => {
  await p.getByRole('button', { name: 'Pay' }).click();
  const pending = () => p.evaluate(() => (window as unknown as Window1).pending());
  await until(async () => (await pending()).length === 1, 'a command');
  const { type, path, body } = (await pending())[0]!.action;
  assert.equal([type, path], ['http.post', '/skills/shop/v1/ui/action']);
  const { context, ...rest } = body;
  assert.equal(rest, { type: 'ui.action', action_id: 'pay', payload: { n: 1 } });
  assert.match(JSON.stringify(context), /^\{"skill":"shop","path":"\/","session":"[\w-]{36}"\}$/);
  await p.keyboard.press('Escape');
});

test('a toast is said when its words change, and can be put away', async () => {
  const box = p.locator('.v-toast');
  await tell({ saved: 'once' });
  await box.getByText('Saved once').waitFor();
  await box.getByRole('button', { name: 'Close' }).click();
  await box.waitFor({ state: 'hidden' });
  await tell({ saved: 'twice' });
  await box.getByText('Saved twice').waitFor();
});

test('what nobody answers is told in its place and in words', async () => {
  await p.getByRole('button', { name: 'Elsewhere' }).click();
  await toast('Not supported here: orders');
  await p.evaluate(() => {
    (window as unknown as Window1).answers = false;
  });
  await p.getByRole('button', { name: 'Ask again' }).click();
  await p.locator('.v-note').getByText('Not supported here: orders.list').waitFor();
  assert.equal(await p.evaluate(() => (window as unknown as Window1).wrong), []);
  assert.equal(site.reports, []);
});

test.run();
