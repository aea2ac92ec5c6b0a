// Every skill of the table or once seen on this hub, with what is stored of its manifest.
import type { Store } from '../system/store.ts';
import { checkManifest, type Manifest, titled } from './manifest.ts';

export interface Known {
  manifest: Manifest;
  available: boolean;
}

export type KnownSkills = Awaited<ReturnType<typeof openKnown>>;

/** @param changed told when a skill is available, or is no more @param seconds Unix time */
export async function openKnown(
  store: Pick<Store, 'all' | 'run'>,
  changed: (skill_id: string, available: boolean) => void,
  seconds: () => number,
) {
  const known = new Map<string, Known>();
  /** What is stored of each manifest. */
  const written = new Map<string, string>();
  for (const row of await store.all<{ skill_id: string; manifest: string }>('SELECT * FROM skills')) {
    known.set(row.skill_id, { manifest: checkManifest(JSON.parse(row.manifest)), available: false });
    written.set(row.skill_id, row.manifest);
  }

  function set(manifest: Manifest, available: boolean): void {
    known.set(manifest.id, { manifest, available });
  }
  return {
    all: known as ReadonlyMap<string, Known>,
    set,
    /** As `set`, with the titles it had when it was seen. */
    install(manifest: Manifest, available: boolean): void {
      const before = known.get(manifest.id)?.manifest;
      set(before ? titled(manifest, before) : manifest, available);
    },
    /** It comes many a time as it was: only what is new waits for the disk. */
    async write(manifest: Manifest): Promise<void> {
      const { id } = manifest;
      const text = JSON.stringify(manifest);
      if (text === written.get(id)) return;
      const row = 'INSERT OR REPLACE INTO skills (skill_id, manifest, seen_at) VALUES (?, ?, ?)';
      await store.run(row, id, text, seconds());
      written.set(id, text);
    },
    setAvailable(id: string, available: boolean): void {
      const k = known.get(id);
      if (!k || k.available === available) return;
      known.set(id, { ...k, available });
      changed(id, available);
    },
    async forget(id: string): Promise<void> {
      known.delete(id);
      written.delete(id);
      await store.run('DELETE FROM skills WHERE skill_id = ?', id);
    },
  };
}
