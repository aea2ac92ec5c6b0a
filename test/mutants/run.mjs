#!/usr/bin/env node
// Mutation testing: changes the files on which trust hangs, one small change at a time, and counts how many of the
// changes their own suites notice. `npm run test:mutants [-- path part] [--most n] [--jobs n]`.
//
// Stryker's instrumenter puts all mutants of a file into it behind switches. The suite is bundled with that file once
// and run by plain Node for each mutant, which Stryker's own command runner would do with a whole start of tsx each.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { equivalent } from './equivalent.mjs';
import { targets } from './targets.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const top = dirname(dirname(here));
process.chdir(top);
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { most: { type: 'string' }, jobs: { type: 'string' } },
});
const jobs = Number(values.jobs ?? availableParallelism());
const passMark = 85;

/** Runs one process in a group of its own, and ends the group with it. */
function execute(command, args, { cwd = top, env = {}, seconds, stopAt } = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
    });
    const end = () => {
      try {
        process.kill(-child.pid, 'SIGKILL');
      } catch {}
    };
    running.add(end);
    let late = false;
    let out = '';
    const hear = (data) => {
      out = (out + data).slice(-20_000);
      if (stopAt?.test(out)) end();
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    const timer = setTimeout(() => {
      late = true;
      end();
    }, seconds * 1000);
    child.on('exit', (code) => {
      clearTimeout(timer);
      running.delete(end);
      // What it left behind keeps the pipes open.
      end();
      resolve({ code: code ?? 1, late, out });
    });
  });
}
const running = new Set();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
  process.on(signal, () => {
    for (const end of running) end();
    rmSync(box, { recursive: true, force: true });
    process.exit(130);
  });

/** Stryker's instrumenter, from a folder of its own with its own lock file. */
async function instrumenter() {
  const cache = join(top, '.cache/mutants');
  mkdirSync(cache, { recursive: true });
  const lock = readFileSync(join(here, 'package-lock.json'), 'utf8');
  const mark = join(cache, 'node_modules/.installed');
  if (!existsSync(mark) || readFileSync(mark, 'utf8') !== lock) {
    for (const f of ['package.json', 'package-lock.json']) copyFileSync(join(here, f), join(cache, f));
    const { code, out } = await execute('npm', ['ci', '--no-audit', '--no-fund'], {
      cwd: cache,
      seconds: 300,
    });
    if (code !== 0) throw new Error(`npm ci failed:\n${out}`);
    writeFileSync(mark, lock);
  }
  const from = join(cache, 'node_modules/@stryker-mutator/instrumenter/dist/src/instrumenter.js');
  const { Instrumenter } = await import(pathToFileURL(from).href);
  const quiet = { debug() {}, info() {}, warn: console.warn, isDebugEnabled: () => false };
  return new Instrumenter(quiet);
}

/** A copy of the checkout: mutants never stand in the tree somebody works in. */
async function copyTree() {
  const { out } = await execute(
    'sh',
    [
      '-c',
      `git ls-files -z --cached --others --exclude-standard | xargs -0 -r cp --parents -t '${box}' 2>&1 || true`,
    ],
    { seconds: 60 },
  );
  for (const f of ['node_modules', 'dist']) symlinkSync(join(top, f), join(box, f));
  mkdirSync(join(box, 'tmp'));
  return out;
}

