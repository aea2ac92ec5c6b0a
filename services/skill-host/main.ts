// ingle-skill@<id>: one skill in its own process, serving io.ingle.Skill1.
import { pickLanguage } from '../../firmware/protocol/text/i18n.ts';
import { skill1, skillBusName } from '../../firmware/skills/contract.ts';
import { startHost } from '../../firmware/skills/host.ts';
import { connect, type Served } from '../../firmware/system/bus.ts';
import { readConfig } from '../../firmware/system/config.ts';
import { logger } from '../../firmware/system/log.ts';
import { ready, stopping } from '../../firmware/system/notify.ts';
import { builtin } from './builtin.ts';

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
served = await bus.serve(skill1, host.implementation, { busName: skillBusName(id) });
bus.closed.then(() => {
  log.warn('the message bus is gone');
  process.exit(69);
});
for (const signal of ['SIGTERM', 'SIGINT'] as const)
  process.once(signal, () => {
    stopping();
    host.stop();
    bus.close();
    process.exit(0);
  });
ready();
log.info('serving', { version: host.manifest.version });
