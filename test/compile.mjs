// Test files as plain JavaScript, all in one go: tsx would start its compiler anew in every process of the gate.
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

/** What a file reads from beside itself is found from where its source lies. */
const inPlace = {
  name: 'in place',
  setup(b) {
    b.onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      if (!text.includes('import.meta.url')) return undefined;
      const here = JSON.stringify(pathToFileURL(path).href);
      return { loader: 'ts', contents: text.replaceAll('import.meta.url', here) };
    });
  },
};

/**
 * Compiles test files into a folder of the checkout, where packages are found, until this process ends; what they share
 * becomes modules beside them.
 * @param files paths from the top, which is the working directory
 * @param o.whole with their packages in them: such a program starts in half the time
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
    ...(o.whole ? { external: ['sqlite3'] } : { packages: 'external' }),
    // With node --enable-source-maps a failure names the line of the source.
    sourcemap: 'linked',
    sourcesContent: false,
    plugins: [inPlace],
    logLevel: 'error',
  });
  return new Map(files.map((f) => [f, join(folder, f.replace(/\.ts$/, '.js'))]));
}
