// How parts of a page look, coarse enough to outlive another version of a browser or a font: of each a grid of mean
// colours and its height. A colour that is missing, a style sheet that does not come or a part that is another size shows.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { Browser, Page } from 'playwright-core';

const GRID = { x: 6, y: 4 };
/** A digit for each of 64 steps of a channel. */
const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
/** Steps that are no difference; cells of the grid that may differ by more; and the part of its height. */
const SAME = { steps: 4, cells: 2, height: 0.06 };

/** By id: height in CSS pixels, then a digit for each channel of each cell. */
export type Looks = Record<string, string>;

/** The looks of all that `selector` finds in a page, by id. */
export async function looksOf(browser: Browser, page: Page, selector: string, png: Buffer): Promise<Looks> {
  const boxes = await page.locator(selector).evaluateAll((all) =>
    all.map((e) => {
      const { left, top, width, height } = e.getBoundingClientRect();
      return { id: e.closest('[id]')!.id, x: left + scrollX, y: top + scrollY, w: width, h: height };
    }),
  );
  const scale = await page.evaluate(() => devicePixelRatio);
  const bench = await browser.newPage();
  try {
    return await bench.evaluate(
      async ({ url, boxes, scale, GRID, DIGITS }) => {
        const picture = await createImageBitmap(await (await fetch(url)).blob());
        // Four pixels a cell and side, whose mean is taken.
        const canvas = new OffscreenCanvas(GRID.x * 4, GRID.y * 4);
        const c = canvas.getContext('2d', { willReadFrequently: true })!;
        c.imageSmoothingQuality = 'high';
        const looks: Record<string, string> = {};
        for (const { id, x, y, w, h } of boxes) {
          c.clearRect(0, 0, canvas.width, canvas.height);
          c.drawImage(picture, x * scale, y * scale, w * scale, h * scale, 0, 0, canvas.width, canvas.height);
          let cells = '';
          for (let at = 0; at < GRID.x * GRID.y; at++) {
            const { data } = c.getImageData((at % GRID.x) * 4, Math.floor(at / GRID.x) * 4, 4, 4);
            for (let channel = 0; channel < 3; channel++) {
              let sum = 0;
              for (let i = channel; i < data.length; i += 4) sum += data[i]!;
              cells += DIGITS[Math.round((sum / 16 / 255) * 63)];
            }
          }
          looks[id] = `${Math.round(h)} ${cells}`;
        }
        return looks;
      },
      { url: `data:image/png;base64,${png.toString('base64')}`, boxes, scale, GRID, DIGITS },
    );
  } finally {
    await bench.close();
  }
}

const differ = (a: string, b: string): string => {
  const [[h1, cells1], [h2, cells2]] = [a.split(' '), b.split(' ')] as [[string, string], [string, string]];
  if (Math.abs(Number(h1) - Number(h2)) > SAME.height * Number(h1)) return `is ${h2} px high, was ${h1}`;
  const off = [...cells1].map(
    (digit, i) => Math.abs(DIGITS.indexOf(digit) - DIGITS.indexOf(cells2[i]!)) > SAME.steps,
  );
  const cells = new Set(off.flatMap((isOff, i) => (isOff ? [Math.floor(i / 3)] : [])));
  return cells.size > SAME.cells ? `has other colours in ${cells.size} of ${GRID.x * GRID.y} fields` : '';
};

/**
 * What looks other than it did, in words. `INGLE_WRITE=1` keeps how it looks now in `file`, once somebody has looked.
 * @param name of these looks in the file
 */
export function changedLooks(file: string, name: string, now: Looks): string[] {
  const kept = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Record<string, Looks>) : {};
  if (process.env['INGLE_WRITE']) {
    const sorted = Object.entries({ ...kept, [name]: now }).sort(([a], [b]) => (a < b ? -1 : 1));
    writeFileSync(file, `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`);
    return [];
  }
  const before = kept[name] ?? {};
  return [...new Set([...Object.keys(before), ...Object.keys(now)])].flatMap((id) => {
    const [was, is] = [before[id], now[id]];
    if (was === undefined || is === undefined) return [`${id} is ${is === undefined ? 'gone' : 'new'}`];
    const how = differ(was, is);
    return how ? [`${id} ${how}`] : [];
  });
}