/** What is no behaviour: the words of an error for developers, and what is written to the log. */
function isProse(mutant, lines) {
  const line = lines[mutant.location.start.line];
  const words = mutant.mutatorName === 'StringLiteral' && mutant.original.includes(' ');
  if (words && (/^.[A-Z].*[.?].$/s.test(mutant.original) || /Error\(|\bbad\(/.test(line))) return true;
  return /^\s*((o\.)?log|logger\.\w+)\(/.test(line);
}

const digest = (text) => createHash('sha256').update(text).digest('hex');

/** The mutants of a file and the file that has them all. */
async function mutate(stryker, file) {
  const content = readFileSync(file, 'utf8');
  const lines = content.split('\n');
  const done = await stryker.instrument([{ name: file, mutate: true, content }], {
    plugins: null,
    excludedMutations: [],
    ignorers: [],
    noHeader: false,
  });
  const at = ({ line, column }) => lines.slice(0, line).reduce((n, l) => n + l.length + 1, column);
  const mutants = done.mutants
    .filter((m) => m.status !== 'Ignored')
    .map((m) => {
      const [start, end] = [at(m.location.start), at(m.location.end)];
      return {
        ...m,
        original: content.slice(start, end),
        line: lines[m.location.start.line].trim(),
        where: `${file}:${m.location.start.line + 1}:${m.location.start.column + 1}`,
      };
    })
    .filter((m) => !isProse(m, lines));
  return { mutants, content: done.files[0].content };
}

const known = (file, m) =>
  equivalent[file]?.find(
    (e) =>
      m.line.includes(e.line) &&
      (e.to === undefined || m.replacement === e.to) &&
      (e.of === undefined || m.original === e.of),
  );

async function bundle(suite) {
  const out = join(box, dirname(suite), `.${basename(suite, '.ts')}.mjs`);
  await build({
    entryPoints: [join(box, suite)],
    outfile: out,
    bundle: true,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    target: 'node20',
    logLevel: 'error',
    banner: {
      js: `import { writeFileSync as _keep } from 'node:fs';
process.on('exit', () => process.env.COVERAGE && _keep(process.env.COVERAGE, JSON.stringify(globalThis.__stryker__?.mutantCoverage?.static ?? {})));`,
    },
  });
  return out;
}

/** Runs a bundled suite with a mutant switched on; `none`: it must pass. */
async function run(s, id, more = {}) {
  const r = await execute(process.execPath, [s.script], {
    cwd: box,
    env: env({ __STRYKER_ACTIVE_MUTANT__: id, ...more }),
    seconds: s.limit,
    stopAt: id === 'none' ? undefined : /✘/,
  });
  // uvu ends with 0 when it cannot print a failure (an error with `details` that is no text).
  const n = (name) => Number(new RegExp(`${name}: +(\\d+)`).exec(r.out)?.[1] ?? -1);
  if (r.code === 0 && (n('Total') < 1 || n('Passed') !== n('Total'))) r.code = 1;
  if (id === 'none' && r.code !== 0) throw new Error(`${s.suite} fails without a mutant:\n${r.out}`);
  return r;
}

async function measure(stryker, target) {
  const began = Date.now();
  const { mutants, content } = await mutate(stryker, target.file);
  writeFileSync(join(box, target.file), content);
  const suites = [];
  for (const suite of target.suites) {
    const script = await bundle(suite);
    const coverage = join(box, 'coverage.json');
    const at = Date.now();
    await run({ suite, script, limit: 300 }, 'none', { COVERAGE: coverage });
    const covered = new Set(Object.keys(JSON.parse(readFileSync(coverage, 'utf8'))));
    const seconds = (Date.now() - at) / 1000;
    suites.push({ suite, script, covered, limit: seconds * 4 + 6, seconds });
  }
  suites.sort((a, b) => a.seconds - b.seconds);
  const named = mutants.filter((m) => known(target.file, m));
  const most = Number(values.most ?? target.most ?? Number.POSITIVE_INFINITY);
  // The same sample each time: by what the mutant is, not where it stands.
  const rest = mutants
    .filter((m) => !named.includes(m))
    .map((m) => ({ ...m, key: digest(`${m.line}|${m.original}|${m.replacement}`) }))
    .sort((a, b) => a.key.localeCompare(b.key));
  const sample = rest.slice(0, most);
  const count = { killed: 0, late: 0 };
  const survivors = [];
  const queue = [...sample];
  const worker = async () => {
    for (let m = queue.shift(); m; m = queue.shift()) {
      let how;
      for (const s of suites.filter((x) => x.covered.has(m.id))) {
        const r = await run(s, m.id);
        if (r.late) how = 'late';
        else if (r.code !== 0) how = 'killed';
        if (how) break;
      }
      if (how) count[how]++;
      else survivors.push({ ...m, covered: suites.some((x) => x.covered.has(m.id)) });
    }
  };
  await Promise.all(Array.from({ length: jobs }, worker));
  // What fails now fails for another reason than its mutant.
  for (const s of suites) await run(s, 'none');
  copyFileSync(target.file, join(box, target.file));
  const noticed = count.killed + count.late;
  console.log(
    `${target.file}: ${percent(noticed, sample.length)} (${noticed} of ${sample.length}${sample.length < rest.length ? `, a sample of ${rest.length}` : ''}; ${count.late} by time-out, ${named.length} equivalent) in ${((Date.now() - began) / 1000).toFixed(0)} s`,
  );
  for (const m of survivors.sort((a, b) => a.location.start.line - b.location.start.line))
    console.log(
      `  ${m.where} ${m.mutatorName}${m.covered ? '' : ' (never run)'}: ${brief(m.original)} -> ${brief(m.replacement)}`,
    );
  return { noticed, all: sample.length };
}
const env = (more) => ({ FORCE_COLOR: '0', NODE_ENV: 'test', TMPDIR: join(box, 'tmp'), ...more });
const brief = (text) => text.replace(/\s+/g, ' ').slice(0, 100);
const percent = (n, of) => `${of ? ((100 * n) / of).toFixed(1) : '100'} %`;

const box = mkdtempSync(join(tmpdir(), 'ingle-mutants-'));
const total = { noticed: 0, all: 0 };
const failed = [];
try {
  const stryker = await instrumenter();
  await copyTree();
  for (const target of targets.filter(
    (t) => !positionals.length || positionals.some((p) => t.file.includes(p)),
  )) {
    try {
      const { noticed, all } = await measure(stryker, target);
      total.noticed += noticed;
      total.all += all;
      if (noticed / all < passMark / 100) failed.push(target.file);
    } catch (e) {
      console.log(`${target.file}: ${e.message}`);
      failed.push(target.file);
    }
  }
} finally {
  rmSync(box, { recursive: true, force: true });
}
console.log(`${percent(total.noticed, total.all)} of ${total.all} mutants noticed`);
if (failed.length) console.log(`Under ${passMark} %: ${failed.join(', ')}`);
process.exit(failed.length ? 1 : 0);
