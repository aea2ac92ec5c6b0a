// Lines of a log as an owner may see them.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import {
  fileLine,
  journalEntry,
  journalLine,
  journalObjects,
  mergedFiles,
  shown,
  timeOf,
} from '../../firmware/supervisor/lines.ts';

const test = suite('lines of a log');
const line = (text: string) => ({ at: 0, level: 'info', text });

test('an entry of the journal has its time, level and words, in whatever form they come', () => {
  const entry = { __REALTIME_TIMESTAMP: '1764000000500000', PRIORITY: '3', MESSAGE: 'api: fell' };
  assert.equal(journalLine(entry), { at: 1764000000.5, level: 'error', text: 'api: fell' });
  assert.is(journalLine({ MESSAGE: [104, 105, 'x', null, 255] }).text, 'hi\ufffd');
  assert.match(journalLine({ MESSAGE: null }).text, 'too long');
  assert.equal(journalLine({ MESSAGE: 'x', PRIORITY: '99' }), { at: 0, level: 'info', text: 'x' });
  assert.is(timeOf({ __REALTIME_TIMESTAMP: 'soon' }), 0);
});

test('what is no object of the journal is passed over', () => {
  assert.equal(journalObjects('{"a":1}\n\nnonsense\n[]\nnull\n7\n{"b":\n{"c":2}'), [{ a: 1 }, { c: 2 }]);
});

test('a line of our own log file is told from words of others', () => {
  const ours = fileLine('2026-11-23T22:00:00.250Z warn api: slow ms=9');
  assert.equal(ours, {
    at: Date.parse('2026-11-23T22:00:00.250Z') / 1000,
    level: 'warn',
    text: 'api: slow ms=9',
  });
  assert.equal(fileLine('    at main.js:7'), line('    at main.js:7'));
});

test('no secret and no control character is shown', () => {
  const [a, b] = shown([line('joined psk="correct horse" \x1b[31m'), line('the label says Lantern42')], 10, [
    'Lantern42',
  ]);
  assert.not.match(a!.text, /correct|horse|\p{Cc}/u);
  assert.is(b!.text, 'the label says [removed]');
});

test('a key that goes over many lines is removed whole', () => {
  const key = ['-----BEGIN PRIVATE KEY-----', 'c2hvcnQ=', '-----END PRIVATE KEY-----', 'after'];
  const texts = shown(key.map(line), 10).map((l) => l.text);
  assert.not.match(texts.join(), 'c2hvcnQ');
  assert.is(texts[3], 'after');
});

test('the newest lines come, within the bounds in number, length and bytes', () => {
  const many = Array.from({ length: 3000 }, (_, i) => line(`n ${i}`));
  const last = shown(many, 5000);
  assert.equal([last.length, last[0]!.text, last.at(-1)!.text], [1000, 'n 2000', 'n 2999']);
  assert.equal(
    shown(many, 2).map((l) => l.text),
    ['n 2998', 'n 2999'],
  );
  const long = shown(
    Array.from({ length: 1000 }, () => line('wide '.repeat(2000))),
    1000,
  );
  assert.ok(long.length > 10);
  assert.ok(long.every((l) => l.text.length <= 2048));
  assert.ok(long.reduce((n, l) => n + Buffer.byteLength(l.text), 0) <= 128 * 1024);
});

test('files of several services become one journal, which goes on after its cursor without loss', () => {
  const at = (ms: number, text: string, level = 'info') => ({ at: ms / 1000, level, text });
  const api = [at(10, 'a1'), at(20, 'a2', 'error'), { at: 0, level: 'info', text: 'a2 stack' }];
  const files = new Map([
    ['ingle-api', api],
    ['ingle-audio', [at(15, 'b1'), at(20, 'b2')]],
  ]);
  const asked = { level: 'debug', lines: 10, after: '' };
  const all = mergedFiles(files, asked);
  assert.equal(
    all.entries.map((e) => `${e.unit} ${e.text}`),
    ['ingle-api a1', 'ingle-audio b1', 'ingle-api a2', 'ingle-api a2 stack', 'ingle-audio b2'],
  );
  assert.is(all.entries[3]!.level, 'error', 'a stack is as grave as what it is of');
  assert.equal(mergedFiles(files, { ...asked, after: all.cursor }), { entries: [], cursor: all.cursor });
  files.set('ingle-audio', [at(15, 'b1'), at(20, 'b2'), at(20, 'b3'), at(30, 'b4')]);
  const next = mergedFiles(files, { ...asked, after: all.cursor });
  assert.equal(
    next.entries.map((e) => e.text),
    ['b3', 'b4'],
  );
  const grave = mergedFiles(files, { ...asked, level: 'warn' });
  assert.is(grave.entries.length, 2);
  assert.is(mergedFiles(files, { ...asked, lines: 1 }).entries[0]!.text, 'b4');
  assert.is(mergedFiles(files, { ...asked, level: 'error', after: next.cursor }).cursor, next.cursor);
});

test("an entry is of the unit it names, of systemd's own the unit it is about, of strangers nobody's", () => {
  const own = new Set(['ingle-api']);
  const unit = (e: object) => journalEntry({ MESSAGE: 'x', ...e }, own).unit;
  assert.is(unit({ _SYSTEMD_UNIT: 'ingle-api.service' }), 'ingle-api');
  assert.is(unit({ _SYSTEMD_UNIT: 'init.scope', UNIT: 'ingle-api.service' }), 'ingle-api');
  assert.is(unit({ _SYSTEMD_UNIT: 'ssh.service' }), '');
  assert.is(unit({}), '');
});

test.run();
