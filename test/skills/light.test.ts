// What the process of every skill that is awake carries.
import { build } from 'esbuild';
import { test } from 'uvu';
import * as assert from 'uvu/assert';

test("a skill's host loads the checker of schemas only when it is asked for interest", async () => {
  const { metafile } = await build({
    ...{ entryPoints: ['services/skill-host/main.ts'], outdir: 'none', write: false, metafile: true },
    ...{ bundle: true, splitting: true, format: 'esm', platform: 'node', logLevel: 'error' },
    external: ['x11', 'usocket'],
  });
  const loaded = new Set<string>();
  const visit = (file: string): void => {
    if (loaded.has(file) || !metafile.outputs[file]) return;
    loaded.add(file);
    for (const i of metafile.outputs[file].imports) if (i.kind === 'import-statement') visit(i.path);
  };
  visit('none/main.js');
  const sources = [...loaded].flatMap((file) => Object.keys(metafile.outputs[file]!.inputs));
  assert.ok(sources.includes('firmware/skills/interest.ts'), 'its own code is there');
  assert.equal(
    sources.filter((file) => file.includes('/typebox/')),
    [],
  );
});

test.run();
