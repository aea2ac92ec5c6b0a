// What tiles tell of skills, read from their state documents; no skill wakes for it.
import { type IndexRow, loadDocument } from '../../firmware/documents/archive.ts';
import { readContent } from '../../firmware/documents/content.ts';
import type { Library } from '../../firmware/documents/library.ts';
import { documentKey } from '../../firmware/skills/documents.ts';
import type { Store } from '../../firmware/system/store.ts';
import { type Glance, type GlanceForm, glanceOf } from '../../firmware/ui/glance.ts';

export interface Glances {
  /** A skill has another state for somebody: what is kept of it counts no more. */
  stale(owner_id: string, skill_id: string): void;
  /** What is kept of everybody counts no more: manifests have changed. */
  forget(): void;
  /** The glances of somebody's skills, by skill, in the order given. */
  of(
    owner_id: string,
    forms: readonly { skill_id: string; form: GlanceForm }[],
  ): Promise<Record<string, Glance>>;
}

export function openGlances({ store, library }: { store: Store; library: Pick<Library, 'peek'> }): Glances {
  /** By key of the state document. */
  const kept = new Map<string, Glance>();
  /** Those that are read just now, and whose states have not changed meanwhile. */
  const reading = new Set<string>();
  const keyOf = (owner_id: string, skill_id: string) => documentKey(owner_id, skill_id, 'state:main');

  async function read(key: string, form: GlanceForm): Promise<Glance> {
    const open = library.peek(key);
    const index = await store.get<IndexRow>('SELECT * FROM docs_index WHERE key = ?', key);
    const at = (index?.updated_at ?? 0) * 1000;
    if (open) return glanceOf(form, readContent(open.doc), at);
    if (!index) return { at };
    const { doc } = await loadDocument(store, key);
    try {
      return glanceOf(form, readContent(doc), at);
    } finally {
      doc.destroy();
    }
  }

  return {
    stale(owner_id, skill_id) {
      const key = keyOf(owner_id, skill_id);
      kept.delete(key);
      reading.delete(key);
    },
    forget() {
      kept.clear();
      reading.clear();
    },
    async of(owner_id, forms) {
      const all: Record<string, Glance> = {};
      for (const { skill_id, form } of forms) {
        const key = keyOf(owner_id, skill_id);
        let glance = kept.get(key);
        if (!glance) {
          reading.add(key);
          glance = await read(key, form);
          if (reading.delete(key)) kept.set(key, glance);
        }
        // A skill that has said nothing yet has a tile without one.
        if (Object.keys(glance).length > 1) all[skill_id] = glance;
      }
      return all;
    },
  };
}
