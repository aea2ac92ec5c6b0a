import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { suite } from 'uvu';
import * as assert from 'uvu/assert';

const test = suite('protocol in a browser');
const entry = `
export { initiator } from './firmware/protocol/noise/initiator.ts';
export { tunnelClient } from './firmware/protocol/tunnel/client.ts';
export { openOutbox } from './firmware/protocol/tunnel/outbox.ts';
export { generate, restore } from './firmware/protocol/noise/x25519.ts';
export { decodeControl, encodeControl } from './firmware/protocol/noise/control.ts';`;

async function bundle(contents: string) {
  const r = await build({
    stdin: { contents, resolveDir: process.cwd(), loader: 'ts' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    minify: true,
    write: false,
    metafile: true,
    outdir: 'out',
    logLevel: 'silent',
  });
  return r;
}

test('the browser’s part bundles without Node, and CPace and tweetnacl load only when needed', async () => {
  const r = await bundle(entry);
  assert.equal(r.errors, []);
  const inputs = Object.keys(r.metafile.inputs);
  assert.not(inputs.some((f) => f.startsWith('node:')));
  const [main, lazy] = [
    r.outputFiles.find((f) => f.path.endsWith('stdin.js'))!,
    r.outputFiles.filter((f) => !f.path.endsWith('stdin.js')),
  ];
  const out = Object.entries(r.metafile.outputs).find(([f]) => f.endsWith('stdin.js'))![1];
  const direct = new Set(Object.keys(out.inputs));
  for (const i of out.imports)
    if (i.kind !== 'dynamic-import')
      for (const f of Object.keys(r.metafile.outputs[i.path]?.inputs ?? {})) direct.add(f);
  for (const f of direct) assert.not.match(f, /noble|tweetnacl|cpace|responder|tunnel\/server/);
  console.log(`FIGURE protocol_browser_gzip_bytes ${gzipSync(main.contents).length}`);
  for (const f of lazy)
    console.log(`FIGURE protocol_lazy_gzip_bytes ${gzipSync(f.contents).length} ${f.path.split('/').at(-1)}`);
  for (const [f, o] of Object.entries(out.inputs))
    console.log(`FIGURE protocol_minified_bytes ${o.bytesInOutput} ${f}`);
});

test.run();
