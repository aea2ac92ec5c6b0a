// ingle-api: the local API. Wires the documents, the skills and the paths to one server.
import { join } from 'node:path';
import { archiveSchema, listDocuments } from '../../firmware/documents/archive.ts';
import { type Call, runCommands } from '../../firmware/documents/commands.ts';
import { openLibrary } from '../../firmware/documents/library.ts';
import { openSigner } from '../../firmware/documents/sign.ts';
import { followSkills, type Skills } from '../../firmware/skills/follow.ts';
import { installedIn } from '../../firmware/skills/installed.ts';
import { settleSlots, skillNames } from '../../firmware/skills/table.ts';
import { dataOf, readConfig } from '../../firmware/system/config.ts';
import { startService } from '../../firmware/system/service.ts';
import { openStore, sqliteVersion } from '../../firmware/system/store.ts';
import { tokenCheck } from '../../firmware/system/token.ts';
import { uplink1 } from '../../firmware/uplink/contract.ts';
import { answering } from './answer.ts';
import { callerOf } from './auth.ts';
import { dispatcher } from './dispatch.ts';
import { documentEndpoints } from './documents.ts';
import { observe } from './observe.ts';
import { skillEndpoints } from './screens.ts';
import { listen } from './server.ts';
import { aboutHub } from './status.ts';
import { syncServer } from './sync.ts';
import { updates } from './update.ts';

const config = readConfig();
const data = dataOf(config, 'api');
const life = await startService('api');
const { bus, log } = life;
const token = tokenCheck(join(data, 'token'));
const store = await openStore(join(data, 'api.db'), archiveSchema);
life.onStop(store.close);
const sqlite = await sqliteVersion();
const signer = openSigner(join(data, 'document.key'));
const observing = observe(bus);
const updating = await updates(bus, observing.stream);
let skills: Skills | undefined;
const library = openLibrary({ store, signer, log, needed: (key) => skills?.isLive(key) ?? false });
const commands = runCommands({
  store,
  library,
  log,
  event: observing.event,
  publish: bus.publish,
  async dispatch(call: Call) {
    const [path = '', query = ''] = call.path.split('?', 2);
    const asked = { ...call, caller: call.principal, path, search: new URLSearchParams(query) };
    return dispatch.route(asked, path, 'command').answer(asked, call.body);
  },
});
const { slots } = await settleSlots(config, log);
skills = await followSkills({
  bus,
  installed: installedIn(config, slots, log),
  store,
  library,
  log,
  event: observing.event,
  attached: () => commands.wake(),
});
const following = skills;
const sync = syncServer({ store, library, skills, commands, log });
const dispatch = dispatcher({
  endpoints: [
    ...aboutHub({
      bus,
      config,
      slots: skillNames(slots),
      skills,
      sqlite,
      isReady: life.healthy,
      counts: () => server.counts(),
    }),
    ...observing.endpoints,
    ...updating.endpoints,
    ...documentEndpoints({ store, skills, signer }),
    ...skillEndpoints({
      store,
      skills,
      async branches(owner_id, skill_id, doc_type) {
        const prefix = `${owner_id}/${skill_id}/${doc_type}:`;
        return (await listDocuments(store, prefix)).map((row) => row.key.slice(prefix.length));
      },
    }),
  ],
  skills,
  admit: updating.admit,
});

const server = await listen(config.api.host, config.api.port, {
  ...answering({ dispatch, commands, skills, token }),
  upgrade: (head) => sync.connect(head.path, callerOf(head.headers, token)),
});

// The owner is served before a browser comes, so that the first look finds a live screen.
await bus.watchName(uplink1.bus, (owner) => {
  if (!owner) return;
  bus
    .client(uplink1)
    .Status({})
    .then((s) => (s.owner_id ? following.addOwner(s.owner_id) : undefined))
    .catch((cause) => log.debug('uplink does not tell the owner', { cause }));
});
await commands.resume();

const expiring = setInterval(() => sync.expire(), 5000);
const sweeping = setInterval(() => {
  commands
    .sweep()
    .then(() => library.sweep())
    .catch((cause) => log.error('the sweep failed', { cause }));
}, 30_000);

process.on('SIGHUP', () => {
  token.reload();
  log.notice('the token was read again');
});
life.onStop(library.close);
life.onStop(() => server.close(3000));
life.onStop(() => {
  clearInterval(expiring);
  clearInterval(sweeping);
});
life.ready();
log.info('listening', { host: config.api.host, port: server.port });
