// What a refused change left at its author, taken back there: an update for the author alone.
import * as Y from 'yjs';
import { copyOf } from './staging.ts';

/**
 * The update after which a document that has `refused` shows again what `doc` shows; null where `refused` changes
 * nothing there. Nothing of it is for anybody else: it is of a client id of its own, and `doc` never has it.
 */
export function undoing(doc: Y.Doc, refused: Uint8Array): Uint8Array | null {
  const theirs = copyOf(doc);
  // A root is of no type until somebody asks for it, and nothing can be taken back in such a one.
  for (const name of ['content', 'meta']) theirs.getMap(name);
  const manager = new Y.UndoManager(theirs, { trackedOrigins: new Set(['refused']) });
  try {
    Y.applyUpdate(theirs, refused, 'refused');
    const before = Y.encodeStateVector(theirs);
    if (!manager.undo()) return null;
    return Y.encodeStateAsUpdate(theirs, before);
  } catch {
    return null;
  } finally {
    manager.destroy();
    theirs.destroy();
  }
}
