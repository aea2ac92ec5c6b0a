// Follows the skills of the table on the bus: who runs, for which owners. One the bus can start goes when nobody needs
// it, and is woken by a look at its documents or a request.
import { IngleError } from '../protocol/errors.ts';
import { openQueue } from '../protocol/queue.ts';
import type { Bus } from '../system/bus.ts';
import { isTurnedAway } from '../system/bus-errors.ts';
import type { Store } from '../system/store.ts';
import type { Answer, SkillRequest } from './answer.ts';
import { skill1 } from './contract.ts';
import { documents } from './documents.ts';
import { type Known, openKnown } from './known.ts';
import type { Live } from './live.ts';
import { openOwners } from './owners.ts';
import { type Installed, openPlaces } from './places.ts';
import { openRunning, type Running, type RunningOptions } from './running.ts';
import { sleeps } from './wake.ts';

export interface Skills {
  /** Every skill of the table or once seen on this hub, by id; what neither runs nor can be woken is unavailable. */
  known(): ReadonlyMap<string, Known>;
  /** Serves one more owner. @throws IngleError `rate_limited` when there are as many as it serves */
  addOwner(owner_id: string): Promise<void>;
  /** Serves one no more, once `drop` has removed what is kept of them; see `Owners`. */
  removeOwner(owner_id: string, drop: () => Promise<void>): Promise<void>;
  owners(): readonly string[];
  /** Those of whom something is still kept although they are served no more. */
  leaving(): readonly string[];
  /** One request to a skill; its effect is stored before this settles. */
  request(skill_id: string, r: SkillRequest): Promise<Answer>;
  /** Tells the skill how many look at its documents. */
  viewersChanged(owner_id: string, skill_id: string): void;
  /**
   * Other skills are installed now. Those that stay as they are go on; of one in another version the process that ran
   * counts no more, and the next is taken up when it comes.
   */
  change(installed: readonly Installed[]): Promise<void>;
  /**
   * Settles when a skill is there for every owner, in its bundle's version.
   * @throws IngleError why it does not start, or that it did not until `signal`
   */
  come(skill_id: string, signal: AbortSignal): Promise<void>;
  /** Starts a skill that sleeps, and does not wait for it. @returns whether there is such a skill */
  rouse(skill_id: string): boolean;
  /** A skill that is no longer installed is not known any more. */
  forget(skill_id: string): Promise<void>;
  /** Whether a skill keeps a document up to date now. */
  isLive(key: string): boolean;
  close(): Promise<void>;
}

/** Between two tries to have one come, milliseconds. */
const TRY_MS = 500;

/** Tells who has the name of a skill, now and from now on. @returns what ends that */
async function followNames(
  bus: Bus,
  skillOf: (name: string) => string | undefined,
  running: Running,
): Promise<() => Promise<void>> {
  const daemon = 'org.freedesktop.DBus';
  const follow = (name: string, owner: string) => {
    const id = skillOf(name);
    if (id) running.follow(id, owner);
  };
  const unfollow = await bus.match(
    { sender: daemon, member: 'NameOwnerChanged', arg0namespace: skill1.name },
    (s) => follow(s.body[0] as string, s.body[2] as string),
  );
  for (const name of await bus.listNames()) {
    const id = skillOf(name);
    if (!id || running.live.has(id)) continue;
    const [owner] = await bus
      .call(daemon, '/org/freedesktop/DBus', daemon, 'GetNameOwner', 's', [name])
      // Gone since the list was made; its next start is told.
      .catch(() => []);
    if (owner) follow(name, owner as string);
  }
  return unfollow;
}

/**
 * Asks the process that is there. One that was about to sleep may have given up its name already, so that the daemon lets
 * nothing through to it: the next process answers.
 * @param gone is told of the one that counts no more
 */
export async function askedOf(
  there: () => Promise<Pick<Live, 'request'>>,
  r: SkillRequest,
  gone: (l: Pick<Live, 'request'>) => void,
): Promise<Answer> {
  const l = await there();
  try {
    return await l.request(r);
  } catch (e) {
    if (!isTurnedAway(e)) throw e;
    gone(l);
    return (await there()).request(r);
  }
}

