// Test files as plain JavaScript, all in one go: tsx would start its compiler anew in every process.
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

/** What a file reads from beside itself is found from where its source lies: there `import.meta.url` is this name. */
const HERE = '__source';
const inPlace = {
  name: 'in place',
  setup(b) {
    b.onLoad({ filter: /\.m?[tj]s$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      if (!text.includes('import.meta.url')) return undefined;
      const here = `const ${HERE} = ${JSON.stringify(pathToFileURL(path).href)};`;
      // In its first line, so that all others keep their numbers.
      return { loader: path.endsWith('.ts') ? 'ts' : 'js', contents: here + text.replace(/^#!.*/, '') };
    });
  },
};

/** Failures are told whole (lab/loud.ts). */
const loud = {
  name: 'loud',
  setup(b) {
    const wrapper = resolve('test/lab/loud.ts');
    b.onResolve({ filter: /^uvu$/ }, ({ importer }) =>
      importer === wrapper ? { path: 'uvu', external: true } : { path: wrapper },
    );
  },
};

/** Packages stay where they are, but for one that is hundreds of files, which each process would open anew, and our own. */
const packages = {
  name: 'packages',
  setup(b) {
    b.onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
      kind === 'entry-point' || /^(typebox|@ingle)(\/|$)/.test(path) ? undefined : { external: true },
    );
  },
};

/**
 * Compiles test files into a folder of the checkout, where packages are found, until this process ends; what they share
 * becomes modules beside them.
 * @param files paths from the top, which is the working directory
 * @param o.whole with their packages in them: such a program starts in half the time
 * @param o.plugins of esbuild, for sources that are to be others
 * @returns where each file is now
 */
export async function compile(files, o = {}) {
  mkdirSync('.cache', { recursive: true });
  const folder = mkdtempSync('.cache/gate-');
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  await build({
    entryPoints: files,
    outdir: folder,
    outbase: '.',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    // A template of ours has one of its own, for where it will be.
    tsconfig: 'tsconfig.json',
    define: { 'import.meta.url': HERE },
    ...(o.whole ? { external: ['sqlite3'] } : {}),
    // With node --enable-source-maps a failure names the line of the source.
    sourcemap: 'linked',
    sourcesContent: false,
    plugins: [...(o.plugins ?? []), inPlace, ...(o.whole ? [] : [loud, packages])],
    logLevel: 'error',
  });
  return new Map(files.map((f) => [f, join(folder, f.replace(/\.ts$/, '.js'))]));
}
