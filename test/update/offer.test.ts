// The bounds of what a channel's index may say.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type { IngleError } from '../../firmware/protocol/errors.ts';
import { bundleUrl, indexUrl, isChannel, MAX_BUNDLE, parseIndex } from '../../firmware/update/offer.ts';

const test = suite('offers');
const from = 'https://updates.example/stable/hub.json';
const good = { version: '1.2.3', url: '/a.raucb', size: 5, sha256: 'a1'.repeat(32) };
const read = (change: object) => parseIndex(JSON.stringify({ ...good, ...change }), from);
const thrown = (work: () => unknown): IngleError => {
  try {
    work();
  } catch (e) {
    return e as IngleError;
  }
  throw new Error('nothing was refused');
};

test('an index is read as it is, with what is not said left empty', () => {
  assert.equal(read({}), {
    ...good,
    url: 'https://updates.example/a.raucb',
    notes: { en: '', ru: '' },
    min_version: '',
  });
  assert.equal(read({ notes: 'New.', notes_ru: 'Новое.', min_version: '1.0.0' }).notes, {
    en: 'New.',
    ru: 'Новое.',
  });
  assert.equal(read({ notes: 'New.' }).notes, { en: 'New.', ru: 'New.' });
  assert.is(read({ min_version: '1.0.0' }).min_version, '1.0.0');
  assert.is(read({ min_version: '' }).min_version, '');
  assert.equal(read({ invented_later: { x: 1 } }), read({}), 'what a newer index says beside');
});

test('sizes are whole bytes from one to 2 GiB', () => {
  assert.is(MAX_BUNDLE, 2_147_483_648);
  assert.is(read({ size: 1 }).size, 1);
  assert.is(read({ size: MAX_BUNDLE }).size, MAX_BUNDLE);
  for (const size of [0, -1, 1.5, MAX_BUNDLE + 1]) {
    const e = thrown(() => read({ size }));
    assert.equal([e.code, e.details], ['invalid_request', { pointer: '/size' }]);
    assert.match(e.message, /"size" of the index .*2147483648/);
  }
});

test('a hash is 64 hexadecimal digits, no more and no less', () => {
  const hash = good.sha256;
  for (const sha256 of [`${hash}0`, hash.slice(1), hash.toUpperCase(), `g${hash.slice(1)}`, `\n${hash}`])
    assert.equal(thrown(() => read({ sha256 })).details, { pointer: '/sha256' });
});

test('versions that are none are refused by name', () => {
  assert.equal(thrown(() => read({ version: '1.2.3.4.5' })).details, { pointer: '/version' });
  assert.equal(thrown(() => read({ min_version: 'new' })).details, { pointer: '/min_version' });
});

test('notes hold no control characters but line ends, and 8000 characters', () => {
  assert.is(read({ notes: 'a\u0000b\u001bc\td\ne\u009bf' }).notes.en, 'a b c d\ne f');
  assert.is(read({ notes: 'x'.repeat(9000) }).notes.en.length, 8000);
});

test('a bundle comes over HTTPS, or by HTTP from the very place of the index', () => {
  const lab = 'http://10.0.0.1:8000/hub.json';
  assert.is(bundleUrl('a.raucb', lab), 'http://10.0.0.1:8000/a.raucb');
  assert.is(bundleUrl('https://cdn.example/a.raucb', lab), 'https://cdn.example/a.raucb');
  assert.is(bundleUrl('https://cdn.example/a.raucb', ''), 'https://cdn.example/a.raucb', 'from a stick');
  assert.is(bundleUrl('https://cdn.example/a#part', from), 'https://cdn.example/a');
  const refused: [string, string, RegExp][] = [
    ['http://updates.example/a.raucb', from, /https/],
    ['http://10.0.0.2:8000/a.raucb', lab, /https/],
    ['http://10.0.0.1:8001/a.raucb', lab, /https/],
    ['http://10.0.0.1/a.raucb', '', /https/],
    ['http://10.0.0.1/a.raucb', '/media/stick', /./],
    ['ftp://10.0.0.1:8000/a.raucb', 'ftp://10.0.0.1:8000/', /https/],
    ['file:///etc/shadow', from, /https/],
    ['data:text/plain,x', 'data:text/plain,x', /https/],
    ['a.raucb', '', /none/],
    ['https://', from, /none/],
    ['https://me@cdn.example/a', from, /password/],
    ['https://:secret@cdn.example/a', from, /password/],
    ['https://me:secret@cdn.example/a', from, /password/],
  ];
  for (const [url, base, says] of refused) {
    const e = thrown(() => bundleUrl(url, base));
    assert.equal([e.code, e.details], ['invalid_request', { pointer: '/url' }], url);
    assert.match(e.message, says);
  }
});

test('an address may have 2000 characters', () => {
  const long = `https://x/${'y'.repeat(1990)}`;
  assert.is(bundleUrl(long, ''), long);
  assert.match(thrown(() => bundleUrl(`${long}y`, '')).message, /too long/);
});

test('a channel is a plain name, and its index stands below the address of updates', () => {
  for (const name of ['stable', 'beta-2', 'a', '1.x_y', 'x'.repeat(40)]) assert.ok(isChannel(name), name);
  for (const name of ['', 'x'.repeat(41), '.a', 'a/b', '/a', 'a b', 'A', 'a..b', 'a\n', '\na', 7, null])
    assert.not(isChannel(name), String(name));
  assert.is(
    indexUrl('https://u.example/x//', 'stable', 'my hub/2'),
    'https://u.example/x/stable/my%20hub%2F2.json',
  );
});

test.run();
