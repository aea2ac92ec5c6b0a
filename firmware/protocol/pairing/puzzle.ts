// The puzzle in a refusal: root asks for work while many try (`pow.ts` solves it).
import { IngleError } from '../errors.ts';

export interface Puzzle {
  challenge: string;
  bits: number;
}

/** The puzzle of an error, if it has one. */
export function puzzleOf(e: unknown): Puzzle | null {
  const p = e instanceof IngleError ? (e.details?.['pow'] as Partial<Puzzle> | undefined) : undefined;
  // Root asks for 21 at most (surge.ts); much more is no puzzle but a way to drain a phone, or to keep a hub busy.
  return p && typeof p.challenge === 'string' && typeof p.bits === 'number' && p.bits <= 22
    ? { challenge: p.challenge, bits: p.bits }
    : null;
}
