// The application without its screen, as a process that a test starts: its own link, rooms and outbox, and of a browser
// only what these look at. It does a long transfer, changes and edits at once, and tells how each of them goes.
import { createHash } from 'node:crypto';
import WebSocket from 'ws';
import type { IngleError } from '../../firmware/protocol/errors.ts';
import type { Op } from '../../firmware/protocol/tunnel/outbox.ts';
import type { Link } from '../../spa/link.ts';
import type { Session } from '../../spa/sid.ts';
import type { Room } from '../../spa/sync.ts';
import { HELD, PIECE, type Way, whole } from './payload.ts';

export type Order =
  | { do: 'visit'; session: Session; room: string }
  | { do: 'assert'; credential: { id: string } }
  /** Until the transfer is through; `name` begins what it writes. */
  | { do: 'work'; name: string; way: Way }
  /** What is sent does not wait in its midst any longer. */
  | { do: 'go' }
  | { do: 'content' };
export type Told =
  | { t: 'up' }
  | { t: 'asks'; handshake: string }
  /** What nothing here may bring about. */
  | { t: 'wrong'; what: string }
  | { t: 'has'; way: Way; bytes: number }
  | { t: 'broke'; way: Way; code: string }
  | { t: 'through'; way: Way; sha256: string }
  /** `silent`: longest time without an answer, milliseconds. */
  | { t: 'worked'; changes: string[]; edits: string[]; silent: number }
  | { t: 'content'; content: Record<string, unknown> };

const [, , root, origin] = process.argv as [string, string, string, string];
const tell = (what: Told) => void process.send!(what);
const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

/** IndexedDB, as far as `spa/database.ts` asks it. */
function indexedDB() {
  const tables = new Map<string, Map<string, unknown>>();
  const soon = <R extends object>(r: R, then: (r: R) => void) => {
    setImmediate(() => then(r));
    return r;
  };
  const store = (rows: Map<string, unknown>) => ({
    get: (key: string) => ({ result: rows.get(key) }),
    put: (value: unknown, key: string) => ({ result: rows.set(key, value) }),
  });
  const result = {
    createObjectStore: (name: string) => tables.set(name, new Map()),
    transaction: (name: string) =>
      soon({ objectStore: () => store(tables.get(name)!), oncomplete() {} }, (t) => t.oncomplete()),
  };
  return {
    open: () =>
      soon({ result, onupgradeneeded() {}, onsuccess() {} }, (r) => {
        r.onupgradeneeded();
        r.onsuccess();
      }),
  };
}
const events = { addEventListener() {}, removeEventListener() {} };
const fetched = globalThis.fetch;
const around = {
  ...events,
  WebSocket,
  window: events,
  document: { ...events, hidden: false, querySelector: () => ({ content: root }) },
  navigator: { onLine: true },
  indexedDB: indexedDB(),
  // A browser says whose page asks.
  fetch: (url: string, o: RequestInit) => fetched(url, { ...o, headers: { ...o.headers, origin } }),
};
for (const [name, value] of Object.entries(around))
  Object.defineProperty(globalThis, name, { value, configurable: true });

const { openLink } = await import('../../spa/link.ts');
const { keepSession } = await import('../../spa/sid.ts');
const { joinRoom } = await import('../../spa/sync.ts');
const { openOutbox } = await import('../../firmware/protocol/tunnel/outbox.ts');

let link: Link;
let room: Room;
let state = '';
const ops = new Map<string, Op>();
const outbox = await openOutbox({
  storage: {
    load: async () => [],
    put: async (op) => void ops.set(op.id, op),
    remove: async (id) => void ops.delete(id),
  },
  send: (op) => link.request(op.method, op.path, op.body, { 'idempotency-key': op.id }),
});
const wrong = (what: string) => () => tell({ t: 'wrong', what });

