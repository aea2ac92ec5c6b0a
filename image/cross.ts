// Native modules for a machine that is not this one, compiled by Debian's cross compiler.
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { must, run } from '../firmware/system/exec.ts';

/** Modules without ready-made machine code for the target, and where theirs comes to lie. */
const compiled: Readonly<Record<string, readonly string[]>> = {
  sqlite3: ['build/Release/node_sqlite3.node'],
  '@abandonware/bluetooth-hci-socket': [
    'build/Release/bluetooth_hci_socket.node',
    'lib/binding/bluetooth_hci_socket.node',
  ],
};

/** What they are compiled against and with; npm put it beside them. */
const needs = 'node-addon-api nan bindings @mapbox tar minipass minizlib yallist @isaacs chownr'.split(' ');

/** Debian architecture -> what Node calls it, and the prefix of the cross compiler. */
const machines: Readonly<Record<string, { cpu: string; prefix: string }>> = {
  amd64: { cpu: 'x64', prefix: 'x86_64-linux-gnu' },
  arm64: { cpu: 'arm64', prefix: 'aarch64-linux-gnu' },
};

/** Whether machine code for `arch` runs here. */
export const isNative = (arch: string) => machines[arch]?.cpu === process.arch;

/** node-gyp as npm brings it along. */
async function nodeGyp(): Promise<string> {
  const roots = [
    (await run('npm', ['root', '-g'])).stdout.toString().trim(),
    join(dirname(dirname(process.execPath)), 'lib/node_modules'),
    '/usr/share/nodejs',
  ];
  for (const r of roots)
    for (const f of ['npm/node_modules/node-gyp/bin/node-gyp.js', 'node-gyp/bin/node-gyp.js'])
      if (existsSync(join(r, f))) return join(r, f);
  throw new Error('There is no node-gyp; it comes with npm.');
}

/**
 * Compiles the modules that need it for `arch`; kept by a hash of what they are.
 * @param cache folder they are kept in
 * @returns files for the root's node_modules: path there -> file here
 * @throws Error when the cross compiler is not installed, with its package
 */
export async function crossModules(
  top: string,
  cache: string,
  arch: string,
): Promise<Record<string, string>> {
  const machine = machines[arch];
  if (!machine) throw new Error(`There is no machine "${arch}".`);
  const { cpu, prefix } = machine;
  const compiler = `${prefix}-g++`;
  if ((await run(compiler, ['--version']).catch(() => ({ code: -1 }))).code !== 0)
    throw new Error(
      `There is no ${compiler}; install the Debian package g++-${prefix.replaceAll('_', '-')}.`,
    );
  // Where this machine has Node's headers; without them node-gyp fetches them.
  const include = dirname(dirname(process.execPath));
  const headers: Record<string, string> = existsSync(join(include, 'include/node/node_api.h'))
    ? { npm_config_nodedir: include }
    : {};
  const files: Record<string, string> = {};
  for (const [name, places] of Object.entries(compiled)) {
    const from = join(top, 'node_modules', name);
    if (!existsSync(from)) continue;
    const version = readFileSync(join(from, 'package.json'));
    const hash = createHash('sha256').update(version).update(process.version).digest('hex').slice(0, 16);
    const kept = join(cache, `native-${arch}-${hash}.node`);
    if (!existsSync(kept)) {
      const work = `${kept}.${process.pid}`;
      const inside = join(work, 'node_modules', name);
      mkdirSync(dirname(inside), { recursive: true });
      cpSync(from, inside, {
        recursive: true,
        filter: (path) => !/\/(build|lib\/binding)$/.test(path.slice(from.length)),
      });
      for (const d of needs) {
        const at = [join(from, 'node_modules', d), join(top, 'node_modules', d)].find((p) => existsSync(p));
        if (at && !existsSync(join(inside, 'node_modules', d)))
          cpSync(at, join(work, 'node_modules', d), { recursive: true });
      }
      const args = ['rebuild', `--arch=${cpu}`, `--jobs=${availableParallelism()}`];
      // node-pre-gyp's modules are told where to copy theirs.
      if (places[1])
        args.push(
          `--module_name=${basename(places[1], '.node')}`,
          `--module_path=${join(inside, dirname(places[1]))}`,
        );
      await must(process.execPath, [await nodeGyp(), ...args], {
        cwd: inside,
        timeoutMs: 15 * 60_000,
        env: {
          CC: `${prefix}-gcc`,
          CXX: compiler,
          AR: `${prefix}-ar`,
          LINK: compiler,
          npm_config_arch: cpu,
          ...headers,
        },
      });
      await must(`${prefix}-strip`, ['--strip-unneeded', join(inside, places[0]!)]);
      renameSync(join(inside, places[0]!), kept);
      rmSync(work, { recursive: true, force: true });
    }
    for (const place of places) files[join(name, place)] = kept;
  }
  return files;
}
