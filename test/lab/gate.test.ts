// What `npm run check` takes is told by what each test imports, and nothing it takes starts a program.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const test = suite('gate');
type Taken = { file: string; why: string }[];
const { gate } = (await import('../gate.mjs' as string)) as { gate(sources?: Map<string, string>): Taken };
const taken = gate();
const whyOf = (sources: Record<string, string>): Record<string, string> =>
  Object.fromEntries(gate(new Map(Object.entries(sources))).map((t) => [t.file, t.why]));

test('a test is left out for what it reaches, however far away; types and other libraries do not count', () => {
  const sources = {
    'a/exec.ts': `import { spawn } from 'node:child_process';`,
    'a/far.ts': `import { run } from './exec.ts';`,
    'x/far.test.ts': `import { far } from '../a/far.ts';`,
    'x/types.test.ts': `import type { Run } from '../a/far.ts';\nimport { type Run, type R } from '../a/exec.ts';`,
    'x/late.test.ts': `test('x', async () => { await import('../a/far.ts'); });`,
    'x/page.test.ts': `import { chromium } from 'playwright-core';`,
    'x/plain.test.ts': `import { readFileSync } from 'node:fs';\nimport 'sqlite3';`,
  };
  assert.equal(whyOf(sources), {
    'x/far.test.ts': 'x/far.test.ts -> a/far.ts -> a/exec.ts -> node:child_process',
    'x/late.test.ts': 'x/late.test.ts -> a/far.ts -> a/exec.ts -> node:child_process',
    'x/page.test.ts': 'x/page.test.ts -> playwright-core',
    'x/plain.test.ts': '',
    'x/types.test.ts': '',
  });
});

test('the word of a file stands in its first lines, with its reason, and beats its imports', () => {
  const starts = `import { spawn } from 'node:child_process';`;
  assert.equal(
    whyOf({
      'in.test.ts': `// timeout: 300 s\n// gate: in, it starts nothing\n${starts}`,
      'late.test.ts': `${starts}\n// gate: in, too late`,
      'none.test.ts': `// gate: out\nimport 'x';`,
      'out.test.ts': `// What it tests.\n// gate: out, 30 s of a processor\nimport 'x';`,
    }),
    {
      'in.test.ts': '',
      'late.test.ts': 'late.test.ts -> node:child_process',
      'none.test.ts': '',
      'out.test.ts': '30 s of a processor',
    },
  );
});

test('pure tests of every area are in, those with a daemon, a browser or a machine are out', () => {
  const inside = new Set(taken.filter((t) => t.why === '').map((t) => t.file));
  const areas =
    'audio wifi update health device setup spa text uplink root image ui protocol documents system cli services'.split(
      ' ',
    );
  for (const area of areas)
    assert.ok(
      [...inside].some((f) => f.startsWith(`test/${area}/`)),
      `no test of ${area}`,
    );
  for (const f of inside) assert.not.match(f, /^test\/(browser|vm|ble|systemd)\//);
  assert.ok(taken.length > inside.size);
});

test('a test of the gate that starts a program fails, and says which', () => {
  const dir = mkdtempSync(join(tmpdir(), 'ingle-gate-'));
  try {
    const file = join(dir, 'one.mjs');
    writeFileSync(file, `import { execFileSync } from 'node:child_process';\nexecFileSync('true');\n`);
    const r = spawnSync(process.execPath, ['--import', './test/no-children.mjs', file], { encoding: 'utf8' });
    assert.is.not(r.status, 0);
    assert.match(r.stderr, /starts no program, and this one starts true/);
  } finally {
    rmSync(dir, { recursive: true });
  }
});

test.run();
