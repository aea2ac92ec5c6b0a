// The processes of a house: launched, waited for, kept running, and ended in order, also when this process dies.
import { IngleError } from '../../../firmware/protocol/errors.ts';
import { start } from '../../../firmware/system/exec.ts';
import type { Say } from '../say.ts';
import { type Program, type Supervised, supervise } from './supervised.ts';

/** How long a process may take until it is up, milliseconds. */
export const upWithinMs = 60_000;

export type Processes = ReturnType<typeof openProcesses>;

/**
 * @param o.guard program that ends them all when this process dies, and then removes the folder `runtime`
 * @param o.logOf the log of a process
 */
export function openProcesses(o: {
  guard: string;
  hub: string;
  runtime: string;
  say: Say;
  logOf(name: string): string;
}) {
  const { say, logOf } = o;
  const guard = openGuard(o.guard, o.hub, o.runtime);
  const running = new Map<string, Supervised>();
  let stopping = false;

  return {
    /** They are being ended. */
    get stopping() {
      return stopping;
    },
    all: () => [...running.values()],
    find: (name: string): Supervised | undefined => running.get(name),
    /** @throws IngleError `not_found` */
    get(name: string): Supervised {
      const p = running.get(name);
      if (!p)
        throw new IngleError(
          'not_found',
          `No process "${name}"; there are ${[...running.keys()].join(', ')}.`,
        );
      return p;
    },
    launch(p: Omit<Program, 'log'>): void {
      say.line(say.text('starting', { name: p.name }));
      const died = (how: string) => {
        if (!stopping) say.line(say.text('died', { name: p.name, how }));
      };
      running.set(p.name, supervise({ ...p, log: logOf(p.name) }, { ...guard, died }));
    },
    /** Asks until `ask` is true; a process that is not up in time is an error with its last words. */
    async until(name: string, ask: () => Promise<boolean>): Promise<void> {
      const last = Date.now() + upWithinMs;
      for (;;) {
        if (stopping) throw new IngleError('unavailable', say.text('stopping'));
        if (await ask().catch(() => false)) return;
        const p = running.get(name)!;
        if (Date.now() > last || p.restarts >= 8) {
          throw new IngleError(
            'unavailable',
            say.text('notStarted', { name, log: p.tail(12), file: logOf(name) }),
          );
        }
        await new Promise((done) => setTimeout(done, 50));
      }
    },
    /** Ends all; the first that was launched goes last. @param before what is done while they still run, and after */
    async stop(before: () => Promise<void>, after: () => void): Promise<void> {
      if (stopping) return;
      stopping = true;
      await before();
      const [first, ...others] = [...running.values()];
      await Promise.all(others.map((p) => p.hold()));
      await first?.hold();
      after();
      await guard.end();
    },
  };
}

/** Is told of each group of processes, and ends those left when this process dies, however it dies. */
function openGuard(program: string, hub: string, runtime: string) {
  const guard = start(process.execPath, [program], {
    env: { INGLE_DATA: hub },
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  guard.stdin!.on('error', () => {});
  guard.stdin!.write(`!${runtime}\n`);
  return {
    spawned: (pid: number) => void guard.stdin!.write(`+${pid}\n`),
    gone: (pid: number) => void guard.stdin!.write(`-${pid}\n`),
    async end(): Promise<void> {
      const gone = new Promise((done) => guard.once('close', done));
      guard.stdin!.end();
      if (guard.exitCode === null) await gone;
    },
  };
}
