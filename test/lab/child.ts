// Processes of a test: they die with it, however it ends (kill -9 included).
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { within } from './wait.ts';

/** The words before a command that let it die with its parent (Linux, prctl(2) PR_SET_PDEATHSIG). */
export const tethered = process.platform === 'linux' ? ['setpriv', '--pdeathsig', 'KILL', '--'] : [];

/** Starts a program that dies with this process. */
export function child(program: string, args: readonly string[], o: SpawnOptions = {}): ChildProcess {
  const [first, ...rest] = [...tethered, program, ...args];
  return spawn(first!, rest, o);
}

/** Ends a child and waits until it is gone; one that does not go is named and killed. */
export async function ended(
  c: ChildProcess,
  signal: NodeJS.Signals,
  what: string,
  seconds?: number,
): Promise<number | null> {
  if (c.exitCode !== null || c.signalCode !== null) return c.exitCode;
  const gone = once(c, 'exit');
  c.kill(signal);
  await within(gone, `${what} to end on ${signal}`, seconds).catch((e) => {
    c.kill('SIGKILL');
    throw e;
  });
  return c.exitCode;
}
