// Declarative interest of a skill: subscriptions that are stored, and whom to tell when.
import { isoDuration } from '../interest/duration.ts';
import { dueAt, keyOf, living, merged, type Subscription, servedBy, subscribed } from '../interest/merge.ts';
import type { Wanted } from '../interest/wanted.ts';
import type { Log } from '../system/log.ts';
import type { Interest, SkillEndpoint, Storage } from './sdk/skill.ts';
import type { Clock } from './timers.ts';

/** Where subscriptions lie in the skill's own storage. */
const KEY = 'ingle.interest';
/** The clock is looked at again at least so often, as it may be set. */
const LOOK_MS = 60_000;

export interface RunningInterest {
  interest: Interest;
  endpoint: SkillEndpoint;
  /** Tells what is due from now on. */
  start(tell: (due: Wanted[]) => void | Promise<void>): void;
  /** Whether somebody waits to be told. */
  waiting(): boolean;
  stop(): void;
}

export function openInterest(
  storage: Storage,
  o: { log: Log; clock: Clock; makeId: () => string },
): RunningInterest {
  const { clock } = o;
  // Told anew after a start: rather once too often than too late, and no write for each time.
  const told = new Map<string, number>();
  let tell: ((due: Wanted[]) => void | Promise<void>) | undefined;
  let cancel = () => {};
  let telling = false;
  /** Changes come one after another, each from what the one before has stored. */
  let last: Promise<unknown> = Promise.resolve();
  const stored = () => storage.get<never>(KEY) as readonly Subscription[] | undefined;
  const wanted = () => merged(stored() ?? [], clock.now());

  function plan(): void {
    cancel();
    cancel = () => {};
    const all = wanted();
    if (!tell || telling || all.length === 0) return;
    const now = clock.now();
    const next = Math.min(...all.map((w) => dueAt(w, told.get(keyOf(w)), now)));
    cancel = clock.after(Math.min(LOOK_MS, Math.max(0, next - now)), () => void look());
  }
  async function look(): Promise<void> {
    const now = clock.now();
    const all = wanted();
    const due = all.filter((w) => dueAt(w, told.get(keyOf(w)), now) <= now);
    const keys = new Set(all.map(keyOf));
    for (const key of told.keys()) if (!keys.has(key)) told.delete(key);
    for (const w of due) told.set(keyOf(w), now);
    if (due.length > 0 && tell) {
      telling = true;
      // What fails is due again after its period, like what went well.
      await (async () => tell!(due))().catch((cause) =>
        o.log.error('the skill could not tell what is wanted', { cause }),
      );
      telling = false;
    }
    plan();
  }

  function change<R>(work: () => Promise<R>): Promise<R> {
    const next = last.then(work);
    last = next.catch(() => {});
    return next;
  }

  return {
    interest: { wanted },
    endpoint: {
      method: 'POST',
      path: '/v1/interest',
      answer: ({ owner_id, body }) =>
        change(async () => {
          // The checker is a third of a host's code (D78), and most skills are never asked this.
          const { checkInterest } = await import('../interest/request.ts');
          const streams = checkInterest(body);
          const now = clock.now();
          const { all, id } = subscribed(stored() ?? [], { id: o.makeId(), owner_id, streams }, now);
          await storage.set(KEY, living(all, now) as never);
          const w = wanted();
          const due = streams.map((s) => servedBy(w, s)).map((x) => x && dueAt(x, told.get(keyOf(x)), now));
          plan();
          const next = Math.min(...due.map((at) => at ?? now)) - now;
          return { body: { subscription_id: id, nextUpdateIn: isoDuration(next) } };
        }),
    },
    start(f) {
      tell = f;
      plan();
    },
    waiting: () => wanted().length > 0,
    stop() {
      tell = undefined;
      cancel();
    },
  };
}
