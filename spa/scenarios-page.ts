// What the parts of the page of scenarios share: where one is, and what they may do.
import type { ErrorCode } from '../firmware/protocol/errors.ts';
import type { Known } from './scenarios-hub.ts';

export type Tab = 'list' | 'week' | 'runs' | 'dead' | 'teach';
export type View = { at: Tab } | { at: 'one'; id: string } | { at: 'run'; id: string };

/** Why something was not done, and what helps. */
export interface Trouble {
  text: string;
  way?: { text: string; go(): void };
}

/** What the parts of the page may do. */
export interface Page {
  known: Known;
  /** Nothing can be asked of the hub now. */
  still: boolean;
  go(view: View): void;
  /** Asks the hub what there is now. */
  again(): void;
  /** Asks the hub for something, and then for what there is now; what went wrong is shown. */
  order(work: () => Promise<unknown>, trouble?: (code: ErrorCode) => Trouble | undefined): void;
  start(id: string): void;
  replay(letter: string, from: 'start' | 'step'): void;
}
