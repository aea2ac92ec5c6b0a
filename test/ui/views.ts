// Views as anybody might write them: good ones, good ones with something wrong in them, and JSON of any kind.
import fc from 'fast-check';

const words = fc.constantFrom(
  '',
  'x',
  '{{state.a}}',
  '{{ state.rows[*].n }}',
  '{{state.rows}}',
  '{{meta.texts.t}} and {{state.a}}',
  '{{meta}}',
  '{{state}}',
  '{{state.a.b[0][*]}}',
  '{{state.__proto__.x}}',
  '{{x}}',
  '{{',
  '}}',
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  'javascript:alert(1)',
  '"><svg onload=alert(1)>',
  'constructor',
  '__proto__',
  'n',
  '\u202e\u0000',
  'n',
);
const text = fc.oneof(
  { weight: 50, arbitrary: words },
  { weight: 1, arbitrary: fc.constant('x'.repeat(4001)) },
  { weight: 5, arbitrary: fc.string({ maxLength: 20 }) },
);
const any = fc.oneof(
  text,
  fc.constantFrom(null, true, 0, -1, 1e308, 5e-324, 201),
  fc.jsonValue({ maxDepth: 3 }),
);
/** A thing as it should be, or now and then anything. */
const mostly = <T>(right: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 12, arbitrary: right as fc.Arbitrary<unknown> }, { weight: 1, arbitrary: any });
const some = <T>(right: fc.Arbitrary<T>, maxLength = 3) => mostly(fc.array(mostly(right), { maxLength }));

const action = fc.record(
  {
    type: mostly(fc.constantFrom('http.get', 'http.post', 'bus.publish', 'navigate')),
    path: mostly(fc.constantFrom('/v1/x', 'skill:lamp', 'javascript:alert(1)', '{{state.a}}')),
    body: mostly(fc.dictionary(text, any, { maxKeys: 3 })),
    topic: mostly(text),
    payload: mostly(fc.dictionary(text, any, { maxKeys: 3 })),
    mode: mostly(fc.constantFrom('modal', 'panel')),
  },
  { requiredKeys: ['type'] },
);
const option = fc.record({ label: text, value: text });
const field = fc.record(
  {
    key: mostly(fc.constantFrom('a', 'b', 'c_1', '__proto__', 'toString')),
    label: text,
    value: text,
    secret: mostly(fc.boolean()),
    input: mostly(
      fc.constantFrom('text', 'secret', 'number', 'date', 'time', 'area', 'check', 'choice', 'chips'),
    ),
    options: some(option),
    required: mostly(fc.boolean()),
    max: mostly(fc.integer({ min: 1, max: 4000 })),
  },
  { requiredKeys: ['key', 'label'] },
);
const series = fc.record({ label: text, x: text, y: text, data: text }, { requiredKeys: ['y'] });
const types = [
  ...['title', 'text', 'badge', 'metric', 'stack', 'row', 'card', 'table', 'chart.line', 'button', 'select'],
  ...['form', 'empty', 'tabs', 'chart.bar', 'progress', 'iframe', 'toString', '__proto__'],
];

const leafOf = {
  type: mostly(fc.constantFrom(...types)),
  text: mostly(text),
  label: mostly(text),
  value: mostly(text),
  icon: mostly(fc.constantFrom('gauge', 'data:image/svg+xml,<svg onload="alert(1)"/>', 'nope')),
  title: mostly(text),
  gap: mostly(fc.constantFrom(0, 1, 3.5, 200)),
  justify: mostly(fc.constantFrom('start', 'center', 'end', 'between')),
  columns: some(fc.record({ key: text, label: text })),
  rows: mostly(text),
  series: some(series),
  bind: mostly(text),
  options: some(option),
  fields: some(field),
  action: mostly(action),
  max: mostly(text),
};
const leaf = fc.record(leafOf, { requiredKeys: ['type'] });
const branchTypes = mostly(fc.constantFrom('stack', 'row', 'card', 'tabs'));
const { node } = fc.letrec<{ node: unknown }>((tie) => {
  const few = fc.array(tie('node'), { maxLength: 3 });
  const branch = fc.record(
    {
      type: branchTypes,
      title: mostly(text),
      gap: leafOf.gap,
      child: tie('node'),
      children: few,
      tabs: mostly(fc.array(fc.record({ label: text, children: few }), { maxLength: 2 })),
      onclick: text,
    },
    { requiredKeys: ['type', 'children'] },
  );
  return { node: fc.oneof({ maxDepth: 3, depthIdentifier: 'node' }, leaf, branch) };
});

/** Hostile views: never more than some hundred nodes, as it is their variety that counts. */
export const views: fc.Arbitrary<Record<string, unknown>> = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.record(
      {
        schema: mostly(fc.constantFrom('ui/v0', 'ui/v0.1')),
        meta: mostly(fc.dictionary(text, any, { maxKeys: 3 })),
        layout: node,
      },
      { requiredKeys: ['schema', 'layout'] },
    ),
  },
  { weight: 1, arbitrary: fc.dictionary(text, any, { maxKeys: 4 }) },
) as fc.Arbitrary<Record<string, unknown>>;

const row = fc.dictionary(fc.constantFrom('n', 'x', '__proto__', 'i18n'), any, { maxKeys: 3 });
/** States that fit what those views are bound to, now and then. */
export const states: fc.Arbitrary<unknown> = fc.oneof(
  fc.record({ a: any, rows: mostly(fc.array(fc.oneof(row, any), { maxLength: 30 })) }),
  any,
);

/** A small generator of numbers below `n` (mulberry32), so that 100,000 views cost no more than they must. */
function numbers(seed: number): (n: number) => number {
  let at = seed >>> 0;
  return (n) => {
    at = (at + 0x6d2b79f5) >>> 0;
    let t = Math.imul(at ^ (at >>> 15), at | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) % n;
  };
}

const SEED = 20_261_124;
const pool = {
  nodes: fc.sample(node, { seed: SEED, numRuns: 1500 }) as Record<string, unknown>[],
  words: fc.sample(any, { seed: SEED, numRuns: 500 }),
  states: fc.sample(states, { seed: SEED, numRuns: 500 }),
};

/**
 * A hostile view and state by a number: nodes of the generator above put together anew, with one property of each
 * exchanged. The same number gives the same view.
 */
export function viewOf(seed: number): { view: Record<string, unknown>; state: unknown } {
  const next = numbers(seed);
  const one = <T>(list: readonly T[]): T => list[next(list.length)]!;
  const piece = (): Record<string, unknown> => {
    const base = { ...one(pool.nodes) };
    const other = one(pool.nodes);
    const names = Object.keys(other);
    const name = names[next(Math.max(1, names.length))] ?? 'type';
    base[next(3) > 0 && name !== 'type' ? name : one(['text', 'label', 'value', 'rows', 'title'])] =
      next(2) > 0 ? other[name] : one(pool.words);
    return base;
  };
  const children = Array.from({ length: next(4) }, piece);
  const layout = next(3) > 0 ? piece() : { type: one(['stack', 'row', 'card']), children };
  const schema = next(20) === 0 ? one(pool.words) : one(['ui/v0', 'ui/v0.1']);
  return { view: { schema, meta: { texts: { t: one(pool.words) } }, layout }, state: one(pool.states) };
}
