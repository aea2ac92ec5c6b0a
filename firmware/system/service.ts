// A service's life: the bus, systemd's READY and STOPPING, signals, idle exit, one orderly stop and the exit status.
import { errorTable, IngleError, toIngleError } from '../protocol/errors.ts';
import { type Bus, connect } from './bus.ts';
import { type Log, logger } from './log.ts';
import { ready, status, stopping } from './notify.ts';

/** Time an orderly stop has, milliseconds: below every unit's TimeoutStopSec, after which systemd kills. */
export const STOP_MS = 8000;

export interface Service {
  readonly bus: Bus;
  readonly log: Log;
  /** False once the service is ending. */
  healthy(): boolean;
  /**
   * Adds a step of the stop. The last one added runs first, so each step finds what it was built on.
   * @param step gets the exit status: 0 unless a fault ends the service
   */
  onStop(step: (status: number) => unknown): void;
  /** Tells systemd that all the service offers is there, and feeds its watchdog from now on. */
  ready(): void;
  /** A line for `systemctl status`. */
  status(text: string): void;
  /** Begins the idle time again; runs at each call of a service that leaves when idle. */
  touch(): void;
  /**
   * Ends the service `ms` (or `INGLE_IDLE_MS`) after the last touch; the time begins when `busy` no longer holds and no
   * call waits for its answer. Calls that come while it leaves are answered, here or by the next process.
   * @param o.told `touch` is called whenever `busy` may hold no longer, so that nobody looks while it holds: a process
   * that sleeps for hours is not woken for that
   */
  leaveWhenIdle(ms: number, busy?: () => boolean, o?: { told?: boolean }): void;
  /** Ends the service as an idle one ends: calls that come meanwhile are answered, here or by the next process. */
  leave(): void;
  /**
   * Ends the process: runs the steps of the stop, at most for the time it has, and exits with 0, or with the status
   * of `cause` (errorTable). What comes while it is ending changes neither.
   */
  stop(cause?: unknown): void;
}

/**
 * Ends the process. exit(3) waits for threads, and one that asks a name server which does not answer can take minutes;
 * an end by SIGTERM waits for none, and systemd takes it for an orderly one, too (systemd.service(5), SuccessExitStatus).
 */
function exit(code: number): void {
  if (code === 0 && process.getActiveResourcesInfo().includes('GetAddrInfoReqWrap')) {
    process.removeAllListeners('SIGTERM');
    process.kill(process.pid, 'SIGTERM');
  }
  process.exit(code);
}

/** `ms`, or what a test sets by `INGLE_IDLE_MS`. */
export function idleTime(ms: number): number {
  return Number(process.env['INGLE_IDLE_MS'] ?? ms);
}

/**
 * Begins a service: main.ts wires what it offers and calls `ready`. Whatever is thrown and caught nowhere, at the
 * start or later, is one line in the log, and the process ends in order with the status of that error.
 * @param part names the service in the log
 * @param o.stopMs time the stop has, milliseconds, where `STOP_MS` is not right
 */
export async function startService(part: string, o: { stopMs?: number } = {}): Promise<Service> {
  const log = logger(part);
  const steps: ((status: number) => unknown)[] = [];
  let started = false;
  let ending = false;
  let last = performance.now();
  /** Looks soon whether the service is idle. */
  let watch = () => {};

  function tell(cause: unknown): void {
    const { error, ...rest } = toIngleError(cause).body();
    const unknown = cause instanceof IngleError ? {} : { cause: (cause as Error)?.stack ?? String(cause) };
    const what = ending
      ? 'a fault while stopping'
      : started
        ? 'the service ends'
        : 'the service does not start';
    log.error(what, { error, ...rest, ...unknown });
  }

  async function end(code: number, isLeaving: boolean): Promise<void> {
    const told = stopping();
    if (isLeaving) {
      // systemd starts a service for a call only once it knows that this one stops; then the name can go.
      await told;
      await bus.retire().catch(tell);
    }
    for (let step = steps.pop(); step; step = steps.pop())
      try {
        await step(code);
      } catch (e) {
        tell(e);
      }
    await told;
    exit(code);
  }

  function stop(cause?: unknown, isLeaving = false): void {
    if (cause !== undefined) tell(cause);
    if (ending) return;
    ending = true;
    const code = cause === undefined ? 0 : errorTable[toIngleError(cause).code].exit;
    setTimeout(() => {
      log.warn('the stop took too long');
      exit(code);
    }, o.stopMs ?? STOP_MS);
    void end(code, isLeaving);
  }

  process.on('uncaughtException', (e) => stop(e ?? new Error('something undefined was thrown')));
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop());
  const bus = await connect();
  void bus.closed.then(() => ending || stop(new IngleError('unavailable', 'The message bus is gone.')));

  return {
    bus,
    log,
    healthy: () => !ending,
    onStop: (step) => steps.push(step),
    ready() {
      if (ending) return;
      started = true;
      ready(() => !ending);
    },
    status,
    touch() {
      last = performance.now();
      watch();
    },
    leaveWhenIdle(ms, busy = () => false, { told = false } = {}) {
      const limit = idleTime(ms);
      last = performance.now();
      let looking = false;
      watch = () => {
        if (looking) return;
        looking = true;
        setTimeout(look, Math.min(5000, limit / 4)).unref();
      };
      const look = () => {
        looking = false;
        if (busy() || bus.isAnswering()) {
          last = performance.now();
          if (told && !bus.isAnswering()) return;
        } else if (performance.now() - last > limit) return stop(undefined, true);
        watch();
      };
      watch();
    },
    leave: () => stop(undefined, true),
    stop: (cause) => stop(cause),
  };
}
