// Runs compiled test files one after another in this process (run.mjs): pairs of a source's path and what was made of it.
import './no-children.mjs';
import { resolve } from 'node:path';
import { run } from 'uvu/run';

const words = process.argv.slice(2);
const suites = [];
for (let i = 0; i < words.length; i += 2) suites.push({ name: words[i], file: resolve(words[i + 1]) });
await run(suites);
