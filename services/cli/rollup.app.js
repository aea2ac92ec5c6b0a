// The scenario app of a skill of the image: scenario.yaml and its pages become scenario.json in its bundle, which is what a
// hub reads. Whether the app is right a test says (test/scenario-app/shipped.test.ts), and `ingle skill build` to others.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

const read = (folder, name) => parse(readFileSync(join(folder, name), 'utf8'));

/** The files an app is made of; none where the folder has no app. */
function filesOf(folder) {
  if (!existsSync(join(folder, 'scenario.yaml'))) return [];
  const { routes } = read(folder, 'scenario.yaml');
  return ['scenario.yaml', ...new Set(Object.values(routes).map((r) => r.usdl))];
}

/** Rollup's plugin for a skill's bundle. */
export const scenarioApp = (folder) => ({
  name: 'scenario-app',
  buildStart() {
    for (const name of filesOf(folder)) this.addWatchFile(join(folder, name));
  },
  generateBundle() {
    const [main, ...pages] = filesOf(folder);
    if (!main) return;
    const source = {
      scenario: read(folder, main),
      pages: Object.fromEntries(pages.map((name) => [name, read(folder, name)])),
    };
    this.emitFile({ type: 'asset', fileName: 'scenario.json', source: `${JSON.stringify(source)}\n` });
  },
});
