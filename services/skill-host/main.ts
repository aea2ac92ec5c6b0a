// ingle-skill@<id>: one skill in its own process, serving io.ingle.Skill1. It goes when nobody looks at it or asks it
// anything, where the bus can start it again.
import { pickLanguage } from '../../firmware/protocol/text/i18n.ts';
import { skill1, skillBusName } from '../../firmware/skills/contract.ts';
import { startHost } from '../../firmware/skills/host.ts';
import { connect, type Served } from '../../firmware/system/bus.ts';
import { readConfig } from '../../firmware/system/config.ts';
import { logger } from '../../firmware/system/log.ts';
import { ready, stopping } from '../../firmware/system/notify.ts';
import { builtin } from './builtin.ts';

/** A skill that can be woken ends after this time without a viewer or a call, milliseconds. */
const IDLE_MS = Number(process.env['INGLE_IDLE_MS'] ?? 2 * 60_000);
const id = process.argv[2] ?? '';
const log = logger(`skill ${id}`);
const load = Object.hasOwn(builtin, id) ? builtin[id] : undefined;
if (!load) {
  log.error(`there is no skill "${id}"; known: ${Object.keys(builtin).join(', ')}`);
  process.exit(66);
}

const bus = await connect();
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
let last = Date.now();
served = await bus.serve(skill1, host.implementation, {
  busName: skillBusName(id),
  onCall: () => (last = Date.now()),
});
bus.closed.then(() => {
  log.warn('the message bus is gone');
  process.exit(69);
});
function end(): void {
  stopping();
  host.stop();
  bus.close();
  process.exit(0);
}
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, end);
if ((await bus.listActivatableNames()).includes(skillBusName(id)))
  setInterval(
    () => {
      if (host.viewers() > 0) last = Date.now();
      if (Date.now() - last > IDLE_MS) end();
    },
    Math.min(5000, IDLE_MS / 4),
  );
ready();
log.info('serving', { version: host.manifest.version });
