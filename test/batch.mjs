// Runs compiled test files one after another in this process: run.mjs names the next one when it is asked.
import './no-children.mjs';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { run } from 'uvu/run';

let failed = 0;
for (;;) {
  const named = once(process, 'message');
  process.send('next');
  const [{ name, file }] = await named;
  if (!name) break;
  // Each file has a summary of its own.
  if (globalThis.UVU_QUEUE) globalThis.UVU_QUEUE.length = 0;
  await run([{ name, file: resolve(file) }]);
  failed ||= process.exitCode;
}
process.exitCode = failed;
process.disconnect();
