// Ways from one process to another for frames of relay: the line between nodes of root, and what Redis has for it.
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { newNode } from '../../root/cluster/node.ts';
import { type Handlers, type Line, openPeers } from '../../root/cluster/peers.ts';

/** Bytes of a frame; most of them are small. */
export const FRAME = 1024;
/** Where a frame has the number it was sent under, and when. */
export const stamp = (frame: Buffer, n: number): Buffer => {
  frame.writeUInt32LE(n, 0);
  frame.writeBigUInt64LE(process.hrtime.bigint(), 4);
  return frame;
};

type Took = (n: number, sent: bigint) => void;
const told = (took: Took, frame: Uint8Array) => {
  const b = Buffer.from(frame.buffer, frame.byteOffset, frame.byteLength);
  took(b.readUInt32LE(0), b.readBigUInt64LE(4));
};
export interface Way {
  /** Sends frames from `first` on; settles when more may follow. */
  send(first: number, count: number): Promise<void>;
  close(): Promise<void>;
}
export interface Names {
  redis: string;
  port: number;
  /** What the receiver of the line is called. */
  id: string;
}
export const ways = ['line', 'streams', 'sharded'] as const;
export type Name = (typeof ways)[number];

const KEY = Buffer.alloc(32, 7);
const none: Handlers = { said() {}, framed() {}, lost() {} };

// It is a package of root's (workspace root).
const require = createRequire(resolve('root/package.json'));
async function client(url: string) {
  const { createClient } = (await import(require.resolve('@redis/client'))) as {
    // biome-ignore lint/suspicious/noExplicitAny: the package's types belong to root
    createClient(o: object): any;
  };
  const c = createClient({ url, RESP: 2 });
  c.on('error', () => {});
  await c.connect();
  return c;
}
/** Redis's answers as bytes. */
const asBytes = { 36: Buffer };

/** Takes frames of one way until the process ends. @returns what the sender has to know */
export async function receive(way: Name, { redis, port }: Names, took: Took): Promise<string> {
  if (way === 'line') {
    const node = newNode(`127.0.0.1:${port}`);
    const from: Handlers = { ...none, framed: (_line, _end, _ctr, frame) => told(took, frame) };
    await openPeers({ node, listen: { host: '127.0.0.1', port }, key: KEY, confirmed() {}, from, to: none });
    return node.me.id;
  }
  const c = (await client(redis)).withTypeMapping(asBytes);
  if (way === 'sharded') {
    await c.sSubscribe('frames', (m: Buffer) => told(took, m), true);
    return '';
  }
  void (async () => {
    for (let last = '0'; ; ) {
      const said = await c.xRead({ key: 'frames', id: last }, { BLOCK: 0, COUNT: 512 });
      for (const { id, message } of said?.[0]?.messages ?? []) {
        last = String(id);
        told(took, message.f);
      }
    }
  })();
  return '';
}

/** Opens the sending end of a way. */
export async function open(way: Name, names: Names): Promise<Way> {
  if (way === 'line') return overLine(names);
  const c = await client(names.redis);
  const one = (frame: Buffer) =>
    way === 'streams'
      ? // As many are kept as a reader may lag behind.
        c.xAdd(
          'frames',
          '*',
          { f: frame },
          { TRIM: { strategy: 'MAXLEN', strategyModifier: '~', threshold: 65_536 } },
        )
      : c.sPublish('frames', frame);
  return {
    // Redis acknowledges each: what it has not taken is not lost unseen.
    async send(first, count) {
      await Promise.all(Array.from({ length: count }, (_, i) => one(stamp(Buffer.alloc(FRAME), first + i))));
    },
    close: async () => c.destroy(),
  };
}

async function overLine({ id, port }: Names): Promise<Way> {
  const peers = await openPeers({
    ...{ node: newNode('127.0.0.1:1'), listen: { host: '127.0.0.1', port: 0 }, key: KEY },
    ...{ confirmed() {}, from: none, to: none },
  });
  peers.keep([{ id, peer: `127.0.0.1:${port}`, name: '' }]);
  const line: Line = await peers.lineTo(id);
  const frame = Buffer.alloc(FRAME);
  return {
    async send(first, count) {
      for (let i = 0; i < count; i++) line.frame(1, first + i, stamp(frame, first + i));
      await new Promise((resolve) => setImmediate(resolve));
    },
    close: async () => peers.close(),
  };
}
