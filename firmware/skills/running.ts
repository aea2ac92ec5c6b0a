// The processes that have the names of skills: each is taken up when it comes, and what one began ends with it.
import mitt from 'mitt';
import type { JsonObject } from '../documents/content.ts';
import type { Library } from '../documents/library.ts';
import { isPassing } from '../documents/waiting.ts';
import { IngleError } from '../protocol/errors.ts';
import type { Bus } from '../system/bus.ts';
import { fromVariant } from '../system/contract.ts';
import type { Log } from '../system/log.ts';
import type { ToClient } from '../ui/topic-names.ts';
import { skill1, skillBusName } from './contract.ts';
import type { KnownSkills } from './known.ts';
import { type Live, openLive, viewing } from './live.ts';
import { checkManifest, type Manifest, titled } from './manifest.ts';
import type { Installed, Places } from './places.ts';
import { waker } from './wake.ts';

/** How long a skill may take to come when it is woken. */
const WAKE_MS = 20_000;
/** Pauses before a skill that did not answer in time is taken up again; the last one is kept to. */
const AGAIN_MS = [1000, 5000, 30_000];

export interface RunningOptions {
  bus: Bus;
  library: Library;
  log: Log;
  places: Places;
  known: KnownSkills;
  /** Those it serves. */
  owners: () => readonly string[];
  /** What lies in a skill's place by its bundle as it is now; undefined: nothing that can be used. */
  look?: (skill_id: string) => Installed | undefined;
  event: (topic: string, payload: JsonObject) => void;
  /** Keeps when a skill that may sleep is to be woken, milliseconds since 1970; 0: not at all. */
  due: (skill_id: string, at: number) => Promise<void>;
  /** A skill is there for an owner: what waited for it may go on. */
  attached: (skill_id: string) => void;
  /** A skill tells a person something. */
  said?: (skill_id: string, owner_id: string, topic: ToClient, payload: JsonObject) => void;
  /** A skill is there no more, nor needs its documents. */
  gone?: () => void;
}

/** The manifest of a process as the hub shows it. @throws IngleError unless it is of what is installed */
function accepted({ places, known, look }: RunningOptions, id: string, said: Manifest): Manifest {
  if (said.id !== id) throw new IngleError('forbidden', `It calls itself ${said.id}.`);
  if (said.version !== known.all.get(id)!.manifest.version) {
    const now = look?.(id);
    if (now?.manifest.version === said.version && now.slot === places.all.get(id)?.slot) {
      places.renewed(now);
      known.set(now.manifest, known.all.get(id)!.available);
    }
  }
  const { manifest } = known.all.get(id)!;
  if (said.version !== manifest.version)
    throw new IngleError('conflict', `It is of version ${said.version} and not ${manifest.version}.`);
  return titled(manifest, said);
}

interface Comer {
  isWanted(): boolean;
  appear(): Promise<void>;
  failed(cause: Error): void;
}

/** Takes a process up, and again where it did not answer in time: a busy device has many that start at once. */
function takeUp(o: Comer, tries = 0): void {
  o.appear().catch((cause) => {
    if (!o.isWanted()) return;
    o.failed(cause);
    if (!isPassing(cause)) return;
    const pause = AGAIN_MS[Math.min(tries, AGAIN_MS.length - 1)];
    setTimeout(() => o.isWanted() && takeUp(o, tries + 1), pause).unref();
  });
}

export type Running = ReturnType<typeof openRunning>;

