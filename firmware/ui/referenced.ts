// What the reference page shows.
import type { Language } from '../text/i18n.ts';
import type { Part } from './described.ts';
import type { Tree } from './tree.ts';

export interface Drawn {
  /** The document as an author writes it. */
  source: string;
  tree: Tree;
  state: unknown;
  /** What the skill answers when it is asked for rows. */
  rows: readonly Readonly<Record<string, unknown>>[];
}

export interface Referenced {
  version: string;
  parts: readonly Part[];
  /** By the ids of the parts. */
  examples: Readonly<Record<Language, Readonly<Record<string, Drawn>>>>;
}
