// A document's content: JSON in the root Y.Map `content`, one entry a top-level key.
import { createHash } from 'node:crypto';
import type * as Y from 'yjs';
import { canonical } from '../protocol/canonical.ts';
import { IngleError } from '../protocol/errors.ts';
import { MAX_DEPTH } from '../protocol/limits.ts';

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

/** The content as plain JSON. */
export function readContent(doc: Y.Doc): JsonObject {
  return doc.getMap('content').toJSON() as JsonObject;
}

/** Where a view's tree stands beside its source: the hub's own key, and nobody else's. */
export const treeKey = 'tree';

/** What of a view its author wrote. */
export function sourceOf({ [treeKey]: _, ...source }: JsonObject): JsonObject {
  return source;
}

/** What the writer says about the document (`ttl`, `acl`) and its bookkeeping. */
export function readMeta(doc: Y.Doc): JsonObject {
  return doc.getMap('meta').toJSON() as JsonObject;
}

/**
 * Writes top-level keys that differ; a key that is undefined goes. Values are replaced whole.
 * Yjs folds a run of replaced values into one record only when one client wrote them without a gap in its clock,
 * so each key has a client id of its own: a document rewritten for months stays as small as its content.
 * That asks for one writer a document, whose updates are stored before anybody sees them.
 */
export function mergeContent(doc: Y.Doc, patch: { [key: string]: Json | undefined }): void {
  mergeMap(doc, 'content', patch);
}

export function mergeMeta(doc: Y.Doc, patch: { [key: string]: Json | undefined }): void {
  mergeMap(doc, 'meta', patch);
}

/** A copy without the keys named __proto__: what reads them from an update makes prototypes of them. */
function clean(value: Json): Json {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(clean);
  const kept = Object.entries(value).filter(([k]) => k !== '__proto__');
  return Object.fromEntries(kept.map(([k, v]) => [k, clean(v as Json)]));
}

function mergeMap(doc: Y.Doc, name: string, patch: { [key: string]: Json | undefined }): void {
  const map = doc.getMap(name);
  doc.transact(() => {
    for (const [key, given] of Object.entries(patch)) {
      if (key === '__proto__') continue;
      const value = given === undefined ? undefined : clean(given);
      if (value === undefined) {
        if (map.has(key)) map.delete(key);
      } else if (canonical(map.get(key)) !== canonical(value)) {
        doc.clientID = writerId(`${name}/${key}`);
        map.set(key, value);
      }
    }
  });
}

/** FNV-1a, kept off the small numbers, which the hub itself writes under. */
function writerId(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193) >>> 0;
  return (h | 0x1000) >>> 0;
}

/** Content hash of a snapshot: base64url SHA-256 of its canonical JSON. */
export function etagOf(content: JsonObject): string {
  return createHash('sha256').update(canonical(content)).digest('base64url');
}

/** @throws IngleError `invalid_request` when a value nests deeper than MAX_DEPTH or is no JSON. */
export function checkJson(value: unknown, depth = 0): void {
  if (depth > MAX_DEPTH)
    throw new IngleError('invalid_request', `The document nests deeper than ${MAX_DEPTH}.`, { pointer: '' });
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return;
  if (typeof value === 'number' && Number.isFinite(value)) return;
  if (Array.isArray(value)) {
    for (const v of value) checkJson(v, depth + 1);
    return;
  }
  if (typeof value === 'object' && [Object.prototype, null].includes(Object.getPrototypeOf(value))) {
    for (const v of Object.values(value)) checkJson(v, depth + 1);
    return;
  }
  throw new IngleError('invalid_request', 'The document holds a value that is not JSON.', { pointer: '' });
}
