// The hub's link to root as one object: enrolment, the socket, pairing windows, who is let in. No D-Bus here.
import { join } from 'node:path';
import { IngleError } from '../protocol/errors.ts';
import { type Config, dataOf } from '../system/config.ts';
import type { Log } from '../system/log.ts';
import { translator } from '../text/i18n.ts';
import { uplinkTexts } from '../text/uplink.ts';
import { shownLabel } from './admission.ts';
import { calm } from './calm.ts';
import { type Codes, openCodes } from './codes.ts';
import { type Connection, openConnection } from './connection.ts';
import type { Core, UplinkEvents } from './core.ts';
import { enrolment } from './enrolment.ts';
import { openHousehold } from './household.ts';
import { keyPath } from './keyfile.ts';
import { openKeyring } from './keyring.ts';
import { type Member, openMember } from './member.ts';
import { openNodes } from './nodes.ts';
import { openPeople } from './people.ts';
import { openPins } from './pins.ts';
import { rootClient } from './root.ts';
import { openUplinkStore } from './store.ts';
import { openSubnet } from './subnet.ts';
import { openUpkeep } from './upkeep.ts';

export type Uplink = Awaited<ReturnType<typeof openUplink>>;

/** Opens keys and store; `start` connects. */
export async function openUplink(o: { config: Config; log: Log; on: UplinkEvents; now?: () => number }) {
  const { config, log } = o;
  const now = o.now ?? (() => Math.floor(Date.now() / 1000));
  const text = translator(uplinkTexts, config.language.startsWith('ru') ? 'ru' : 'en');
  if (config.insecure_sealed_secret) log.warn(text('insecure'));
  const folder = dataOf(config, 'uplink');
  const ring = await openKeyring(folder, now());
  const store = await openUplinkStore(join(folder, 'uplink.sqlite'));
  await store.sweepPeople(await store.identity());
  const pins = await openPins(store, now);
  const people = await openPeople(store, () => place.identity, now);
  const root = rootClient({ root_url: config.root_url, keys: () => ring.keys, now, text });
  const place = enrolment({
    ...{ config, store, root, text, log, identity: await store.identity() },
    willing: (offered, note) => member.willing(offered, note),
    entered(i, before) {
      connection.enter(i, before);
      member.enter();
    },
    async leave(write) {
      const was = place.identity;
      connection.disconnect();
      codes.drop();
      await pins.forgetAll(write).catch((e) => {
        if (was) connection.connect(was);
        throw e;
      });
      people.forgetAll();
      nodes.forgetAll();
      await member.moved();
    },
  });
  const outside = calm(log, Date.now);
  const nodes = await openNodes({
    ...{ store, now, interval: config.subnet_heartbeat, passed: () => performance.now() },
    listening: () => connection.isUp(),
    changed(n) {
      log.notice('a member of the subnet', { hub_id: n.hub_id, state: n.state });
      o.on.node({ hub_id: n.hub_id, state: n.state });
    },
    failed: (e) => log.error('the store did not take a change', { error: e as Error }),
  });
  const core: Core = {
    config,
    on: o.on,
    log,
    outside,
    now,
    text,
    ring,
    store,
    pins,
    nodes,
    people,
    root,
    place,
    trouble: '',
  };
  const codes: Codes = await openCodes(core, { hubProven: nodes.prove });
  const member: Member = openMember(core, await store.membership());
  const shut = (staticPub: string) => connection.sessions()?.shut(staticPub);
  const nudge = (staticPub: string) => connection.sessions()?.nudge(staticPub);
  const subnet = openSubnet(core, codes, member, { shut, nudge });
  const upkeep = openUpkeep(
    core,
    () => connection,
    async () => {
      await subnet.came();
      await member.came();
    },
  );
  const connection: Connection = openConnection(core, codes, {
    came: () => void upkeep.run(),
    refused: upkeep.reenrol,
  });
  const household = openHousehold(core, codes, shut);

  return {
    /** Connects, when the hub is enrolled with the configured root. */
    start(): void {
      nodes.start();
      const { identity, trouble } = place;
      if (identity && trouble === '') {
        connection.connect(identity);
        member.enter();
      } else if (identity) log.warn(trouble);
    },
    enrol: place.enrol,
    offered: place.offered,
    adopt: place.adopt,
    keyFile: keyPath(folder),
    issueCode: (newPasskey: boolean) => codes.issue(newPasskey),
    household,
    subnet,
    status: () => statusOf(core, connection),
    ...browsersOf(core, shut),
    rotateKey: () => rotateKey(core, connection, upkeep.tellRoot),
    async close(): Promise<void> {
      upkeep.stop();
      nodes.stop();
      member.stop();
      household.stop();
      connection.close();
      await store.close();
    },
  };
}

function statusOf({ config, place, pins, trouble }: Core, connection: Connection) {
  return {
    connected: connection.isUp(),
    identity: place.identity,
    // Whether the hub has been paired is said by its owner's alone.
    browsers: pins.browsers().filter((b) => b.person === undefined).length,
    channels: connection.sessions()?.openCount() ?? 0,
    pending: connection.sessions()?.pendingCount() ?? 0,
    insecure: config.insecure_sealed_secret,
    last_error: place.trouble || trouble,
  };
}

/** The pinned browsers, whosesoever they are. @param shut ends the channels of a static key, at once */
function browsersOf({ pins, log }: Core, shut: (staticPub: string) => void) {
  return {
    browsers: () => pins.browsers(),
    /** @throws IngleError `not_found` */
    async forget(id: string): Promise<void> {
      if (!(await pins.forget(id))) throw new IngleError('not_found', 'There is no such browser.');
      shut(id);
      log.notice('browser forgotten', { browser: id });
    },
    /** @throws IngleError `not_found`, `invalid_request` when nothing of the label can be shown. */
    async rename(id: string, given: string): Promise<void> {
      const label = shownLabel(given);
      if (label === '')
        throw new IngleError('invalid_request', 'A browser has a name.', { pointer: '/label' });
      if (!(await pins.rename(id, label))) throw new IngleError('not_found', 'There is no such browser.');
    },
  };
}

/** A new static key; open channels are told at once, root now or when it is back. */
async function rotateKey(
  { ring, place, log, now }: Core,
  connection: Connection,
  tellRoot: () => Promise<void>,
): Promise<void> {
  await ring.rotate(now());
  log.notice('static key rotated');
  // Root binds the routes anew, so every browser shakes hands and hears of the key with its welcome. Without root
  // the open channels are told directly.
  const toldRoot =
    place.identity && connection.isUp()
      ? await tellRoot().then(
          () => true,
          () => false,
        )
      : false;
  if (!toldRoot) for (const s of connection.sessions()?.all() ?? []) s.rotate();
}
