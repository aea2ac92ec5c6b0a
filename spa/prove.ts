// A request that root may answer with a puzzle while codes are being guessed (proof of work).
import { IngleError } from '../firmware/protocol/errors.ts';
import { post } from './rest.ts';

interface Puzzle {
  challenge: string;
  bits: number;
}

function puzzleOf(e: unknown): Puzzle | null {
  const p = e instanceof IngleError ? (e.details?.['pow'] as Partial<Puzzle> | undefined) : undefined;
  // More than 26 bits is no puzzle but a way to drain a phone.
  return p && typeof p.challenge === 'string' && typeof p.bits === 'number' && p.bits <= 26
    ? { challenge: p.challenge, bits: p.bits }
    : null;
}

/** POST that solves a puzzle when asked to, once; `working` is called before. @throws IngleError */
export async function postProving<R>(path: string, body: () => unknown, working: () => void): Promise<R> {
  try {
    return await post<R>(path, body());
  } catch (e) {
    const puzzle = puzzleOf(e);
    if (!puzzle) throw e;
    working();
    const { POW_HEADER, solvePow } = await import('../firmware/protocol/pow.ts');
    const solution = await solvePow(puzzle.challenge, puzzle.bits);
    return post<R>(path, body(), undefined, { [POW_HEADER]: solution });
  }
}
