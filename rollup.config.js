// One bundle a service, one page a web application. `node services/cli/build.mjs` runs this when sources changed.
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { builtinModules } from 'node:module';
import { basename, dirname } from 'node:path';
import commonjs from '@rollup/plugin-commonjs';
import json from '@rollup/plugin-json';
import { nodeResolve } from '@rollup/plugin-node-resolve';
import esbuild, { minify } from 'rollup-plugin-esbuild';
import sqlite3 from 'sqlite3';
import { scenarioApp } from './services/cli/rollup.app.js';
import { isAbsent, native, nativeBanner, nativeModules } from './services/cli/rollup.native.js';
import { page } from './services/cli/rollup.page.js';
import { scenarios } from './services/cli/rollup.scenarios.js';
import { schemas } from './services/cli/rollup.schemas.js';
import { sdk } from './services/cli/rollup.sdk.js';

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
const define = {
  INGLE_VERSION: JSON.stringify(version),
  INGLE_SQLITE: JSON.stringify(sqlite3.VERSION),
};

/** Modules dependencies ask for at run time and do without. */
const optional = [
  ...['x11', 'usocket', 'bufferutil', 'utf-8-validate', 'encoding', 'supports-color'],
  ...['pg-native', 'pg-cloudflare'],
];
const builtin = new Set(builtinModules);
/** What authors of skills work with in a checkout: esbuild is a program of its own, and a hub reads no YAML of theirs. */
const ofAuthors = ['esbuild', 'yaml'];
/** What a command of Redis is imported for that nobody gives here. */
const unused = ['@node-rs/xxhash'];
const external = (id) =>
  id.startsWith('node:') || builtin.has(id) || ofAuthors.includes(id) || unused.includes(id) || isAbsent(id);

function onwarn(warning, warn) {
  // A page whose import is left as it stands would fail in the browser; better that the build does.
  if (warning.code === 'UNRESOLVED_IMPORT') throw new Error(warning.message);
  // zod marks expressions as pure where Rollup sees none.
  if (warning.code === 'INVALID_ANNOTATION' && /node_modules/.test(String(warning.id))) return;
  // Both come from dependencies and change nothing.
  if (warning.code === 'CIRCULAR_DEPENDENCY' && /node_modules/.test(String(warning.ids))) return;
  if (warning.code === 'THIS_IS_UNDEFINED' || warning.code === 'EVAL') return;
  warn(warning);
}

/**
 * V8 keeps a program's text in memory, two bytes a character where one of all is beyond Latin-1. Names stay and lines
 * are short, so that a stack still tells where it was.
 */
const compact = minify({
  minify: false,
  target: 'node20',
  charset: 'ascii',
  minifyWhitespace: true,
  minifySyntax: true,
  minifyIdentifiers: false,
  lineLimit: 160,
});

