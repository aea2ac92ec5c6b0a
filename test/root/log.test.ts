// Root's log: a line an event, as text or JSON, and no secret in either.
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { readConfig } from '../../root/config.ts';
import { log, logAs } from '../../root/log.ts';

const test = suite("root's log");
test.after(() => logAs('text'));

/** What is written while `work` runs. */
function written(work: () => void): string {
  const { write } = process.stderr;
  let out = '';
  process.stderr.write = ((text: string) => {
    out += text;
    return true;
  }) as never;
  try {
    work();
  } finally {
    process.stderr.write = write;
  }
  return out;
}

const secrets = [
  'session_jwt',
  'token',
  'sid',
  'cookie',
  'proof',
  'device_code',
  'key',
  'authorization',
  'private_key',
];

test('whatever is logged is one line; as JSON it has time, level and message', () => {
  const fields = fc.dictionary(
    fc.oneof(fc.string(), fc.constantFrom('time', 'level', 'message')),
    fc.anything(),
  );
  fc.assert(
    fc.property(fc.string(), fields, fc.constantFrom('json', 'text'), (message, some, form) => {
      logAs(form as 'json' | 'text');
      const out = written(() => log('error', message, some));
      assert.is(out.search(/[\n\r\u2028\u2029]/), out.length - 1);
      if (form === 'text') return;
      const line = JSON.parse(out) as Record<string, unknown>;
      assert.equal([line['level'], line['message']], ['error', message]);
      assert.is.not(Number.isNaN(Date.parse(String(line['time']))), true);
    }),
  );
});

test('values of secrets are in no line', () => {
  for (const form of ['json', 'text'] as const) {
    logAs(form);
    for (const name of secrets) {
      const out = written(() => log('notice', 'x', { [name]: 'hunter2', hub_id: 'h' }));
      assert.not.match(out, /hunter2/, name);
      assert.match(out, /…/);
      assert.match(out, /hub_id/);
    }
  }
});

test('an error keeps its stack, and long texts are cut', () => {
  logAs('json');
  const out = written(() =>
    log('error', 'x', { cause: new Error('broken'), long: 'a'.repeat(10_000), n: 1.5 }),
  );
  const line = JSON.parse(out) as Record<string, unknown>;
  assert.match(String(line['cause']), /^Error: broken\n\s+at /);
  assert.is(String(line['long']).length, 500);
  assert.is(line['n'], 1.5);
});

test('another form is refused', () => {
  assert.is(readConfig(['--log', 'json'], {}).log, 'json');
  assert.throws(() => readConfig(['--log', 'xml'], {}), /^--log is one of: text, json\.$/);
});

test.run();
