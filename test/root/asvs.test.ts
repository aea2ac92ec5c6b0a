// root/ASVS.md names requirements and the tests that show them: all are there, and so are the tests.
import { existsSync, readFileSync } from 'node:fs';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { rootApi } from '../../root/endpoints.ts';
import { migrations } from '../../root/records/sql/schema.ts';
import { openSqlite } from '../../root/records/sqlite.ts';
import { openTokens } from '../../root/tokens.ts';

/** Requirements of each section of ASVS 5.0.0. */
const sections: Record<string, number> = {
  ...{ '6.1': 3, '6.2': 12, '6.3': 8, '6.4': 6, '6.5': 8, '6.6': 4, '6.7': 2, '6.8': 4 },
  ...{ '7.1': 3, '7.2': 4, '7.3': 2, '7.4': 5, '7.5': 3, '7.6': 2 },
  ...{ '8.1': 4, '8.2': 4, '8.3': 3, '8.4': 2, '9.1': 3, '9.2': 4 },
};
const rows = readFileSync('root/ASVS.md', 'utf8')
  .split('\n')
  .filter((line) => /^\| \d/.test(line))
  .map((line) => line.slice(2, -2).split(' | '));

const test = suite('ASVS');

test('every requirement of the four chapters has one row, in order, and says whether it holds', () => {
  const all = Object.entries(sections).flatMap(([s, n]) =>
    Array.from({ length: n }, (_, i) => `${s}.${i + 1}`),
  );
  assert.equal(
    rows.map((r) => r[0]),
    all,
  );
  for (const row of rows) {
    assert.is(row.length, 4, row[0]);
    assert.ok(['yes', 'no', 'partly', 'n/a'].includes(row[2]!), row[0]);
    assert.ok(
      row.every((cell) => cell.trim() !== ''),
      row[0],
    );
  }
});

test('what holds is shown by a test', () => {
  for (const [at, , holds, shown] of rows) if (holds === 'yes') assert.match(shown!, /`test\/[^`]+`/, at);
});

test('every test that is named exists, by file and title', () => {
  const named = rows.flatMap((r) =>
    [...r[3]!.matchAll(/`(test\/[^`]+)`(?: "([^"]+)")?/g)].map(([, file, title]) => ({
      at: r[0],
      file,
      title,
    })),
  );
  assert.ok(named.length > 40);
  for (const { at, file, title } of named) {
    assert.ok(existsSync(file!), `${at}: ${file}`);
    if (title !== undefined)
      assert.ok(readFileSync(file!, 'utf8').includes(`test('${title}',`), `${at}: ${file} "${title}"`);
  }
});

test('root asks for nothing and keeps nothing by which somebody could be written to, called or asked a question', () => {
  const columns = migrations.flatMap((m) => [
    ...[...m.matchAll(/CREATE TABLE \w+ \(([^;]*)\)/g)].flatMap(
      ([, all]) => all!.match(/\w+(?= (?:TEXT|INTEGER|BLOB))/g)!,
    ),
    ...[...m.matchAll(/ADD COLUMN (\w+)/g)].map(([, name]) => name!),
  ]);
  const fields = Object.values(rootApi).flatMap((e) =>
    Object.keys(('body' in e && e.body?.properties) || {}),
  );
  assert.ok(columns.length > 80 && columns.includes('rotated'), `${columns.length} columns`);
  assert.ok(fields.includes('device_code'));
  for (const name of [...columns, ...fields])
    assert.not.match(name, /mail|phone|mobile|tel$|street|question|hint|password|finger|face|birth/i);
});

test('README says of every endpoint who may call it, as it is declared', () => {
  const said = readFileSync('root/README.md', 'utf8')
    .split('\n')
    .filter((line) => /^\| `(GET|POST|PATCH|DELETE) /.test(line))
    .map((line) => line.split(' | '));
  for (const [name, { method, path, who }] of Object.entries(rootApi)) {
    const at = path.replace('{path*}', name === 'page' ? '{page}' : '{path}');
    const rowOf = (asked: string) =>
      said.find(([what]) => [`${asked}\``, `${asked}?`].some((end) => what!.includes(end)));
    // What takes something back stands in the row of what it takes back.
    const row = rowOf(`${method} ${at}`) ?? rowOf(at);
    assert.ok(row, `${name}: ${method} ${at}`);
    const [, purpose] = /^proof:(.+)$/.exec(who) ?? [];
    if (purpose) assert.match(row[1]!, new RegExp(`hub's proof \`${purpose}\``), name);
    else if (who === 'browser') assert.is(row[1], 'cookie', name);
    else if (who === 'session') assert.match(row[1]!, /^session(?! or command line)/, name);
    else if (who === 'account') assert.match(row[1]!, /^session or command line/, name);
    else assert.not.match(row[1]!, /session|cookie/, name);
  }
});

test('a key that a token brings along, or points to, verifies nothing', async () => {
  const tokens = await openTokens(await openSqlite(':memory:'), 'http://localhost');
  const { privateKey, publicKey } = await generateKeyPair('EdDSA', { extractable: true });
  const jwk = await exportJWK(publicKey);
  const claims = {
    iss: 'http://localhost',
    aud: 'owner',
    sub: 'owner:own_x',
    sid: 's',
    jti: 'j',
    browser_key_id: 'k',
  };
  const { kid } = tokens.jwks().keys[0] as { kid: string };
  const url = 'https://evil.example/jwks.json';
  for (const more of [{ jwk }, { jku: url, kid }, { x5u: url }, { x5c: ['AAAA'] }, { jwk, kid }]) {
    const jwt = await new SignJWT(claims)
      .setProtectedHeader({ alg: 'EdDSA', ...more })
      .setIssuedAt()
      .setExpirationTime('1h')
      .sign(privateKey);
    const why = await tokens.verifySession(jwt).catch((e: { code: string }) => e.code);
    assert.is(why, 'unauthenticated', JSON.stringify(more));
  }
});

test.run();
