#!/usr/bin/env node
// `npm run check`: the quick gate before every commit. Format, lint, types, unused code, house rules, unit tests,
// size budgets. Prints one line a step, the words of those that fail, and exits 1 when one does.
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from '../services/cli/build.mjs';
import { install } from '../services/cli/install.mjs';
import { gate } from './gate.mjs';

const top = dirname(dirname(fileURLToPath(import.meta.url)));
process.chdir(top);
await install((s) => console.log(s ? `  still installing, ${s} s` : 'Installing packages'));

const quick = gate()
  .filter((t) => t.why === '')
  .map((t) => t.file);
const bin = (name) => [join('node_modules', name)];
const steps = [
  ['unit tests', ['test/run.mjs', '--no-setup', '--no-build', '--gate', ...quick]],
  ['format and lint', [...bin('@biomejs/biome/bin/biome'), 'check', '--max-diagnostics=60', '.']],
  [
    'types',
    [...bin('typescript/bin/tsc'), '-p', '.', '--incremental', '--tsBuildInfoFile', '.cache/types.json'],
  ],
  [
    'unused code',
    [
      ...bin('knip/bin/knip.js'),
      ...['--no-progress', '--no-config-hints', '--cache', '--cache-location', '.cache/knip'],
    ],
  ],
  ['house rules', ['test/house-rules.mjs']],
  ['size budgets', ['--import', 'tsx', 'test/budget.ts']],
];

function run(args) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let out = '';
    child.stdout.on('data', (d) => (out += d));
    child.stderr.on('data', (d) => (out += d));
    child.on('close', (code) => resolve({ code: code ?? 1, out }));
  });
}

let failed = 0;
const began = Date.now();
function report(name, code, out, seconds) {
  const last = out.trimEnd().split('\n').at(-1) ?? '';
  console.log(
    `${code === 0 ? 'ok  ' : 'FAIL'} ${name} (${seconds.toFixed(1)} s)${code === 0 && / (passed|keep|KiB)/.test(last) ? `: ${last}` : ''}`,
  );
  if (code !== 0) {
    failed++;
    console.log(out.slice(-12_000));
  }
}
// Two at a time: most machines that run this have two cores to spare, not six.
const queue = [...steps];
const worker = async () => {
  for (let step = queue.shift(); step; step = queue.shift()) {
    const [name, args] = step;
    const at = Date.now();
    if (name === 'size budgets')
      try {
        await build();
      } catch (e) {
        report('build', 1, e.message, (Date.now() - at) / 1000);
        continue;
      }
    const { code, out } = await run(args);
    report(name, code, out, (Date.now() - at) / 1000);
  }
};
await Promise.all([worker(), worker()]);
console.log(
  `${failed ? `${failed} of ${steps.length} steps failed` : `${steps.length} steps passed`} in ${((Date.now() - began) / 1000).toFixed(0)} s`,
);
process.exit(failed ? 1 : 0);
