#!/usr/bin/env node
// The rules of the house, read from the import graph and the tree. Prints each breach and exits 1 when there is one.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const top = dirname(dirname(fileURLToPath(import.meta.url)));
process.chdir(top);
const breaches = [];
const breach = (file, says) => breaches.push(`${file}: ${says}`);

// Tracked files and new ones that git would take.
const files = spawnSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
  encoding: 'utf8',
  maxBuffer: 2 ** 26,
})
  .stdout.split('\0')
  .filter((f) => f && existsSync(f));
const code = files.filter((f) => /\.(ts|mjs|js)$/.test(f) && !f.endsWith('.d.ts'));
const read = new Map(code.map((f) => [f, readFileSync(f, 'utf8')]));

/** What a file imports when it runs (type-only imports vanish). */
function importsOf(file) {
  const text = read.get(file).replace(/^\s*(\/\/|\*|\/\*).*$/gm, '');
  const out = [];
  for (const [, kind, names, from] of text.matchAll(
    /^\s*(import|export)\s+((?:type\s+)?[\w*$\s{},]*?)\s*from\s*['"]([^'"]+)['"]/gm,
  )) {
    const inner = /^\{([\s\S]*)\}$/.exec(names.trim())?.[1];
    const onlyTypes =
      /^type\s/.test(names) ||
      (inner !== undefined &&
        inner.trim() !== '' &&
        inner.split(',').every((n) => !n.trim() || /^type\s/.test(n.trim())));
    out.push({ from, onlyTypes, kind });
  }
  for (const [, from] of text.matchAll(/^\s*import\s*['"]([^'"]+)['"]/gm))
    out.push({ from, onlyTypes: false });
  for (const [, from] of text.matchAll(/\bimport\(\s*['"]([^'"]+)['"]/g))
    out.push({ from, onlyTypes: false });
  return out.map((i) => ({
    ...i,
    file: i.from.startsWith('.') ? normalize(join(dirname(file), i.from)) : undefined,
  }));
}
const graph = new Map(code.map((f) => [f, importsOf(f)]));
const product = code.filter((f) => !f.startsWith('test/') && !/^[^/]+\.js$/.test(f));

// 1. Who may import from which folder.
const service = (f) => /^services\/(skills\/[^/]+|[^/]+)\//.exec(f)?.[1];
const may = [
  { who: /^firmware\//, what: /^firmware\//, says: 'firmware imports firmware alone' },
  { who: /^spa\//, what: /^(spa|firmware\/(protocol|ui))\//, says: 'spa imports protocol/ and ui/ alone' },
  {
    who: /^web-wizard\//,
    what: /^(web-wizard|firmware\/protocol)\//,
    says: 'web-wizard imports protocol/ alone',
  },
  { who: /^root\//, what: /^(root|firmware\/protocol)\//, says: 'root imports protocol/ alone' },
];
for (const f of product)
  for (const i of graph.get(f)) {
    if (!i.file) continue;
    const rule = may.find((m) => m.who.test(f));
    if (rule && !rule.what.test(i.file)) breach(f, `imports ${i.file}; ${rule.says}`);
    // The skill host is the process built-in skills live in.
    const hosted = service(f) === 'skill-host' && /^services\/skills\//.test(i.file);
    if (service(f) && i.file.startsWith('services/') && service(i.file) !== service(f) && !hosted)
      breach(f, `imports ${i.file}; services meet on D-Bus only`);
    // start.mjs runs what it has just built.
    if (service(f) && !/^(services|firmware|dist\/services\/cli)\//.test(i.file))
      breach(f, `imports ${i.file}; a service imports firmware alone`);
  }

// 2. One importer for each library with a device or a process behind it.
const doors = {
  'dbus-next': ['firmware/system/bus.ts'],
  sqlite3: ['firmware/system/store.ts', 'root/store.ts'],
  '@abandonware/bleno': ['firmware/ble/gatt.ts'],
  serialport: [/^services\/serial\//],
  'socket.io': [/^root\//],
  // systemd-notify is told through notify.ts; what runs before anything is installed is plain Node.
  'node:child_process': [
    'firmware/system/exec.ts',
    'firmware/system/notify.ts',
    /^(services\/cli|image)\/.*\.mjs$/,
  ],
};
for (const f of product)
  for (const i of graph.get(f)) {
    const door = doors[i.from];
    if (door && !i.onlyTypes && !door.some((d) => (typeof d === 'string' ? d === f : d.test(f))))
      breach(f, `imports ${i.from}, which is the business of ${door.join(' and ')}`);
  }
for (const name of ['uWebSockets.js', '@abandonware/bleno', 'serialport'])
  for (const pack of [/^root\//, /^(firmware|services)\//]) {
    const who = product.filter(
      (f) => pack.test(f) && graph.get(f).some((i) => i.from === name && !i.onlyTypes),
    );
    if (who.length > 1) breach(who.join(', '), `all import ${name}; one module a package does`);
  }

// 3. Pure files reach no I/O, neither themselves nor through what they import.
const pure = (f) => /^firmware\/(protocol|ui)\//.test(f) || /^firmware\/[^/]+\/contract\.ts$/.test(f);
const io = (i) =>
  !i.onlyTypes &&
  ((i.from.startsWith('node:') && !['node:assert', 'node:util'].includes(i.from)) ||
    Object.hasOwn(doors, i.from));
function ioBehind(f, seen = new Set()) {
  if (seen.has(f) || !graph.has(f)) return undefined;
  seen.add(f);
  for (const i of graph.get(f)) {
    if (io(i)) return `${f} -> ${i.from}`;
    const deeper = i.file && !i.onlyTypes ? ioBehind(i.file, seen) : undefined;
    if (deeper) return f === deeper.split(' ')[0] ? deeper : `${f} -> ${deeper}`;
  }
  return undefined;
}
for (const f of product.filter(pure)) {
  const chain = ioBehind(f);
  if (chain) breach(f, `is pure, but reaches I/O: ${chain}`);
}

// 4. Names are exported, each by the file that has it.
for (const f of code) {
  if (/\.config\.js$/.test(f)) continue;
  const text = read.get(f);
  if (/^export default\b/m.test(text)) breach(f, 'has a default export');
  if (/^export \* from/m.test(text)) breach(f, 'is a barrel (export * from)');
  const body = text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '').trim();
  if (body && body.replace(/^export\s+(type\s+)?\{[^}]*\}\s*from\s*['"][^'"]+['"];?\s*$/gm, '').trim() === '')
    breach(f, 'is a barrel: it only passes on what others export');
}

// 5. The top level is the house's floor plan.
const plan = new Set(
  (
    'firmware services web-wizard root spa systemd image test .ci package.json package-lock.json tsconfig.json ' +
    'biome.json knip.json rollup.config.js rollup.native.js rollup.page.js .gitignore .npmrc .editorconfig ' +
    '.gitattributes README.md ARCHITECTURE.md CONTRIBUTING.md CHANGELOG.md SECURITY.md LICENSE'
  ).split(' '),
);
for (const name of new Set(files.map((f) => f.split('/')[0])))
  if (!plan.has(name)) breach(name, 'has no place at the top level');

// 6. Tests run themselves, and none is left switched off or alone.
for (const f of files.filter((x) => x.endsWith('.test.ts'))) {
  const text = readFileSync(f, 'utf8');
  if (!/^\s*\w+\.run\(\);/m.test(text)) breach(f, 'never calls run()');
  if (/\.only\(/.test(text)) breach(f, 'runs one test alone (.only)');
}

// 7. The tree speaks of the product, and leaves nothing for later unsaid.
const workplace = [
  [/\b(TODO|FIXME|XXX)\b/, 'leaves work for later'],
  [/\bco-authored-by\b|\bgenerated (with|by) (an? )?(ai|assistant)\b/i, 'speaks of its making'],
  [/(^|[\s"'`(=])\/(home|Users|work|workspace)\/[\w.-]+/, "names a path of one developer's machine"],
  [
    /https?:\/\/(?!registry\.npmjs\.org)[\w.-]*\b(registry|artifactory|nexus|verdaccio)\b[\w.-]*/,
    'names a private registry',
  ],
];
for (const f of files) {
  if (f === 'test/house-rules.mjs' || /\.(png|ico|woff2|wav|bin|gz)$/.test(f)) continue;
  const lines = readFileSync(f, 'utf8').split('\n');
  for (const [at, line] of lines.entries())
    for (const [word, says] of workplace) if (word.test(line)) breach(`${f}:${at + 1}`, says);
}

// 8. Every text exists in every language, with the same values to fill in.
const { register } = await import('tsx/esm/api');
register();
const values = (text) =>
  [...String(text).matchAll(/\{(\w+)\}/g)]
    .map((m) => m[1])
    .sort()
    .join();
for (const f of files.filter((x) => /^firmware\/protocol\/text\/.*\.ts$/.test(x) && !x.endsWith('/i18n.ts')))
  for (const [name, table] of Object.entries(await import(pathToFileURL(join(top, f)).href))) {
    if (!table || typeof table !== 'object' || !('en' in table)) continue;
    for (const language of ['ru'])
      for (const key of new Set([...Object.keys(table.en), ...Object.keys(table[language] ?? {})])) {
        const [a, b] = [table.en[key], table[language]?.[key]];
        if (a === undefined || b === undefined) breach(f, `${name}.${key} is not in both languages`);
        else if (values(a) !== values(b)) breach(f, `${name}.${key} has other values in ${language}`);
      }
  }

for (const line of breaches) console.log(line);
console.log(
  breaches.length
    ? `${breaches.length} breaches of the house rules`
    : `${code.length} files keep the house rules`,
);
process.exit(breaches.length ? 1 : 0);
