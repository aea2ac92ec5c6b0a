// ingle-api: the local API. Wires the documents, the skills and the paths to one server.
import { join } from 'node:path';
import { archiveSchema, nextExpiry } from '../../firmware/documents/archive.ts';
import { runCommands } from '../../firmware/documents/commands.ts';
import { openLibrary } from '../../firmware/documents/library.ts';
import type { Call } from '../../firmware/documents/once.ts';
import { openSigner } from '../../firmware/documents/sign.ts';
import { openSweeps, type Sweeps } from '../../firmware/documents/sweeps.ts';
import { openHooks } from '../../firmware/hooks/hooks.ts';
import { hooksSchema } from '../../firmware/hooks/records.ts';
import { mcpApi } from '../../firmware/mcp/api.ts';
import { openBoots } from '../../firmware/node/boots.ts';
import { isPersonId } from '../../firmware/people/person.ts';
import { pushSchema } from '../../firmware/push/push.ts';
import { duesSchema, openDues } from '../../firmware/skills/dues.ts';
import { followSkills, type Skills } from '../../firmware/skills/follow.ts';
import { installedIn } from '../../firmware/skills/installed.ts';
import type { Manifest } from '../../firmware/skills/manifest.ts';
import { readSlots, settleSlots, skillNames } from '../../firmware/skills/table.ts';
import { lifecycle } from '../../firmware/supervisor/lifecycle.ts';
import { dataOf, hostOf, readConfig, sqlite, version } from '../../firmware/system/config.ts';
import { startService } from '../../firmware/system/service.ts';
import { openStore } from '../../firmware/system/store.ts';
import { tokenCheck } from '../../firmware/system/token.ts';
import { openVault } from '../../firmware/system/vault.ts';
import { uplink1 } from '../../firmware/uplink/contract.ts';
import { answering } from './answer.ts';
import { appEndpoints } from './apps.ts';
import { callerOf } from './auth.ts';
import { browserEndpoints } from './browsers.ts';
import { type Desktop, openDesktop } from './desktop.ts';
import { type Dispatch, dispatcher } from './dispatch.ts';
import { documentEndpoints } from './documents.ts';
import { hookEndpoints } from './hooks.ts';
import { tellOwner } from './hub-notices.ts';
import { desktopSchema } from './icons.ts';
import { installing } from './installing.ts';
import { ioEndpoints } from './io.ts';
import { adminEndpoints } from './lifecycle.ts';
import { mcpEndpoints } from './mcp.ts';
import { metricsEndpoints } from './metrics.ts';
import { nodeEndpoints } from './node.ts';
import { observe } from './observe.ts';
import { peopleEndpoints } from './people.ts';
import { notices } from './push.ts';
import { desktopEndpoints } from './scenario.ts';
import { scenarioEndpoints } from './scenarios.ts';
import { skillEndpoints } from './screens.ts';
import { listen } from './server.ts';
import { serviceEndpoints } from './services.ts';
import { speechEndpoints } from './speech.ts';
import { aboutHub } from './status.ts';
import { subnetEndpoints } from './subnet.ts';
import { openSwitch } from './switch.ts';
import { syncServer } from './sync.ts';
import { updates } from './update.ts';

