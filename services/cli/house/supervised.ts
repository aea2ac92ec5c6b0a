// One child process in a group of its own: logged to a file, started again when it dies, ended whole.
import { closeSync, existsSync, mkdirSync, openSync, readSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { start } from '../../../firmware/system/exec.ts';

export interface Program {
  name: string;
  program: string;
  args: readonly string[];
  env: Record<string, string>;
  /** Where stdout and stderr go; `.1` holds what was there before it grew over 8 MiB. */
  log: string;
}

export interface Supervised {
  readonly name: string;
  /** Process id while it runs. */
  readonly pid: number | undefined;
  /** Times it was started again after dying by itself. */
  readonly restarts: number;
  /** Whether it is kept down. */
  readonly held: boolean;
  /** When it began or ended last, Unix milliseconds. */
  readonly since: number;
  /** Its newest ends that nobody asked for, newest first: Unix milliseconds, and a signal or `status 1`. */
  readonly deaths: readonly { at: number; how: string }[];
  /** Sends a signal to the whole group; the process is then started again. */
  kill(signal: NodeJS.Signals): void;
  /** Ends it and keeps it down until `release`. Settles when it is gone. */
  hold(): Promise<void>;
  release(): void;
  /** The last lines of its log. */
  tail(lines: number): string;
}

/** Delays before a start after a death, milliseconds; back to the first after a run of `steadyMs`. */
const backoff = [100, 300, 1000, 3000, 5000];
const steadyMs = 10_000;
const graceMs = 3000;
const MAX_DEATHS = 20;
/** What is read of a log from its end. */
const TAIL_BYTES = 512 * 1024;

/**
 * Starts `p` and keeps it running.
 * @param hear.spawned gets each new group's id, `hear.gone` each ended one; `hear.died` those that ended unasked.
 */
export function supervise(
  p: Program,
  hear: { spawned(pid: number): void; gone(pid: number): void; died(how: string): void },
): Supervised {
  let pid: number | undefined;
  let restarts = 0;
  let failures = 0;
  let held = false;
  let since = Date.now();
  const deaths: { at: number; how: string }[] = [];
  let timer: NodeJS.Timeout | undefined;
  let ended: () => void = () => {};
  let end = Promise.resolve();

  function spawnNow(): void {
    mkdirSync(dirname(p.log), { recursive: true, mode: 0o700 });
    if (existsSync(p.log) && statSync(p.log).size > 8 * 2 ** 20) renameSync(p.log, `${p.log}.1`);
    const log = openSync(p.log, 'a', 0o600);
    const began = Date.now();
    const child = start(p.program, p.args, { env: p.env, detached: true, stdio: ['ignore', log, log] });
    closeSync(log);
    pid = child.pid;
    since = began;
    if (pid !== undefined) hear.spawned(pid);
    end = new Promise((resolve) => (ended = resolve));
    let over = false;
    const done = (how: string) => {
      if (over) return;
      over = true;
      // What it started itself must not outlive it.
      if (pid !== undefined) {
        signalGroup(pid, 'SIGKILL');
        hear.gone(pid);
      }
      pid = undefined;
      since = Date.now();
      ended();
      if (held) return;
      deaths.unshift({ at: since, how });
      deaths.splice(MAX_DEATHS);
      if (Date.now() - began > steadyMs) failures = 0;
      hear.died(how);
      restarts++;
      timer = setTimeout(spawnNow, backoff[Math.min(failures++, backoff.length - 1)]);
    };
    child.on('error', (e) => done(e.message));
    child.on('exit', (code, signal) => done(signal ?? `status ${code}`));
  }
  spawnNow();

  return {
    name: p.name,
    get pid() {
      return pid;
    },
    get restarts() {
      return restarts;
    },
    get held() {
      return held;
    },
    get since() {
      return since;
    },
    deaths,
    kill(signal) {
      if (pid !== undefined) signalGroup(pid, signal);
    },
    async hold() {
      held = true;
      clearTimeout(timer);
      if (pid === undefined) return;
      const late = setTimeout(() => pid !== undefined && signalGroup(pid, 'SIGKILL'), graceMs);
      signalGroup(pid, 'SIGTERM');
      await end;
      clearTimeout(late);
    },
    release() {
      if (!held) return;
      held = false;
      failures = 0;
      if (pid === undefined) spawnNow();
    },
    tail: (lines) => tailOf(p.log, lines),
  };
}

/** The last lines of a log; '' where there is none. */
export function tailOf(log: string, lines: number): string {
  return existsSync(log) ? endOf(log).trimEnd().split('\n').slice(-lines).join('\n') : '';
}

/** The end of a file, which may be long; a line that is cut is left out. */
function endOf(file: string): string {
  const fd = openSync(file, 'r');
  try {
    const { size } = statSync(file);
    const buffer = Buffer.alloc(Math.min(size, TAIL_BYTES));
    const text = buffer.toString('utf8', 0, readSync(fd, buffer, 0, buffer.length, size - buffer.length));
    return size > TAIL_BYTES ? text.slice(text.indexOf('\n') + 1) : text;
  } finally {
    closeSync(fd);
  }
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // The group has gone by itself.
  }
}
