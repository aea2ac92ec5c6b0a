// What command documents show: the commands that run and how each ended, for as long as that is of use.
import type { Log } from '../system/log.ts';
import type { Store } from '../system/store.ts';
import type { Transaction } from './archive.ts';
import type { Outcome } from './command.ts';
import { type Json, type JsonObject, readContent } from './content.ts';
import { commandsSkill, parseKey } from './key.ts';
import type { Library } from './library.ts';

/** How long a finished command stays in its document, milliseconds. */
export const SHOWN_MS = 10 * 60_000;
/** A command document of more bytes than this is begun anew when nobody looks. */
const RENEW_BYTES = 64 * 1024;

export function commandDocuments(o: { store: Store; library: Library; log: Log }) {
  const { store, library, log } = o;

  /** Writes outcomes into the document, and `also` with them. */
  async function show(
    key: string,
    outcomes: [string, Outcome][],
    remove: string[],
    also?: (tx: Transaction) => Promise<void>,
  ): Promise<void> {
    const room = await library.open(key);
    await room.write(
      (doc) => {
        const content = doc.getMap<Json>('content');
        for (const id of remove) content.delete(id);
        for (const [id, outcome] of outcomes) {
          const now = content.get(id);
          if (now === undefined) continue;
          const entry = now !== null && typeof now === 'object' && !Array.isArray(now) ? now : { id };
          content.set(id, { ...entry, ...(outcome as unknown as JsonObject), finished_at: Date.now() });
        }
      },
      { also },
    );
  }

  async function sizeOf(key: string): Promise<number> {
    const row = await store.get<{ n: number | null }>(
      'SELECT sum(length(data)) AS n FROM doc_updates WHERE key = ?',
      key,
    );
    return row?.n ?? 0;
  }

  return {
    show,
    /** A command takes a while. */
    running(key: string, id: string): void {
      library
        .open(key)
        .then((room) =>
          room.write((doc) => {
            const content = doc.getMap<Json>('content');
            const now = content.get(id) as JsonObject | undefined;
            if (now?.['status'] === 'pending') content.set(id, { ...now, status: 'running' });
          }),
        )
        .catch((cause) => log.debug('a command cannot be shown as running', { cause }));
    },
    async sweep(): Promise<void> {
      for (const room of [...library.rooms()]) {
        if (parseKey(room.key).skill_id !== commandsSkill) continue;
        const content = readContent(room.doc);
        const before = Date.now() - SHOWN_MS;
        const old = Object.entries(content).filter(
          ([, v]) => Number((v as JsonObject)['finished_at'] ?? Infinity) < before,
        );
        if (old.length > 0)
          await show(
            room.key,
            [],
            old.map(([id]) => id),
          );
        if (old.length === Object.keys(content).length && (await sizeOf(room.key)) > RENEW_BYTES)
          await library.remove(room.key);
      }
    },
  };
}
