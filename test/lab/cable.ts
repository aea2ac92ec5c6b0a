// A cable: what connects to `port` here goes on to another port, until it is pulled. Then nothing passes and nothing ends,
// as with a network that lost its way.
import { connect, createServer, type Socket } from 'node:net';
import { freePort } from '../../services/cli/house/runtime.ts';

export interface Cable {
  port: number;
  pull(): void;
  plug(): void;
  close(): void;
}

/** @param to where it leads, asked for with each connection */
export async function openCable(to: number | (() => number)): Promise<Cable> {
  const port = await freePort('127.0.0.1');
  const sockets = new Set<Socket>();
  let isPulled = false;
  const server = createServer((a) => {
    const b = connect(typeof to === 'number' ? to : to(), '127.0.0.1');
    for (const [one, other] of [
      [a, b],
      [b, a],
    ] as const) {
      sockets.add(one);
      one.setNoDelay(true);
      // What was underway when it was pulled is lost with its connection.
      one.on('data', (d) => !isPulled && other.write(d));
      one.on('end', () => !isPulled && other.end());
      one.on('error', () => {});
      one.on('close', () => {
        sockets.delete(one);
        if (!isPulled) other.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const cut = () => {
    for (const s of sockets) s.destroy();
  };
  return {
    port,
    pull() {
      isPulled = true;
    },
    plug() {
      cut();
      isPulled = false;
    },
    close() {
      server.close();
      cut();
    },
  };
}
