// How a page looks: a picture into dist/screenshots, and what axe and a ruler find.
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { shot } from './phone.ts';

const axe = readFileSync('node_modules/axe-core/axe.min.js', 'utf8');
interface Violation {
  id: string;
  impact: string;
  nodes: { html: string; failureSummary?: string }[];
}

/** What `check` found, of all pages of a file. */
export const faults: string[] = [];

/** What axe finds, of whatever weight, in words. */
export async function violations(page: Page): Promise<string[]> {
  // By CDP, which the page's content policy does not rule.
  const found = (await page.evaluate(
    `${axe};axe.run(document, { resultTypes: ['violations'] }).then((r) => r.violations)`,
  )) as Violation[];
  return found.map((v) => `${v.impact} ${v.id} ${v.nodes.map((n) => n.html.slice(0, 160)).join(' | ')}`);
}

/** A picture, axe's verdict, no sideways scrolling, and nothing for a thumb under 44 px. */
export async function check(page: Page, name: string): Promise<void> {
  await shot(page, name);
  const grave = (await violations(page)).filter((v) => /^(serious|critical) /.test(v));
  faults.push(...grave.map((v) => `${name}: ${v}`));
  const small = await page.evaluate(() => {
    const scrolls = document.documentElement.scrollWidth > innerWidth ? ['the page scrolls sideways'] : [];
    const targets = [...document.querySelectorAll<HTMLElement>('button, select, input, summary')];
    return [
      ...scrolls,
      ...targets
        .filter((e) => e.offsetParent && !e.closest('[inert]'))
        .map((e) => ({ e, r: e.getBoundingClientRect() }))
        .filter(({ r }) => r.width < 43.5 || r.height < 43.5)
        .map(({ e, r }) => `${e.outerHTML.slice(0, 80)} ${r.width}x${r.height}`),
    ];
  });
  faults.push(...small.map((what) => `${name}: ${what}`));
}

/** The same at the width of a small phone and of a larger one, in both colours. */
export async function checkOnPhones(page: Page, name: string): Promise<void> {
  for (const dark of [false, true]) {
    await page.emulateMedia({ colorScheme: dark ? 'dark' : 'light' });
    for (const width of [320, 390]) {
      await page.setViewportSize({ width, height: 844 });
      await check(page, `${name}-${dark ? 'dark' : 'light'}-${width}`);
    }
  }
  await page.emulateMedia({ colorScheme: 'light' });
}
