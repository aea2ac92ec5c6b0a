#!/usr/bin/env node
// Runs every test and ends in one line `N passed, N failed`. All files are compiled beforehand; those that start no
// program (gate.mjs) share a few processes, and every other one has its own.
//   node test/run.mjs [protocol|system|services|root|browser|vm|bench|…]
// With --gate there is nothing but the former.
// A suite that cannot run here (no root rights, no Chromium) says why and is counted as skipped.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import { basename, dirname, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { build } from '../services/cli/build.mjs';
import { install } from '../services/cli/install.mjs';
import { gate } from './gate.mjs';
import { install as installNeeds, suites } from './needs.mjs';

const top = dirname(dirname(fileURLToPath(import.meta.url)));
process.chdir(top);
const args = process.argv.slice(2);
const isGate = args.includes('--gate');
const only = args.filter((a) => !a.startsWith('--'));

/** Folders of test/ in the order they run. */
const order = [
  'protocol',
  'system',
  'device',
  'health',
  'services',
  'audio',
  'wifi',
  'ble',
  'setup',
  'systemd',
  'root',
  'uplink',
  'cli',
  'update',
  'image',
  'browser',
  'vm',
  'bench',
];
const rank = (file) => {
  const folder = relative('test', file).split('/')[0];
  const i = order.indexOf(folder);
  return i < 0 ? order.indexOf('services') : i;
};
const files = suites('test')
  .filter((f) => only.length === 0 || only.some((o) => f.includes(o)))
  .sort((a, b) => rank(a) - rank(b) || a.localeCompare(b));

/** What runs only where its own name is given, and not by that of its folder. */
const isLeft = (file) => headOf(file).apart && !only.some((o) => basename(file).includes(basename(o)));

// npm's packages and Debian's, side by side.
await Promise.all([
  install((s) => console.log(s ? `  still installing, ${s} s` : 'Installing packages')),
  !args.includes('--no-setup') && installNeeds(files.filter((f) => !isLeft(f))),
]);
/** esbuild is one of them. */
const { compile } = await import('./compile.mjs');

/** What ends the files that run; a file also dies with this process (kill -9), and its children with it. */
const groups = new Set();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
  process.on(signal, () => {
    for (const end of groups) end();
    process.exit(130);
  });
const tethered = process.platform === 'linux' ? ['setpriv', '--pdeathsig', 'KILL', '--'] : [];

let passed = 0;
let failed = 0;
let skipped = 0;
const broken = [];
const told = [];
// Where no file runs the bundles, nothing is built for it.
const wantsBundles = files.some((f) => /\bdist\/|house\.ts/.test(readFileSync(f, 'utf8')));
if (wantsBundles && !args.includes('--no-build'))
  try {
    await build((what) => console.log(`built ${what}`));
  } catch (e) {
    // Much can be tested without the bundles; what cannot says so itself.
    failed++;
    broken.push('the build');
    console.log(`FAIL ${e.message}`);
  }

/** What starts no program, in a few processes: to start one takes longer than most of these files. */
const pure = new Set(
  isGate
    ? files
    : gate()
        .filter((t) => t.why === '')
        .map((t) => t.file),
);
const together = files.filter((f) => pure.has(f));
const compiled = files.length > 0 ? await compile(files) : new Map();
/** fast-check makes a table of all of Unicode where any character is asked for, so one process does all of that. */
const isDear = (file) => /unit: '(binary|grapheme)/.test(readFileSync(file, 'utf8'));
const dear = together.filter(isDear);
const rest = together.filter((f) => !isDear(f));
/** Processes that share them: each takes the next file when it is through with one. */
const sharing = Math.min(4, Math.ceil(together.length / 12));

/** Niceness of what goes before others, which not everybody may give. */
const URGENT = -10;
const mayHurry = (() => {
  try {
    const now = getPriority();
    setPriority(URGENT);
    setPriority(now);
    return true;
  } catch {
    return false;
  }
})();

