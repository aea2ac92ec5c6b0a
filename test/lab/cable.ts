// A cable: what connects to `port` here goes on to another port. Plugged in anew, it breaks off what it carries.
import { connect, createServer, type Socket } from 'node:net';
import { freePort } from '../../services/cli/house/runtime.ts';

export interface Cable {
  port: number;
  plug(): void;
  close(): void;
}

/**
 * @param to where it leads, asked for with each connection
 * @param heard what each of them says first
 */
export async function openCable(to: () => number, heard?: (bytes: Buffer) => void): Promise<Cable> {
  const port = await freePort('127.0.0.1');
  const sockets = new Set<Socket>();
  const server = createServer((a) => {
    const b = connect(to(), '127.0.0.1');
    if (heard) a.once('data', heard);
    for (const [one, other] of [
      [a, b],
      [b, a],
    ] as const) {
      sockets.add(one);
      one.setNoDelay(true);
      one.pipe(other);
      one.on('error', () => {});
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const plug = () => {
    for (const s of sockets) s.destroy();
  };
  return {
    port,
    plug,
    close() {
      server.close();
      plug();
    },
  };
}
