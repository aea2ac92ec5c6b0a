// What a skill's host keeps of requests that are done, in the state document itself, so that it survives a crash.
import type * as Y from 'yjs';
import { readMeta } from '../documents/content.ts';
import type { Answer } from './answer.ts';

export interface Mark {
  id: string;
  status: number;
  body: string;
}

export function marksOf(doc: Y.Doc): Mark[] {
  const done = readMeta(doc)['done'];
  return Array.isArray(done) ? (done as unknown as Mark[]) : [];
}

export function fromMark(m: Mark): Answer {
  return {
    status: m.status,
    headers: m.body ? { 'content-type': 'application/json' } : {},
    body: new TextEncoder().encode(m.body),
  };
}
