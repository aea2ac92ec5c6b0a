// The flooders of the bench `flood`, in a process of their own: each sends as fast as it is let, and comes back when it is
// closed.
import { once } from 'node:events';
import { message, openLine } from './_line.ts';

/** One flooder: without `sid` it never signs in. */
export interface Flooder {
  namespace: string;
  auth: object;
  headers: Record<string, string>;
  sid: string;
  /** What it says first. */
  greeting: string;
}

/** Pause before a flooder that was closed comes back, milliseconds. */
const PAUSE = 50;
const stranger = Buffer.concat(Array(512).fill(message(false, Buffer.from('40/x,{}'))));

async function flood(port: number, f: Flooder): Promise<void> {
  let ctr = 20_000_000;
  const frames = () => {
    if (f.sid === '') return stranger;
    const parts: Buffer[] = [];
    for (let i = 0; i < 256; i++) {
      const text = `451-/owner,["relay.to_hub",{"sid":"${f.sid}","frame":{"_placeholder":true,"num":0},"ctr":${++ctr}}]`;
      parts.push(message(false, Buffer.from(text)), message(true, Buffer.alloc(8)));
    }
    return Buffer.concat(parts);
  };
  for (;;) {
    try {
      const { tcp, text } = await openLine(port, f.sid === '' ? '' : f.namespace, f.auth, f.headers);
      tcp.on('error', () => {});
      if (f.greeting) text(f.greeting);
      while (!tcp.destroyed) {
        // A closed connection never drains: it is looked at again after a moment.
        if (!tcp.write(frames()))
          await once(tcp, 'drain', { signal: AbortSignal.timeout(100) }).catch(() => {});
        else await new Promise((r) => setImmediate(r));
      }
    } catch {}
    await new Promise((r) => setTimeout(r, PAUSE));
  }
}

process.once('message', ({ port, flooders }: { port: number; flooders: Flooder[] }) => {
  for (const f of flooders) void flood(port, f);
});
process.on('disconnect', () => process.exit());