/** esbuild leaves the characters of regular expressions as they are; there an escape means the same. */
const latin = {
  name: 'latin',
  renderChunk: (code) => ({
    code: code.replace(/[^\0-\xff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`),
    map: null,
  }),
};

/**
 * What dbus-next loads for what it is not asked here: contracts describe themselves (system/served.ts), numbers of 64 bits
 * are the language's own (system/bus.ts), and no daemon is a program of ours.
 */
const unasked = {
  xml2js: 'export class Builder {}\nexport class Parser {}',
  jsbi: 'export const BigInt = undefined;',
  'event-stream': 'export const duplex = undefined;',
};
const withoutUnasked = {
  name: 'without-unasked',
  resolveId: (id) => (Object.hasOwn(unasked, id) ? `\0${id}` : null),
  load: (id) => (id[0] === '\0' && unasked[id.slice(1)]) || null,
};

/** TypeBox brings the tables of international host names along. No schema of ours has a `format`; one that had would throw. */
const withoutFormats = {
  name: 'without-formats',
  resolveId: (id, from) =>
    id === '../../format/index.mjs' && /\/typebox\/build\/schema\//.test(String(from)) ? '\0formats' : null,
  load: (id) =>
    id === '\0formats'
      ? "const none = () => { throw new Error('schemas have no formats here'); };\nexport const Format = { Has: none, Get: none, Test: none };"
      : null,
};

/** The SDK of MCP loads a checker of schemas for what only clients are asked; the hub checks inputs by its own. */
const withoutAjv = {
  name: 'without-ajv',
  resolveId: (id) => (id === '@modelcontextprotocol/server/_shims' ? '\0mcp-shims' : null),
  load: (id) =>
    id === '\0mcp-shims'
      ? 'export class DefaultJsonSchemaValidator {}\nexport { default as process } from "node:process";'
      : null,
};

/** A program for Node 20: one self-contained file but for machine code and what it imports on demand. */
function program(input, file, external_ = external) {
  return {
    input,
    external: external_,
    onwarn,
    // What a bundle imports for its effects is listed in package.json files we do not control; builtins have none.
    treeshake: { moduleSideEffects: (id, isExternal) => !isExternal || nativeModules.includes(id) },
    plugins: [
      withoutUnasked,
      withoutFormats,
      withoutAjv,
      native(),
      esbuild({ target: 'node20', define, include: /\.[jt]sx?$/, sourceMap: false }),
      nodeResolve({
        preferBuiltins: true,
        exportConditions: ['node'],
        extensions: ['.ts', '.mjs', '.js', '.json'],
      }),
      commonjs({
        ignore: optional,
        ignoreDynamicRequires: true,
        sourceMap: false,
        requireReturnsDefault: (id) => id === '\0seldom/assert',
      }),
      json({ preferConst: true }),
      compact,
      latin,
    ],
    output: {
      dir: dirname(file),
      entryFileNames: basename(file),
      // What is imported on demand stays a file of its own: inlined, it would be used before it exists.
      chunkFileNames: '[name]-[hash].js',
      // A package of a skill has names in lower case only.
      hashCharacters: 'base36',
      format: 'es',
      generatedCode: 'es2015',
      // CommonJS dependencies ask for optional modules at run time.
      banner: `import { createRequire as ingleRequire } from 'node:module';\nconst require = ingleRequire(import.meta.url);\n${nativeBanner(file)}`,
    },
  };
}

/** The skills of the image: every folder with a manifest. Nothing else names them. */
const skills = readdirSync('services/skills')
  .filter((id) => existsSync(`services/skills/${id}/manifest.json`))
  .sort();

/** A skill's bundle is a folder with manifest.json and skill.js; beside the bundles lies which slots are whose. */
const bundle = (id) => ({
  name: 'bundle',
  buildStart() {
    this.addWatchFile(`services/skills/${id}/manifest.json`);
    this.addWatchFile('services/skills/slots.json');
  },
  writeBundle(_, written) {
    clear(`dist/skills/${id}`, written);
    cpSync(`services/skills/${id}/manifest.json`, `dist/skills/${id}/manifest.json`);
    // Two builders may write it at once; cpSync would remove it first, and find that the other one has.
    copyFileSync('services/skills/slots.json', 'dist/skills/slots.json');
  },
});

/** A folder that is handed on whole: pieces of an earlier build do not belong to it. */
function clear(folder, written) {
  for (const name of readdirSync(folder))
    if (!Object.hasOwn(written, name)) rmSync(`${folder}/${name}`, { recursive: true });
}

/** WebRTC's voice detector is WebAssembly that its module looks for beside itself. */
const voiceDetector = {
  name: 'voice-detector',
  writeBundle() {
    cpSync('node_modules/@echogarden/fvad-wasm/fvad.wasm', 'dist/services/audio/fvad.wasm');
  },
};

/**
 * A slot's host as a snapshot of it is made (services/skill-host/snapshot.ts): one CommonJS file that requires nothing but
 * Node's own. What is imported on demand comes from beside the program that it stands for.
 */
const besideHost = {
  '../interest/request.ts': ['interest', 'firmware/interest/request.ts'],
  './usdl/document.ts': ['usdl', 'firmware/ui/usdl/document.ts'],
  './ulm/document.ts': ['ulm', 'firmware/ui/ulm/document.ts'],
  './ulm/markdown.ts': ['markdown', 'firmware/ui/ulm/markdown.ts'],
  './a2ui/document.ts': ['a2ui', 'firmware/ui/a2ui/document.ts'],
  './umf.ts': ['umf', 'firmware/ui/umf.ts'],
  './query.ts': ['query', 'firmware/ui/query.ts'],
};
/**
 * What each start would read back and no start needs: of Node's Web Crypto lib0 takes random numbers only, and dbus-next's
 * assert() seldom fails.
 */
const seldom = {
  'lib0/webcrypto':
    "import { randomFillSync } from 'node:crypto';\nexport const subtle = undefined;\nexport const getRandomValues = (some) => randomFillSync(some);",
  assert: `export default Object.assign((is, why) => is || require('node:assert')(is, why), {
  strictEqual: (a, b, why) => Object.is(a, b) || require('node:assert').strictEqual(a, b, why),
});`,
};
const withoutSeldom = {
  name: 'without-seldom',
  resolveId: (id) => (Object.hasOwn(seldom, id) ? `\0seldom/${id}` : null),
  load: (id) => seldom[id.slice('\0seldom/'.length)] ?? null,
};
function frozen(input, file) {
  const p = program(input, file, (id) => id !== 'assert' && external(id));
  const beside = {
    name: 'beside',
    resolveDynamicImport: (what) =>
      besideHost[what] ? { id: `./${besideHost[what][0]}.js`, external: true } : null,
    renderDynamicImport: () => ({ left: 'ingleImport(', right: ')' }),
  };
  // V8 compiles no import() in a snapshot. Node warns that this way in is new.
  const banner = `const ingleImport = ((vm) => {
  const importModuleDynamically = vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER;
  const load = vm.compileFunction('return import(what)', ['what'], { importModuleDynamically });
  return (what) => {
    const { emitWarning } = process;
    process.emitWarning = () => {};
    try {
      return load(new URL(what, require('node:url').pathToFileURL(process.argv[1])).href);
    } finally {
      process.emitWarning = emitWarning;
    }
  };
})(require('node:vm'));
// Node would load ten modules at the first call of its own.
const performance = { now: () => Number(process.hrtime.bigint()) / 1e6 };`;
  return {
    ...p,
    plugins: [beside, withoutSeldom, ...p.plugins],
    output: { ...p.output, format: 'cjs', banner, inlineDynamicImports: true },
  };
}

const targets = [];
const add = (input, file) => existsSync(input) && targets.push(program(input, file));

for (const name of readdirSync('services').sort())
  if (name !== 'cli' && name !== 'skills') {
    add(`services/${name}/main.ts`, `dist/services/${name}/main.js`);
    if (name === 'scenario') targets.at(-1).plugins.push(scenarios('firmware/scenario/prototypes'));
  }
for (const id of skills) {
  const file = `dist/skills/${id}/skill.js`;
  const p = program(`services/skills/${id}/skill.ts`, file);
  // Its host runs CommonJS without Node's loader of modules (firmware/skills/load.ts).
  const output = { ...p.output, format: 'cjs', banner: `'use strict';\n${nativeBanner(file)}` };
  targets.push({ ...p, plugins: [...p.plugins, scenarioApp(`services/skills/${id}`), bundle(id)], output });
}
// What has gone is not carried on: a service or a skill of an earlier build would be part of the next image.
const services = readdirSync('services').filter((name) => name !== 'skills');
for (const [folder, kept] of Object.entries({ 'dist/services': services, 'dist/skills': skills }))
  for (const e of existsSync(folder) ? readdirSync(folder, { withFileTypes: true }) : [])
    if (e.isDirectory() && !kept.includes(e.name))
      rmSync(`${folder}/${e.name}`, { recursive: true, force: true });
for (const t of targets) if (t.input === 'services/audio/main.ts') t.plugins.push(voiceDetector);
add('services/audio/selftest.ts', 'dist/services/audio/selftest.js');
for (const [name, folder] of Object.entries({ ingle: '', start: 'house/', guard: 'house/' }))
  add(`services/cli/${folder}${name}.ts`, `dist/services/cli/${name}.js`);
targets.push(frozen('services/skill-host/snapshot.ts', 'dist/services/skill-host/snapshot.cjs'));
for (const [name, from] of Object.values(besideHost)) add(from, `dist/services/skill-host/${name}.js`);
add('root/main.ts', 'dist/root/main.js');
targets.at(-1).plugins.push({ name: 'root', writeBundle: (_, written) => clear('dist/root', written) });
if (existsSync('spa/index.html')) targets.push(...(await page('spa', 'dist/spa', { define, onwarn })));
if (existsSync('web-wizard/index.html'))
  targets.push(...(await page('web-wizard', 'dist/web-wizard', { define, onwarn })));
if (existsSync('services/cli/schemas.ts'))
  targets.push(
    schemas('services/cli/schemas.ts', 'dist/schemas', { onwarn }),
    schemas('services/cli/schemas.ts', 'dist/sdk/schemas', { onwarn }),
  );
targets.push(...sdk('dist/sdk', { define, onwarn, version }));
if (existsSync('services/cli/pages.ts'))
  targets.push(schemas('services/cli/pages.ts', 'dist/man', { define, onwarn }));

/** A part whose files are as they were when it was last built is left as it is: dist/.parts remembers them. */
const at = (file) => {
  const s = statSync(file, { throwIfNoEntry: false });
  return s ? `${s.size} ${s.mtimeMs}` : '';
};
const always = [
  'package-lock.json',
  'rollup.config.js',
  'services/cli/rollup.app.js',
  'services/cli/rollup.native.js',
  'services/cli/rollup.page.js',
  'services/cli/rollup.scenarios.js',
  'services/cli/rollup.schemas.js',
  'services/cli/rollup.sdk.js',
  'services/cli/rollup.worker.js',
];
function partOf(target) {
  const page = typeof target.input === 'object';
  const out = page ? target.output.dir : `${target.output.dir}/${target.output.entryFileNames}`;
  const memory = `dist/.parts/${createHash('sha256').update(out).digest('hex').slice(0, 16)}.json`;
  const remember = {
    name: 'remember',
    writeBundle(_, bundle) {
      const beside = page
        ? readdirSync(Object.keys(target.input)[0], { recursive: true, withFileTypes: true })
            .filter((e) => e.isFile())
            .map((e) => `${e.parentPath ?? e.path}/${e.name}`)
        : [];
      const modules = [...this.getModuleIds(), ...this.getWatchFiles()].filter((id) => existsSync(id));
      const sources = Object.fromEntries([...always, ...beside, ...modules].map((f) => [f, at(f)]));
      mkdirSync('dist/.parts', { recursive: true });
      // Pieces of earlier builds stay in the folder, as a program that runs may still ask for them.
      const outputs = Object.keys(bundle).map((f) => `${target.output.dir}/${f}`);
      // Half of it would be in the way of each later build.
      writeFileSync(`${memory}.new`, JSON.stringify({ sources, outputs }));
      renameSync(`${memory}.new`, memory);
    },
  };
  target.plugins.push(remember);
  if (!existsSync(memory)) return true;
  const { sources, outputs } = JSON.parse(readFileSync(memory, 'utf8'));
  if (!outputs?.length || !outputs.every((f) => existsSync(f))) return true;
  return !sources || Object.entries(sources).some(([f, was]) => at(f) !== was);
}

// INGLE_BUILD picks some of it while one part is worked on: INGLE_BUILD=uplink npm run build
const only = process.env.INGLE_BUILD;
const stale = targets.filter(partOf);
const wanted = only ? stale.filter((t) => JSON.stringify([t.input, t.output]).includes(only)) : stale;
// One of several builders that share the work (build.mjs): `0/2` takes every second part, beginning with the first.
const [nth, builders] = (process.env.INGLE_BUILD_SHARE ?? '0/1').split('/').map(Number);
const chosen = wanted.filter((_, i) => i % builders === nth);
// Rollup takes no empty list; where nothing is stale the smallest part is built again.
export default chosen.length > 0 ? chosen : targets.filter((t) => t.input === 'services/cli/house/guard.ts');
