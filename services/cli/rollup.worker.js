// A worker of a page: a script by itself, named by its hash, in which the page's own parts are not; it comes when it is
// started.
import { basename } from 'node:path';
import commonjs from '@rollup/plugin-commonjs';
import { nodeResolve } from '@rollup/plugin-node-resolve';
import { transform } from 'esbuild';
import { rollup } from 'rollup';
import esbuild from 'rollup-plugin-esbuild';

/** The page's sources read its address as `name`. */
export function worker(name, file, { target, define, onwarn }) {
  let address;
  return {
    name: 'worker',
    buildStart() {
      address = undefined;
    },
    async transform(code) {
      if (!code.includes(name)) return null;
      address ??= bundled(file, { target, define, onwarn }).then(({ source, files }) => {
        for (const id of files) this.addWatchFile(id);
        const asset = { type: 'asset', name: `${basename(file, '.ts')}.js`, source };
        return `import.meta.ROLLUP_FILE_URL_${this.emitFile(asset)}`;
      });
      return { code: code.replaceAll(name, await address), map: null };
    },
  };
}

async function bundled(input, { target, define, onwarn }) {
  const bundle = await rollup({
    input,
    onwarn,
    plugins: [
      onlyCharts(),
      esbuild({ target, define, include: /\.[jt]s$/, sourceMap: false }),
      nodeResolve({ browser: true, exportConditions: ['production'], extensions: ['.ts', '.mjs', '.js'] }),
      commonjs(),
    ],
  });
  const { output } = await bundle.generate({ format: 'iife' });
  const files = bundle.watchFiles;
  await bundle.close();
  // terser would make it smaller by 3 %, and take 20 s for what draws Vega-Lite.
  const { code } = await transform(output[0].code, { minify: true, target, legalComments: 'none' });
  return { source: code, files };
}

/** Parts of Vega that no chart of a document may ask for (firmware/ui/vega.ts): maps, graphs, clouds, other formats of data. */
const unused =
  /^(vega-(geo|projection|force|hierarchy|label|regression|voronoi|wordcloud|crossfilter)|d3-(geo|dsv|delaunay)|topojson-client)$/;

/** A chart is drawn without them; what names one of their parts gets nothing. */
function onlyCharts() {
  return {
    name: 'only-charts',
    resolveId: (id, importer) =>
      unused.test(id) && /\/node_modules\/vega/.test(importer ?? '') ? `\0unused-${id}` : null,
    load: (id) =>
      id.startsWith('\0unused-') ? { code: 'export default {};', syntheticNamedExports: true } : null,
  };
}
