// The scenarios of the image: each version's scenario.yaml and readmes go into one file beside ingle-scenario's bundle, as a
// hub reads no YAML. Whether they are right a test says (test/scenario/prototypes.test.ts).
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

const folders = (at) =>
  readdirSync(at, { withFileTypes: true }).flatMap((d) => (d.isDirectory() ? [d.name] : []));

/** Every version of every prototype below `at`: `<namespace>/<id>/<version>`. */
const versionsIn = (at) =>
  folders(at).flatMap((space) =>
    folders(join(at, space)).flatMap((id) =>
      folders(join(at, space, id)).map((version) => join(at, space, id, version)),
    ),
  );

/** Rollup's plugin for ingle-scenario's bundle. */
export const scenarios = (at) => ({
  name: 'scenarios',
  buildStart() {
    for (const folder of versionsIn(at))
      for (const name of ['', ...readdirSync(folder)]) this.addWatchFile(join(folder, name));
  },
  generateBundle() {
    const all = versionsIn(at).map((folder) => {
      const { $schema: _, ...prototype } = parse(readFileSync(join(folder, 'scenario.yaml'), 'utf8'));
      const readme = Object.fromEntries(
        readdirSync(folder).flatMap((name) => {
          const [found, language = 'en'] = /^README(?:\.(.+))?\.md$/.exec(name) ?? [];
          return found ? [[language, readFileSync(join(folder, name), 'utf8')]] : [];
        }),
      );
      return { id: prototype.id, version: prototype.version, prototype, readme };
    });
    this.emitFile({ type: 'asset', fileName: 'scenarios.json', source: `${JSON.stringify(all)}\n` });
  },
});
