// root/ASVS.md names requirements and the tests that show them: all are there, and so are the tests.
import { existsSync, readFileSync } from 'node:fs';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
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
