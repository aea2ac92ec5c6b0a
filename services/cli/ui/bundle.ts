// A page that draws screens as the application does and is not the application: `ingle ui preview`, `ingle ui reference`,
// and tests.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { IngleError } from '../../../firmware/protocol/errors.ts';
import { plain } from '../show.ts';
import type { PreviewText } from './text.ts';

export interface Bundled {
  script: string;
  style: string;
}

/** An expression for the address of a script; nothing in its text ends the script it stands in. */
const blobOf = (script: string) =>
  `URL.createObjectURL(new Blob([${JSON.stringify(script).replaceAll('<', '\\x3c')}], { type: 'text/javascript' }))`;

/**
 * Bundles a page with the application's renderer.
 * @param top the checkout
 * @param contents TypeScript, as if it lay at the top of the checkout
 * @throws what esbuild has to say; where it is not installed, too
 */
export async function bundlePage(top: string, contents: string): Promise<Bundled> {
  const { build } = await import('esbuild');
  const usual = { bundle: true, write: false, format: 'iife', target: 'es2022', logLevel: 'silent' } as const;
  const charts = await build({ ...usual, entryPoints: [join(top, 'spa/vega-worker.ts')], minify: true });
  const sheets = [readFileSync(join(top, 'spa/styles.css'), 'utf8')];
  const { outputFiles } = await build({
    ...usual,
    stdin: { contents, resolveDir: top, loader: 'ts' },
    // In the application it is a file beside the page; a page by itself brings it as text.
    banner: { js: `const INGLE_VEGA_WORKER = ${blobOf(charts.outputFiles[0]!.text)};` },
    plugins: [
      {
        // In the application a chunk brings its sheet (rollup.page.js); here all of them are there from the start.
        name: 'sheets',
        setup(b) {
          b.onLoad({ filter: /\.css$/ }, ({ path }) => {
            sheets.push(readFileSync(path, 'utf8'));
            return { loader: 'js', contents: 'export const sheet = Promise.resolve();' };
          });
        },
      },
    ],
  });
  return { script: outputFiles[0]!.text, style: sheets.join('\n') };
}

/** The checkout this command lies in, as sources or as a bundle. */
export function checkout(t: PreviewText): string {
  for (let at = dirname(fileURLToPath(import.meta.url)); ; at = dirname(at)) {
    if (existsSync(join(at, 'spa/preview.ts'))) return at;
    if (at === dirname(at)) throw new IngleError('not_supported', t('noSources'));
  }
}

/** @throws IngleError `not_supported` with what esbuild has to say */
export async function bundled(top: string, contents: string, t: PreviewText): Promise<Bundled> {
  return bundlePage(top, contents).catch((e) => {
    throw new IngleError('not_supported', t('unbuilt', { why: plain((e as Error).message, 500) }));
  });
}
