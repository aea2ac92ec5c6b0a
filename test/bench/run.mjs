#!/usr/bin/env node
// `npm run bench -- <name> [arguments]`: runs test/bench/<name>.ts; its last line is one JSON object.
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from '../../services/cli/build.mjs';
import { install } from '../../services/cli/install.mjs';
import { sourcesOf, treeOf } from '../imports.mjs';
import { install as packages } from '../needs.mjs';
import { wantsOf } from './wants.mjs';

const here = dirname(fileURLToPath(import.meta.url));
process.chdir(dirname(dirname(here)));
const names = readdirSync(here)
  .filter((f) => f.endsWith('.ts') && !f.endsWith('.test.ts') && !f.startsWith('_'))
  .map((f) => f.slice(0, -3))
  .sort();
const [name, ...rest] = process.argv.slice(2);
if (name === undefined || name.startsWith('-')) {
  console.log(`npm run bench -- <name>\n\n${names.map((n) => `  ${n}`).join('\n')}`);
  process.exit(name === undefined || name === '--help' ? 0 : 64);
}
if (!names.includes(name)) {
  console.error(`There is no benchmark "${name}". There are: ${names.join(', ')}`);
  process.exit(64);
}
await install((s) => console.error(s ? `  still installing, ${s} s` : 'Installing packages'));
const wants = wantsOf(sourcesOf(treeOf()), `test/bench/${name}.ts`);
const missing = await packages(wants.files);
if (missing.length > 0) process.exit(69);
if (wants.bundles)
  try {
    await build((what) => console.error(`built ${what}`));
  } catch (e) {
    console.error(e.message);
    process.exit(70);
  }

const child = spawn(process.execPath, ['--import', 'tsx', join(here, `${name}.ts`), ...rest], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
let out = '';
child.stdout.on('data', (d) => {
  process.stdout.write(d);
  out += d;
});
// Interrupted together with its terminal; ended by a signal, it goes along.
process.on('SIGTERM', () => child.kill('SIGTERM'));
child.on('close', (code) => {
  if (code !== 0) process.exit(code ?? 1);
  const why = fault(out.trimEnd().split('\n').at(-1));
  if (why) console.error(`The last line of the benchmark is wrong: ${why}`);
  process.exit(why ? 1 : 0);
});

/** What is wrong with a result line; '' when nothing is. */
function fault(line) {
  let r;
  try {
    r = JSON.parse(line);
  } catch {
    return 'it is not JSON';
  }
  for (const key of ['bench', 'unit']) if (typeof r[key] !== 'string') return `"${key}" is missing`;
  for (const key of ['ours', 'peer', 'ratio'])
    if (typeof r[key] !== 'number' || !Number.isFinite(r[key])) return `"${key}" must be a number`;
  if (r.bench !== name) return `"bench" is ${r.bench}`;
  const ratio = r.ours / r.peer;
  if (Math.abs(ratio - r.ratio) > 0.01 * Math.max(1, ratio)) return `"ratio" is not ours / peer (${ratio})`;
  return '';
}
