// How root is configured: a flag counts before the environment, that before the file, and a mistake is told by the name
// under which it was made.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { readConfig } from '../../root/config.ts';

const test = suite<{ dir: string }>('configuration of root');
test.before((c) => {
  c.dir = mkdtempSync(join(tmpdir(), 'ingle-config-'));
});
test.after((c) => rmSync(c.dir, { recursive: true, force: true }));

let count = 0;
function fileOf(dir: string, content: unknown, mode = 0o600): string {
  const file = join(dir, `${count++}.json`);
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  chmodSync(file, mode);
  return file;
}
function complaint(argv: string[], env: NodeJS.ProcessEnv = {}): string {
  try {
    readConfig(argv, env);
  } catch (e) {
    return (e as Error).message;
  }
  return '';
}

/** Settings that take a number, and how they are called everywhere. */
const numbers = [
  ['port', 'INGLE_ROOT_PORT', 'port'],
  ['surge', 'INGLE_ROOT_SURGE', 'surge'],
  ['guesses', 'INGLE_ROOT_GUESSES', 'guesses'],
  ['proxies', 'INGLE_ROOT_PROXIES', 'proxies'],
] as const;

test('a flag counts before the environment, and that before the file, for every combination', ({ dir }) => {
  const maybe = fc.option(fc.integer({ min: 0, max: 10 }), { nil: undefined });
  fc.assert(
    fc.property(fc.constantFrom(...numbers), maybe, maybe, maybe, ([name, variable, field], a, b, c) => {
      const file = c === undefined ? [] : ['--config', fileOf(dir, { [name]: c })];
      const flag = a === undefined ? [] : [`--${name}`, String(a)];
      const env = b === undefined ? {} : { [variable]: String(b) };
      const otherwise = readConfig([], {})[field];
      assert.is(readConfig([...flag, ...file], env)[field], a ?? b ?? c ?? otherwise);
    }),
    { numRuns: 150 },
  );
});

test('a flag that there is not is told with the way to those there are', () => {
  for (const flag of ['--prot', '--prot=1', '-x'])
    assert.is(complaint([flag]), `There is no option '${flag.split('=')[0]}'. --help lists all there are.`);
  assert.match(complaint(['--port']), /--port <value>/);
});

test('texts and lists come from each place', ({ dir }) => {
  const file = fileOf(dir, { host: '::1', audience: ['https://a.example', 'http://b.example/'], spa: '' });
  const config = readConfig([], { INGLE_ROOT_CONFIG: file });
  assert.equal([config.host, config.spa], ['::1', '']);
  assert.equal(config.audience, ['https://a.example', 'http://b.example']);
  const text = { INGLE_ROOT_CONFIG: file, INGLE_ROOT_AUDIENCE: 'https://c.example,https://d.example' };
  assert.equal(readConfig([], text).audience, ['https://c.example', 'https://d.example']);
  assert.equal(readConfig(['--audience', ''], text).audience, []);
});

test('whatever stands in the file, root takes it or names the file and the key, and says nothing of the value', ({
  dir,
}) => {
  const secret = 'hunter2hunter2';
  const value = fc.oneof(
    fc.constant(secret),
    fc.constant([secret, 1]),
    fc.constant({ [secret]: secret }),
    fc.constant(null),
    fc.boolean(),
    fc.double(),
  );
  const keys = [
    'port',
    'host',
    'database',
    'origin',
    'api',
    'audience',
    'spa',
    'proxies',
    'sweep',
    'mtls-header',
  ];
  fc.assert(
    fc.property(fc.constantFrom(...keys), value, (key, v) => {
      const file = fileOf(dir, { [key]: v });
      const said = complaint(['--config', file]);
      assert.not.match(said, /hunter2/);
      if (said !== '') assert.ok(said.startsWith(`"${key}" in ${file} `) && said.endsWith('.'), said);
    }),
    { numRuns: 200 },
  );
  for (const [key, wrong] of [
    ['port', '8080'],
    ['port', 1.5],
    ['port', 65536],
    ['host', 1],
    ['audience', [1]],
    ['audience', {}],
    ['spa', null],
  ] as const)
    assert.match(complaint(['--config', fileOf(dir, { [key]: wrong })]), new RegExp(`^"${key}" in /`), key);
});

test('a key or a variable that root does not know is named', ({ dir }) => {
  const file = fileOf(dir, { databse: 'postgresql://h/x' });
  assert.is(complaint(['--config', file]), `"databse" in ${file} is no setting of root. --help lists all.`);
  assert.is(
    complaint([], { INGLE_ROOT_DATBASE: 'hunter2' }),
    'INGLE_ROOT_DATBASE in the environment is no setting of root. --help lists all.',
  );
  for (const key of ['__proto__', 'constructor', 'config', 'help', 'to'])
    assert.match(complaint(['--config', fileOf(dir, `{"${key}": 1}`)]), /no setting/, key);
  // What others set for other programs is none of root's business.
  assert.is(complaint([], { INGLE_ROOT: 'http://localhost:1', INGLE_LOG: 'debug' }), '');
});

test('a file that cannot be used is named, and what stands in it is not said', ({ dir }) => {
  assert.match(complaint(['--config', join(dir, 'none')]), /\/none cannot be read \(ENOENT\)\.$/);
  assert.match(complaint([], { INGLE_ROOT_CONFIG: dir }), /cannot be read \(EISDIR\)\.$/);
  for (const words of ['', '{"database": "hunter2"', 'hunter2', '\0'])
    assert.match(complaint(['--config', fileOf(dir, words)]), /^The configuration \S+ is not JSON\.$/);
  for (const words of ['null', '[]', '"hunter2"', '1'])
    assert.match(complaint(['--config', fileOf(dir, words)]), /must be a JSON object/);
});

test('a file with a password that others may open is refused; without one it may be open', ({ dir }) => {
  const database = 'postgresql://u:hunter2@h/x';
  for (const mode of [0o644, 0o640, 0o604, 0o660, 0o620]) {
    const file = fileOf(dir, { database }, mode);
    const said = complaint(['--config', file]);
    assert.ok(said.startsWith(`"database" in ${file} holds a password`), said);
    assert.not.match(said, /hunter2/);
  }
  for (const mode of [0o600, 0o400])
    assert.is(readConfig(['--config', fileOf(dir, { database }, mode)], {}).database, database);
  assert.is(readConfig(['--config', fileOf(dir, { port: 1 }, 0o644)], {}).port, 1);
  assert.is(complaint(['--config', fileOf(dir, { database: 'postgresql://h/x' }, 0o644)]), '');
});

test('one of several processes has a name the balancer can tell from a hint', () => {
  const cluster = ['--redis', 'redis://a', '--database', 'postgresql://b/c', '--peer', 'd:1'];
  assert.is(readConfig([...cluster, '--name', 'node-1_a'], {}).name, 'node-1_a');
  assert.is(readConfig(cluster, {}).name, '');
  for (const name of ['node.1', 'a b', 'n'.repeat(33)])
    assert.match(complaint(cluster, { INGLE_ROOT_NAME: name }), /^--name \(INGLE_ROOT_NAME\) takes a name/);
  assert.match(complaint(['--name', 'node1']), /^--redis takes/, 'one alone needs none');
});

test.run();
