// The house of `npm start` as io.ingle.Supervisor1: what systemd is on a hub, over the processes kept running here.
import { existsSync, readFileSync } from 'node:fs';
import { fileLine, MAX_LINES, mergedFiles } from '../../../firmware/supervisor/lines.ts';
import type { Own } from '../../../firmware/supervisor/own.ts';
import type { Service, Supervises } from '../../../firmware/supervisor/serve.ts';
import { type Supervised, tailOf } from './supervised.ts';

/** Resident memory of a process and those it started, bytes (proc(5), VmRSS); -1 where it is not told. */
function memoryOf(pid: number | undefined): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const own = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? Number.NaN) * 1024 || -1;
    return own + childrenOf(pid).reduce((sum, child) => sum + Math.max(0, memoryOf(child)), 0);
  } catch {
    return -1;
  }
}

/** What it started itself: a skill is a child of what made its sandbox. None where the kernel does not tell. */
function childrenOf(pid: number | undefined): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

/** @param unit as systemd's Result says it: `SIGKILL` is signal, `status 1` exit-code */
const resultOf = (how: string | undefined) =>
  how === undefined ? 'success' : how.startsWith('SIG') ? 'signal' : 'exit-code';

function stateOf(own: Own, p: Supervised): Service {
  const runs = p.pid !== undefined;
  const how = p.deaths[0]?.how;
  return {
    ...own,
    state: runs ? 'active' : p.held ? 'inactive' : 'activating',
    sub: runs ? 'running' : p.held ? 'dead' : 'auto-restart',
    since: p.since / 1000,
    restarts: p.restarts,
    memory: memoryOf(p.pid),
    result: runs || p.held ? 'success' : resultOf(how),
    cause: runs || p.held ? '' : (how ?? ''),
  };
}

/**
 * @param o.processes the hub's own processes by the unit each is on a hub
 * @param o.logs of what the bus starts, by its unit: it comes when it is called and takes no orders
 * @param o.shutdown ends the house, or begins the hub's processes anew
 */
export function houseSupervisor(o: {
  processes(): ReadonlyMap<string, Supervised>;
  logs: ReadonlyMap<string, string>;
  shutdown(what: 'restart' | 'poweroff'): Promise<void>;
}): Supervises {
  const linesOf = (unit: string, lines: number) => {
    const text = o.processes().get(unit)?.tail(lines) ?? tailOf(o.logs.get(unit) ?? '', lines);
    return text === '' ? [] : text.split('\n').map(fileLine);
  };
  const own = () => {
    const kept = [...o.processes().keys()].map((unit) => ({ unit, orders: true }));
    const called = [...o.logs].flatMap(([unit, log]) => (existsSync(log) ? [{ unit, orders: false }] : []));
    return [...kept, ...called].sort((a, b) => (a.unit < b.unit ? -1 : 1));
  };
  return {
    own,
    states: async (of) =>
      of.flatMap((one) => {
        const p = o.processes().get(one.unit);
        return p ? [stateOf(one, p)] : [];
      }),
    async order(unit, what) {
      const p = o.processes().get(unit)!;
      if (what !== 'start') await p.hold();
      if (what !== 'stop') p.release();
    },
    log: async (unit, lines) => linesOf(unit, lines),
    journal: async (units, asked) =>
      mergedFiles(new Map(units.map((unit) => [unit, linesOf(unit, MAX_LINES)])), asked),
    async failures() {
      const all = [...o.processes()].flatMap(([unit, p]) =>
        p.deaths.map(({ at, how }) => ({ unit, at: at / 1000, result: resultOf(how) })),
      );
      return all.sort((a, b) => b.at - a.at);
    },
    shutdown: o.shutdown,
  };
}