const folderOf = (file) => relative('test', file).split('/')[0];
const left = files.filter(isLeft);
const own = files.filter((f) => !pure.has(f) && !left.includes(f));
const isMachine = (file) => folderOf(file) === 'vm';
const isUrgent = (file) => mayHurry && headOf(file).urgent;
const isAlone = (file) => folderOf(file) === 'bench' || (headOf(file).urgent && !isUrgent(file));
const worker = async (queue) => {
  for (let batch = queue.shift(); batch; batch = queue.shift()) await test(batch);
};
const queueOf = (some) => some.map((f) => [f]);
const one = (some) => worker(queueOf(some));
// What measures, or goes before others where it may not, has the machine to itself.
await one(own.filter(isAlone));
const urgent = one(own.filter(isUrgent));
// What is patient runs beside all others, mostly while they wait, the longest first.
const longestFirst = (some) => some.sort((a, b) => headOf(b).seconds - headOf(a).seconds);
const others = own.filter((f) => !isAlone(f) && !isUrgent(f));
const patient = one(longestFirst(others.filter((f) => headOf(f).patient)));
const eager = others.filter((f) => !headOf(f).patient);
await Promise.all(
  Array.from({ length: sharing }, async (_, i) => {
    // Where one dies of a file, another one takes the rest; one that dies before it takes any would do so again.
    let files;
    do {
      files = [];
      await test(files, () => {
        const file = (i === 0 && dear.shift()) || rest.shift() || dear.shift();
        if (file) files.push(file);
        return file;
      });
    } while (files.length > 0 && rest.length + dear.length > 0);
  }),
);
// Most files wait half of their time, so three run at a time. An emulated machine keeps one processor busy: two of them
// run at a time, the longest first. Beside more of them services did not answer in their time. Short files, those of the
// browser, come after them, so that neither lane ends long before the other.
const isLast = (file) => folderOf(file) === 'browser';
const first = queueOf(eager.filter((f) => !isMachine(f) && !isLast(f)));
const then = queueOf([...longestFirst(eager.filter(isMachine)), ...eager.filter(isLast)]);
await Promise.all([
  worker(first).then(() => worker(then)),
  worker(first).then(() => worker(then)),
  worker(first),
]);
await patient;
await urgent;
if (files.length === 0) {
  console.log(`No test file matches ${only.join(' ')}`);
  failed++;
}
// At the end once more: of a long run only that may be at hand.
if (broken.length) console.log(`\n${told.join('\n')}\nFailed:\n${broken.map((f) => `  ${f}`).join('\n')}`);
if (left.length) console.log(`Not run, as they run only by name: ${left.join(' ')}`);
if (skipped) console.log(`${skipped} skipped; the reasons stand above.`);
console.log(`${passed} passed, ${failed} failed${skipped ? `, ${skipped} skipped` : ''}`);
process.exit(failed ? 1 : 0);

/**
 * A suite says in its first lines how long it may take, and whether it goes before others (it hears or measures, and
 * mostly waits), lets them go before it, or runs only where it is named: `// timeout: 600 s, urgent`, `patient` or `apart`.
 */
function headOf(file) {
  const [, seconds, how] =
    /^\/\/ timeout: (\d+) s(?:, (urgent|patient|apart))?$/m.exec(readFileSync(file, 'utf8')) ?? [];
  return {
    seconds: Number(seconds ?? 120),
    patient: how === 'patient',
    urgent: how === 'urgent',
    apart: how === 'apart',
  };
}

/** @param batch one file, or those that `next` gives while they run, in one process */
async function test(batch, next) {
  const began = Date.now();
  const { code, out, summaries } = await run(batch, next);
  // The others have taken all there was.
  if (batch.length === 0 && code === 0) return;
  const file =
    batch.length === 0
      ? 'test/batch.mjs'
      : batch.length > 1
        ? `${batch[0]} and ${batch.length - 1} more`
        : batch[0];
  const plain = stripVTControlCharacters(out);
  const { total, ok, skip, all } = counts(summaries, !next);
  // What is skipped is in no total.
  let bad = total - ok;
  // A file that died, hung or ran nothing is a failure, whatever it counted; so is a skip without its reason.
  if (code !== 0 && bad === 0) bad = 1;
  if (code === 0 && (total + skip === 0 || (next && all < batch.length))) bad ||= 1;
  const silent = skip > 0 && !/^SKIP /m.test(plain);
  if (silent) bad++;
  passed += ok;
  failed += bad;
  skipped += skip;
  const word = bad ? 'FAIL' : 'ok';
  console.log(
    `${word.padEnd(4)} ${file} (${ok}/${total}${skip ? `, ${skip} skipped` : ''}, ${((Date.now() - began) / 1000).toFixed(1)} s; ${Math.round(process.uptime() / 60)} min in all)`,
  );
  for (const line of plain.split('\n')) if (/^(SKIP|FIGURE) /.test(line)) console.log(`     ${line}`);
  if (silent) console.log('     skips without a line "SKIP <reason>"');
  if (bad) {
    broken.push(file);
    // What failed comes first: the rest of a machine's suite is long.
    told.push(failuresIn(plain) || plain.split('\n').slice(-20).join('\n'));
    console.log(`${told.at(-1)}\n${out}`);
  }
}