export function openRunning(o: RunningOptions) {
  const { bus, library, log, places, known } = o;
  const live = new Map<string, Live>();
  /** Who owns each skill's name by the newest word of the daemon; what an older owner began ends there. */
  const newest = new Map<string, string>();
  /** Why a skill that runs is not there. */
  const why = new Map<string, unknown>();
  /** Who waits for a skill to come, told of each try that failed. */
  const failed = mitt<Record<string, Error>>();
  function missing(id: string, says: string, cause: Error): void {
    log.warn(says, { skill: id, cause });
    known.setAvailable(id, false);
    failed.emit(id, cause);
  }
  const waking = waker(
    // Any call starts it, so the smallest will do; it is used once it has appeared.
    (id) => bus.client(skill1, { busName: skillBusName(places.all.get(id)!.slot) }).Due({}, WAKE_MS),
    (id, cause) => missing(id, 'a skill does not wake', cause),
    WAKE_MS,
  );
  const isAsleep = (id: string) => waking.isWaking(id) || (places.isStartable(id) && !live.has(id));
  /** For those who do not wait; what goes wrong is in the log. */
  const rouse = (id: string) => void (isAsleep(id) && waking.wake(id).catch(() => {}));

  function drop(id: string): boolean {
    live.get(id)?.end();
    return live.delete(id);
  }
  async function appear(id: string, owner: string): Promise<void> {
    drop(id);
    // By its unique name: what is asked of this process never reaches the next.
    const caller = bus.client(skill1, { busName: owner });
    const said = checkManifest(fromVariant((await caller.Manifest({}, 10_000)).manifest));
    if (newest.get(id) !== owner) return;
    const manifest = accepted(o, id, said);
    await known.write(manifest);
    if (newest.get(id) !== owner) return;
    const l = openLive({
      ...{ id, owner, bus, library, log },
      onMuted: () => known.setAvailable(id, false),
      onDue: (at) => o.due(id, at),
      onSaid: (owner_id, topic, payload) => o.said?.(id, owner_id, topic, payload),
      async onHeard() {
        await attachAll(id, l);
        known.setAvailable(id, true);
        o.attached(id);
      },
    });
    live.set(id, l);
    // The daemon takes both in their order, so what it says when it is attached is heard.
    await Promise.all([l.hear(), attachAll(id, l)]);
    await l.askDue();
    if (live.get(id) !== l) return;
    why.delete(id);
    known.set(manifest, true);
    log.info('skill is there', { skill: id, version: manifest.version });
    o.event('skills.available', { skill_id: id, available: true });
    waking.there(id);
    o.attached(id);
  }

  async function attach(id: string, l: Live, owner_id: string): Promise<void> {
    await l.attach(owner_id);
    viewersChanged(owner_id, id);
  }
  async function attachAll(id: string, l: Live): Promise<void> {
    for (const owner_id of o.owners()) await attach(id, l, owner_id);
  }

  function vanish(id: string): void {
    if (!drop(id) && !newest.get(id)) return;
    o.gone?.();
    if (places.isStartable(id)) log.info('skill sleeps', { skill: id });
    else log.notice('skill is gone', { skill: id });
    known.setAvailable(id, places.isStartable(id) && (!why.has(id) || isPassing(why.get(id))));
  }

  function viewersChanged(owner_id: string, skill_id: string): void {
    const viewers = viewing(library, owner_id, skill_id);
    if (viewers > 0) rouse(skill_id);
    live.get(skill_id)?.watch(owner_id, viewers);
  }

  return {
    live: live as ReadonlyMap<string, Live>,
    failed,
    isAsleep,
    wake: waking.wake,
    rouse,
    viewersChanged,
    attach,
    why: (id: string): unknown => why.get(id),
    /** Another process has a skill's name, or with '' none. */
    follow(id: string, owner: string): void {
      // The daemon's signal and the list of names may both tell of one that has just come.
      if (owner && newest.get(id) === owner) return;
      vanish(id);
      newest.set(id, owner);
      why.delete(id);
      if (!owner) return;
      takeUp({
        isWanted: () => newest.get(id) === owner,
        appear: () => appear(id, owner),
        failed(cause) {
          why.set(id, cause);
          missing(id, 'a skill cannot be used', cause);
        },
      });
    },
    /** The process that has the name counts no more; the next is taken up when it comes. */
    disown(id: string): void {
      vanish(id);
      newest.delete(id);
    },
  };
}
