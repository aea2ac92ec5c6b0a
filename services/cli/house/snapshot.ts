// The snapshot that slots of skills start from under `npm start`: made by the Node that runs them, once for each build.
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorTable } from '../../../firmware/protocol/errors.ts';
import { forAnyProcessor, withoutCodeCache } from '../../../firmware/skills/snapshot.ts';
import { run } from '../../../firmware/system/exec.ts';

/** Flags of V8 a snapshot is made with: what the rehearsal compiled stays in it. */
const snapshotFlags = ['--no-flush-bytecode'];

/** When one of an earlier build goes, milliseconds. */
const OLD_MS = 7 * 24 * 3_600_000;

/** Tells one Node and one build of the host from others. */
function keyOf(program: string): string {
  const [node, host] = [statSync(process.execPath), statSync(program)];
  return [process.version, process.arch, node.size, node.mtimeMs, host.size, host.mtimeMs]
    .map((x) => (typeof x === 'number' ? Math.round(x).toString(36) : x))
    .join('-');
}

/**
 * Flags of Node with which `<dist>/services/skill-host/main.js` starts from a snapshot of itself; none where this Node
 * makes none that works, and the program is loaded as every other.
 */
export async function hostFlags(dist: string): Promise<string[]> {
  const folder = join(dist, 'services/skill-host');
  const program = join(folder, 'snapshot.cjs');
  if (!existsSync(program)) return [];
  const name = `host-${keyOf(program)}.blob`;
  const blob = join(folder, name);
  const flags = [`--snapshot-blob=${blob}`];
  if (existsSync(blob)) return flags;
  const made = `${blob}.${process.pid}`;
  try {
    const make = [...snapshotFlags, `--snapshot-blob=${made}`, '--build-snapshot', program];
    const { code, stderr } = await run(process.execPath, make, { timeoutMs: 60_000 });
    if (code !== 0) throw new Error(stderr);
    writeFileSync(made, withoutCodeCache(forAnyProcessor(readFileSync(made))));
    // It works when the program comes as far as to miss the bus.
    const tried = await run(process.execPath, [`--snapshot-blob=${made}`, join(folder, 'main.js'), '1'], {
      env: { INGLE_BUS_ADDRESS: 'unix:path=/nonexistent', INGLE_LOG: 'error' },
      timeoutMs: 20_000,
    });
    if (tried.code !== errorTable.unavailable.exit) throw new Error(tried.stderr);
    renameSync(made, blob);
    // A house that still runs may have begun before the last build.
    for (const f of readdirSync(folder))
      if (/^host-.*\.blob/.test(f) && Date.now() - statSync(join(folder, f)).mtimeMs > OLD_MS)
        rmSync(join(folder, f), { force: true });
    return flags;
  } catch {
    rmSync(made, { force: true });
    return [];
  }
}
