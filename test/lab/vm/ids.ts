// A database that is written all the time and tells what it was promised is kept; and what every file system must hold
// that a power cut may leave of it.
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import * as assert from 'uvu/assert';
import { must, run } from '../../../firmware/system/exec.ts';
import { peekStore } from '../../../firmware/system/store.ts';
import type { Vm } from './lab.ts';
import { type Crash, marker } from './sweep.ts';

/** Enough for SQLite to bring its log into the file now and then, which it does after 1000 pages. */
const COUNT = 400;
const bytes = (id: number) => 2000 + ((id * 37) % 3000);

const program = `
import { constants, openSync, writeSync } from 'node:fs';
import { openStore } from './store.ts';
const disk = openSync(process.argv[2], constants.O_WRONLY | constants.O_DIRECT);
const memory = Buffer.alloc(8192);
let aligned;
// Past every cache, as dd does it in sweep.ts; what memory the disk takes it says itself.
function mark(text) {
  for (let at = aligned ?? 0; ; at += 16) {
    memory.fill(0).write('told ' + text + '\\n', at);
    try {
      writeSync(disk, memory, at, 512, 100 * 512);
      aligned = at;
      return;
    } catch (e) {
      if (e.code !== 'EINVAL' || at > 4096) throw e;
    }
  }
}
(async () => {
  const store = await openStore('/var/lib/lab/ids.db', [
    'CREATE TABLE ids (id INTEGER PRIMARY KEY, body BLOB NOT NULL);\\nCREATE TABLE total (n INTEGER);\\nINSERT INTO total VALUES (0)',
  ]);
  mark('id 0');
  for (let id = 1; id <= ${COUNT}; id++) {
    await store.transaction(async (s) => {
      await s.run('INSERT INTO ids VALUES (?, ?)', id, Buffer.alloc(2000 + ((id * 37) % 3000), id % 251));
      await s.run('UPDATE total SET n = n + 1');
    });
    mark('id ' + id);
  }
})();
`;

/** The program as one file; SQLite's machine code is the root's own. */
async function bundled(): Promise<string> {
  const resolveDir = dirname(fileURLToPath(new URL('../../../firmware/system/store.ts', import.meta.url)));
  const made = await build({
    stdin: { contents: program, resolveDir, loader: 'js' },
    ...{ bundle: true, write: false, platform: 'node', target: 'node20', format: 'cjs' },
    plugins: [
      {
        name: 'native',
        setup(b) {
          b.onLoad({ filter: /sqlite3-binding\.js$/ }, () => ({
            contents: "module.exports = require('/usr/lib/ingle/native/node_sqlite3.node');",
          }));
          b.onResolve({ filter: /\.node$/ }, ({ path }) => ({ path, external: true }));
        },
      },
    ],
  });
  return made.outputFiles![0]!.text;
}

/** Writes ids by the hub's own store, on its own kernel and file system. */
export async function writeIds(vm: Vm): Promise<void> {
  await vm.put('/run/ids.cjs', await bundled());
  await vm.must(`${marker('ingle-data')}; node /run/ids.cjs "$disk"`, { timeoutMs: 240_000 });
}

/** Whatever a cut left: the file system is whole, each database too, and each id is there that was told of. */
export async function checkIds(crash: Crash): Promise<void> {
  // As the kernel does at the next mount, and what it would not put right fails here.
  const fsck = await run('e2fsck', ['-p', crash.image]);
  assert.ok(fsck.code <= 1, `${crash.name}: ${fsck.stdout}${fsck.stderr}`);
  const dir = mkdtempSync(join(tmpdir(), 'ingle-crash-'));
  try {
    await must('debugfs', ['-R', `rdump /lib/lab /lib/ingle ${dir}`, crash.image]);
    const files = readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter((f) => f.endsWith('.db'));
    for (const f of files) {
      // Made, and nothing yet in it.
      if (statSync(join(dir, f)).size === 0) continue;
      const said = await peekStore(join(dir, f), 'PRAGMA integrity_check');
      assert.equal(said, [{ integrity_check: 'ok' }], `${crash.name}: ${f}`);
    }
    const file = join(dir, 'lab/ids.db');
    const told = Number(crash.told.at(-1));
    const ids = await peekStore<{ id: number; size: number; first: Uint8Array }>(
      file,
      'SELECT id, length(body) AS size, substr(body, -1) AS first FROM ids ORDER BY id',
    );
    const [total] = await peekStore<{ n: number }>(file, 'SELECT n FROM total');
    const what = `${crash.name}: told ${told}, kept ${ids.length}`;
    assert.ok(ids.length === told || ids.length === told + 1, what);
    assert.is(total?.n, ids.length, what);
    for (const [i, row] of ids.entries())
      assert.equal([row.id, row.size, row.first[0]], [i + 1, bytes(i + 1), (i + 1) % 251], what);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
