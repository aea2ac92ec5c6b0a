// Memory of a Node process without its garbage: collected by its inspector, which needs nothing of the process itself.
import { once } from 'node:events';
import WebSocket from 'ws';
import { freePort } from '../../services/cli/house/runtime.ts';
import { tried, until } from '../lab/wait.ts';

/** Where processes that start from now on let themselves be inspected once they are asked to; one at a time. */
const port = await freePort('127.0.0.1');
process.env['NODE_OPTIONS'] = `--inspect-port=${port}`;

/** Collects all garbage of a process, twice, as the first leaves what only finalizers let go of. */
export async function collect(pid: number): Promise<void> {
  process.kill(pid, 'SIGUSR1');
  const url = await until(
    tried(async () => {
      const [target] = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()) as {
        webSocketDebuggerUrl: string;
      }[];
      return target?.webSocketDebuggerUrl;
    }),
    'the inspector',
  );
  const ws = new WebSocket(url);
  await once(ws, 'open');
  for (const id of [1, 2]) {
    ws.send(JSON.stringify({ id, method: 'HeapProfiler.collectGarbage' }));
    await once(ws, 'message');
  }
  ws.close();
  await once(ws, 'close');
}
