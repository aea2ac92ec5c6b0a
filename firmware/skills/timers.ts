// Timers of a skill that survive a restart: due times are stored, one process timer waits for the next.
import { IngleError } from '../protocol/errors.ts';
import type { Log } from '../system/log.ts';
import { checkName, type StoredTimer, withTimer } from './kept.ts';
import type { Fired, Timers, When } from './sdk/skill.ts';
import type { Vault } from './storage.ts';

export const MIN_EVERY_MS = 1000;
/** The clock is looked at again at least so often, as it may be set. */
export const LOOK_MS = 60_000;
/** A timer that is so near keeps its process awake: longer than a slow hub takes to start it. */
const CLOSE_MS = 30_000;
/** The last time a Date can be (ECMA-262 21.4.1.1). */
const LAST = 8.64e15;

/** Time as the host sees it. */
export interface Clock {
  now(): number;
  /** Runs `work` once after `ms`; the answer cancels it. */
  after(ms: number, work: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, work) {
    const timer = setTimeout(work, ms);
    return () => clearTimeout(timer);
  },
};

/** @throws IngleError `invalid_request` */
export function timerOf(when: When, now: number): StoredTimer {
  const bad = () =>
    new IngleError(
      'invalid_request',
      `A timer wants a time in milliseconds since 1970, a Date, or { every } of at least ${MIN_EVERY_MS} ms.`,
    );
  const isTime = (n: unknown, least: number): n is number => typeof n === 'number' && n >= least && n <= LAST;
  if (when instanceof Date || typeof when === 'number') {
    const due = Number(when);
    if (!isTime(due, 0)) throw bad();
    return { due };
  }
  const every = (when as { every?: unknown } | null)?.every;
  if (!isTime(every, MIN_EVERY_MS)) throw bad();
  return { due: now + every, every };
}

/** When a timer that has fired is due again: the next of its times after now. One that was missed often fires once. */
export function nextOf(t: StoredTimer, now: number): StoredTimer | undefined {
  if (t.every === undefined) return undefined;
  const missed = Math.max(0, Math.floor((now - t.due) / t.every));
  return { due: t.due + (missed + 1) * t.every, every: t.every };
}

/** When a timer fires by this clock: one set back makes nobody wait longer than from one time to the next. */
export const dueOf = (t: StoredTimer, now: number): number =>
  t.every === undefined ? t.due : Math.min(t.due, now + t.every);

export interface RunningTimers {
  timers: Timers;
  /** Fires what is due from now on. */
  start(fire: (f: Fired) => void | Promise<void>): void;
  /** When the next is due, milliseconds since 1970; 0: none is set. */
  next(): number;
  /**
   * Somebody will start this process again at `at`. What is said and what is asked can pass each other on the way, so
   * the next time is told once more where that is another.
   */
  kept(at: number): void;
  /** Whether a process that went would miss one: it may go when its next is kept, and not close. */
  waiting(): boolean;
  stop(): void;
}

/** @param moved is told when another time is the next */
export function openTimers(
  vault: Vault,
  log: Log,
  clock: Clock = systemClock,
  moved: (next: number) => void = () => {},
): RunningTimers {
  let cancel = () => {};
  /** When somebody will start this process again. */
  let kept = 0;
  let fire: ((f: Fired) => void | Promise<void>) | undefined;
  /** Names whose work goes on, so that none overlaps itself. */
  const firing = new Set<string>();
  /** Names that could not be stored after they fired, and when they may again: a full disk makes no storm of one. */
  const held = new Map<string, number>();
  const all = () => [...vault.now().timers];
  const dueNow = (name: string, t: StoredTimer, now: number) => Math.max(dueOf(t, now), held.get(name) ?? 0);

  const next = () =>
    vault.now().timers.size > 0 ? Math.min(...all().map(([, t]) => Math.max(1, t.due))) : 0;
  let told = next();
  function plan(): void {
    const before = told;
    told = next();
    if (told !== before) moved(told);
    cancel();
    cancel = () => {};
    if (!fire) return;
    const now = clock.now();
    const due = all().flatMap(([name, t]) => (firing.has(name) ? [] : [dueNow(name, t, now)]));
    if (due.length === 0) return;
    cancel = clock.after(Math.min(LOOK_MS, Math.max(0, Math.min(...due) - now)), look);
  }
  function look(): void {
    const now = clock.now();
    for (const [name, t] of all())
      if (fire && !firing.has(name) && dueNow(name, t, now) <= now) {
        firing.add(name);
        void run(name, t, now).finally(() => {
          firing.delete(name);
          plan();
        });
      }
    plan();
  }
  async function run(name: string, t: StoredTimer, now: number): Promise<void> {
    try {
      await fire!({ name, due: t.due, late: Math.max(0, now - t.due) });
    } catch (cause) {
      log.error('a timer of the skill failed', { timer: name, cause: cause as Error });
    }
    // Stored after the work: a crash in it fires the timer again. What the work has set itself stays.
    try {
      await vault.change((k) => (k.timers.get(name) === t ? withTimer(k, name, nextOf(t, clock.now())) : k));
      held.delete(name);
    } catch (cause) {
      log.error('a timer cannot be stored', { timer: name, cause: cause as Error });
      held.set(name, clock.now() + LOOK_MS);
    }
  }
  async function put(name: string, timer: StoredTimer | undefined): Promise<void> {
    checkName(name);
    await vault.change((k) => (timer || k.timers.has(name) ? withTimer(k, name, timer) : k));
    plan();
  }
  return {
    timers: {
      set: async (name, when) => put(name, timerOf(when, clock.now())),
      clear: (name) => put(name, undefined),
      due: () => Object.fromEntries(all().map(([name, t]) => [name, t.due])),
    },
    start(f) {
      fire = f;
      plan();
    },
    next,
    kept(at) {
      kept = at;
      if (at !== next()) moved(next());
    },
    waiting: () => vault.now().timers.size > 0 && !(kept === next() && kept - clock.now() > CLOSE_MS),
    stop() {
      fire = undefined;
      cancel();
    },
  };
}
