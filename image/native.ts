// Machine code that the bundles load from the folder native/ beside them (services/cli/rollup.native.js), for the target. All other
// code of npm's modules is in the bundles.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compile, compileProgram, stripped } from './compile.ts';
import { packed } from './packed.ts';

/** Where a hub has it. */
export const nativePath = 'usr/lib/ingle/native';

/** What ingle-quota.service runs. */
const quotaProgram = 'ingle-quota';

/** The Node ABI of the target's Debian nodejs (20.x). */
const abi = '115';
/** Debian architecture -> what Node calls it, ELF's number of it (elf.h, EM_X86_64 and EM_AARCH64), serialport's file. */
const machines: Readonly<Record<string, { cpu: string; elf: number; serial: string }>> = {
  amd64: { cpu: 'x64', elf: 62, serial: 'glibc' },
  arm64: { cpu: 'arm64', elf: 183, serial: 'armv8.glibc' },
};

/** Name in native/ -> module it is compiled from. */
const compiled: Readonly<Record<string, string>> = {
  'node_sqlite3.node': 'sqlite3',
  'bluetooth_hci_socket.node': '@abandonware/bluetooth-hci-socket',
};

/** Name in native/ -> file below node_modules, as the module's makers compiled it. */
export function readyMade(arch: string): Record<string, string> {
  const m = machines[arch];
  if (!m) throw new Error(`There is no machine "${arch}". One of: ${Object.keys(machines).join(', ')}.`);
  const uws = `uws_linux_${m.cpu}_${abi}.node`;
  return {
    [uws]: join('uWebSockets.js/dist/bin', uws),
    'serialport.node': `@serialport/bindings-cpp/prebuilds/linux-${m.cpu}/@serialport+bindings-cpp.${m.serial}.node`,
  };
}

/** Without these no hub runs; the others are left out where they were not installed. */
const vital = ['sqlite3', 'uWebSockets.js'];

/**
 * The machine code of a hub's root: name in native/ -> file here.
 * @throws Error when a module is missing that no hub runs without, or a file is another machine's
 */
export async function nativeFiles(top: string, cache: string, arch: string): Promise<Record<string, string>> {
  for (const name of vital)
    if (!existsSync(join(top, 'node_modules', name)))
      throw new Error(`node_modules/${name} is missing; run npm ci`);
  const files: Record<string, string> = {};
  for (const [product, module] of Object.entries(compiled))
    if (existsSync(join(top, 'node_modules', module)))
      files[product] = await compile(cache, arch, { top, module, product });
  files[quotaProgram] = await compileProgram(cache, arch, join(top, 'image/quota.c'));
  for (const [name, file] of Object.entries(readyMade(arch))) {
    const from = join(top, 'node_modules', file);
    if (existsSync(from)) files[name] = from;
  }
  const datachannel = await packed(top, cache, `@node-datachannel/linux-${machines[arch]?.cpu}-gnu`);
  files['node_datachannel.node'] = await stripped(cache, arch, join(datachannel, 'node_datachannel.node'));
  for (const [name, from] of Object.entries(files)) checkMachine(name, from, arch);
  return files;
}

/** @throws Error for a file that is no machine code of `arch` */
export function checkMachine(name: string, file: string, arch: string): void {
  const head = readFileSync(file).subarray(0, 20);
  if (
    head.length < 20 ||
    head.readUInt32BE(0) !== 0x7f454c46 ||
    head.readUInt16LE(18) !== machines[arch]?.elf
  )
    throw new Error(`${name} (${file}) is no machine code for ${arch}.`);
}
