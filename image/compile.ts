// Native modules compiled for the target by Debian 13's own compiler against Debian 13's own Node, in a root of their
// own: what comes out depends on nothing this computer has, neither its compiler nor its Node nor any path of it.
import { createHash, type Hash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename, join } from 'node:path';
import { must } from '../firmware/system/exec.ts';
import { unpacked } from './boot.ts';

/** Headers that are compiled in. */
export const headerModules: readonly string[] = ['nan', 'node-addon-api'];

/** Debian architecture -> what Node calls it, and the prefix of the compiler. */
const machines: Readonly<Record<string, { cpu: string; prefix: string }>> = {
  amd64: { cpu: 'x64', prefix: 'x86_64-linux-gnu' },
  arm64: { cpu: 'arm64', prefix: 'aarch64-linux-gnu' },
};

/** Whether machine code for `arch` runs here. */
export const isNative = (arch: string) => machines[arch]?.cpu === process.arch;

/** Packages of a compiler for a machine, and what node-gyp and make run beside it. */
const compilerFor = (prefix: string) => [
  ...['libnode-dev', 'node-gyp', 'binutils', 'make', 'dash', 'coreutils', 'sed', 'tar'],
  `g++-${prefix.replaceAll('_', '-')}`,
];

/** A Debian root with a compiler; its programs run by `chroot`, which root may. */
async function compiler(cache: string, prefix: string): Promise<string> {
  const dir = await unpacked(cache, 'compiler', 'amd64', compilerFor(prefix));
  for (const d of ['bin', 'sbin', 'lib', 'lib64'])
    if (!lstatSync(join(dir, d), { throwIfNoEntry: false })) symlinkSync(`usr/${d}`, join(dir, d));
  return dir;
}

type Machine = NonNullable<(typeof machines)[string]>;

/** @throws Error for an architecture nothing is built for */
function machineOf(arch: string): Machine {
  const machine = machines[arch];
  if (machine) return machine;
  throw new Error(`There is no machine "${arch}". One of: ${Object.keys(machines).join(', ')}.`);
}

/** Runs a program of the compiler's root in its folder `inside`; nothing that comes out tells of `work`. */
const running =
  (root: string, { prefix }: Machine, work: string, inside: string) =>
  (words: string[]) =>
    must(
      'env',
      [
        ...['-i', 'PATH=/usr/sbin:/usr/bin', `HOME=${work}`, 'LC_ALL=C', 'TZ=UTC'],
        ...[`CC=${prefix}-gcc`, `CXX=${prefix}-g++`, `LINK=${prefix}-g++`, `AR=${prefix}-ar`],
        ...['CFLAGS', 'CXXFLAGS'].map((f) => `${f}=-ffile-prefix-map=${work}=/src`),
        ...['chroot', root, '/usr/bin/env', `--chdir=${inside}`, ...words],
      ],
      { timeoutMs: 30 * 60_000 },
    );

/** Where what is made of `hash` is kept. */
const keptAt = (cache: string, arch: string, hash: Hash) =>
  join(cache, `native-${arch}-${hash.digest('hex').slice(0, 16)}.node`);

/** Makes one file of another by one of the compiler's tools; kept by a hash of what it is made of. */
async function madeOf(
  cache: string,
  arch: string,
  source: string,
  o: { mode: number; words: (prefix: string) => string[] },
): Promise<string> {
  const machine = machineOf(arch);
  const root = await compiler(cache, machine.prefix);
  const words = o.words(machine.prefix);
  const hash = createHash('sha256')
    .update(basename(root))
    .update(words.join(' '))
    .update(readFileSync(source));
  const kept = keptAt(cache, arch, hash);
  if (existsSync(kept)) return kept;
  const work = `/src-${process.pid}`;
  try {
    mkdirSync(join(root, work), { recursive: true });
    cpSync(source, join(root, work, 'source'));
    await running(root, machine, work, work)(words);
    chmodSync(join(root, work, 'made'), o.mode);
    renameSync(join(root, work, 'made'), kept);
  } finally {
    rmSync(join(root, work), { recursive: true, force: true });
  }
  return kept;
}

/**
 * Compiles a program of one file of C.
 * @param cache folder it is kept in
 * @returns the file, stripped
 * @throws Error for an architecture nothing is built for, and what the compiler says
 */
export function compileProgram(cache: string, arch: string, source: string): Promise<string> {
  const safe = ['-O2', '-Wall', '-Wextra', '-Werror', '-fPIE', '-pie', '-Wl,-z,relro,-z,now'];
  const words = (prefix: string) => [`${prefix}-gcc`, ...safe, '-s', '-o', 'made', '-x', 'c', 'source'];
  return madeOf(cache, arch, source, { mode: 0o755, words });
}

/** Takes the names out of a library that its makers left in it: a tenth of what it is when it is compressed. */
export function stripped(cache: string, arch: string, source: string): Promise<string> {
  const words = (prefix: string) => [`${prefix}-strip`, '--strip-unneeded', '-o', 'made', 'source'];
  return madeOf(cache, arch, source, { mode: 0o644, words });
}

export interface Source {
  /** Folder with node_modules in it. */
  top: string;
  /** Module with a binding.gyp, such as `sqlite3`. */
  module: string;
  /** Name of what it makes, such as `node_sqlite3.node`. */
  product: string;
}

/**
 * Compiles a module's machine code; kept by a hash of what it is made of.
 * @param cache folder it is kept in
 * @returns the file, stripped
 * @throws Error for an architecture nothing is built for, and what node-gyp says
 */
export async function compile(cache: string, arch: string, s: Source): Promise<string> {
  const machine = machineOf(arch);
  const root = await compiler(cache, machine.prefix);
  const from = join(s.top, 'node_modules', s.module);
  const hash = createHash('sha256').update(basename(root)).update(s.product);
  for (const f of ['package.json', 'binding.gyp']) hash.update(readFileSync(join(from, f)));
  const kept = keptAt(cache, arch, hash);
  if (existsSync(kept)) return kept;

  // Builds beside each other have folders of their own; nothing that comes out tells which.
  const work = `/src-${process.pid}`;
  const inside = join(work, 'node_modules', s.module);
  try {
    mkdirSync(join(root, inside), { recursive: true });
    // Without what npm compiled here.
    cpSync(from, join(root, inside), {
      recursive: true,
      filter: (path) => !/^\/(build|lib\/binding)$/.test(path.slice(from.length)),
    });
    for (const d of headerModules) {
      const at = join(s.top, 'node_modules', d);
      if (existsSync(at)) cpSync(at, join(root, work, 'node_modules', d), { recursive: true });
    }
    const inRoot = running(root, machine, work, inside);
    // node-pre-gyp's modules are told where to copy theirs.
    const place = [`--module_name=${basename(s.product, '.node')}`, '--module_path=copied'];
    const options = ['--nodedir=/usr', `--arch=${machine.cpu}`, `--jobs=${availableParallelism()}`];
    const gyp = '/usr/share/nodejs/node-gyp/bin/node-gyp.js';
    await inRoot(['node', gyp, 'rebuild', ...options, ...place]);
    const built = join('build/Release', s.product);
    await inRoot([`${machine.prefix}-strip`, '--strip-unneeded', built]);
    chmodSync(join(root, inside, built), 0o644);
    renameSync(join(root, inside, built), kept);
  } finally {
    rmSync(join(root, work), { recursive: true, force: true });
  }
  return kept;
}
