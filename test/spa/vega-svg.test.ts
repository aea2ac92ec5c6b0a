// A drawing of Vega as data, and back what it was: elements, attributes and texts in their order.
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import * as vega from 'vega';
import { type Element_, partsOf } from '../../spa/vega-svg.ts';

const test = suite('drawings as data');
/** Vega exports it and does not declare it. */
const { markup } = vega as unknown as {
  markup(): { open(tag: string, of: object): void; text(says: string): void; close(): void };
};
const whole = (svg: string) => [...partsOf(svg)].flat();

const name = fc.constantFrom('x', 'stroke-width', 'xlink:href', 'viewBox', 'd');
const says = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('&lt;', '<g a="b"/>', '"\t\n\r"', '&', ''),
);
/** The elements of a drawing in their order, each at most one deeper than the one before it. */
const drawing = fc
  .array(
    fc.tuple(
      fc.nat(5),
      fc.constantFrom('g', 'path', 'linearGradient'),
      fc.dictionary(name, says, { noNullPrototype: true }),
      says,
    ),
    { maxLength: 700 },
  )
  .map((given) => {
    const all: Element_[] = [[0, 'svg', {}, '']];
    for (const [wanted, tag, attributes, text] of given)
      all.push([Math.max(1, Math.min(wanted, all.at(-1)![0] + 1)), tag, attributes, text]);
    // Vega writes text into what has no elements in it.
    return all.map(([depth, tag, of, text], i): Element_ => {
      const isEmpty = (all[i + 1]?.[0] ?? 0) <= depth;
      return [depth, tag, of, isEmpty ? text : ''];
    });
  });

/** As Vega writes it. */
function written(all: readonly Element_[]): string {
  const m = markup();
  let open = 0;
  for (const [depth, tag, attributes, text] of all) {
    for (; open > depth; open--) m.close();
    m.open(tag, attributes);
    if (text !== '') m.text(text);
    open++;
  }
  for (; open > 0; open--) m.close();
  return String(m);
}

test('what Vega writes is read as it was meant, whatever its texts hold', () => {
  fc.assert(
    fc.property(drawing, (all) => assert.equal(whole(written(all)), all)),
    { numRuns: 300 },
  );
});

test('it comes in parts that a page takes in one turn each', () => {
  const of = (count: number, attributes: Record<string, string> = {}): Element_[] => [
    [0, 'svg', {}, ''],
    ...Array.from({ length: count }, (): Element_ => [1, 'path', attributes, '']),
  ];
  const parts = (all: Element_[]) => [...partsOf(written(all))].map((part) => part.length);
  assert.equal(parts(of(0)), [1]);
  assert.equal(parts(of(249)), [250]);
  assert.equal(parts(of(600)), [250, 250, 101]);
  // Few that say much.
  assert.equal(parts(of(5, { d: 'M0,0'.repeat(12_000) })), [3, 2, 1]);
  assert.equal(whole(written(of(600))), of(600));
});

test('what is no drawing of Vega is none, and one without end is given up', () => {
  for (const svg of ['x < y', '<svg a=1></svg>', '<svg><!-- --></svg>', '<svg', '<svg a="<"/>', '<?xml?>'])
    assert.throws(
      () => whole(svg),
      (e: Error) => e instanceof SyntaxError,
      svg,
    );
  assert.is(whole(`<svg>${'<g/>'.repeat(49_999)}</svg>`).length, 50_000);
  assert.throws(
    () => whole(`<svg>${'<g/>'.repeat(50_000)}</svg>`),
    (e: Error) => e instanceof RangeError,
  );
});

test.run();
