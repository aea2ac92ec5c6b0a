// The desktop's own reckoning: what wants a person first, how wide rows are, what a search finds, where a window may stand.
import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import type { Icon } from '../../spa/store.ts';

// Modules of a page look at its screen when they are loaded.
Object.assign(globalThis, { matchMedia: () => ({ matches: true, addEventListener() {} }) });
const { columnsFor } = await import('../../spa/arrange.ts');
const { wanting } = await import('../../spa/attention.ts');
const { clamped } = await import('../../spa/place.ts');
const { ranked } = await import('../../spa/rank.ts');
const { queryFor } = await import('../../spa/theme.ts');

const icon = (skill_id: string, o: Partial<Icon> = {}): Icon => ({
  ...{ skill_id, title: skill_id, icon: 'app', entrypoint: '', modes: ['modal'], pinned: false, order: null },
  ...{ available: true },
  ...o,
});

test('what does not run comes first, then what a skill calls not well, each as the desktop stands', () => {
  const icons = [
    icon('a'),
    icon('b', { available: false }),
    icon('c'),
    icon('d', { pinned: true }),
    icon('e'),
  ];
  const glances = {
    a: { at: 1, alert: 'A waits' },
    // One that does not run has nothing newer to say than that.
    b: { at: 1, alert: 'B waits' },
    c: { at: 1, line: 'All is well' },
    d: { at: 1, alert: { i18n: { en: 'D waits', ru: 'D ждёт' } } },
  };
  assert.equal(
    wanting(icons, glances).map((w) => [w.icon.skill_id, w.says]),
    [
      ['b', null],
      ['d', { i18n: { en: 'D waits', ru: 'D ждёт' } }],
      ['a', 'A waits'],
    ],
  );
  assert.equal(wanting([icon('a')], {}), []);
});

test('rows of a desk are of about one length, and no wider than its document says', () => {
  const cases: [tiles: number, cols: number, columns: number][] = [
    ...([
      [1, 6, 3],
      [3, 6, 3],
      [4, 6, 4],
      [5, 6, 3],
      [6, 6, 3],
      [7, 6, 4],
      [8, 6, 4],
    ] as [number, number, number][]),
    ...([
      [9, 6, 5],
      [30, 6, 6],
      [5, 2, 2],
      [1, 1, 1],
      [40, 12, 10],
    ] as [number, number, number][]),
  ];
  for (const [tiles, cols, columns] of cases)
    assert.is(columnsFor(tiles, cols), columns, `${tiles} by ${cols}`);
  fc.assert(
    fc.property(
      fc.nat(300),
      fc.integer({ min: 1, max: 12 }),
      (tiles, cols) => columnsFor(tiles, cols) <= cols,
    ),
  );
});

test('a search finds by beginnings before middles and by the title before other words, in any case', () => {
  const entries = [
    { title: 'Hub status', also: ['hub_status'] },
    { title: 'Settings', also: ['status of things'] },
    { title: 'Thubs' },
    { title: 'Ёлка' },
    { title: 'Weather', also: ['Погода'] },
  ];
  const found = (text: string) => ranked(entries, text).map((e) => e.title);
  assert.equal(
    found('  '),
    entries.map((e) => e.title),
    'all, in their order',
  );
  assert.equal(found('HUB'), ['Hub status', 'Thubs']);
  assert.equal(found('stat'), ['Hub status', 'Settings']);
  assert.equal(found('stat hub'), ['Hub status'], 'every word must stand somewhere');
  assert.equal(found('погода'), ['Weather']);
  assert.equal(found('елка'), ['Ёлка']);
  assert.equal(found('nothing'), []);
});

test('a window stands whole on the page, whatever is remembered of it', () => {
  assert.equal(clamped({ x: -50, y: 900, w: 400, h: 300 }, { w: 1000, h: 700 }), {
    x: 0,
    y: 400,
    w: 400,
    h: 300,
  });
  assert.equal(clamped({ x: 10, y: 10, w: 40, h: 30 }, { w: 1000, h: 700 }), {
    x: 10,
    y: 10,
    w: 320,
    h: 256,
  });
  const number = fc.integer({ min: -5000, max: 5000 });
  fc.assert(
    fc.property(
      fc.record({ x: number, y: number, w: number, h: number }),
      fc.record({ w: fc.integer({ min: 1, max: 4000 }), h: fc.integer({ min: 1, max: 4000 }) }),
      (p, page) => {
        const { x, y, w, h } = clamped(p, page);
        return x >= 0 && y >= 0 && x + w <= page.w && y + h <= page.h && w > 0 && h > 0;
      },
    ),
  );
});

test('a chosen theme switches its own rules on and the other off, and contrast is beside it', () => {
  const [dark, light, more] = [
    '(prefers-color-scheme: dark)',
    '(prefers-color-scheme: light)',
    '(prefers-contrast: more)',
  ];
  const of = (theme: 'system' | 'light' | 'dark', contrast = false) =>
    [dark, light, more].map((own) => queryFor(own, { theme, contrast }));
  assert.equal(of('system'), [dark, light, more]);
  assert.equal(of('dark'), ['all', 'not all', more]);
  assert.equal(of('light', true), ['not all', 'all', 'all']);
});

test.run();
