// What the update server answers, and what of it is taken.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { worthOf } from '../../firmware/update/check.ts';
import { bodyOf } from '../../firmware/update/pull.ts';

const w = { url: 'https://update.example/a.raucb', size: 1000, sha256: 'a'.repeat(64) };
const answer = (status: number, headers: Record<string, string> = {}, url = w.url) => ({
  ...{ status, url },
  headers: new Headers(headers),
});

const test = suite('the rest of a bundle');

test('a body goes where it belongs, and what it is of is kept', () => {
  const there = { at: 400, tag: '"one"' };
  const part = { 'content-range': 'bytes 400-999/1000', 'content-length': '600' };
  assert.equal(bodyOf(answer(206, { ...part, etag: '"one"' }), w, there), { at: 400, tag: '"one"' });
  assert.equal(bodyOf(answer(206, { 'content-range': 'bytes 400-999/*' }), w, there), { at: 400, tag: '' });
  // Another bundle lies there by now: it comes whole.
  assert.equal(bodyOf(answer(200, { etag: '"two"' }), w, there), { at: 0, tag: '"two"' });
  assert.equal(bodyOf(answer(200, { etag: 'W/"weak"' }), w, { at: 0, tag: '' }), { at: 0, tag: '' });
  // The length of a coded body says nothing of the bundle's.
  const coded = { 'content-length': '70', 'content-encoding': 'gzip' };
  assert.equal(bodyOf(answer(200, coded), w, { at: 0, tag: '' }), { at: 0, tag: '' });
});

test('what is of no use is refused by its reason, and what lies there stays unless it is of none either', () => {
  const there = { at: 400, tag: '"one"' };
  const table: [ReturnType<typeof answer>, reason: string, isStale: boolean][] = [
    [answer(200, {}, 'http://update.example/a.raucb'), 'cut', false],
    [answer(206, { 'content-range': 'bytes 401-999/1000' }), 'cut', true],
    [answer(206, { 'content-range': 'bytes 400-998/999' }), 'cut', true],
    [answer(206), 'cut', true],
    [answer(206, { 'content-range': 'bytes 400-999/1000', etag: '"two"' }), 'cut', true],
    [answer(206, { 'content-range': 'bytes 400-999/1000', 'content-length': '599' }), 'wrong_size', false],
    [answer(200, { 'content-length': '1001' }), 'wrong_size', false],
    [answer(403), 'not_found', false],
    [answer(404), 'not_found', false],
    [answer(410), 'not_found', false],
    [answer(416), 'cut', true],
    [answer(500), 'cut', false],
    [answer(304), 'cut', false],
  ];
  for (const [r, reason, isStale] of table) {
    const said = bodyOf(r, w, there);
    assert.ok('fault' in said, `${r.status} ${reason}`);
    assert.equal([said.fault.details?.['reason'], said.isStale], [reason, isStale], `${r.status} ${reason}`);
  }
});

test('an offer is worth something when it is newer, and reached in one step', () => {
  const offer = (version: string, min_version = '') => ({ version, min_version });
  assert.is(worthOf(offer('1.2.0'), '1.2.0'), 'none');
  assert.is(worthOf(offer('1.1.0', '9.0.0'), '1.2.0'), 'none');
  assert.is(worthOf(offer('1.3.0'), '1.2.0'), 'newer');
  assert.is(worthOf(offer('1.3.0', '1.2.0'), '1.2.0'), 'newer');
  assert.is(worthOf(offer('2.0.0', '1.5.0'), '1.2.0'), 'too_far');
});

test.run();
