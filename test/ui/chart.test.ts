import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { linePath, niceTicks, readChart } from '../../firmware/ui/chart.ts';

const now = Date.UTC(2026, 0, 1, 12);
const scope = {
  meta: {},
  state: {
    samples: [
      { at: now / 1000, cpu: 10, iso: '2026-01-01T12:00:00Z' },
      { at: now / 1000 + 5, cpu: null, iso: '2026-01-01T12:00:05Z' },
      { at: now / 1000 + 10, cpu: 30, iso: '2026-01-01T12:00:10Z' },
    ],
  },
};

test('series read their points by [*] bindings or by keys of rows', () => {
  const a = readChart([{ label: 'CPU', x: '{{state.samples[*].at}}', y: '{{state.samples[*].cpu}}' }], scope);
  const b = readChart([{ label: 'CPU', x: 'iso', y: 'cpu', data: '{{state.samples}}' }], scope);
  for (const chart of [a, b]) {
    assert.ok(chart.time);
    assert.equal(chart.lines[0]!.points, [
      { x: now, y: 10 },
      { x: now + 10_000, y: 30 },
    ]);
  }
});

test('a chart of nothing is empty, not broken', () => {
  const chart = readChart([{ y: '{{state.nothing[*].y}}' }], scope);
  assert.equal(chart.lines[0]!.points, []);
  assert.is(linePath(chart.lines[0]!, chart, 100, 50), '');
});

test('a path begins at the left and ends at the right of its box', () => {
  const chart = readChart([{ y: '{{state.samples[*].cpu}}' }], scope);
  assert.match(linePath(chart.lines[0]!, chart, 100, 60), /^M0\.0 [\d.]+L100\.0 [\d.]+$/);
});

test('ticks are few, rise, and enclose what they are for', () =>
  fc.assert(
    fc.property(
      fc.double({ min: -1e9, max: 1e9, noNaN: true }),
      fc.double({ min: 0, max: 1e9, noNaN: true }),
      (low, span) => {
        const ticks = niceTicks(low, low + span);
        const room = Math.max(1e-6, (Math.abs(low) + span) * 1e-8);
        assert.ok(ticks.length >= 2 && ticks.length <= 12);
        for (let i = 1; i < ticks.length; i++) assert.ok(ticks[i]! > ticks[i - 1]!);
        assert.ok(
          ticks[0]! <= low + room && ticks.at(-1)! >= low + span - room,
          `${ticks} for ${low}..${low + span}`,
        );
      },
    ),
    { numRuns: 1000 },
  ));

test('many points are thinned and the last one stays', () => {
  const rows = Array.from({ length: 5000 }, (_, i) => ({ y: i }));
  const { lines } = readChart([{ y: 'y', data: '{{state.rows}}' }], { state: { rows }, meta: {} });
  assert.ok(lines[0]!.points.length <= 601);
  assert.is(lines[0]!.points.at(-1)!.y, 4999);
});

test('a label in several languages is left to its reader', () => {
  const cpu = { i18n: { en: 'Processor', ru: 'Процессор' } };
  const read = (label?: string) =>
    readChart([{ ...(label === undefined ? {} : { label }), y: '{{state.y}}' }], {
      state: { y: [1, 2] },
      meta: { texts: { cpu } },
    } as never).lines[0]!.label;
  assert.equal(read('{{meta.texts.cpu}}'), cpu);
  assert.is(read('CPU'), 'CPU');
  assert.is(read(), '');
});

test.run();
