// What installing packages works with on this hub: its store, its folders, the bus, the documents.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { listSkillDocuments } from '../../firmware/documents/archive.ts';
import type { Library } from '../../firmware/documents/library.ts';
import { openBundles, openDisk } from '../../firmware/skills/bundles.ts';
import { markDeveloper } from '../../firmware/skills/confined.ts';
import type { Skills } from '../../firmware/skills/follow.ts';
import { openInstaller } from '../../firmware/skills/install.ts';
import { installedIn } from '../../firmware/skills/installed.ts';
import { leaveSlot, wipeSlot } from '../../firmware/skills/leave.ts';
import { readPublishers, writePublishers } from '../../firmware/skills/publisher-files.ts';
import type { Publishers } from '../../firmware/skills/publishers.ts';
import { changeTable, readPlaces, readSlots } from '../../firmware/skills/table.ts';
import type { Bus } from '../../firmware/system/bus.ts';
import type { Config } from '../../firmware/system/config.ts';
import type { Log } from '../../firmware/system/log.ts';
import type { Store } from '../../firmware/system/store.ts';
import { openBounds } from './bounds.ts';
import type { LocalEndpoint } from './dispatch.ts';
import { removeDocuments } from './forget.ts';
import { forgetIcon } from './icons.ts';
import { packageEndpoints } from './packages.ts';
import { openSwitch } from './switch.ts';
import type { Sync } from './sync.ts';

export interface Installing {
  endpoints: LocalEndpoint[];
  /** Whether unsigned packages are let in. */
  isDeveloper(): boolean;
  /** Whose packages are taken. */
  publishers(): Publishers;
  /** Takes up what an earlier process left. */
  begin(): Promise<void>;
  stop(): Promise<void>;
}

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
  const bounds = openBounds(bus, log);
  const inSlots = () => installedIn(config, readSlots(config).slots, log);

  async function forget(skill_id: string): Promise<void> {
    await skills.forget(skill_id);
    o.sync.expel((key) => key.skill_id === skill_id, 'The skill was removed.');
    await removeDocuments(library, await listSkillDocuments(store, skill_id));
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
    unconfined: config.unconfined,
    running: {
      async changed() {
        const now = inSlots();
        bounds.tell(now);
        await skills.change(now);
      },
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
      sandbox: config.unconfined || 'there',
      developer: {
        get: developer.get,
        async set(on) {
          // The file is there only while the switch is on, whatever is killed in between.
          if (!on) await markDeveloper(config, on);
          await developer.set(on);
          if (on) await markDeveloper(config, on);
          if (config.unconfined) void installer.renew();
        },
      },
    }),
    isDeveloper: developer.get,
    publishers,
    async begin() {
      bounds.tell(inSlots(), true);
      const isNews = await markDeveloper(config, developer.get());
      await installer.begin();
      if (isNews && config.unconfined) void installer.renew();
    },
    stop: installer.stop,
  };
}
