// A skill's screen as a page: what it says, and what it cannot be made to do.
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { panelPage } from '../../firmware/skills/panel.ts';
import type { ViewNode } from '../../firmware/ui/schema.ts';
import { compileV0 } from '../../firmware/ui/v0/compile.ts';

const test = suite('panel page');
const page = (layout: ViewNode, state: unknown = {}, meta: object = {}) =>
  panelPage(compileV0({ schema: 'ui/v0', meta: { title: 'T', ...meta }, layout }).tree, state, 'ru');

test("it shows a view's texts, values and tables in the reader's language", () => {
  const html = page(
    {
      type: 'stack',
      children: [
        { type: 'title', text: '{{state.name}}' },
        { type: 'metric', label: '{{meta.texts.now}}', value: '{{state.n}} °C' },
        { type: 'card', title: 'Card', child: { type: 'text', text: 'inside' } },
        { type: 'card', title: 'Nothing to press', child: { type: 'button', label: 'x' } },
        { type: 'table', columns: [{ key: 'a', label: 'A' }], rows: '{{state.rows}}' },
      ],
    },
    { name: 'Hub', n: 3, rows: [{ a: { i18n: { en: 'on', ru: 'вкл' } } }, null, { b: 1 }] },
    { texts: { now: { i18n: { en: 'Now', ru: 'Сейчас' } } } },
  );
  for (const part of [
    '<h2>Hub</h2>',
    '<dt>Сейчас</dt><dd>3 °C</dd>',
    '<h3>Card</h3><p>inside</p>',
    '<td>вкл</td>',
  ])
    assert.ok(html.includes(part), part);
  assert.not.match(html, /Nothing to press|button/);
});

test('whatever a state holds, it is text and never markup', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('<', '"', "'", '<script>', '</title>'),
      (a, b) => {
        const html = page({ type: 'text', text: '{{state.x}}' }, { x: `${a}${b}` }, { title: '{{state.x}}' });
        assert.is(html.match(/<(?!\/?(html|head|meta|title|style|body|p)\b|!doctype)/g), null);
        assert.is(html.match(/<p>/g)?.length, 1);
        assert.is(html.match(/<\/title>/g)?.length, 1);
      },
    ),
  );
});

test('a view nested without end stops somewhere', () => {
  let layout: ViewNode = { type: 'text', text: 'deep' };
  for (let i = 0; i < 5000; i++) layout = { type: 'stack', children: [layout] };
  assert.not.match(page(layout), 'deep');
});

test.run();
