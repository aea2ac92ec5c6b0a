// Drafts from templates, and texts in the language of who hears them.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { IngleError } from '../../firmware/protocol/errors.ts';
import { checkPrototype } from '../../firmware/scenario/check.ts';
import { chosenFor, localizedText } from '../../firmware/scenario/localized.ts';
import { draftOf, starter } from '../../firmware/scenario/template-draft.ts';
import { walk } from '../../firmware/scenario/walk.ts';
import { stored } from './stored.ts';

const test = suite('drafts and texts');

test('every scenario of the house may be the template of a new one', () => {
  for (const { versions } of stored().prototypes)
    for (const { prototype } of versions.values()) {
      const name = { en: 'Mine', ru: 'Мой' };
      const draft = draftOf(prototype, { id: 'my/own', name });
      assert.equal(checkPrototype(draft), []);
      assert.equal([draft.id, draft.version, draft.name], ['my/own', '0.1.0', name]);
      assert.equal(draft.steps, prototype.steps);
      assert.is.not(draft.steps, prototype.steps);
    }
});

test('the smallest template is right, and becomes what it is called', () => {
  assert.equal(checkPrototype(starter), []);
  assert.is(draftOf(starter, { id: 'my/morning', name: 'Morning' }).id, 'my/morning');
});

test('a draft has no history, and leaves its template as it was', () => {
  const template = {
    ...stored().prototypes[0]!.versions.get('1.0.0')!.prototype,
    steps: [{ id: 'a', was: 'z', do: [{ id: 'b', was: 'y', set: {} }] }],
    anchors: {},
  };
  const before = structuredClone(template);
  const draft = draftOf(template, { id: 'mine', name: 'Mine' });
  assert.ok(walk(draft.steps).every(({ step }) => step.was === undefined));
  assert.equal(template, before);
});

test('a draft that would be wrong is refused with the reason', () => {
  const { prototype } = stored().prototypes[0]!.versions.get('1.0.0')!;
  try {
    draftOf(prototype, { id: 'Not An Id', name: 'x' });
    assert.unreachable();
  } catch (e) {
    assert.match((e as IngleError).message, /\/id must be/);
  }
});

test('a text is told in the language of the reader, else in English, else as it is', () => {
  const both = { ru: 'Привет', en: 'Hello' };
  assert.is(localizedText(both, 'ru-RU'), 'Привет');
  assert.is(localizedText(both, 'RU'), 'Привет');
  assert.is(localizedText(both, 'de'), 'Hello');
  assert.is(localizedText({ ru: 'Привет' }, 'en'), 'Привет');
  assert.is(localizedText({ 'pt-BR': 'Oi', pt: 'Olá' }, 'pt-BR'), 'Oi');
  assert.is(localizedText('Hello', 'ru'), 'Hello');
  for (const none of [null, undefined, [], {}, { en: { a: 1 } }, true])
    assert.is(localizedText(none, 'en'), '');
  assert.equal(chosenFor<string[] | undefined>({ en: ['yes'], ru: ['да'] }, 'ru'), ['да']);
});

test.run();
