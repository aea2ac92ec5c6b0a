// What every part of a drawn tree works with: the scope of its values, their words, what a tap does.
import type { FunctionComponent } from 'preact';
import type { Act, Column, Node, Value } from '../firmware/ui/tree.ts';
import { evaluate, plainText, type Scope } from '../firmware/ui/value.ts';
import { shown } from './text.ts';

/** How an act ended; `fields` is what the hub says of fields of a form, by their names. */
export interface Done {
  done: boolean;
  fields?: Record<string, unknown>;
}

/** A page of rows as it is asked for (`ui.query`). */
export interface Asked {
  query: string;
  target?: string | undefined;
  params: unknown;
  /** From 0. */
  page: number;
  pageSize: number;
  sort?: { key: string; descending: boolean } | undefined;
  search?: string | undefined;
}

/** Rows that are not in the state. */
export interface Rows {
  /** @returns `total` counts the rows of all pages. @throws IngleError `not_supported` where nobody answers such queries */
  page(asked: Asked, stop: AbortSignal): Promise<{ rows: readonly unknown[]; total: number }>;
  /** By the name of a query: who asks it again, with parameters that go before their own. */
  again: Map<string, Set<(params: unknown) => void>>;
}

export interface Drawing {
  scope: Scope;
  /** Nodes and rows that may still be drawn. */
  left: { parts: number };
  /**
   * Does what a tap means; settles when the hub has done it or it is safe in the outbox.
   * @param scope what its values see: that of the node, with what was typed
   * @param o.secret it is asked for at once and kept nowhere
   * @param o.control where what became of it is shown
   */
  act(act: Act, scope: Scope, o?: { secret?: boolean; control?: string }): Promise<Done>;
  /** The row that is drawn, and those it lies in. */
  place?: string;
  /** Who gives rows page by page. */
  rows?: Rows;
  /** Whose screen it is; without it no page of a skill's own is shown. */
  skill?: string;
  /** What draws nodes that the renderer does not bring, by their `is`. */
  more?: ReadonlyMap<string, (n: never, d: Drawing) => unknown>;
  /** Draws the head of a column by which the table at hand can be put in order. */
  head?(c: Column): unknown;
}

/** The drawing of one row. One with an id is known by it wherever it moves. */
export function inRow(d: Drawing, row: unknown, index: number): Drawing {
  const { id } = Object(row) as { id?: unknown };
  const name = typeof id === 'string' || typeof id === 'number' ? id : index;
  return { ...d, scope: { ...d.scope, row }, place: `${d.place ?? ''}/${name}` };
}

/** Names a control by what it does and for which row, the same after a reload. */
export const controlOf = (n: Of<'button' | 'form'>, d: Drawing): string =>
  JSON.stringify([n.label, n.act, d.place]);

export type Of<K extends Node['is']> = Extract<Node, { is: K }>;
/** A part with a life of its own; `draw` is for the nodes in it. */
export type Part<K extends Node['is']> = FunctionComponent<{
  n: Of<K>;
  d: Drawing;
  draw: (n: Node, d: Drawing) => unknown;
}>;

/** What one drawing may cost, so that no document holds the page up. */
export const bounds = { steps: 500_000, parts: 10_000 };
/** Characters of one text. */
const TEXT = 20_000;

/** A value in the reader's words. */
export function say(value: Value | undefined, d: Drawing): string {
  return value === undefined
    ? ''
    : words(
        evaluate(value, d.scope, (v) => words(v, d)),
        d,
      );
}
export function words(v: unknown, d: Drawing): string {
  const isText = v === null || typeof v !== 'object' || Object.hasOwn(v, 'i18n');
  return (isText ? shown(v) : plainText(v, d.scope)).slice(0, TEXT);
}
