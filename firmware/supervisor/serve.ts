// io.ingle.Supervisor1 over whatever keeps services running: who may be ordered, how often, one order at a time.
import { type Bucket, openBucket, rate, take } from '../protocol/bucket.ts';
import { IngleError } from '../protocol/errors.ts';
import { openQueue, type Queue } from '../protocol/queue.ts';
import type { Bounds } from '../skills/limits.ts';
import type { Bus } from '../system/bus.ts';
import type { Value } from '../system/contract.ts';
import type { Log } from '../system/log.ts';
import { type service, supervisor1 } from './contract.ts';
import { type Entry, type Line, MAX_LINES, priorities, shown } from './lines.ts';
import { answersFirst, findOwn, mayOrder, type Order, type Own } from './own.ts';

/** How a service is. */
export type Service = Value<typeof service>;
export interface Failure {
  unit: string;
  at: number;
  result: string;
}

/** Who keeps the services running. Each is given names of `own` only. */
export interface Supervises {
  own(): readonly Own[];
  states(own: readonly Own[]): Promise<Service[]>;
  /** Settles when it is done. @throws IngleError `timeout` while it is not */
  order(unit: string, what: Order): Promise<void>;
  /** The newest lines, oldest first. */
  log(unit: string, lines: number): Promise<Line[]>;
  /** Lines of these units of at least this level, oldest first; the newest, or what came after a cursor. */
  journal(
    units: readonly string[],
    o: { level: string; lines: number; after: string },
  ): Promise<{ entries: Entry[]; cursor: string }>;
  /** Holds a unit to this from now on; left out where nothing can. */
  bound?(unit: string, to: Bounds): Promise<void>;
  /** Newest first. */
  failures(): Promise<Failure[]>;
  shutdown(what: 'restart' | 'poweroff'): Promise<void>;
}

/** What an owner orders by hand is less; a program in a loop meets this. */
const orders = rate(8, 0.2);
/** A skill that follows the journal for a few people asks less. */
const looks = rate(20, 4);
const MAX_FAILURES = 50;
/** A cursor is a word of letters, digits and a few signs, and no option of a program. */
const cursorForm = /^[a-z][\w:;=-]{0,255}$/;
/** The answer to an order that ends what carries it has this time to get out, milliseconds. */
const FIRST_MS = 2000;

/**
 * @param o.known secrets this hub is known to hold, taken out of logs
 * @returns whether something is still to be done
 */
export async function serveSupervisor(
  bus: Bus,
  by: Supervises,
  o: {
    log: Log;
    /** Lets whoever was given the journal through. @throws IngleError `forbidden` */
    mayRead(sender: string): Promise<string>;
    /** What each unit of an installed skill may take. */
    bounds?: () => ReadonlyMap<string, Bounds>;
    known?: readonly string[];
    onCall?: () => void;
  },
): Promise<{ busy(): boolean }> {
  const budget = openBucket(orders, performance.now());
  /** How often each skill has looked. */
  const looked = new Map<string, Bucket>();
  const queues = new Map<string, Queue>();
  let later = 0;

  async function stateOf(own: Own): Promise<Service> {
    const [state] = await by.states([own]);
    if (!state) throw new IngleError('unavailable', `Nothing is known of ${own.unit} now. Try again.`);
    return state;
  }

  /** Runs once the answer is on its way. */
  function soon(what: string, work: () => Promise<void>): void {
    later++;
    setTimeout(() => {
      work()
        .catch((cause) => o.log.error('an order was not carried out', { what, cause }))
        .finally(() => later--);
    }, FIRST_MS);
  }

  function queueOf(unit: string): Queue {
    const queue = queues.get(unit) ?? openQueue();
    queues.set(unit, queue);
    return queue;
  }

  async function perform(unit: string, order: Order): Promise<{ after: Service }> {
    const own = findOwn(by.own(), unit);
    mayOrder(own, order);
    if (!take(budget, orders, performance.now()))
      throw new IngleError('rate_limited', 'Too many orders to services. Wait ten seconds and try again.');
    o.log.notice(order, { unit });
    const work = () => queueOf(unit).add(() => by.order(unit, order));
    if (answersFirst(unit) && order === 'restart') {
      const now = await stateOf(own);
      soon(`${order} ${unit}`, work);
      return { after: { ...now, state: 'restarting' } };
    }
    await work();
    return { after: await stateOf(own) };
  }

  await bus.serve(
    supervisor1,
    {
      List: async () => ({ services: await by.states(by.own()) }),
      Start: ({ unit }) => perform(unit, 'start'),
      Stop: ({ unit }) => perform(unit, 'stop'),
      Restart: ({ unit }) => perform(unit, 'restart'),
      async Log({ unit, lines }) {
        if (lines < 1 || lines > MAX_LINES)
          throw new IngleError('invalid_request', `Ask for 1 to ${MAX_LINES} lines.`);
        findOwn(by.own(), unit);
        return { lines: shown(await by.log(unit, lines), lines, o.known) };
      },
      async Journal({ units, level, lines, after }, { sender }) {
        const who = await o.mayRead(sender);
        const bucket = looked.get(who) ?? openBucket(looks, performance.now());
        looked.set(who, bucket);
        if (!take(bucket, looks, performance.now()))
          throw new IngleError('rate_limited', 'The journal is asked for too often. Wait a second.');
        if (lines < 1 || lines > MAX_LINES || !Object.hasOwn(priorities, level))
          throw new IngleError('invalid_request', `Ask for 1 to ${MAX_LINES} lines of one level.`);
        if (after !== '' && !cursorForm.test(after))
          throw new IngleError('invalid_request', 'That is no cursor of a journal.');
        const own = by.own();
        for (const unit of units) findOwn(own, unit);
        const all = own.map((s) => s.unit);
        const asked = units.length > 0 ? units : all;
        const { entries, cursor } = await by.journal(asked, { level, lines, after });
        const fit = shown(entries, lines, o.known);
        return { lines: fit, cursor, cut: fit.length < entries.length, own: all };
      },
      async Bound() {
        for (const [unit, to] of o.bounds?.() ?? []) await by.bound?.(findOwn(by.own(), unit).unit, to);
        return {};
      },
      async Failures() {
        const own = new Set(by.own().map((s) => s.unit));
        const failures = (await by.failures()).filter((f) => own.has(f.unit));
        return { failures: failures.slice(0, MAX_FAILURES) };
      },
      Shutdown({ what }) {
        if (what !== 'restart' && what !== 'poweroff')
          throw new IngleError('invalid_request', 'Say "restart" or "poweroff".');
        o.log.notice('shutdown', { what });
        soon(what, () => by.shutdown(what));
        return {};
      },
    },
    o.onCall ? { onCall: o.onCall } : {},
  );
  return { busy: () => later > 0 || [...queues.values()].some((q) => q.size > 0) };
}
