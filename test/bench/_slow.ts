// A slow way to a server: each connection costs a round trip, all share one line of so many bits a second and direction.
// What it does not have is TCP's slow start and loss; it is the same for both sides.
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Round trip, milliseconds; bits a second. Those of a slow mobile network. */
export const SLOW = { rtt: 150, bits: 1_600_000 };

export async function slowWay(to: number): Promise<{ port: number; slow(on: boolean): void; stop(): void }> {
  let isSlow = false;
  const sockets = new Set<Socket>();
  /** When each direction is free again, milliseconds. */
  const free = { down: 0, up: 0 };
  function carry(from: Socket, into: Socket, way: 'down' | 'up'): void {
    let due = 0;
    /** Two timers of about the same time may end in either order, so each takes what came first. */
    const under: (Buffer | string | null)[] = [];
    from.on('data', (chunk) => {
      if (!isSlow && under.length === 0) return void into.write(chunk);
      const now = performance.now();
      free[way] = Math.max(now, free[way]) + (chunk.length * 8000) / SLOW.bits;
      due = free[way] + SLOW.rtt / 2;
      under.push(chunk);
      setTimeout(next, due - now);
    });
    const next = () => {
      const first = under.shift();
      if (first === null) into.end();
      else into.write(first!);
    };
    const end = () => {
      under.push(null);
      setTimeout(next, Math.max(0, due - performance.now()));
    };
    from.on('end', end).on('close', end).on('error', end);
  }
  const server = createServer({ noDelay: true }, (near) => {
    sockets.add(near);
    near.on('close', () => sockets.delete(near)).pause();
    setTimeout(
      () => {
        const far = connect({ port: to, host: '127.0.0.1', noDelay: true });
        sockets.add(far);
        far.on('close', () => sockets.delete(far));
        carry(near, far, 'up');
        carry(far, near, 'down');
        near.resume();
      },
      isSlow ? SLOW.rtt : 0,
    );
  });
  await new Promise<void>((ok) => server.listen(0, '127.0.0.1', ok));
  return {
    port: (server.address() as AddressInfo).port,
    slow: (on) => {
      isSlow = on;
    },
    stop() {
      for (const s of sockets) s.destroy();
      server.close();
    },
  };
}
