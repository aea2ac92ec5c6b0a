// ingle-api: the local API. Wires the documents, the skills and the paths to one server.
import { join } from 'node:path';
import { type Caller, isElevated, rightsOf } from '../../firmware/documents/acl.ts';
import { archiveSchema, listDocuments } from '../../firmware/documents/archive.ts';
import { type Call, runCommands } from '../../firmware/documents/commands.ts';
import { isOwnerId, parseKey } from '../../firmware/documents/key.ts';
import { openLibrary } from '../../firmware/documents/library.ts';
import { openSigner } from '../../firmware/documents/sign.ts';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { followSkills, type Skills } from '../../firmware/skills/follow.ts';
import { connect } from '../../firmware/system/bus.ts';
import { dataOf, readConfig } from '../../firmware/system/config.ts';
import { logger } from '../../firmware/system/log.ts';
import { ready, stopping } from '../../firmware/system/notify.ts';
import { openStore, sqliteVersion } from '../../firmware/system/store.ts';
import { tokenCheck } from '../../firmware/system/token.ts';
import { uplink1 } from '../../firmware/uplink/contract.ts';
import { callerOf } from './auth.ts';
import { observe } from './observe.ts';
import { commandPaths, json, type Parts, route } from './routes.ts';
import { listen, type Request, type Response } from './server.ts';
import { statusOf } from './status.ts';
import { syncServer } from './sync.ts';
import { updates } from './update.ts';

const config = readConfig();
const data = dataOf(config, 'api');
const log = logger('api');
const token = tokenCheck(join(data, 'token'));
const store = await openStore(join(data, 'api.db'), archiveSchema);
const sqlite = await sqliteVersion();
const signer = openSigner(join(data, 'document.key'));
const bus = await connect();
const observing = observe(bus);
const updating = await updates(bus);
let skills: Skills | undefined;
let healthy = true;
const library = openLibrary({ store, signer, log, needed: (key) => skills?.isLive(key) ?? false });
const commands = runCommands({
  store,
  library,
  log,
  event: observing.event,
  publish: bus.publish,
  async dispatch(call: Call) {
    const [path = '', query = ''] = call.path.split('?', 2);
    if (!commandPaths.test(path)) throw new IngleError('forbidden', 'A command may not ask for this path.');
    const asked = { ...call, caller: call.principal, query: new URLSearchParams(query) };
    return route(asked, path, parts)(asked);
  },
});
skills = await followSkills({
  bus,
  store,
  library,
  log,
  event: observing.event,
  attached: () => commands.wake(),
});
const following = skills;

/** Whose things a caller asks about: its own, and for local control those of the hub's owner. */
async function ownerOf(caller: Caller): Promise<string> {
  const owner_id = caller?.owner_id ?? following.owners().at(-1) ?? 'local';
  await following.addOwner(owner_id);
  return owner_id;
}

async function index(caller: Caller, given: string): Promise<Response> {
  const prefix = given.startsWith('owner/') ? given.slice('owner/'.length) : given;
  const owner_id = prefix.split('/')[0] ?? '';
  if (caller !== null && owner_id !== caller.owner_id)
    throw new IngleError('forbidden', 'The prefix must begin with your own owner id and a "/".', {
      pointer: '/prefix',
    });
  if (caller !== null && !prefix.includes('/'))
    throw new IngleError('invalid_request', 'The prefix must end its owner id with a "/".', {
      pointer: '/prefix',
    });
  if (owner_id !== '' && !isOwnerId(owner_id))
    throw new IngleError('invalid_request', 'The prefix begins with no owner id.', { pointer: '/prefix' });
  const rows = await listDocuments(store, prefix);
  const documents = rows.flatMap((row) => {
    const key = parseKey(row.key);
    const acl = JSON.parse(row.acl) as string[];
    const closed = following.known().get(key.skill_id)?.manifest.permissions?.ownerOnly ?? false;
    if (!rightsOf(key, acl, caller).read || (closed && !isElevated(caller, Date.now() / 1000))) return [];
    return [{ ...row, acl }];
  });
  return json({ documents, public_key: signer.publicKey });
}

async function handle(request: Request): Promise<Response> {
  const caller = callerOf(request.headers, token);
  const owner_id = await ownerOf(caller);
  const given = request.headers['idempotency-key'];
  if (given !== undefined && !/^[A-Za-z0-9][A-Za-z0-9_.:-]{0,63}$/.test(given))
    throw new IngleError('invalid_request', 'Idempotency-Key must be 1 to 64 letters, digits and "_.:-".');
  const { method, path, query, body } = request;
  const answer = route({ caller, method }, path, parts);
  const work = (id: string) => answer({ id, owner_id, method, path, query, body, caller });
  // What is only read is simply read again, and opening a screen changes nothing.
  if (given === undefined || method === 'GET' || path === '/v1/open') return work(crypto.randomUUID());
  const whole = query.size > 0 ? `${path}?${query}` : path;
  return commands.once({ id: given, owner_id, principal: caller, method, path: whole, body }, work);
}

const sync = syncServer({ store, library, skills, commands, log });
const server = await listen(config.api.host, config.api.port, {
  admit(head) {
    if (head.path === '/health/live') return json({ ok: true });
    if (head.path === '/health/ready')
      return healthy ? json({ ok: true }) : json({ error: 'unavailable', message: 'Not ready.' }, 503);
    const caller = callerOf(head.headers, token);
    return caller ? `${caller.owner_id}/${caller.browser}` : '';
  },
  handle,
  upgrade: (head) => sync.connect(head.path, callerOf(head.headers, token)),
}).catch((e: Error) => {
  log.error(e.message);
  process.exit(73);
});
const parts: Parts = {
  store,
  skills,
  observe: observing,
  updates: updating,
  status: statusOf({ bus, config, skills, sqlite, counts: () => server.counts() }),
  index,
  async branches(owner_id, skill_id, doc_type) {
    const prefix = `${owner_id}/${skill_id}/${doc_type}:`;
    return (await listDocuments(store, prefix)).map((row) => row.key.slice(prefix.length));
  },
};

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

bus.closed.then(() => {
  healthy = false;
  log.warn('the message bus is gone');
  process.exit(69);
});
process.on('SIGHUP', () => {
  token.reload();
  log.notice('the token was read again');
});
async function stop(): Promise<void> {
  stopping();
  healthy = false;
  clearInterval(expiring);
  clearInterval(sweeping);
  await server.close(3000);
  await library.close();
  await store.close();
  process.exit(0);
}
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => stop());
ready(() => healthy);
log.info('listening', { host: config.api.host, port: server.port });
