// A thread of rooms.test.ts.
import { parentPort, workerData } from 'node:worker_threads';
import { register } from 'tsx/esm/api';

register();
const { scenes } = await import('./scenes.ts');
parentPort.postMessage(scenes(workerData.kind, workerData.from, workerData.to));
