// The puzzle that root may answer a code with, while codes are being guessed (proof of work).
import { puzzleOf } from '../firmware/protocol/pairing/puzzle.ts';
import { nearText } from '../firmware/text/spa-prove.ts';
import type { Notice } from './store.ts';

/** Root takes codes only from near the hub for now. */
export const near = (): Notice => ({ words: nearText });

/**
 * The header with which what root refused is sent again; `working` is called before the work.
 * @throws the refusal itself where it has no puzzle
 */
export async function solved(refusal: unknown, working: () => void): Promise<Record<string, string>> {
  const puzzle = puzzleOf(refusal);
  if (!puzzle) throw refusal;
  working();
  const { POW_HEADER, solvePow } = await import('../firmware/protocol/pairing/pow.ts');
  return { [POW_HEADER]: await solvePow(puzzle.challenge, puzzle.bits) };
}
