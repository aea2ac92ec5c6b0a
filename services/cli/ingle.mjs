#!/usr/bin/env node
// Starts the `ingle` command: the bundle where it is fresh, else the sources (a checkout that is being worked on).
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isFresh } from './build.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const bundle = join(here, '../../dist/services/cli/ingle.js');
const installed = join(here, 'ingle.js');
const source = join(here, 'ingle.ts');
const tsx = join(here, '../../node_modules/tsx/dist/esm/api/index.mjs');

let file = existsSync(installed) ? installed : bundle;
if (existsSync(source) && existsSync(tsx) && !(existsSync(bundle) && isFresh())) {
  (await import(tsx)).register();
  file = source;
}
if (!existsSync(file)) {
  process.stderr.write('Ingle is not built yet. Run "npm start" once, or: npm ci && npm run build\n');
  process.exit(69);
}
const { main } = await import(file);
process.exitCode = await main(process.argv.slice(2));
// Connections and timers of a finished command keep nothing alive.
process.exit();
