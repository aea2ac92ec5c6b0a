// The SDK for authors of skills: dist/sdk is the package @ingle/skill-sdk, with the template of `ingle skill new`.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import commonjs from '@rollup/plugin-commonjs';
import { nodeResolve } from '@rollup/plugin-node-resolve';
import esbuild from 'rollup-plugin-esbuild';

const from = 'firmware/skills/sdk';
const compiler = 'node_modules/typescript/bin/tsc';

/** Copies the declarations of `entries` and of what they name, and nothing else. They name each other as .js. */
function copyTypes(emitted, dir, entries) {
  const seen = new Set();
  const copy = (file) => {
    if (seen.has(file)) return;
    seen.add(file);
    const text = readFileSync(join(emitted, `${file}.d.ts`), 'utf8').replace(
      /(from '\.[^']*)\.ts'/g,
      "$1.js'",
    );
    mkdirSync(dirname(join(dir, file)), { recursive: true });
    writeFileSync(join(dir, `${file}.d.ts`), text);
    for (const [, named] of text.matchAll(/from '(\.[^']*)\.js'/g)) copy(join(dirname(file), named));
  };
  for (const e of entries) copy(e);
}

function types(dir) {
  const out = mkdtempSync(join(tmpdir(), 'ingle-sdk-'));
  const project = join(out, 'tsconfig.json');
  const top = process.cwd();
  const files = ['sdk', 'test'].map((name) => join(top, from, `${name}.ts`));
  const compilerOptions = {
    ...{ noEmit: false, declaration: true, emitDeclarationOnly: true, stripInternal: true },
    ...{
      outDir: join(out, 'types'),
      rootDir: join(top, 'firmware'),
      typeRoots: [join(top, 'node_modules/@types')],
    },
  };
  writeFileSync(
    project,
    JSON.stringify({ extends: join(top, 'tsconfig.json'), compilerOptions, files, include: [] }),
  );
  try {
    execFileSync(process.execPath, [compiler, '-p', project], { stdio: 'pipe' });
    rmSync(join(dir, 'types'), { recursive: true, force: true });
    copyTypes(join(out, 'types'), join(dir, 'types'), ['skills/sdk/sdk', 'skills/sdk/test']);
  } catch (e) {
    throw new Error(`The SDK's types cannot be made: ${e.stdout ?? ''}${e.message}`);
  } finally {
    rmSync(out, { recursive: true });
  }
}

/** All that is no code: types, package.json, template. The schemas are a part of their own, which lies beside it. */
const rest = (dir, version) => ({
  name: 'sdk',
  buildStart() {
    for (const e of readdirSync(from, { recursive: true, withFileTypes: true }))
      if (e.isFile()) this.addWatchFile(join(e.parentPath ?? e.path, e.name));
  },
  writeBundle() {
    types(dir);
    const entry = (name, file) => ({ types: `./types/skills/sdk/${name}.d.ts`, default: `./${file}.js` });
    const pack = {
      name: '@ingle/skill-sdk',
      version,
      description: 'What a skill for an Ingle hub is written with.',
      license: 'Apache-2.0',
      type: 'module',
      exports: { '.': entry('sdk', 'index'), './test': entry('test', 'test'), './schemas/*': './schemas/*' },
    };
    writeFileSync(join(dir, 'package.json'), `${JSON.stringify(pack, null, 2)}\n`);
    rmSync(join(dir, 'template'), { recursive: true, force: true });
    cpSync(join(from, 'template'), join(dir, 'template'), { recursive: true });
  },
});

/** The rollup configurations of the SDK. */
export function sdk(dir, { onwarn, define, version }) {
  return Object.entries({ sdk: 'index', test: 'test' }).map(([name, file]) => ({
    input: `${from}/${name}.ts`,
    onwarn,
    external: (id) => id.startsWith('node:') || builtinModules.includes(id),
    plugins: [
      esbuild({ target: 'node20', define, include: /\.ts$/, sourceMap: false }),
      nodeResolve({ exportConditions: ['node'], extensions: ['.ts', '.mjs', '.js'] }),
      commonjs({ sourceMap: false }),
      ...(name === 'sdk' ? [rest(dir, version)] : []),
    ],
    output: { dir, entryFileNames: `${file}.js`, format: 'es', generatedCode: 'es2015' },
  }));
}
