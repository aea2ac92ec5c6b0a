// Modules with machine code: their JavaScript goes into the bundles, and the machine code is loaded from one folder
// beside them, `native/`: here dist/native, on a hub /usr/lib/ingle/native (image/native.ts).
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';

const out = 'dist/native';

/** Module -> what it needs of the files below; one that is not installed stays an import, which fails when it is asked for. */
const modules = {
  sqlite3: () => ({ 'node_sqlite3.node': 'node_modules/sqlite3/build/Release/node_sqlite3.node' }),
  '@abandonware/bleno': () => ({
    'bluetooth_hci_socket.node':
      'node_modules/@abandonware/bluetooth-hci-socket/build/Release/bluetooth_hci_socket.node',
  }),
  serialport: () => {
    const dir = join(process.cwd(), 'node_modules/@serialport/bindings-cpp');
    return { 'serialport.node': createRequire(join(dir, 'package.json'))('node-gyp-build').path(dir) };
  },
  'uWebSockets.js': () => {
    const bin = 'node_modules/uWebSockets.js/dist/bin';
    const ours = readdirSync(bin).filter((f) => f.startsWith(`uws_${process.platform}_${process.arch}_`));
    return Object.fromEntries(ours.map((f) => [f, join(bin, f)]));
  },
  'node-datachannel': () => {
    const file = `node_modules/@node-datachannel/linux-${process.arch}-gnu/node_datachannel.node`;
    return existsSync(file) ? { 'node_datachannel.node': file } : {};
  },
};
const isInstalled = (name) => existsSync(join('node_modules', name, 'package.json'));
export const nativeModules = Object.keys(modules);
export const isAbsent = (id) => nativeModules.includes(id) && !isInstalled(id);

/** End of a module's path -> its text as it is here. What another system would load is empty. */
const rewritten = [
  ['/sqlite3/lib/sqlite3-binding.js', () => "module.exports = ingleNative('node_sqlite3.node');"],
  [
    '/@serialport/bindings-cpp/dist/serialport-bindings.js',
    () => "exports.binding = ingleNative('serialport.node');",
  ],
  [
    '/@abandonware/bluetooth-hci-socket/lib/native.js',
    (text) => text.replace(/require ?\(`[^`]*\.node`\)/, "ingleNative('bluetooth_hci_socket.node')"),
  ],
  [
    '/uWebSockets.js/dist/uws.mjs',
    (text) => text.replace(/require\(`\.\/bin\/([^`]*)`\)/, 'ingleNative(`$1`)'),
  ],
  [
    '/node-datachannel/dist/esm/lib/node-datachannel.mjs',
    () => "export default ingleNative('node_datachannel.node');",
  ],
  ['/@abandonware/bluetooth-hci-socket/lib/usb.js', () => 'module.exports = {};'],
  ['/@abandonware/bleno/lib/mac/bindings.js', () => 'module.exports = {};'],
];

/** Copies machine code to dist/native. A running program has the old file mapped, so a new one takes its place. */
function copy(name, from) {
  const to = join(out, name);
  if (existsSync(to) && readFileSync(to).equals(readFileSync(from))) return;
  mkdirSync(out, { recursive: true });
  copyFileSync(from, `${to}.${process.pid}`);
  renameSync(`${to}.${process.pid}`, to);
}

/** The lines a program starts with so that what was rewritten finds its machine code. @param file the program in dist/ */
export const nativeBanner = (file) =>
  `const ingleNative = (name) => require(${JSON.stringify(`${relative(dirname(file), out)}/`)} + name);`;

/** Rollup's plugin. */
export function native() {
  const used = new Set();
  return {
    name: 'native',
    load(id) {
      const name = nativeModules.find((n) => id.includes(`/node_modules/${n}/`));
      if (name) used.add(name);
      const [, text] = rewritten.find(([end]) => id.endsWith(end)) ?? [];
      if (!text) return null;
      const before = readFileSync(id, 'utf8');
      const after = text(before);
      if (after === before) throw new Error(`${id} loads its machine code in another way than it did.`);
      return after;
    },
    buildEnd() {
      for (const name of used) for (const from of Object.values(modules[name]())) this.addWatchFile(from);
    },
    writeBundle() {
      for (const name of used) for (const [file, from] of Object.entries(modules[name]())) copy(file, from);
    },
  };
}
