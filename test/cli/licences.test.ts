import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { licencesPath } from '../../image/licences.ts';
import { licences } from '../../services/cli/hub/licences.ts';
import { speaker } from '../../services/cli/say.ts';

const test = suite('ingle licences');

/** What the command prints. */
function printed(env: NodeJS.ProcessEnv, json = false): string {
  let out = '';
  licences(
    speaker({
      json,
      env: { INGLE_LANG: 'en' },
      out: (t) => {
        out += t;
      },
    }),
    env,
  );
  return out;
}

test('it prints the file of the image, as text or as an object', () => {
  const dir = mkdtempSync(join(tmpdir(), 'ingle-licences-'));
  const file = join(dir, 'copyright');
  writeFileSync(file, 'Ingle\n\nyjs 13\n');
  assert.is(printed({ INGLE_LICENCES: file }), 'Ingle\n\nyjs 13\n');
  assert.equal(JSON.parse(printed({ INGLE_LICENCES: file }, true)), { file, licences: 'Ingle\n\nyjs 13\n' });
  rmSync(dir, { recursive: true });
});

test('where there is no image it says what there is instead', () => {
  try {
    printed({});
    assert.unreachable();
  } catch (e) {
    assert.is((e as { code: string }).code, 'not_found');
    assert.match((e as Error).message, new RegExp(`/${licencesPath}.*LICENSE is ours`));
  }
});

test.run();
