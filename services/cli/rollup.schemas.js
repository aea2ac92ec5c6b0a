// Files for others out of our own tables: what `input` exports as `schemas` becomes `<dir>/<name>.json`, a JSON Schema,
// and what it exports as `texts` becomes `<dir>/<name>` as it is.
import { builtinModules } from 'node:module';
import { nodeResolve } from '@rollup/plugin-node-resolve';
import esbuild from 'rollup-plugin-esbuild';

/** The dialect of all of them. */
const dialect = 'https://json-schema.org/draft/2020-12/schema';

/** Runs the one program of the bundle and puts its files in its place. */
const files = {
  name: 'schemas',
  async generateBundle(_, bundle) {
    const [name, chunk] = Object.entries(bundle)[0];
    const { schemas = {}, texts = {} } = await import(
      `data:text/javascript,${encodeURIComponent(chunk.code)}`
    );
    delete bundle[name];
    for (const [name, { $id, title, description, ...rest }] of Object.entries(schemas)) {
      const source = `${JSON.stringify({ $schema: dialect, $id, title, description, ...rest }, null, 2)}\n`;
      this.emitFile({ type: 'asset', fileName: `${name}.json`, source });
    }
    for (const [fileName, source] of Object.entries(texts))
      this.emitFile({ type: 'asset', fileName, source });
  },
};

/** The rollup configuration of the schemas and texts of `input`. */
export function schemas(input, dir, { onwarn, define = {} }) {
  return {
    input,
    onwarn,
    external: (id) => id.startsWith('node:') || builtinModules.includes(id),
    plugins: [
      esbuild({ target: 'node20', define, include: /\.ts$/, sourceMap: false }),
      nodeResolve({ extensions: ['.ts', '.mjs', '.js'] }),
      files,
    ],
    output: { dir, entryFileNames: 'schemas.js', format: 'es' },
  };
}
