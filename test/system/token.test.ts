// The service token of the local API: made once, replaced by hand, followed by who checks it.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { ensureToken, readToken, rotateToken, tokenCheck } from '../../firmware/system/token.ts';

const test = suite<{ dir: string; file: string }>('service token');
const clock = Date.now;
test.before.each((c) => {
  c.dir = mkdtempSync(join(tmpdir(), 'ingle-token-'));
  c.file = join(c.dir, 'api', 'token');
});
test.after.each((c) => {
  Date.now = clock;
  rmSync(c.dir, { recursive: true, force: true });
});
/** Lets `ms` go by on the clock of this process. */
const pass = (ms: number) => {
  const before = Date.now();
  Date.now = () => before + ms;
};

test('a token is made once, for its owner and group, and nothing is left beside it', ({ file }) => {
  const token = ensureToken(file);
  assert.match(token, /^[A-Za-z0-9_-]{43}$/);
  assert.is(readFileSync(file, 'utf8'), `${token}\n`);
  assert.is(statSync(file).mode & 0o777, 0o640);
  assert.is(statSync(dirname(file)).mode & 0o777, 0o750);
  assert.is(ensureToken(file), token);
  assert.equal(readdirSync(dirname(file)), ['token']);
});

test('a file that holds no token is told with what to do, and not replaced', ({ file }) => {
  const token = ensureToken(file);
  for (const text of [
    '',
    `${token}x`,
    `x${token}`,
    token.slice(1),
    `${token.slice(1)}!`,
    `${token} ${token}`,
  ]) {
    writeFileSync(file, text);
    for (const read of [readToken, ensureToken])
      assert.throws(
        () => read(file),
        (e: Error) => e.message.includes(file) && /ingle api token rotate/.test(e.message),
      );
    assert.is(readFileSync(file, 'utf8'), text);
  }
  assert.throws(() => readToken(join(file, 'below')), /ENOTDIR/);
  assert.throws(() => ensureToken(join(file, 'below')), /ENOTDIR/);
});

test('a rotation makes another token in one step, with the same rights', ({ file }) => {
  const first = ensureToken(file);
  const second = rotateToken(file);
  assert.is.not(second, first);
  assert.is(readToken(file), second);
  assert.is(statSync(file).mode & 0o777, 0o640);
  assert.equal(readdirSync(dirname(file)), ['token']);
  rmSync(file);
  assert.throws(() => rotateToken(file), /ENOENT/);
});

test('a check follows a rotation within a second, and at once when told', ({ file }) => {
  const check = tokenCheck(file);
  const first = readToken(file);
  assert.ok(check.matches(first));
  for (const other of ['', first.slice(1), `${first}x`, first.toLowerCase() + '_'])
    assert.not(check.matches(other));
  const frozen = Date.now();
  Date.now = () => frozen;
  check.matches('');
  const second = rotateToken(file);
  pass(900);
  assert.ok(check.matches(first), 'looks at the file once a second');
  pass(1100);
  assert.not(check.matches(first));
  assert.ok(check.matches(second));
  const third = rotateToken(file);
  check.reload();
  assert.ok(check.matches(third));
});

test('a file that is away or broken for a while changes nothing', ({ file }) => {
  const check = tokenCheck(file);
  const token = readToken(file);
  writeFileSync(file, 'half');
  pass(1000);
  assert.ok(check.matches(token));
  rmSync(file);
  pass(2000);
  assert.ok(check.matches(token));
  assert.not(existsSync(file), 'nor is one made');
  pass(2000);
  assert.throws(() => check.reload());
  writeFileSync(file, `${'n'.repeat(43)}\n`);
  pass(2000);
  assert.ok(check.matches('n'.repeat(43)));
  assert.not(check.matches(token));
});

test('a clock that is set back does not stop the check from looking', ({ file }) => {
  const check = tokenCheck(file);
  check.matches('');
  const second = rotateToken(file);
  pass(-3_600_000);
  assert.ok(check.matches(second));
});

test.run();