const config = readConfig();
const data = dataOf(config, 'api');
const life = await startService('api');
const { bus, log } = life;
const token = tokenCheck(join(data, 'token'));
// What is new goes to the end: a file counts the steps it has taken.
const store = await openStore(join(data, 'api.db'), [
  ...archiveSchema,
  ...hooksSchema,
  duesSchema,
  ...desktopSchema,
  pushSchema,
]);
life.onStop(store.close);
const boots = await openBoots({
  data,
  runtime: join(config.runtime, 'api'),
  version,
  failed: (cause) => log.warn('the boots are not written down', { cause }),
});
const signer = openSigner(join(data, 'document.key'));
const observing = observe(bus);
const lifetime = lifecycle(log);
const updating = await updates(bus, observing.stream, lifetime);
const hooks = await openHooks({
  store,
  vault: openVault(join(data, 'hooks.key')),
  log,
  publication(topic, payload) {
    const publish = bus.publication(topic, payload);
    return () => {
      publish();
      observing.event(topic, payload);
    };
  },
  flushed: bus.flushed,
});
let skills: Skills | undefined;
let desktop: Desktop | undefined;
let sweeps: Sweeps | undefined;
/** Closes the rooms of who lost a right; nobody is in one before there is a server. */
let narrowed = () => {};
const library = openLibrary({
  ...{ store, signer, log },
  needed: (key) => skills?.isLive(key) ?? false,
  aclChanged: () => narrowed(),
  written: (key) => desktop?.stirred(key),
  stirred: (at) => sweeps?.by(at),
});
const commands = runCommands({
  stirred: (at) => sweeps?.by(at),
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
const dues = await openDues({ store, log, wake: (id) => following.rouse(id) });
/** What is told of skills is news to the desktops, too. */
const told: typeof observing.event = (topic, payload) => {
  observing.event(topic, payload);
  desktop?.changed();
};
const pushes = notices({ bus, config, data, store, library, log });
/** Whether a skill may tell a person something, which their screens show whether they have shown a passkey or not. */
function isToldTo(owner_id: string, manifest: Manifest | undefined): manifest is Manifest {
  const role = desktop?.roleOf(owner_id) ?? (isPersonId(owner_id) ? undefined : 'owner');
  const [given] = (manifest && role && desktop?.of(role, [manifest]).skills) ?? [];
  return given !== undefined && !given.ownerOnly;
}
skills = await followSkills({
  bus,
  installed: installedIn(config, slots, log),
  look: (id) => installedIn(config, readSlots(config).slots, log).find((i) => i.manifest.id === id),
  store,
  library,
  log,
  event: told,
  attached: () => commands.wake(),
  gone: library.left,
  said(skill_id, owner_id, topic, payload) {
    const manifest = skills?.known().get(skill_id)?.manifest;
    if (!isToldTo(owner_id, manifest)) return;
    pushes
      .tell(owner_id, { skill_id, topic, payload }, manifest)
      .catch((cause) => log.error('what a skill tells is lost', { cause }));
  },
  due: dues.keep,
  makeRoom: () => people.makeRoom(),
});
const following = skills;
await tellOwner({ bus, pushes, log, manifestOf: (id) => following.known().get(id)?.manifest });
desktop = await openDesktop({ store, library, skills, log, narrowed: () => narrowed() });
const sync = syncServer({ store, library, skills, desktop, commands, log });
narrowed = sync.expire;
const installs = await installing({
  ...{ bus, config, store, library, skills, sync, log },
  event: told,
});
const people = peopleEndpoints({ bus, store, library, skills, desktop, sync, pushes, log });
const mcp = await openSwitch(store, 'mcp');
const dispatch: Dispatch = dispatcher({
  endpoints: [
    ...aboutHub({
      bus,
      config,
      isDeveloper: installs.isDeveloper,
      isMcp: mcp.get,
      skills,
      sqlite,
      isReady: () => life.healthy() && lifetime.view().state === 'running',
      counts: () => server.counts(),
    }),
    ...observing.endpoints,
    ...metricsEndpoints({
      bus,
      skills() {
        const known = [...following.known().values()];
        return { known: known.length, available: known.filter((k) => k.available).length };
      },
      server: () => server,
    }),
    ...(await ioEndpoints(bus, log)),
    ...people.endpoints,
    ...browserEndpoints(bus),
    ...pushes.endpoints,
    ...hookEndpoints(hooks),
    ...mcpEndpoints({
      ...{ skills, desktop, mcp, token_file: join(data, 'token') },
      route: (...a) => dispatch.route(...a),
      url: () => `http://${hostOf(config.api.host)}:${server.port}${mcpApi.ask.path}`,
    }),
    ...speechEndpoints(bus),
    ...serviceEndpoints({ bus, config, slots: () => skillNames(readSlots(config).slots) }),
    ...nodeEndpoints({ bus, config, boots, store, library }),
    ...subnetEndpoints({ bus, name: () => config.name }),
    ...adminEndpoints({
      bus,
      log,
      life: lifetime,
      counts: () => server.counts(),
      commands: commands.size,
    }),
    ...updating,
    ...installs.endpoints,
    ...documentEndpoints({ store, library, skills, desktop, signer, sync }),
    ...desktopEndpoints({ scenario: desktop.scenario, skills }),
    ...skillEndpoints({ store, skills, desktop, library }),
    ...appEndpoints({ skills, desktop, config, signer, log }),
    ...scenarioEndpoints({
      ...{ bus, pushes, publishers: installs.publishers, isDeveloper: installs.isDeveloper },
      knows: (user) => following.owners().includes(user),
    }),
  ],
  skills,
  desktop,
  admit: lifetime.admit,
});

const server = await listen(config.api.host, config.api.port, {
  ...answering({ dispatch, commands, skills, token }),
  upgrade({ path, headers, query }) {
    const pass = headers['x-service-token'] === undefined ? query.get('token') : null;
    if (pass === null) return sync.connect(path, callerOf(headers, token));
    const { caller, until } = sync.holder(path, pass);
    return sync.connect(path, caller, until);
  },
});

// The owner is served before a browser comes, so that the first look finds a live screen.
await bus.watchName(uplink1.bus, (owner) => {
  if (!owner) return;
  bus
    .client(uplink1)
    .Status({})
    .then((s) => (s.owner_id ? following.addOwner(s.owner_id) : undefined))
    .then(() => people.tidy())
    .catch((cause) => log.debug('uplink does not tell the owner', { cause }));
});
await commands.resume();
await installs.begin();
dues.begin();

sweeps = openSweeps({
  async work() {
    await commands.sweep();
    await library.sweep();
  },
  next: async () => {
    const at = await nextExpiry(store);
    return at === undefined ? undefined : (at + 1) * 1000;
  },
  failed: (cause) => log.error('the sweep failed', { cause }),
});
library.left();

process.on('SIGHUP', () => {
  token.reload();
  log.notice('the token was read again');
});
life.onStop(library.close);
life.onStop(desktop.close);
life.onStop(installs.stop);
life.onStop(dues.stop);
life.onStop(() => server.close(3000));
life.onStop(sweeps.stop);
life.onStop((status) => (status === 0 ? boots.end() : undefined));
life.onStop(lifetime.stop);
life.ready();
log.info('listening', { host: config.api.host, port: server.port });
