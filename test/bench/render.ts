// From a tree and its state to what is on the screen, and from a change of one value to the next: a table of 1,000 rows
// and a page of ten charts, in Chromium, ours beside Adaptive Cards' own renderer. Each round has a fresh page; rounds of
// both sides alternate; medians are given. That renderer has no charts: it shows the ten series as lists of facts, as an
// author would have to, and has no updates: it renders the card anew.
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { type DrawnPage, drawnPage } from '../lab/browser/drawn.ts';
import { launch } from '../lab/browser/phone.ts';
import { peersFolder } from './_peers.ts';
import { median } from './_sides.ts';
import { steps } from './_steps.ts';

const ROUNDS = Number(process.env['ROUNDS'] ?? 15);
const UPDATES = 20;

/** What both sides have: the data, and how a drawing is timed until its frame was painted. */
const common = `
const rows = Array.from({ length: 1000 }, (_, i) => ({ id: 'r' + i, name: 'Sensor ' + i, room: 'Room ' + (i % 12), value: i / 10, state: i % 3 ? 'on' : 'off' }));
const series = Array.from({ length: 10 }, (_, c) => Array.from({ length: 100 }, (_, x) => ({ x, y: Math.round(50 + 40 * Math.sin(x / 9 + c)) })));
const app = document.getElementById('app');
const painted = () => new Promise((done) => requestAnimationFrame(() => {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = done;
  port2.postMessage(0);
}));
/** Until \`there\` holds and was painted, milliseconds. */
const timed = async (work, there) => {
  const began = performance.now();
  work();
  while (!there()) await new Promise((done) => setTimeout(done));
  await painted();
  return performance.now() - began;
};
const change = (kind, n) => {
  if (kind === 'table') rows[n * 40] = { ...rows[n * 40], value: 'new ' + n };
  else series[n % 10] = [...series[n % 10].slice(1), { x: 100 + n, y: 10_000 + n }];
};
/** By the words alone: what is drawn says the value that has changed. */
const says = (kind, n) => app.textContent.includes(kind === 'table' ? 'new ' + n : String(10_000 + n)) ||
  app.textContent.includes((10_000 + n).toLocaleString('en'));
window.run = async (kind) => {
  const first = await timed(() => draw(kind), () => isThere(kind));
  const updates = [];
  for (let n = 0; n < ${UPDATES}; n++) {
    change(kind, n);
    updates.push(await timed(() => draw(kind), () => says(kind, n)));
  }
  return { first, update: updates.sort((a, b) => a - b)[${UPDATES / 2}] };
};
`;

const ours = `
import { html } from 'htm/preact';
import { render } from 'preact';
import { bounds } from './spa/drawing.ts';
import { View } from './spa/render.ts';
const columns = ['id', 'name', 'room', 'value', 'state'].map((key) => ({ key, label: key }));
const at = (...path) => ({ path: ['state', ...path] });
const trees = {
  table: { tree: 1, from: 'bench', needs: [], main: [{ is: 'table', title: 'Sensors', columns, rows: at('rows') }] },
  charts: { tree: 1, from: 'bench', needs: ['chart'], main: Array.from({ length: 10 }, (_, c) => ({
    is: 'chart', kind: 'line', title: 'Series ' + c,
    series: [{ label: 'S' + c, x: at('series', c, null, 'x'), y: at('series', c, null, 'y') }],
  })) },
};
function draw(kind) {
  const tree = trees[kind];
  const drawing = {
    scope: { state: { rows: [...rows], series: [...series] }, meta: {}, budget: { steps: bounds.steps } },
    left: { parts: bounds.parts },
    act: async () => ({ done: true }),
  };
  render(html\`<\${View} tree=\${tree} drawing=\${drawing} />\`, app);
}
const isThere = (kind) => kind === 'table' ? app.querySelectorAll('tbody tr').length === 1000 : app.querySelectorAll('svg[role=img]').length === 10;
`;

const peer = (folder: string) => `
import * as AC from ${JSON.stringify(join(folder, 'node_modules/adaptivecards/dist/adaptivecards.js'))};
const text = (t) => ({ type: 'TextBlock', text: String(t), wrap: true });
const cell = (t) => ({ type: 'TableCell', items: [text(t)] });
const keys = ['id', 'name', 'room', 'value', 'state'];
const cards = {
  table: () => ({ type: 'AdaptiveCard', version: '1.5', body: [{ type: 'Table', firstRowAsHeader: true, columns: keys.map(() => ({ width: 1 })),
    rows: [keys, ...rows.map((r) => keys.map((k) => r[k]))].map((cells) => ({ type: 'TableRow', cells: cells.map(cell) })) }] }),
  charts: () => ({ type: 'AdaptiveCard', version: '1.5', body: series.flatMap((s, c) => [text('Series ' + c), { type: 'FactSet', facts: s.map(({ x, y }) => ({ title: String(x), value: String(y) })) }]) }),
};
function draw(kind) {
  const card = new AC.AdaptiveCard();
  card.parse(cards[kind]());
  app.replaceChildren(card.render());
}
const isThere = () => app.childElementCount > 0;
`;

const kinds = ['table', 'charts'] as const;
type Kind = (typeof kinds)[number];
type Took = { first: number; update: number };

async function round(browser: Browser, site: DrawnPage, kind: Kind): Promise<Took> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
  try {
    await page.goto(site.url);
    return await page.evaluate((k) => (window as unknown as { run(k: string): Promise<Took> }).run(k), kind);
  } finally {
    await page.close();
  }
}

const step = steps();
const sites = {
  ours: await drawnPage(ours + common),
  peer: await drawnPage(peer(peersFolder()) + common, {
    policy: "default-src 'self' data:; style-src 'self' 'unsafe-inline'",
  }),
};
const browser = await launch();
const all: Record<string, Took[]> = {};
try {
  for (let n = 0; n < ROUNDS; n++)
    await step(`round ${n + 1} of ${ROUNDS}`, async () => {
      for (const kind of kinds)
        for (const side of n % 2 ? (['peer', 'ours'] as const) : (['ours', 'peer'] as const)) {
          const name = `${side}_${kind}`;
          all[name] = [...(all[name] ?? []), await round(browser, sites[side], kind)];
        }
    });
} finally {
  await browser.close();
  for (const site of Object.values(sites)) site.close();
}
const figure = (name: string, what: keyof Took) => Number(median(all[name]!.map((r) => r[what])).toFixed(1));
const ratio = (kind: Kind, what: keyof Took) =>
  Number((figure(`ours_${kind}`, what) / figure(`peer_${kind}`, what)).toFixed(3));
console.log(
  JSON.stringify({
    bench: 'render',
    ours: figure('ours_table', 'first'),
    peer: figure('peer_table', 'first'),
    unit: 'ms',
    ratio: ratio('table', 'first'),
    target: '<= 0.5',
    ...Object.fromEntries(
      Object.keys(all).flatMap((name) => [
        [`${name}_first_ms`, figure(name, 'first')],
        [`${name}_update_ms`, figure(name, 'update')],
      ]),
    ),
    table_update_ratio: ratio('table', 'update'),
    charts_first_ratio: ratio('charts', 'first'),
    charts_update_ratio: ratio('charts', 'update'),
    rounds: ROUNDS,
  }),
);
