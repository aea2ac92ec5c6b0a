// Loaded before a test of the gate: it starts no program but the compiler, which runs as one.
import children from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';

for (const name of ['spawn', 'spawnSync', 'exec', 'execSync', 'execFile', 'execFileSync', 'fork']) {
  const own = children[name];
  children[name] = (program, ...rest) => {
    if (/esbuild/.test(program)) return own(program, ...rest);
    throw new Error(`A test of the gate starts no program, and this one starts ${program} (test/gate.mjs).`);
  };
}
syncBuiltinESMExports();