/** @throws IngleError why the skill does not start, or that it did not until `signal` */
async function come(
  id: string,
  running: Running,
  isThere: () => boolean,
  signal: AbortSignal,
): Promise<void> {
  const over = new Promise<void>((done) => signal.addEventListener('abort', () => done()));
  let cause: unknown;
  const hear = (e: Error) => {
    cause = e;
  };
  running.failed.on(id, hear);
  try {
    while (!isThere()) {
      if (signal.aborted) throw new IngleError('timeout', `The skill "${id}" did not come up in time.`);
      await Promise.race([running.wake(id).catch(() => {}), over]);
      if (!isThere() && isFinal(cause)) throw cause;
      if (!isThere()) await Promise.race([new Promise((done) => setTimeout(done, TRY_MS)), over]);
    }
  } finally {
    running.failed.off(id, hear);
  }
}

export async function followSkills(
  o: Omit<RunningOptions, 'places' | 'known' | 'owners'> & {
    store: Store;
    installed: readonly Installed[];
    /** Forgets an owner who is there no more, where it can. */
    makeRoom?: () => Promise<void>;
  },
): Promise<Skills> {
  const { bus, store, log } = o;
  const owners = await openOwners({ store, seconds, makeRoom: async () => o.makeRoom?.() });
  const places = await openPlaces(bus, o.installed);
  const event = (skill_id: string, available: boolean) =>
    o.event('skills.available', { skill_id, available });
  const known = await openKnown(store, event, seconds);
  for (const { manifest } of o.installed) known.install(manifest, places.isStartable(manifest.id));
  const running = openRunning({ ...o, places, known, owners: owners.served });
  // All at once, skills nobody has asked for would have a small hub's processor for a minute.
  const inTurn = openQueue();
  const unfollow = await followNames(bus, places.skillOf, running);
  const isThere = (id: string) => running.live.has(id) && known.all.get(id)?.available === true;

  return {
    known: () => known.all,
    owners: owners.served,
    leaving: owners.leaving,
    viewersChanged: running.viewersChanged,
    rouse(id) {
      running.rouse(id);
      return places.all.has(id);
    },
    isLive: (text) => {
      const [owner_id = '', id = '', doc = ''] = text.split('/');
      return documents.includes(doc) && (running.live.get(id)?.isAttached(owner_id) ?? false);
    },
    async addOwner(owner_id) {
      if (owners.served().includes(owner_id) || !(await owners.add(owner_id))) return;
      for (const [id, l] of running.live)
        await running
          .attach(id, l, owner_id)
          .catch((cause) => log.warn('a skill does not attach', { skill: id, cause }));
      // Its screen is there before the owner looks, and without a connection.
      for (const id of known.all.keys())
        void inTurn.add(async () => running.isAsleep(id) && running.wake(id).catch(() => {}));
    },
    removeOwner: (owner_id, drop) =>
      owners.remove(owner_id, async () => {
        for (const l of running.live.values()) l.detach(owner_id);
        await drop();
      }),
    async request(skill_id, r) {
      if (!known.all.has(skill_id)) throw new IngleError('not_found', `There is no skill "${skill_id}".`);
      const there = async () => {
        if (running.isAsleep(skill_id)) await running.wake(skill_id);
        const l = running.live.get(skill_id);
        if (!l?.isAttached(r.owner_id) || !known.all.get(skill_id)?.available)
          throw sleeps(skill_id, running.why(skill_id));
        return l;
      };
      return askedOf(there, r, (l) => {
        if (running.live.get(skill_id) === l) running.disown(skill_id);
      });
    },
    async change(installed) {
      const before = new Map(places.all);
      await places.take(installed);
      for (const id of new Set([...before.keys(), ...places.all.keys()])) {
        const [old, now] = [before.get(id), places.all.get(id)];
        if (old && now && old.slot === now.slot && old.manifest.version === now.manifest.version) continue;
        running.disown(id);
        if (now) known.set(now.manifest, places.isStartable(id));
        else known.setAvailable(id, false);
      }
    },
    come: (id, signal) => come(id, running, () => isThere(id), signal),
    async forget(id) {
      if (!places.all.has(id)) await known.forget(id);
    },
    close: unfollow,
  };
}

/** What a skill's own process says is final; all else may be one that is still to come. */
const isFinal = (e: unknown): boolean =>
  e instanceof IngleError && !e.details?.['dbus'] && !['timeout', 'conflict'].includes(e.code);

const seconds = () => Math.floor(Date.now() / 1000);
