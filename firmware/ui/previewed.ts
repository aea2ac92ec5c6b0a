// What `ingle ui preview` shows of a file.
import type { Problem, Tree } from './tree.ts';

export interface Previewed {
  file: string;
  language: 'en' | 'ru';
  /** The front end that the document is for. */
  kind: string;
  /** The last one that could be made; null before there was any. */
  tree: Tree | null;
  /** That of `<file>.state.json`, where there is one. */
  state: unknown;
  problems: readonly Problem[];
  /** Why the file itself cannot be used; empty: it can. */
  fault: string;
}
