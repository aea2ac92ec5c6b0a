// ingle-skill@<id>: one skill in its own process, serving io.ingle.Skill1. It goes when nobody looks at it or asks it
// anything, where the bus can start it again.

import { IngleError } from '../../firmware/protocol/errors.ts';
import { skill1, skillBusName } from '../../firmware/skills/contract.ts';
import { startHost } from '../../firmware/skills/host.ts';
import type { Served } from '../../firmware/system/bus.ts';
import { readConfig } from '../../firmware/system/config.ts';
import { startService } from '../../firmware/system/service.ts';
import { pickLanguage } from '../../firmware/text/i18n.ts';
import { builtin } from './builtin.ts';

/** A skill that can be woken ends after this time without a viewer or a call, milliseconds. */
const IDLE_MS = 2 * 60_000;
const id = process.argv[2] ?? '';
const life = await startService(`skill ${id}`);
const { bus, log } = life;
const load = Object.hasOwn(builtin, id) ? builtin[id] : undefined;
if (!load)
  throw new IngleError('not_found', `There is no skill "${id}"; known: ${Object.keys(builtin).join(', ')}.`);

let served: Served<typeof skill1> | undefined;
const host = startHost(await load(), {
  context: {
    language: pickLanguage([readConfig().language]),
    log,
    publish: bus.publish,
    client: bus.client,
    names: bus.listNames,
  },
  update: (owner_id, doc, update) => served?.emit('Update', { owner_id, doc, update }),
});
served = await bus.serve(skill1, host.implementation, {
  busName: skillBusName(id),
  onCall: life.touch,
});
life.onStop(host.stop);
if ((await bus.listActivatableNames()).includes(skillBusName(id)))
  life.leaveWhenIdle(IDLE_MS, () => host.viewers() > 0);
life.ready();
log.info('serving', { version: host.manifest.version });
