// Labels as a browser draws them: every word in its place, whatever the names, and a code that a camera reads.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { wifiCode } from '../../firmware/device/factory.ts';
import { ssidOf } from '../../firmware/setup/secrets.ts';
import { must } from '../../firmware/system/exec.ts';
import { labelSvg } from '../../image/label-svg.ts';
import { launch } from '../lab/browser/phone.ts';

const test = suite<{ browser: Browser; dir: string }>('labels');
const missing = ['/usr/bin/chromium', '/usr/bin/zbarimg'].filter((f) => !existsSync(f));
if (missing.length > 0) console.log(`SKIP labels are not looked at: there is no ${missing.join(', no ')}`);
const check = missing.length > 0 ? test.skip : test;
test.before(async (c) => {
  c.dir = mkdtempSync(join(tmpdir(), 'ingle-labels-'));
  if (missing.length === 0) c.browser = await launch();
});
test.after(async (c) => {
  await c.browser?.close();
  rmSync(c.dir, { recursive: true, force: true });
});

const secrets = { psk: 'acefhjkm2345', pin: '123456' };
/** The longest a device file and a serial number may have, in wide letters and narrow, with breaks and without. */
const names: [brand: string, model: string, serial: string][] = [
  ['Hearth', 'hearth-2', 'H2-000123'],
  ['W'.repeat(24), 'w'.repeat(31), 'W'.repeat(32)],
  ['i'.repeat(24), 'i'.repeat(31), 'I'.repeat(32)],
  ['Kitchen & Living Room Hub', 'living-room-hub-professional-ed', 'KLR-2026-11-23-000000000001-ABCD'],
  ['Очаг домашний', 'ochag-domashniy-2026-rev-b', 'OD-2026-0000000000000000000012'],
  ['Щ'.repeat(13), 'm-1', 'ABCD'],
  ['暖炉'.repeat(4), 'danro-2', 'DR-0001'],
  ['🔥 Hub 🏠 Home', 'fire', 'FI-0001'],
  ['<b>"&\'', 'quoted', 'QU-0001'],
];
function drawn([brand, model, serial]: (typeof names)[number]) {
  const ssid = ssidOf(brand, serial);
  const rows: [string, string][] = [
    ['Model', model],
    ['Serial', serial],
    ['Wi-Fi', ssid],
    ['Password', secrets.psk],
    ['PIN', secrets.pin],
  ];
  const code = wifiCode(ssid, secrets.psk);
  return { svg: labelSvg(brand, rows, code), rows, brand, code };
}

/** Fonts a printer's computer may have for sans-serif and monospace. */
const fonts = ['sans-serif', 'DejaVu Sans', 'DejaVu Serif'];

check('no word runs into another, into the code or off the label', async ({ browser }) => {
  const page = await browser.newPage({ viewport: { width: 800, height: 400 } });
  for (const name of names)
    for (const font of fonts) {
      const { svg } = drawn(name);
      await page.setContent(svg.replace('font-family="sans-serif"', `font-family="${font}"`));
      const boxes = await page.evaluate(() =>
        [...document.querySelectorAll('text')].map((t) => {
          const { x, width } = t.getBBox();
          const size = Number(t.getAttribute('font-size'));
          const y = Number(t.getAttribute('y'));
          // Letters stand from their heads to what hangs below the line, which is less than the font's box.
          return {
            text: t.textContent,
            x,
            right: x + width,
            top: y - 0.78 * size,
            bottom: y + 0.22 * size,
            size,
          };
        }),
      );
      const said = `${name[0]} in ${font}`;
      for (const b of boxes) {
        assert.ok(b.x >= 28.3 && b.right <= 61, `${said}: "${b.text}" from ${b.x} to ${b.right}`);
        assert.ok(b.top >= 1 && b.bottom <= 28.2, `${said}: "${b.text}" from ${b.top} to ${b.bottom}`);
        assert.ok(b.size >= 1.8, `${said}: "${b.text}" has ${b.size} mm`);
      }
      for (const [i, a] of boxes.entries())
        for (const b of boxes.slice(i + 1)) {
          const apart =
            a.right <= b.x + 0.05 ||
            b.right <= a.x + 0.05 ||
            a.bottom <= b.top + 0.1 ||
            b.bottom <= a.top + 0.1;
          assert.ok(apart, `${said}: "${a.text}" and "${b.text}"`);
        }
    }
  await page.close();
});

check('every letter of a name, a number and a secret stands on the label', async ({ browser }) => {
  const page = await browser.newPage();
  for (const name of names) {
    const { svg, rows, brand } = drawn(name);
    await page.setContent(svg);
    const said = await page.evaluate(() =>
      [...document.querySelectorAll('text')].map((t) => t.textContent).join(''),
    );
    const bare = (t: string) => t.replace(/\s/g, '');
    assert.is(bare(said), bare([brand, ...rows.flat()].join('')));
  }
  await page.close();
});

check('a camera reads the code off a printed label', async ({ browser, dir }) => {
  for (const name of names) {
    const { svg, code } = drawn(name);
    // 62 mm at the 203 dots an inch of a common label printer.
    const page = await browser.newPage({ viewport: { width: 496, height: 232 } });
    await page.setContent(
      `<body style="margin:0">${svg.replace(/width="62mm" height="29mm"/, 'width="496" height="232"')}`,
    );
    const file = join(dir, 'label.png');
    writeFileSync(file, await page.screenshot());
    const read = await must('zbarimg', ['--quiet', '--raw', '-Sbinary', file]);
    assert.is(read.toString().trim(), code, name[0]);
    await page.close();
  }
});

test.run();
