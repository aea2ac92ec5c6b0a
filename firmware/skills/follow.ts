// Follows the skills of the table on the bus: who runs, for which owners. One the bus can start goes when nobody needs
// it, and is woken by a look at its documents or a request.
import mitt from 'mitt';
import type { JsonObject } from '../documents/content.ts';
import type { Library } from '../documents/library.ts';
import { IngleError } from '../protocol/errors.ts';
import { openQueue } from '../protocol/queue.ts';
import type { Bus } from '../system/bus.ts';
import { fromVariant } from '../system/contract.ts';
import type { Log } from '../system/log.ts';
import type { Store } from '../system/store.ts';
import type { ToClient } from '../ui/topic-names.ts';
import { skill1, skillBusName } from './contract.ts';
import { documentKey, documents } from './documents.ts';
import { type Answer, type Live, openLive, type SkillRequest } from './live.ts';
import { checkManifest, type Manifest, titled } from './manifest.ts';
import { openOwners } from './owners.ts';
import { sleeps, waker } from './wake.ts';

export interface Known {
  manifest: Manifest;
  available: boolean;
}

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

/** How long a skill may take to come when it is woken. */
const WAKE_MS = 20_000;
/** Between two tries to have one come, milliseconds. */
const TRY_MS = 500;

/** A skill of the table: where it lives, and the manifest of its bundle. */
export interface Installed {
  slot: number;
  manifest: Manifest;
}

