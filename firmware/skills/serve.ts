// Serves one slot on the bus: its skill, or the reason why it has none.
import { fetch1 } from '../fetch/contract.ts';
import { IngleError } from '../protocol/errors.ts';
import type { Bus, Served } from '../system/bus.ts';
import type { Config } from '../system/config.ts';
import type { Log } from '../system/log.ts';
import { pickLanguage } from '../text/i18n.ts';
import { openBudget } from './budget.ts';
import { checkConfined } from './confined.ts';
import { skill1, skillBusName } from './contract.ts';
import { fetchOver } from './fetch.ts';
import { moveIn } from './home.ts';
import { type Host, startHost } from './host.ts';
import { openKept, skillDisk } from './keep.ts';
import { type Load, later, loadSkill, refusing } from './load.ts';
import { isSlot, SLOTS } from './slots.ts';
import { readSlots, stateOf } from './table.ts';

/**
 * Serves a slot until `stop`, which gets the exit status: a run that a fault ends counts against the skill.
 * @throws IngleError `invalid_request` for a number that is no slot
 */
export async function serveSlot(
  slot: number,
  o: { config: Config; bus: Bus; log: Log; touch: () => void; leave: () => void; load?: Load },
): Promise<Pick<Host, 'isNeeded'> & { stop(status: number): void }> {
  const { config, bus, log } = o;
  if (!isSlot(slot)) throw new IngleError('invalid_request', `Slots are numbered from 1 to ${SLOTS}.`);
  const { slots, freed, fault } = readSlots(config);
  if (fault) log.error('the table of skills cannot be used', { cause: fault });
  const mine = slots.get(slot);
  const skill = mine?.skill_id ?? '';
  const budget = openBudget(stateOf(config, slot), skill, mine?.bundle);
  let served: Served<typeof skill1> | undefined;
  let host: Host | undefined;
  /** A run that has begun and that nothing has broken so far. */
  let running = false;
  let take = () => {};
  const named = new Promise<void>((resolve) => {
    take = resolve;
  });

  async function begin(): Promise<Host> {
    if (!mine) {
      if (freed.includes(slot)) await moveIn(stateOf(config, slot), undefined);
      throw new IngleError('not_found', `No skill is installed in slot ${slot}.`);
    }
    checkConfined(config, mine);
    await moveIn(stateOf(config, slot), mine);
    budget.begin();
    running = true;
    const { manifest, skill } = await loadSkill(config, mine, o.load);
    const { migrate } = skill;
    const vault = await openKept(skillDisk(stateOf(config, slot)), manifest.version, { log, migrate });
    return startHost(manifest, skill, {
      vault,
      context: {
        language: pickLanguage([config.language]),
        log,
        publish: bus.publish,
        client: bus.client,
        fetch: fetchOver((asked) => bus.client(fetch1).Fetch(asked)),
        names: bus.listNames,
      },
      due: (at) => served?.emit('DueChanged', { at }),
      say: (owner_id, topic, payload) =>
        served?.emit('Said', { owner_id, topic, payload: JSON.stringify(payload) }),
      update: (owner_id, doc, update) => served?.emit('Update', { owner_id, doc, update }),
    });
  }
  const work = async () => {
    // The name comes first: it is one process's at a time, and so is the slot's folder of state.
    await named;
    return begin();
  };
  const implementation = work().then(
    (h) => {
      host = h;
      log.info('serving', { skill, version: h.manifest.version });
      return h.implementation;
    },
    (cause: Error) => {
      running = false;
      log.error('there is nothing to serve', { skill, cause: cause?.stack ?? cause });
      // What a foreign program throws stays in the log.
      const ours = cause instanceof IngleError ? cause : undefined;
      return refusing(
        ours ?? new IngleError('unavailable', `The skill "${skill}" does not start. See its log.`),
      );
    },
  );
  const Leave = () => {
    o.leave();
    return {};
  };
  served = await bus.serve(
    skill1,
    { ...later(implementation), Leave },
    { busName: skillBusName(slot), onCall: o.touch },
  );
  take();
  await implementation;
  return {
    isNeeded: () => host?.isNeeded() ?? false,
    stop(status) {
      host?.stop();
      if (running && status === 0) budget.ended();
    },
  };
}
