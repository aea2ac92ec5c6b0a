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
  'x'.repeat(4001),
);
const text = fc.oneof(
  { weight: 5, arbitrary: words },
  { weight: 1, arbitrary: fc.string({ maxLength: 20 }) },
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

const { node } = fc.letrec<{ node: unknown }>((tie) => ({
  node: fc.record(
    {
      type: mostly(fc.constantFrom(...types)),
      text: mostly(text),
      label: mostly(text),
      value: mostly(text),
      icon: mostly(fc.constantFrom('gauge', 'data:image/svg+xml,<svg onload="alert(1)"/>', 'nope')),
      title: mostly(text),
      gap: mostly(fc.constantFrom(0, 1, 3.5, 200)),
      justify: mostly(fc.constantFrom('start', 'center', 'end', 'between')),
      child: tie('node'),
      children: fc.array(tie('node'), { maxLength: 4, depthIdentifier: 'node' }),
      columns: some(fc.record({ key: text, label: text })),
      rows: mostly(text),
      series: some(series),
      bind: mostly(text),
      options: some(option),
      fields: some(field),
      action: mostly(action),
      tabs: some(
        fc.record({
          label: text,
          children: fc.array(tie('node'), { maxLength: 2, depthIdentifier: 'node' }),
        }),
      ),
      max: mostly(text),
      onclick: text,
    },
    { requiredKeys: ['type'] },
  ),
}));

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