export async function followSkills(o: {
  bus: Bus;
  store: Store;
  library: Library;
  log: Log;
  installed: readonly Installed[];
  /** What lies in a skill's place by its bundle as it is now; undefined: nothing that can be used. */
  look?: (skill_id: string) => Installed | undefined;
  event: (topic: string, payload: JsonObject) => void;
  /** Keeps when a skill that may sleep is to be woken, milliseconds since 1970; 0: not at all. */
  due: (skill_id: string, at: number) => Promise<void>;
  /** Forgets an owner who is there no more, where it can. */
  makeRoom?: () => Promise<void>;
  /** A skill is there for an owner: what waited for it may go on. */
  attached: (skill_id: string) => void;
  /** A skill tells a person something. */
  said?: (skill_id: string, owner_id: string, topic: ToClient, payload: JsonObject) => void;
  /** A skill is there no more, nor needs its documents. */
  gone?: () => void;
}): Promise<Skills> {
  const { bus, store, library, log } = o;
  const known = new Map<string, Known>();
  const live = new Map<string, Live>();
  /** Who owns each skill's name by the newest word of the daemon; what an older owner began ends there. */
  const newest = new Map<string, string>();
  const owners = await openOwners({ store, seconds, makeRoom: async () => o.makeRoom?.() });
  /** What is stored of each skill's manifest. */
  const written = new Map<string, string>();
  /** Why a skill that runs is not there. */
  const why = new Map<string, unknown>();
  /** Skills the bus starts when they are called. */
  const startable = new Set<string>();
  /** Skill -> what is installed of it; bus name -> skill. */
  const places = new Map<string, Installed>();
  const ids = new Map<string, string>();
  /** Who waits for a skill to come, told of each try that failed. */
  const failed = mitt<Record<string, Error>>();
  /** Takes in what is installed; what it says of one that changed comes from its bundle. */
  async function place(installed: readonly Installed[]): Promise<void> {
    const activatable = new Set(await bus.listActivatableNames());
    for (const map of [places, ids, startable]) map.clear();
    for (const i of installed) {
      const { id } = i.manifest;
      places.set(id, i);
      ids.set(skillBusName(i.slot), id);
      if (activatable.has(skillBusName(i.slot))) startable.add(id);
    }
  }
  await place(o.installed);
  const waking = waker(
    // Any call starts it, so the smallest will do; it is used once it has appeared.
    (id) => bus.client(skill1, { busName: skillBusName(places.get(id)!.slot) }).Due({}, WAKE_MS),
    (id, cause) => {
      log.warn('a skill does not wake', { skill: id, cause });
      setAvailable(id, false);
      failed.emit(id, cause);
    },
    WAKE_MS,
  );
  const isAsleep = (id: string) => waking.isWaking(id) || (startable.has(id) && !live.has(id));
  /** For those who do not wait; what goes wrong is in the log. */
  const rouse = (id: string) => void (isAsleep(id) && waking.wake(id).catch(() => {}));
  // All at once, skills nobody has asked for would have a small hub's processor for a minute.
  const inTurn = openQueue();
  for (const row of await store.all<{ skill_id: string; manifest: string }>('SELECT * FROM skills')) {
    known.set(row.skill_id, { manifest: checkManifest(JSON.parse(row.manifest)), available: false });
    written.set(row.skill_id, row.manifest);
  }
  for (const { manifest } of o.installed) {
    const before = known.get(manifest.id)?.manifest;
    known.set(manifest.id, {
      manifest: before ? titled(manifest, before) : manifest,
      available: startable.has(manifest.id),
    });
  }
  async function appear(id: string, owner: string): Promise<void> {
    // By its unique name: what is asked of this process never reaches the next.
    const caller = bus.client(skill1, { busName: owner });
    const said = checkManifest(fromVariant((await caller.Manifest({}, 10_000)).manifest));
    if (newest.get(id) !== owner) return;
    if (said.id !== id) throw new IngleError('forbidden', `It calls itself ${said.id}.`);
    if (said.version !== known.get(id)!.manifest.version) renewed(id, said.version);
    const { version } = known.get(id)!.manifest;
    if (said.version !== version)
      throw new IngleError('conflict', `It is of version ${said.version} and not ${version}.`);
    const manifest = titled(known.get(id)!.manifest, said);
    const text = JSON.stringify(manifest);
    if (newest.get(id) !== owner) return;
    // It comes many a time as it was: only what is new waits for the disk.
    if (text !== written.get(id)) {
      const row = 'INSERT OR REPLACE INTO skills (skill_id, manifest, seen_at) VALUES (?, ?, ?)';
      await store.run(row, id, text, seconds());
      written.set(id, text);
    }
    if (newest.get(id) !== owner) return;
    const l = openLive({
      ...{ id, owner, bus, library, log },
      onMuted: () => setAvailable(id, false),
      onDue: (at) => o.due(id, at),
      onSaid: (owner_id, topic, payload) => o.said?.(id, owner_id, topic, payload),
      async onHeard() {
        await attachAll(id, l);
        setAvailable(id, true);
        o.attached(id);
      },
    });
    live.set(id, l);
    // The daemon takes both in their order, so what it says when it is attached is heard.
    await Promise.all([l.hear(), attachAll(id, l)]);
    await l.askDue();
    if (live.get(id) !== l) return;
    why.delete(id);
    known.set(id, { manifest, available: true });
    log.info('skill is there', { skill: id, version: manifest.version });
    o.event('skills.available', { skill_id: id, available: true });
    waking.there(id);
    o.attached(id);
  }

  /** Its author has built it anew where it lies (`ingle skill dev`). Packages never change in their folders. */
  function renewed(id: string, version: string): void {
    const now = o.look?.(id);
    if (now?.manifest.version !== version || now.slot !== places.get(id)?.slot) return;
    places.set(id, now);
    known.set(id, { ...known.get(id)!, manifest: now.manifest });
  }

  function setAvailable(id: string, available: boolean): void {
    const k = known.get(id);
    if (!k || k.available === available) return;
    known.set(id, { ...k, available });
    o.event('skills.available', { skill_id: id, available });
  }

  async function attach(id: string, l: Live, owner_id: string): Promise<void> {
    await l.attach(owner_id);
    viewersChanged(owner_id, id);
  }
  async function attachAll(id: string, l: Live): Promise<void> {
    for (const owner_id of owners.served()) await attach(id, l, owner_id);
  }

  function vanish(id: string): void {
    const l = live.get(id);
    if (!l) return;
    live.delete(id);
    l.end();
    o.gone?.();
    if (startable.has(id)) log.info('skill sleeps', { skill: id });
    else log.notice('skill is gone', { skill: id });
    setAvailable(id, startable.has(id));
  }

  function viewersChanged(owner_id: string, skill_id: string): void {
    const viewers = library.peek(documentKey(owner_id, skill_id, 'state:main'))?.members.size ?? 0;
    if (viewers > 0) rouse(skill_id);
    live.get(skill_id)?.watch(owner_id, viewers);
  }

  function follow(name: string, owner: string): void {
    const id = ids.get(name);
    if (!id) return;
    vanish(id);
    newest.set(id, owner);
    why.delete(id);
    if (!owner) return;
    appear(id, owner).catch((cause) => {
      log.warn('a skill cannot be used', { skill: id, cause });
      if (newest.get(id) !== owner) return;
      why.set(id, cause);
      setAvailable(id, false);
      failed.emit(id, cause);
    });
  }
  const unfollow = await bus.match(
    { sender: 'org.freedesktop.DBus', member: 'NameOwnerChanged', arg0namespace: skill1.name },
    (s) => follow(s.body[0] as string, s.body[2] as string),
  );
  for (const name of await bus.listNames())
    if (ids.has(name) && !live.has(ids.get(name)!)) {
      const [owner] = await bus
        .call('org.freedesktop.DBus', '/org/freedesktop/DBus', 'org.freedesktop.DBus', 'GetNameOwner', 's', [
          name,
        ])
        // Gone since the list was made; its next start is told.
        .catch(() => []);
      if (owner) follow(name, owner as string);
    }

  return {
    known: () => known,
    owners: owners.served,
    leaving: owners.leaving,
    viewersChanged,
    rouse(id) {
      rouse(id);
      return places.has(id);
    },
    isLive: (text) => {
      const [owner_id = '', id = '', doc = ''] = text.split('/');
      return documents.includes(doc) && (live.get(id)?.isAttached(owner_id) ?? false);
    },
    async addOwner(owner_id) {
      if (owners.served().includes(owner_id) || !(await owners.add(owner_id))) return;
      for (const [id, l] of live)
        await attach(id, l, owner_id).catch((cause) =>
          log.warn('a skill does not attach', { skill: id, cause }),
        );
      // Its screen is there before the owner looks, and without a connection.
      for (const id of known.keys())
        void inTurn.add(async () => isAsleep(id) && waking.wake(id).catch(() => {}));
    },
    removeOwner: (owner_id, drop) =>
      owners.remove(owner_id, async () => {
        for (const l of live.values()) l.detach(owner_id);
        await drop();
      }),
    async request(skill_id, r) {
      if (!known.has(skill_id)) throw new IngleError('not_found', `There is no skill "${skill_id}".`);
      if (isAsleep(skill_id)) await waking.wake(skill_id);
      const l = live.get(skill_id);
      if (!l?.isAttached(r.owner_id) || !known.get(skill_id)?.available)
        throw sleeps(skill_id, why.get(skill_id));
      return l.request(r);
    },
    async change(installed) {
      const before = new Map(places);
      await place(installed);
      for (const id of new Set([...before.keys(), ...places.keys()])) {
        const [old, now] = [before.get(id), places.get(id)];
        if (old && now && old.slot === now.slot && old.manifest.version === now.manifest.version) continue;
        vanish(id);
        newest.delete(id);
        if (now) known.set(id, { manifest: now.manifest, available: startable.has(id) });
        else setAvailable(id, false);
      }
    },
    async come(id, signal) {
      const isThere = () => live.has(id) && known.get(id)?.available === true;
      const over = new Promise<void>((done) => signal.addEventListener('abort', () => done()));
      let cause: unknown;
      const hear = (e: Error) => {
        cause = e;
      };
      failed.on(id, hear);
      try {
        while (!isThere()) {
          if (signal.aborted) throw new IngleError('timeout', `The skill "${id}" did not come up in time.`);
          await Promise.race([waking.wake(id).catch(() => {}), over]);
          if (!isThere() && isFinal(cause)) throw cause;
          if (!isThere()) await Promise.race([new Promise((done) => setTimeout(done, TRY_MS)), over]);
        }
      } finally {
        failed.off(id, hear);
      }
    },
    async forget(id) {
      if (places.has(id)) return;
      known.delete(id);
      written.delete(id);
      await store.run('DELETE FROM skills WHERE skill_id = ?', id);
    },
    close: unfollow,
  };
}

/** What a skill's own process says is final; all else may be one that is still to come. */
const isFinal = (e: unknown): boolean =>
  e instanceof IngleError && !e.details?.['dbus'] && !['timeout', 'conflict'].includes(e.code);

const seconds = () => Math.floor(Date.now() / 1000);
