import fc from 'fast-check';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { barPath, linePath, niceTicks, readChart as read } from '../../firmware/ui/chart.ts';
import { nearest, readings } from '../../firmware/ui/chart-read.ts';
import type { Series } from '../../firmware/ui/schema.ts';
import { compileV0 } from '../../firmware/ui/v0/compile.ts';
import type { Scope } from '../../firmware/ui/value.ts';

/** The chart of a view that has these series. */
function readChart(series: Series[], of: Scope, type = 'chart.line') {
  const { tree } = compileV0({ schema: 'ui/v0.1', layout: { type, series } });
  const [chart] = tree.main;
  if (chart?.is !== 'chart') throw new Error(JSON.stringify(chart));
  return read(chart.series, of, chart.kind);
}

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
      { x: now + 10_000, y: 30, gap: true },
    ]);
  }
});

test('what is not known is a gap in the line, and an axis with an end stays as it is', () => {
  const [y, x] = ['{{state.samples[*].cpu}}', '{{state.samples[*].at}}'];
  const { tree } = compileV0({
    schema: 'ui/v0.1',
    layout: { type: 'chart.line', series: [{ x, y }], max: '100' },
  });
  const [n] = tree.main;
  if (n?.is !== 'chart') throw new Error(JSON.stringify(n));
  const chart = read(n.series, scope, n.kind, n.max);
  assert.equal(chart.y, [0, 100]);
  assert.is(linePath(chart.lines[0]!, chart, 100, 50), 'M0.0 45.0M100.0 35.0L100.0 35.0');
  assert.equal(read(n.series, scope, n.kind, 20).y, [0, 30], 'but no point is outside');
});

test('a chart of nothing is empty, not broken', () => {
  const chart = readChart([{ y: '{{state.nothing[*].y}}' }], scope);
  assert.equal(chart.lines[0]!.points, []);
  assert.is(linePath(chart.lines[0]!, chart, 100, 50), '');
});

test('bars stand side by side from zero, named by their x', () => {
  const state = {
    days: [
      { d: 'Mon', a: 1, b: -1 },
      { d: 'Tue', a: 2, b: null },
    ],
  };
  const series = ['a', 'b'].map((y) => ({ label: y, x: 'd', y, data: '{{state.days}}' }));
  const chart = readChart(series, { state }, 'chart.bar');
  assert.equal(chart.names, ['Mon', 'Tue']);
  assert.ok(chart.y[0] <= -1 && chart.y[1] >= 2);
  const [first, second] = chart.lines.map((l, i) => barPath(l, chart, [i, 2], 100, 60));
  assert.is(first!.match(/M/g)!.length, 2);
  assert.match(first!, /^M5\.0 [\d.]+V[\d.]+h20\.0V[\d.]+ZM55\.0 /);
  assert.match(second!, /^M25\.0 [\d.]+V[\d.]+h20\.0V[\d.]+Z$/);
});

test('a path begins at the left and ends at the right of its box', () => {
  const chart = readChart([{ y: '{{state.samples[*].cpu}}' }], scope);
  assert.match(linePath(chart.lines[0]!, chart, 100, 60), /^M0\.0 [\d.]+M100\.0 [\d.]+L100\.0 [\d.]+$/);
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
  const labelOf = (label?: string) =>
    readChart([{ ...(label === undefined ? {} : { label }), y: '{{state.y}}' }], {
      state: { y: [1, 2] },
      meta: { texts: { cpu } },
    } as never).lines[0]!.label;
  assert.equal(labelOf('{{meta.texts.cpu}}'), cpu);
  assert.is(labelOf('CPU'), 'CPU');
  assert.is(labelOf(), '');
});

test('a chart is read where a line has a point, from left to right, and what has none there says nothing', () => {
  const lines = [
    {
      label: 'a',
      points: [
        { x: 30, y: 3 },
        { x: 10, y: 1 },
      ],
    },
    {
      label: 'b',
      points: [
        { x: 20, y: 7 },
        { x: 30, y: 0 },
      ],
    },
  ];
  assert.equal(readings({ lines, x: [10, 30] }, 'line'), [
    { x: 10, at: 0, ys: [1, undefined] },
    { x: 20, at: 0.5, ys: [undefined, 7] },
    { x: 30, at: 1, ys: [3, 0] },
  ]);
  // Bars stand in the middle of their places.
  assert.equal(
    readings(
      {
        lines: [
          {
            label: '',
            points: [
              { x: 0, y: 5 },
              { x: 1, y: 6 },
            ],
          },
        ],
        x: [0, 1],
      },
      'bar',
    ).map((r) => r.at),
    [0.25, 0.75],
  );
  assert.equal(readings({ lines: [{ label: '', points: [{ x: 5, y: 1 }] }], x: [5, 5] }, 'line')[0]!.at, 0);
});

test('what is read is the nearest point, for every place of a finger, beside the chart too', () => {
  const sorted = fc
    .uniqueArray(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 20 })
    .map((a) => a.sort((x, y) => x - y).map((at) => ({ at })));
  fc.assert(
    fc.property(sorted, fc.double({ min: -1, max: 2, noNaN: true }), (all, at) => {
      const least = Math.min(...all.map((r) => Math.abs(r.at - at)));
      assert.is(Math.abs(all[nearest(all, at)]!.at - at), least);
    }),
  );
});

test.run();
