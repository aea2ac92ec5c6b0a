// Which skills may run where nothing shuts them in.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { checkConfined, markDeveloper } from '../../firmware/skills/confined.ts';
import type { Config } from '../../firmware/system/config.ts';

const test = suite('skills without a sandbox');
const data = mkdtempSync(join(tmpdir(), 'ingle-confined-'));
mkdirSync(join(data, 'skills'));
test.after(() => rmSync(data, { recursive: true }));

const here = (unconfined: Config['unconfined']) => ({ data, unconfined });
const runs = (unconfined: Config['unconfined'], bundle: string | undefined): string => {
  try {
    checkConfined(here(unconfined), { skill_id: 'lamp', bundle });
    return 'runs';
  } catch (e) {
    assert.instance(e, IngleError);
    const { code, details } = e as IngleError;
    return `${code} ${details?.['reason']}`;
  }
};
const OFF = 'unavailable no_sandbox';

test("a package's skill needs a sandbox or developer mode; those of the image and their author's own do not", async () => {
  const table: [Config['unconfined'], developer: boolean, bundle: string | undefined, string][] = [
    ['', false, 'lamp-1.0.0-abc', 'runs'],
    ['', false, undefined, 'runs'],
    ['missing', false, undefined, 'runs'],
    ['missing', false, 'lamp-1.0.0-abc', OFF],
    ['unusable', false, 'lamp-1.0.0-abc', OFF],
    ['missing', true, 'lamp-1.0.0-abc', 'runs'],
    ['missing', false, 'lamp-dev', 'runs'],
    ['missing', false, 'lamp-1.0.0-dev', OFF],
    ['missing', false, 'other-dev', OFF],
  ];
  for (const [unconfined, developer, bundle, wanted] of table) {
    await markDeveloper(here(unconfined), developer);
    assert.is(runs(unconfined, bundle), wanted, `${unconfined} ${developer} ${bundle}`);
  }
});

test('where there is a sandbox developer mode leaves no mark, and an old one goes', async () => {
  await markDeveloper(here('missing'), true);
  assert.is(await markDeveloper(here('missing'), true), false);
  assert.is(await markDeveloper(here(''), true), true);
  assert.is(runs('missing', 'lamp-1.0.0-abc'), OFF);
});

test.run();
