// Modules with machine code and what they need at run time, without sources, tests and other machines' binaries.
import { cpSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { filesBelow } from './bundles.ts';

/** The bundles leave these outside; see rollup.config.js. */
export const nativeModules = ['sqlite3', 'uWebSockets.js', '@abandonware/bleno', 'serialport'];

/** Needed to install or compile, never to run. */
const buildOnly = new Set([
  'node-addon-api',
  'nan',
  'prebuild-install',
  'tar',
  'node-gyp',
  '@types/node',
  'usb',
]);
const unwanted =
  /(^|\/)(tests?|docs?|examples?|\.github)(\/|$)|\.(a|o|md|map|[cm]?ts)$|(^|\/)([Mm]akefile|binding\.Makefile)$/;
/** Of a module that was compiled here, the machine code is enough. */
const compiled = /(^|\/)(obj(\.target)?|deps|src|tools)(\/|$)|\.(c|cc|cpp|h|hpp|gyp|gypi)$/;

/** The Node ABI of the target's Debian nodejs (20.x). */
const abi = '115';
const machine: Record<string, string> = { amd64: 'x64', arm64: 'arm64' };

function isOtherMachine(path: string, arch: string): boolean {
  const name = basename(path);
  const cpu = machine[arch] ?? arch;
  if (/^uws_.*\.node$/.test(name)) return name !== `uws_linux_${cpu}_${abi}.node`;
  if (path.includes('/prebuilds/')) {
    const folder = path.split('/prebuilds/')[1]!.split('/')[0]!;
    return folder !== '' && (folder !== `linux-${cpu}` || name.includes('musl'));
  }
  return false;
}

/** Folders of `name` and all it needs at run time, resolved as Node does from `from`. */
function closure(name: string, from: string, found: Set<string>): void {
  if (buildOnly.has(name)) return;
  for (let at = from; ; at = dirname(at)) {
    const dir = join(at, 'node_modules', name);
    if (existsSync(join(dir, 'package.json'))) {
      if (found.has(dir)) return;
      found.add(dir);
      const p = JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8')) as {
        dependencies?: Record<string, string>;
        optionalDependencies?: Record<string, string>;
      };
      for (const d of Object.keys({ ...p.optionalDependencies, ...p.dependencies })) closure(d, dir, found);
      return;
    }
    if (at === dirname(at)) return;
  }
}

/** Folders of the native modules and all they need, such as `node_modules/sqlite3`, sorted. */
export function nativeFolders(top: string): string[] {
  const found = new Set<string>();
  for (const name of nativeModules) closure(name, top, found);
  return [...found].map((dir) => relative(top, dir)).sort();
}

/**
 * Copies modules that are installed under `top`, and what they need at run time, to `target`.
 * @param names modules; one that is not installed is left out
 */
export function copyModules(top: string, target: string, arch: string, names: readonly string[]): void {
  const found = new Set<string>();
  for (const name of names) closure(name, top, found);
  for (const dir of found) {
    const native = existsSync(join(dir, 'binding.gyp'));
    cpSync(dir, join(target, relative(join(top, 'node_modules'), dir)), {
      recursive: true,
      dereference: true,
      filter: (path) => {
        const inside = relative(dir, path);
        if (inside === '') return true;
        if (inside.startsWith('node_modules') || unwanted.test(inside)) return false;
        return !(native && compiled.test(inside)) && !isOtherMachine(`/${inside}`, arch);
      },
    });
  }
}

/** Without these no hub runs; the others are left out where they were not installed. */
const vital = ['sqlite3/build/Release/node_sqlite3.node', 'uWebSockets.js/package.json'];

/**
 * Copies the native modules of the hub to `target`.
 * @throws Error when one that no hub runs without is not there
 */
export function copyNative(top: string, target: string, arch: string): void {
  copyModules(top, target, arch, nativeModules);
  for (const file of vital)
    if (!existsSync(join(target, file))) throw new Error(`node_modules/${file} is missing; run npm ci`);
}

/** ELF's number of a machine (elf.h, EM_X86_64 and EM_AARCH64). */
const elfMachine: Record<string, number> = { amd64: 62, arm64: 183 };

/** Removes machine code of another machine below `dir`; a module for another system brings some along. */
export function dropOtherMachines(dir: string, arch: string): void {
  for (const f of filesBelow(dir).filter((n) => n.endsWith('.node')))
    if (readFileSync(join(dir, f)).readUInt16LE(18) !== elfMachine[arch]) rmSync(join(dir, f));
}
