// timeout: 240 s
// Ten of npm's y-websocket clients in one room, whose lines break and delay, and a hub that is killed: all end with the
// same document, and what one has seen of another was on the disk. `INGLE_SEED=<n>` draws another schedule.
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import type WebSocket from 'ws';
import { WebsocketProvider } from 'y-websocket';
import * as Y from 'yjs';
import { readContent } from '../../firmware/documents/content.ts';
import { until } from '../lab/wait.ts';
import { startHub, type TestHub } from './hub.ts';

const SEED = Number(process.env['INGLE_SEED'] ?? 20261124);
const CLIENTS = 10;
const KILLS = 2;
const room = 'o1/desktop/state:device/phone1';
const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

/** Numbers from 0 to 1 (a linear congruential generator, as of POSIX's rand). */
function drawn(seed: number): () => number {
  let at = seed;
  return () => {
    at = (at * 1103515245 + 12345) % 2 ** 31;
    return at / 2 ** 31;
  };
}

const test = suite<{ hub: TestHub }>('converged');
const docs: Y.Doc[] = [];
test.before(async (c) => {
  c.hub = await startHub();
});
test.after(async (c) => {
  await c.hub?.stop();
  for (const doc of docs) doc.destroy();
});

/** A client as its provider is, on a line that may be cut and on which messages overtake each other. */
function join(hub: TestHub, random: () => number, dark = { is: false }) {
  const line = { isCut: false, sockets: new Set<WebSocket>() };
  const Plain = hub.webSocket({}) as unknown as typeof WebSocket;
  class Line extends Plain {
    constructor(url: string, protocols?: string[]) {
      super(line.isCut || dark.is ? 'ws://127.0.0.1:9' : url, protocols);
      line.sockets.add(this);
      this.on('close', () => line.sockets.delete(this));
    }
    override addEventListener(...[kind, f, o]: Parameters<WebSocket['addEventListener']>): void {
      const late = (e: unknown) => setTimeout(() => (f as (e: unknown) => void)(e), random() * 40);
      super.addEventListener(kind, (kind === 'message' ? late : f) as never, o);
    }
  }
  const doc = new Y.Doc();
  docs.push(doc);
  const provider = new WebsocketProvider(`${hub.base.replace('http', 'ws')}/sync`, room, doc, {
    WebSocketPolyfill: Line as unknown as typeof globalThis.WebSocket,
    disableBc: true,
    maxBackoffTime: 300,
  });
  return {
    doc,
    provider,
    content: () => readContent(doc),
    cut(isCut: boolean) {
      line.isCut = isCut;
      if (isCut) for (const s of line.sockets) s.terminate();
    },
  };
}
type Client = ReturnType<typeof join>;

test('ten clients with cut and slow lines and a hub killed again and again converge, and lose nothing', async ({
  hub,
}) => {
  const random = drawn(SEED);
  /** Nobody reaches the hub. */
  const dark = { is: false };
  const clients = Array.from({ length: CLIENTS }, (_, i) => join(hub, drawn(SEED + i + 1), dark));
  const written = new Map<string, Client>();
  /** What somebody else than its author has seen: it was stored before. */
  const seen = new Set<string>();
  for (const c of clients)
    c.doc.on('update', (_u: Uint8Array, origin: unknown) => {
      if (origin !== c.provider) return;
      for (const key of Object.keys(c.content())) if (written.get(key) !== c) seen.add(key);
    });
  let isOver = false;
  const writing = clients.map(async (c, i) => {
    const chance = drawn(SEED + 100 + i);
    for (let n = 0; !isOver; n++) {
      written.set(`${i}-${n}`, c);
      c.doc.getMap('content').set(`${i}-${n}`, n);
      // All of them write this one, and one of them wins.
      c.doc.getMap('content').set('shared', `${i}-${n}`);
      await pause((dark.is ? 400 : 60) + chance() * 120);
    }
  });
  written.set('shared', clients[0]!);
  const parting = (async () => {
    while (!isOver) {
      const c = clients[Math.floor(random() * CLIENTS)]!;
      c.cut(true);
      await pause(random() * 300);
      c.cut(false);
      await pause(random() * 60);
    }
  })();
  try {
    for (let n = 0; n < KILLS; n++) {
      const before = seen.size;
      await until(() => seen.size > before + 40, 'changes to pass');
      await pause(random() * 200);
      await hub.kill('api');
      dark.is = true;
      await pause(50);
      const stored = [...seen];
      await hub.startApi();
      // Nobody can have brought it again, so it is there because it was stored.
      const reader = join(hub, () => 0);
      await until(() => reader.provider.synced, 'a reader');
      for (const key of stored)
        assert.ok(Object.hasOwn(reader.content(), key), `${key} was shown and is lost`);
      reader.provider.destroy();
      dark.is = false;
    }
    isOver = true;
    await Promise.all([...writing, parting]);
    dark.is = false;
    for (const c of clients) c.cut(false);
    const first = clients[0]!;
    const isSame = () =>
      clients.every(
        (c) =>
          Object.keys(c.content()).length === written.size &&
          JSON.stringify(Object.entries(c.content()).sort()) ===
            JSON.stringify(Object.entries(first.content()).sort()),
      );
    await until(isSame, 'all to have the same');
    const late = join(hub, () => 0);
    await until(() => late.provider.synced, 'a late one');
    assert.equal(late.content(), first.content());
    for (const key of written.keys()) assert.ok(Object.hasOwn(late.content(), key), `${key} is lost`);
    late.provider.destroy();
  } catch (e) {
    throw new Error(`${(e as Error).message}\nINGLE_SEED=${SEED}`);
  } finally {
    isOver = true;
    await Promise.allSettled([...writing, parting]);
    for (const c of clients) c.provider.destroy();
  }
  console.log(
    `FIGURE converged ${written.size} changes of ${CLIENTS} clients, ${KILLS} kills, ${seen.size} seen`,
  );
});

test.run();
