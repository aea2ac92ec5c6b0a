// The process of a slot as a snapshot holds it (nodejs.org/docs/latest-v20.x/api/v8.html#startup-snapshot-api): loaded,
// and rehearsed once. Node runs `run` in what it reads back.
import { startupSnapshot } from 'node:v8';
import { startService } from '../../firmware/system/service.ts';
import { rehearse } from './rehearse.ts';
import { run, slotNamed } from './run.ts';

startupSnapshot.setDeserializeMainFunction(() => {
  const slot = slotNamed();
  void run(slot, startService(`skill ${slot}`));
});
rehearse().catch((cause: Error) => {
  // One of a rehearsal that failed could be anything.
  process.stderr.write(`${cause.stack}\n`);
  process.exit(70);
});
