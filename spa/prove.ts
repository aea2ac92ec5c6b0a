// A request that root may answer with a puzzle while codes are being guessed (proof of work).
import { puzzleOf } from '../firmware/protocol/pairing/puzzle.ts';
import { post } from './rest.ts';

/** POST that solves a puzzle when asked to, once; `working` is called before. @throws IngleError */
export async function postProving<R>(path: string, body: () => unknown, working: () => void): Promise<R> {
  try {
    return await post<R>(path, body());
  } catch (e) {
    const puzzle = puzzleOf(e);
    if (!puzzle) throw e;
    working();
    const { POW_HEADER, solvePow } = await import('../firmware/protocol/pairing/pow.ts');
    const solution = await solvePow(puzzle.challenge, puzzle.bits);
    return post<R>(path, body(), undefined, { [POW_HEADER]: solution });
  }
}