/**
 * What uvu counted, and `all` summaries that counted anything. A file may hold several suites; its last summary counts them all. Of several files each has its own.
 * @param out standard output alone: what a log says elsewhere at the same time would come between a name and its number
 */
function counts(out, isOne) {
  const all = [...out.matchAll(/^ {2}Total: +(\d+)\n {2}Passed: +(\d+)\n {2}Skipped: +(\d+)\n/gm)];
  const full = all.filter(([, total, , skipped]) => Number(total) + Number(skipped) > 0);
  const sum = (i) => (isOne ? all.slice(-1) : all).reduce((n, m) => n + Number(m[i]), 0);
  return { total: sum(1), ok: sum(2), skip: sum(3), all: full.length };
}

/** The failed checks of a suite as uvu tells them, each cut to its first lines. */
function failuresIn(plain) {
  const [, ...blocks] = plain.split(/^(?= {3}FAIL )/m);
  return blocks.map((b) => b.split('\n').slice(0, 60).join('\n')).join('\n');
}

function run(batch, next) {
  return new Promise((resolve) => {
    const program = next ? ['test/batch.mjs'] : [compiled.get(batch[0])];
    const [first, ...rest] = [...tethered, process.execPath, '--enable-source-maps', ...program];
    const child = spawn(first, rest, {
      stdio: ['ignore', 'pipe', 'pipe', ...(next ? ['ipc'] : [])],
      detached: true,
      env: { ...process.env, FORCE_COLOR: '0', NODE_ENV: 'test' },
    });
    // Its children inherit it: a third of a processor that two others want, or nearly all of one.
    if (!next && headOf(batch[0]).patient) setPriority(child.pid, 5);
    if (!next && isUrgent(batch[0])) setPriority(child.pid, URGENT);
    let out = '';
    let stdout = '';
    let lingers;
    let lingered = false;
    /** What has done its tests ends by itself, or something is left open. */
    const awaitEnd = () => {
      lingers = setTimeout(() => {
        out += `\nIts tests are over, but sockets, timers or children keep the file from ending.\n`;
        lingered = true;
        killGroup();
      }, 30_000);
    };
    const keep = (d) => {
      out += d;
      if (out.length > 2_000_000) out = out.slice(-1_000_000);
      if (next) return;
      clearTimeout(lingers);
      if (/^\s+Skipped: +\S+\s*$/m.test(stripVTControlCharacters(out.slice(-200)))) awaitEnd();
    };

    child.stdout.on('data', (d) => {
      stdout = (stdout + stripVTControlCharacters(String(d))).slice(-1_000_000);
      keep(d);
    });
    child.stderr.on('data', keep);
    const killGroup = () => {
      try {
        process.kill(-child.pid, 'SIGKILL');
      } catch {}
    };
    let timer;
    const limit = (file) => {
      const { seconds } = headOf(file);
      clearTimeout(timer);
      timer = setTimeout(() => {
        out += `\n${file} took longer than ${seconds} s and was stopped.\n`;
        killGroup();
      }, seconds * 1000);
    };
    if (!next) limit(batch[0]);
    child.on('message', () => {
      const file = next();
      if (file) limit(file);
      else awaitEnd();
      child.send(file ? { name: file, file: compiled.get(file) } : {}, () => {});
    });
    groups.add(killGroup);
    // A descendant that outlives the file may hold its pipes open: the group ends first.
    child.on('exit', killGroup);
    child.on('close', (code) => {
      clearTimeout(timer);
      clearTimeout(lingers);
      groups.delete(killGroup);
      resolve({ code: lingered ? 1 : (code ?? 1), out, summaries: stdout });
    });
  });
}
