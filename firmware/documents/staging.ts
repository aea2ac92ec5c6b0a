// A change is tried on a copy first; only what went through is stored, and only what is stored is seen.
import * as Y from 'yjs';
import { IngleError } from '../protocol/errors.ts';
import type { Json } from './content.ts';
import { checkJson, mergeContent, readContent, readMeta, sourceOf, treeKey } from './content.ts';

/** Largest encoded document of a browser, bytes. */
export const MAX_OWNER_DOCUMENT = 256 * 1024;
/** Largest encoded document of a skill, bytes. */
export const MAX_SKILL_DOCUMENT = 1024 * 1024;
/** Client id of the hub's own writes. */
export const hubClient = 1;
const MAX_CLOCK = 2 ** 40;

export type Change = Uint8Array | ((doc: Y.Doc) => void);

/** A copy of a document that shares nothing with it. */
export function copyOf(doc: Y.Doc): Y.Doc {
  const copy = new Y.Doc();
  Y.applyUpdate(copy, Y.encodeStateAsUpdate(doc));
  return copy;
}

/**
 * Applies a change to a copy of `doc`.
 * @param isView the hub's own key is judged by nobody: what others write there does not stay.
 * @returns the copy and the update that leads to it; `update` is null when nothing changed.
 * @throws IngleError `invalid_request` for bytes that are no update, skip what came before, or hold no JSON;
 *   `too_large` when the result is over `maxBytes`.
 */
export function stage(
  doc: Y.Doc,
  change: Change,
  maxBytes: number,
  isView = false,
): { next: Y.Doc; update: Uint8Array | null } {
  const next = copyOf(doc);
  const parts: Uint8Array[] = [];
  next.on('update', (u: Uint8Array) => parts.push(u));
  if (typeof change === 'function') {
    next.clientID = hubClient;
    change(next);
  } else applyForeign(next, change, isView);
  if (parts.length === 0) return { next, update: null };
  if (sizeOf(next) > maxBytes)
    throw new IngleError('too_large', `A document may have at most ${maxBytes} bytes.`);
  return { next, update: parts.length === 1 ? parts[0]! : Y.mergeUpdates(parts) };
}

/** Bytes of a document. @throws IngleError where a foreign update has made something of it that Yjs cannot write */
function sizeOf(next: Y.Doc): number {
  try {
    return Y.encodeStateAsUpdate(next).length;
  } catch {
    throw bad('cannot be read');
  }
}

const bad = (says: string) => new IngleError('invalid_request', `The document update ${says}.`);

/** An update that builds on changes that are not here. */
export class GapError extends IngleError {
  constructor() {
    super('invalid_request', 'The document update builds on changes that are not here.');
  }
}

/** Whether something in an update has no length. Yjs would take it, and then could not read what it makes of the document. */
function hasEmptyPart(update: Uint8Array): boolean {
  const { structs, ds } = Y.decodeUpdate(update);
  return (
    structs.some((s) => s.length === 0) ||
    [...ds.clients.values()].some((ranges) => ranges.some((r) => r.len === 0))
  );
}

function applyForeign(next: Y.Doc, update: Uint8Array, isView: boolean): void {
  try {
    if (hasEmptyPart(update)) throw bad('holds items of no length');
    Y.applyUpdate(next, update, 'foreign');
  } catch (e) {
    throw e instanceof IngleError ? e : bad('cannot be read');
  }
  if (next.store.pendingStructs || next.store.pendingDs) throw new GapError();
  for (const clock of Y.decodeStateVector(Y.encodeStateVector(next)).values())
    if (!(clock <= MAX_CLOCK)) throw bad('claims too many changes');
  if (next.subdocs.size > 0) throw bad('holds a document in a document');
  try {
    checkJson(isView ? sourceOf(readContent(next)) : readContent(next));
    checkJson(readMeta(next));
  } catch (e) {
    throw e instanceof IngleError ? e : bad('holds content that is not JSON');
  }
}

/**
 * Puts a view's tree beside its source, in place of what stands there; of a document without a source none.
 * @returns the update that does so, null when nothing changed
 */
export function plant(next: Y.Doc, tree: Json | undefined): Uint8Array | null {
  const parts: Uint8Array[] = [];
  const hear = (u: Uint8Array) => parts.push(u);
  next.on('update', hear);
  // What others wrote there may be no JSON, which could not be compared.
  if (!isJson(next.getMap('content').get(treeKey))) mergeContent(next, { [treeKey]: undefined });
  mergeContent(next, { [treeKey]: tree });
  next.off('update', hear);
  return parts.length > 1 ? Y.mergeUpdates(parts) : (parts[0] ?? null);
}

function isJson(value: unknown): boolean {
  try {
    JSON.stringify(value);
    return !(value instanceof Y.AbstractType);
  } catch {
    return false;
  }
}
