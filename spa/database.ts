// IndexedDB of the application: keys, pinned hubs, cached icons, the outbox.

import type { StoredKey } from '../firmware/protocol/noise/x25519.ts';
import type { Role } from '../firmware/protocol/roles.ts';
import type { Op } from '../firmware/protocol/tunnel/outbox.ts';
import { type App, type Icon, type Look, Trouble, within } from './store.ts';

/** A hub this browser is paired with. */
export interface Pin {
  hub_id: string;
  name: string;
  /** By the hub's own word. */
  owner_id: string;
  /** The hub's static X25519 key. */
  hubStatic: Uint8Array;
  /** The hub's Ed25519 identity key, base64url. */
  signPub?: string;
  paired: number;
  /** Paired by the hub's insecure debug mode. */
  insecure?: boolean;
  /** Ids of passkeys that this hub has taken from this browser. */
  passkeys?: string[];
}

interface Tables {
  /** `browser`: this browser's static key. */
  keys: StoredKey;
  hubs: Pin;
  /** By hub_id. */
  icons: {
    icons: Icon[];
    at: number;
    look?: Look | null;
    role?: Role | null;
    mine?: string | null;
    glances?: App['glances'];
    said?: App['said'];
    readTo?: number;
  };
  /** `hub`: the one it is meant for. */
  ops_outbox: Op & { hub?: string };
  prefs: unknown;
}
type Table = keyof Tables;

const tables: Table[] = ['keys', 'hubs', 'icons', 'ops_outbox', 'prefs'];
let opening: Promise<IDBDatabase> | undefined;

function database(): Promise<IDBDatabase> {
  opening ??= new Promise((resolve, reject) => {
    // Throws where storage is forbidden, and says nothing at all in some private windows.
    const r = indexedDB.open('ingle', 1);
    r.onblocked = () => reject(new Error('blocked'));
    r.onupgradeneeded = () => {
      for (const name of tables) r.result.createObjectStore(name);
    };
    r.onsuccess = () => resolve(r.result);
    r.onerror = () => reject(r.error);
  });
  return opening;
}

/** A browser that keeps things has done it sooner, milliseconds. */
const PATIENCE = 5000;

/** @throws Trouble when the browser does not keep things, or does not say in time whether it does. */
export async function run<R>(
  table: Table,
  mode: IDBTransactionMode,
  work: (s: IDBObjectStore) => IDBRequest<R>,
): Promise<R> {
  const done = database().then(
    (db) =>
      new Promise<R>((resolve, reject) => {
        // `strict`: what this promises to keep is on the disk, not on its way there.
        const t = db.transaction(table, mode, { durability: 'strict' });
        const r = work(t.objectStore(table));
        t.oncomplete = () => resolve(r.result);
        t.onabort = t.onerror = () => reject(t.error);
      }),
  );
  try {
    return await within(PATIENCE, done);
  } catch {
    // The next try opens it anew: space may have been made, or another tab have let go.
    opening = undefined;
    throw new Trouble({ text: 'storage_failed' });
  }
}

/** Whether this browser keeps what pairing needs. @throws Trouble */
export async function checkStorage(): Promise<void> {
  await write('prefs', 'check', Date.now());
}

export function read<T extends Table>(table: T, key: string): Promise<Tables[T] | undefined> {
  return run(table, 'readonly', (s) => s.get(key) as IDBRequest<Tables[T] | undefined>);
}
export function readAll<T extends Table>(table: T): Promise<Tables[T][]> {
  return run(table, 'readonly', (s) => s.getAll() as IDBRequest<Tables[T][]>);
}
/** Settles when it is durable. */
export async function write<T extends Table>(table: T, key: string, value: Tables[T]): Promise<void> {
  await run(table, 'readwrite', (s) => s.put(value, key));
}
export async function erase(table: Table, key?: string): Promise<void> {
  await run(
    table,
    'readwrite',
    (s): IDBRequest<undefined> => (key === undefined ? s.clear() : s.delete(key)),
  );
}

/** The hub this browser is paired with; of several, the one paired last. */
export async function pinnedHub(hubId?: string): Promise<Pin | undefined> {
  if (hubId) return read('hubs', hubId);
  return (await readAll('hubs')).sort((a, b) => b.paired - a.paired)[0];
}
