// The peer of `steps`: DBOS Transact on PostgreSQL. Runs workflows of steps that do nothing, and tells each step's time.
// Arguments: folder of its packages, address of the database, workflows at once, steps of each.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [folder, url, runs, steps] = process.argv.slice(2);
const require = createRequire(join(folder, 'package.json'));
const { DBOS } = await import(pathToFileURL(require.resolve('@dbos-inc/dbos-sdk')).href);

DBOS.setConfig({
  name: 'bench',
  systemDatabaseUrl: url,
  logLevel: 'error',
  runAdminServer: false,
  systemDatabasePoolSize: 20,
});
const gaps = [];
async function work() {
  let last = performance.now();
  for (let i = 0; i < Number(steps); i++) {
    await DBOS.runStep(
      async () => {
        const now = performance.now();
        if (i > 0) gaps.push(now - last);
        last = now;
        return i;
      },
      { name: 'step' },
    );
  }
}
const workflow = DBOS.registerWorkflow(work, { name: 'work' });
await DBOS.launch();
// One that warms everything up.
await (await DBOS.startWorkflow(workflow)()).getResult();
gaps.length = 0;
const began = performance.now();
const handles = await Promise.all(Array.from({ length: Number(runs) }, () => DBOS.startWorkflow(workflow)()));
await Promise.all(handles.map((h) => h.getResult()));
const seconds = (performance.now() - began) / 1000;
gaps.sort((a, b) => a - b);
console.log(
  JSON.stringify({
    rate: (Number(runs) * Number(steps)) / seconds,
    p99: gaps[Math.floor(gaps.length * 0.99)],
  }),
);
await DBOS.shutdown();
process.exit(0);
