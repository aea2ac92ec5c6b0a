// What a tile tells, resolved from a manifest's bindings and a state.
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { checkManifest } from '../../firmware/skills/manifest.ts';
import { glanceOf, SPARK } from '../../firmware/ui/glance.ts';

const state = {
  temp: 21.456,
  sky: { i18n: { en: 'Clear', ru: 'Ясно' } },
  place: 'Oslo',
  empty: '',
  nested: { list: [{ v: 1 }, { v: 'x' }, { v: 2.34567 }] },
};

test('a value and a line are put into words for each reader, and are one text where all read the same', () => {
  const g = glanceOf({ value: '{{state.temp}} °C', line: '{{state.sky}}, {{state.place}}' }, state, 7);
  assert.equal(g, {
    at: 7,
    value: { i18n: { en: '21.46 °C', ru: '21,46 °C' } },
    line: { i18n: { en: 'Clear, Oslo', ru: 'Ясно, Oslo' } },
  });
  // As Open-Meteo answers on a day of frost.
  assert.equal(glanceOf({ value: '{{state.temp}} °C' }, { temp: -0 }, 7).value, '0 °C');
  assert.equal(glanceOf({ value: '{{state.place}}' }, state, 7), { at: 7, value: 'Oslo' });
  const words = { en: 'At {{state.place}}', ru: 'Здесь {{state.place}}' };
  assert.equal(glanceOf({ line: words }, state, 7).line, { i18n: { en: 'At Oslo', ru: 'Здесь Oslo' } });
});

test('a text of which something is missing is not shown, nor is an empty alert one', () => {
  for (const line of ['{{state.gone}}', 'It is {{state.gone}} now', '{{state.nested}}', '{{state.empty}}'])
    assert.equal(glanceOf({ line, alert: line }, state, 1), { at: 1 }, line);
  assert.equal(glanceOf({ line: '{{state.place}}' }, null, 1), { at: 1 });
});

test('a spark line has the finite numbers, at most so many, and always the newest', () => {
  const of = (list: unknown) => glanceOf({ spark: '{{state.list[*].v}}' }, { list }, 1).spark;
  assert.equal(of(state.nested.list), [1, 2.346]);
  assert.is(of([{ v: 1 }]), undefined);
  assert.is(of('no list'), undefined);
  const many = of(Array.from({ length: 1000 }, (_, v) => ({ v })))!;
  assert.ok(many.length <= SPARK && many.length > SPARK / 2, String(many.length));
  assert.is(many.at(-1), 999);
});

test('texts are cut to what a tile can show', () => {
  const long = glanceOf({ value: '{{state.t}}', line: '{{state.t}}' }, { t: 'x'.repeat(5000) }, 1);
  assert.equal([String(long.value).length, String(long.line).length], [24, 120]);
});

const withGlance = (glance: object) => () =>
  checkManifest({
    id: 'lamp',
    version: '1.0.0',
    capabilities: { visual: true, ui: { title: 'Lamp', modes: ['modal'], schema: 'ui/v0', glance } },
  });

test('a manifest with a glance that cannot be resolved is refused, with where', () => {
  assert.not.throws(
    withGlance({ value: '{{state.a}}', line: { en: 'A', ru: 'Б' }, spark: '{{state.l[*].v}}' }),
  );
  for (const [glance, pointer] of [
    [{ value: '{{state.a' }, '/capabilities/ui/glance/value'],
    [{ value: '{{meta.a}}' }, '/capabilities/ui/glance/value'],
    [{ line: { en: 'A', ru: '{{x}}' } }, '/capabilities/ui/glance/line/ru'],
    [{ spark: 'all of {{state.a}}' }, '/capabilities/ui/glance/spark'],
    [{ spark: '{{meta.a}}' }, '/capabilities/ui/glance/spark'],
    [{ colour: 'red' }, '/capabilities/ui/glance/colour'],
    [{ alert: '' }, '/capabilities/ui/glance/alert'],
  ] as const)
    assert.throws(
      withGlance(glance),
      (e: { details?: { faults?: { pointer: string }[]; pointer?: string } }) =>
        JSON.stringify(e.details).includes(pointer),
      JSON.stringify(glance),
    );
});

test.run();
