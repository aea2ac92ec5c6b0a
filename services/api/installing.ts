// What installing packages works with on this hub: its store, its folders, the bus, the documents.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { listSkillDocuments } from '../../firmware/documents/archive.ts';
import type { Library } from '../../firmware/documents/library.ts';
import { openBundles, openDisk } from '../../firmware/skills/bundles.ts';
import type { Skills } from '../../firmware/skills/follow.ts';
import { openInstaller } from '../../firmware/skills/install.ts';
import { installedIn } from '../../firmware/skills/installed.ts';
import { leaveSlot, wipeSlot } from '../../firmware/skills/leave.ts';
import { readPublishers, writePublishers } from '../../firmware/skills/publisher-files.ts';
import { changeTable, readPlaces, readSlots } from '../../firmware/skills/table.ts';
import type { Bus } from '../../firmware/system/bus.ts';
import type { Config } from '../../firmware/system/config.ts';
import type { Log } from '../../firmware/system/log.ts';
import type { Store } from '../../firmware/system/store.ts';
import type { LocalEndpoint } from './dispatch.ts';
import { forgetIcon } from './icons.ts';
import { packageEndpoints } from './packages.ts';
import { openSwitch } from './switch.ts';
import type { Sync } from './sync.ts';

export interface Installing {
  endpoints: LocalEndpoint[];
  /** Whether unsigned packages are let in. */
  isDeveloper(): boolean;
  /** Takes up what an earlier process left. */
  begin(): Promise<void>;
  stop(): Promise<void>;
}

/** How long those who look at a removed skill's screen may take to be gone, tries of 50 ms. */
const TRIES = 60;

export async function installing(o: {
  bus: Bus;
  config: Config;
  store: Store;
  library: Library;
  skills: Skills;
  sync: Sync;
  log: Log;
  event: (topic: string, payload: object) => void;
}): Promise<Installing> {
  const { bus, config, store, library, skills, log } = o;
  const developer = await openSwitch(store, 'developer');
  const publishers = () => readPublishers(config);

  async function forget(skill_id: string): Promise<void> {
    await skills.forget(skill_id);
    o.sync.expel(skill_id);
    for (const key of await listSkillDocuments(store, skill_id))
      for (let left = TRIES; !(await library.remove(key)); left--) {
        if (left === 0) throw new Error(`${key} is still looked at`);
        await new Promise((done) => setTimeout(done, 50));
      }
    await store.transaction((tx) => forgetIcon(tx, skill_id));
  }

  const installer = await openInstaller({
    store,
    log,
    bundles: openBundles(openDisk(join(config.data, 'skills/bundles'))),
    places: { read: () => readPlaces(config), change: (change) => changeTable(config, change) },
    publishers: { read: publishers, write: (owned) => writePublishers(config, owned) },
    tag: () => randomBytes(16).toString('hex'),
    isDeveloper: developer.get,
    running: {
      changed: () => skills.change(installedIn(config, readSlots(config).slots, log)),
      leave: (slot) => leaveSlot(bus, log, slot),
      come: skills.come,
      wipe: (slot) => wipeSlot(bus, log, slot),
      forget,
    },
    told: (skill_id, { state, memory: { current, trying, fault } }) =>
      o.event('skills.state', {
        ...{ skill_id, state, version: current, trying },
        reason: fault?.reason ?? null,
      }),
    gone: (skill_id) => o.event('skills.state', { skill_id, state: 'removed' }),
    ...(process.env['INGLE_TRIAL_MS'] ? { trialMs: Number(process.env['INGLE_TRIAL_MS']) } : {}),
  });
  return {
    endpoints: packageEndpoints({
      installer,
      skills,
      builtin: () => readPlaces(config).root.builtin,
      publishers,
      developer,
    }),
    isDeveloper: developer.get,
    begin: installer.begin,
    stop: installer.stop,
  };
}