async function visit(session: Session, key: string): Promise<void> {
  keepSession(session);
  link = await openLink({
    state(now) {
      if (now === state) return;
      state = now;
      if (now !== 'up') return outbox.offline();
      outbox.online();
      tell({ t: 'up' });
    },
    asks: () => tell({ t: 'asks', handshake: Buffer.from(link.handshake()).toString('base64url') }),
    ...{ answered() {}, near() {}, hub() {} },
    refused: (e) => tell({ t: 'wrong', what: `refused ${e.code}` }),
    alarm: (why) => tell({ t: 'wrong', what: `alarm ${why}` }),
    trouble: (e) => tell({ t: 'wrong', what: String(e) }),
    unanswered: wrong('unanswered'),
    wrongCode: wrong('wrong code'),
    signedOut: wrong('signed out'),
    elsewhere: wrong('elsewhere'),
    unknown: wrong('unknown'),
  });
  room = joinRoom(
    key,
    () => link,
    () => {},
    (e) => tell({ t: 'wrong', what: `room ${e.code}` }),
  );
}

let isGoing = false;
/** Each from its beginning to its end. */
const transfers: Record<Way, () => Promise<string>> = {
  async down() {
    const { status, stream } = await link.tunnel().request({ method: 'GET', path: '/big' });
    if (status !== 200) throw new Error(`/big answers ${status}`);
    const hash = createHash('sha256');
    let bytes = 0;
    for await (const piece of stream) {
      if (whole.compare(piece, 0, piece.length, bytes, bytes + piece.length) !== 0)
        tell({ t: 'wrong', what: `bytes at ${bytes}` });
      hash.update(piece);
      bytes += piece.length;
      tell({ t: 'has', way: 'down', bytes });
    }
    return hash.digest('hex');
  },
  async up() {
    async function* pieces() {
      for (let at = 0; at < whole.length; at += PIECE) {
        while (at > HELD && !isGoing) await pause(5);
        yield whole.subarray(at, at + PIECE);
        tell({ t: 'has', way: 'up', bytes: at + PIECE });
        await pause(4);
      }
    }
    return (await link.request<{ sha256: string }>('POST', '/big', pieces())).sha256;
  },
};
/** As people and pages do: what broke off begins anew once the hub is reached again. */
async function transfer(way: Way): Promise<void> {
  for (;;)
    try {
      return tell({ t: 'through', way, sha256: await transfers[way]() });
    } catch (e) {
      const { code } = e as IngleError;
      // Whatever is asked while the hub is known to be away broke nothing.
      if (link.up || code !== 'hub_offline') tell({ t: 'broke', way, code: code ?? String(e) });
      await pause(20);
    }
}
async function work(name: string, way: Way): Promise<void> {
  const changes: string[] = [];
  const edits: string[] = [];
  const waiting: Promise<unknown>[] = [];
  let isOver = false;
  const writing = (async () => {
    for (let n = 0; !isOver; n++) {
      const { id, done } = await outbox.enqueue({ method: 'POST', path: '/once', body: { [name]: n } });
      changes.push(id);
      waiting.push(done);
      edits.push(`${name}-${n}`);
      room.doc.getMap('content').set(`${name}-${n}`, n);
      await pause(150);
    }
  })();
  let silent = 0;
  const asking = (async () => {
    for (let last = performance.now(); !isOver; await pause(20)) {
      await link.request('GET', '/alive').then(
        () => {
          silent = Math.max(silent, performance.now() - last);
          last = performance.now();
        },
        () => {},
      );
    }
  })();
  isGoing = false;
  await transfer(way);
  isOver = true;
  await Promise.all([writing, asking]);
  await Promise.all(waiting);
  tell({ t: 'worked', changes, edits, silent });
}
process.on('message', (order: Order) => {
  if (order.do === 'visit') void visit(order.session, order.room);
  else if (order.do === 'assert') void link.assert(order.credential, 'Page');
  else if (order.do === 'work') void work(order.name, order.way);
  else if (order.do === 'go') isGoing = true;
  else tell({ t: 'content', content: room.content() });
});
