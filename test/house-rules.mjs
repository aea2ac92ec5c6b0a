#!/usr/bin/env node
// The rules of the house, read from the import graph and the tree. Prints each breach and exits 1 when there is one.
import { existsSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { graphOf, sourcesOf, treeOf, wayTo } from './imports.mjs';

const top = dirname(dirname(fileURLToPath(import.meta.url)));
process.chdir(top);
const breaches = [];
const breach = (file, says) => breaches.push(`${file}: ${says}`);

const files = treeOf();
const read = sourcesOf(files);
const code = [...read.keys()];
const graph = graphOf(read);
const product = code.filter(
  (f) => !f.startsWith('test/') && !/(^|\/)rollup\.[\w.]+\.?js$|^[^/]+\.js$/.test(f),
);

// 1. Who may import from which folder.
const service = (f) => /^services\/(skills\/[^/]+|[^/]+)\//.exec(f)?.[1];
const may = [
  { who: /^firmware\//, what: /^firmware\//, says: 'firmware imports firmware alone' },
  {
    who: /^spa\//,
    what: /^(spa|firmware\/(protocol|text|ui))\//,
    says: 'spa imports protocol/, text/ and ui/ only',
  },
  {
    who: /^web-wizard\//,
    what: /^(web-wizard|firmware\/(protocol|text))\//,
    says: 'web-wizard imports protocol/ and text/ only',
  },
  {
    who: /^root\//,
    what: /^(root|firmware\/(protocol|text))\//,
    says: 'root imports protocol/ and text/ only',
  },
];
for (const f of product)
  for (const i of graph.get(f)) {
    if (!i.file) continue;
    // Declared endpoints give their callers types, and no byte.
    if (i.onlyTypes && /api\.ts$/.test(i.file)) continue;
    const rule = may.find((m) => m.who.test(f));
    if (rule && !rule.what.test(i.file)) breach(f, `imports ${i.file}; ${rule.says}`);
    if (service(f) && i.file.startsWith('services/') && service(i.file) !== service(f))
      breach(f, `imports ${i.file}; services meet on D-Bus only`);
    // start.mjs runs what it has just built.
    if (service(f) && !/^(services|firmware|dist\/services\/cli)\//.test(i.file))
      breach(f, `imports ${i.file}; a service imports firmware alone`);
  }

// 2. One importer for each library with a device or a process behind it.
const doors = {
  'dbus-next': ['firmware/system/bus.ts'],
  sqlite3: ['firmware/system/store.ts', 'root/records/sqlite.ts'],
  pg: ['root/records/postgres.ts'],
  '@redis/client': ['root/cluster/registry.ts'],
  '@abandonware/bleno': ['firmware/ble/gatt.ts'],
  'node-datachannel': ['firmware/uplink/datachannel.ts'],
  serialport: [/^services\/serial\//],
  'socket.io': [/^root\//],
  // systemd-notify is told through notify.ts, root's own as it shares only protocol/; what runs before anything is installed is plain Node.
  'node:child_process': [
    'firmware/system/exec.ts',
    'firmware/system/notify.ts',
    'root/notify.ts',
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

// A service's life is system/service.ts: READY, signals and the end are nobody else's.
for (const f of product) {
  if (f !== 'firmware/system/service.ts' && graph.get(f).some((i) => i.file === 'firmware/system/notify.ts'))
    breach(f, 'imports firmware/system/notify.ts, which is the business of firmware/system/service.ts');
  if (!/^services\/[^/]+\/main\.ts$/.test(f)) continue;
  if (!graph.get(f).some((i) => i.file === 'firmware/system/service.ts'))
    breach(f, 'does not live by firmware/system/service.ts');
  if (/\bprocess\.exit|\bSIG(TERM|INT)\b/.test(read.get(f)))
    breach(f, 'ends by itself; firmware/system/service.ts does that');
}

// 3. Pure files reach no I/O, neither themselves nor through what they import.
const pure = (f) => /^firmware\/(protocol|text|ui)\//.test(f) || /^firmware\/[^/]+\/contract\.ts$/.test(f);
const io = (i) =>
  (i.from.startsWith('node:') && !['node:assert', 'node:util'].includes(i.from)) ||
  Object.hasOwn(doors, i.from);
for (const f of product.filter(pure)) {
  const chain = wayTo(graph, f, io);
  if (chain) breach(f, `is pure, but reaches I/O: ${chain}`);
}

// 4. No circle, of files or of firmware's rooms; imports of types count.
const room = (f) =>
  /^firmware\/protocol\//.test(f) ? 'firmware/protocol' : f.split('/').slice(0, 2).join('/');
const rooms = new Map();
for (const [f, imports] of graph)
  if (/^firmware\//.test(f))
    rooms.set(room(f), [
      ...(rooms.get(room(f)) ?? []),
      ...imports.filter((i) => i.file && room(i.file) !== room(f)).map((i) => room(i.file)),
    ]);
/** The circles of a graph, each as its members (Tarjan's strongly connected components). */
function circles(arrows) {
  const [order, low, stack, found] = [new Map(), new Map(), [], []];
  const visit = (v) => {
    order.set(v, order.size);
    low.set(v, order.get(v));
    stack.push(v);
    for (const w of arrows(v)) {
      if (!order.has(w)) visit(w);
      if (stack.includes(w)) low.set(v, Math.min(low.get(v), low.get(w)));
    }
    if (low.get(v) !== order.get(v)) return;
    const circle = stack.splice(stack.indexOf(v));
    if (circle.length > 1) found.push(circle);
  };
  return (nodes) => {
    for (const v of nodes) if (!order.has(v)) visit(v);
    return found;
  };
}
const filesOf = (f) => graph.get(f).flatMap((i) => (i.file && graph.has(i.file) ? [i.file] : []));
for (const circle of circles(filesOf)(graph.keys()))
  breach(circle.join(', '), 'import each other in a circle');
for (const circle of circles((r) => rooms.get(r) ?? [])(rooms.keys()))
  breach(circle.join(', '), 'are rooms that import each other');

// 5. Names are exported, each by the file that has it.
for (const f of code) {
  if (/\.config\.js$/.test(f)) continue;
  const text = read.get(f);
  if (/^export default\b/m.test(text)) breach(f, 'has a default export');
  if (/^export \* from/m.test(text)) breach(f, 'is a barrel (export * from)');
  const body = text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '').trim();
  if (body && body.replace(/^export\s+(type\s+)?\{[^}]*\}\s*from\s*['"][^'"]+['"];?\s*$/gm, '').trim() === '')
    breach(f, 'is a barrel: it only passes on what others export');
}

// 6. The top level is the house's floor plan.
const plan = new Set(
  (
    'firmware services web-wizard root spa systemd image test .ci package.json package-lock.json tsconfig.json ' +
    'biome.json knip.json rollup.config.js .gitignore .npmrc .editorconfig ' +
    '.gitattributes README.md ARCHITECTURE.md CONTRIBUTING.md CHANGELOG.md SECURITY.md LICENSE'
  ).split(' '),
);
for (const name of new Set(files.map((f) => f.split('/')[0])))
  if (!plan.has(name)) breach(name, 'has no place at the top level');

// 7. Tests run themselves, and none is left switched off or alone.
for (const f of files.filter((x) => x.endsWith('.test.ts'))) {
  const text = readFileSync(f, 'utf8');
  if (!/^\s*\w+\.run\(\);/m.test(text)) breach(f, 'never calls run()');
  if (/\.only\(/.test(text)) breach(f, 'runs one test alone (.only)');
}

// 8. Words of an error are for people; a program decides by its code or its data.
for (const f of product)
  if (/\.message\s*\.\s*(startsWith|endsWith|includes|match|search)\(/.test(read.get(f)))
    breach(f, 'decides by the words of a message');

// 9. The tree speaks of the product, and leaves nothing for later unsaid.
const workplace = [
  [/\b(TODO|FIXME|XXX)\b/, 'leaves work for later'],
  [/\bco-authored-by\b|\bgenerated (with|by) (an? )?(ai|assistant)\b/i, 'speaks of its making'],
  [/(^|[\s"'`(=])\/(home|Users|work|workspace)\/[\w.-]+/, "names a path of one developer's machine"],
  [
    /https?:\/\/(?!registry\.npmjs\.org)[\w.-]*\b(registry|artifactory|nexus|verdaccio)\b[\w.-]*/,
    'names a private registry',
  ],
  [/\((spec|design)\b[ ":]|\bspec "/, 'cites a text that is not here; say it in our own words'],
];
for (const f of files) {
  if (f === 'test/house-rules.mjs' || /\.(png|ico|woff2|wav|bin|gz)$/.test(f)) continue;
  const lines = readFileSync(f, 'utf8').split('\n');
  for (const [at, line] of lines.entries())
    for (const [word, says] of workplace) if (word.test(line)) breach(`${f}:${at + 1}`, says);
}

// 10. What is named by its path is there: a move takes along what programs, scripts and pages say of it.
const named =
  /(?<![\w./@-])(?:\.\/)?((?:firmware|services|root|spa|web-wizard|image|test|systemd)\/[\w./@-]+\.(?:ts|mjs|md|svg))\b/g;
for (const f of files) {
  if (f === 'CHANGELOG.md' || !/\.(ts|mjs|js|json|md|sh)$/.test(f)) continue;
  for (const [, path] of readFileSync(f, 'utf8').matchAll(named))
    if (!existsSync(path)) breach(f, `names ${path}, which is not there`);
}

// 11. Root's SQL lies in the records' room only, for every database the same.
const sql =
  /(['"`])\s*(SELECT\s+[\w*(]|INSERT\s+(OR\s+\w+\s+)?INTO\b|REPLACE\s+INTO\b|UPDATE\s+(OR\s+\w+\s+)?\w+\s+SET\b|DELETE\s+FROM\b|WITH\s+\w+\s+AS\b|(CREATE|ALTER|DROP)\s+(TABLE|INDEX|UNIQUE)\b|PRAGMA\b|BEGIN\b)/;
for (const f of product.filter((x) => x.startsWith('root/') && !x.startsWith('root/records/'))) {
  const found = sql.exec(read.get(f));
  if (found) breach(f, `says "${found[0].slice(1)}"; SQL lies in root/records/ only`);
  for (const i of graph.get(f))
    if (i.file?.startsWith('root/records/sql/'))
      breach(f, `imports ${i.file}; what one database is made of lies behind root/records/records.ts`);
}

// 12. What has a side has it in the direction of reading; what has not says so.
const side = /(?:^|[\s-])(?:left|right)\s*:|text-align:\s*(?:left|right)/;
for (const f of files.filter((x) => /^spa\/.*\.css$/.test(x)))
  for (const [at, line] of readFileSync(f, 'utf8').split('\n').entries())
    if (side.test(line) && !line.includes('/* either way */'))
      breach(`${f}:${at + 1}`, 'names left or right; write inline-start or inline-end');

for (const line of breaches) console.log(line);
console.log(
  breaches.length
    ? `${breaches.length} breaches of the house rules`
    : `${code.length} files keep the house rules`,
);
process.exit(breaches.length ? 1 : 0);
