// Lines on a console: nothing that steers a terminal, nothing that drowns a person.
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { MAX_PRINT, plainLine, printed, printing } from '../../firmware/io/print.ts';

const test = suite('print');

test('whatever is printed steers no terminal and stays one line', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      assert.not.match(plainLine(text), /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
    }),
  );
  assert.is(plainLine('\x1b[2Ja\r\nb\u202e\u2028c\u0085'), '[2Ja b c');
  assert.is(plainLine('Привет, 家 😀'), 'Привет, 家 😀');
});

test('ten lines at once, then one a second, and the next one tells how many were left out', () => {
  const admit = printing();
  const shown = Array.from({ length: 25 }, (_, i) => admit({ text: `line ${i}` }, 1000)).filter(Boolean);
  assert.is(shown.length, 10);
  assert.equal(admit({ text: 'later', level: 'error' }, 2000), {
    text: 'later',
    level: 'error',
    left_out: 15,
  });
  assert.is(admit({ text: 'at once' }, 2000), undefined);
  // A clock that goes back empties nothing and gives nothing.
  assert.is(admit({ text: 'back' }, 0), undefined);
  assert.is(admit({ text: 'on' }, 3000)?.left_out, 2);
});

test('what is no line is passed over and costs nobody a line', () => {
  const admit = printing();
  for (const bad of [null, 1, 'x', [], {}, { text: 1 }, { text: '' }, { text: '\x07' }])
    assert.is(admit(bad, 0), undefined);
  assert.is(admit({ text: 'x'.repeat(MAX_PRINT + 1) }, 0), undefined);
  assert.is(admit({ text: 'x', level: 'loud' }, 0), undefined);
  assert.equal(admit({ text: 'x' }, 0), { text: 'x', level: 'info', left_out: 0 });
});

test('a screen shows what its font has', () => {
  assert.is(printed({ text: 'Käse 家 да', level: 'warning' }, 'screen'), '[warning] Käse ? ??');
  assert.is(printed({ text: 'да', level: 'info' }, 'serial'), '[info] да');
});

test.run();
