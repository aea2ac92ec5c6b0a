// The namespace /hub: hubs show certificate and proof, say that they are there, and take browsers in.
import type { Socket } from 'socket.io';
import * as T from 'typebox';
import { checked } from '../firmware/protocol/endpoint/check.ts';
import { IngleError } from '../firmware/protocol/errors.ts';
import { seconds } from './clock.ts';
import type { Side } from './events.ts';
import type { Gate } from './gate.ts';
import { authenticateHub, authenticateTls } from './hubs.ts';
import { tooMany } from './limit.ts';
import type { HubLine } from './links.ts';
import { log } from './log.ts';
import { accept } from './pairing.ts';
import { openProxies } from './proxies.ts';
import type { Root } from './root.ts';
import { steer } from './steer.ts';

/** What hangs on a socket. `line` comes with the connection. */
interface HubData {
  hub_id: string;
  subnet_id: string;
  line: HubLine;
  waiting: number;
}

/** What is said in the handshake and the events. */
const text = T.String();
const maybe = T.Optional(text);
const list = T.Array(T.Unknown());
const only = { additionalProperties: false };
const said = {
  hub: T.Object({ hub_id: text, certificate: text, proof: maybe }, only),
  online: T.Object(
    {
      hub_id: text,
      subnet_id: text,
      caps: T.Object({ version: text, e2e: list, ui: list, features: list }, only),
    },
    only,
  ),
  accept: T.Object({ sid: text, hub_e2e_pub: maybe, sealed_secret: maybe }, only),
};

/** Accepts a hub may have under way at once. */
const MAX_WAITING_ACCEPTS = 4096;

export function hubSide(root: Root, gate: Gate): Side {
  const { relay } = root;
  const names = root.config.mtlsHeader;
  const { trusts } = openProxies(root.config);
  return {
    async admit(socket, header) {
      const { hub_id, certificate, proof } = checked(said.hub, socket.handshake.auth);
      // First, as it costs least: who claims to be another hub gains a hint that leads only that one.
      await steer(root, socket, hub_id, 'hub');
      const isTold = names !== '' && proof === undefined && trusts(socket.handshake.address);
      const tls = isTold ? header(names) : '';
      const hub = tls
        ? await authenticateTls(root, certificate, tls)
        : (await authenticateHub(root, certificate, proof, 'socket')).hub;
      if (hub.hub_id !== hub_id)
        throw new IngleError('unauthenticated', 'The certificate is of another hub.');
      const away = gate.away(hub_id);
      if (away > 0) throw tooMany(away);
      await root.ways.settle(hub_id);
      socket.data = { hub_id, subnet_id: hub.subnet_id, waiting: 0 };
      gate.admit(socket.conn, 'hub', hub.owner_id, hub_id);
    },
    events: {
      'relay.to_browser': (socket, m) => relay.toBrowser((socket.data as HubData).line, socket, m),
      'hub.online': (socket, m) => {
        const data = socket.data as HubData;
        const { hub_id, subnet_id } = checked(said.online, m);
        if (hub_id !== data.hub_id || subnet_id !== data.subnet_id)
          throw new IngleError('forbidden', 'This connection is of another hub.');
        if (data.line.socket !== socket) throw new IngleError('conflict', 'A newer connection took over.');
        relay.hubOnline(data.line);
        void root.records.hubs
          .seen(hub_id, seconds())
          .catch((e) => log('error', 'a hub was not noted', { cause: e }));
        log('info', 'hub online', { hub_id });
      },
      'pairing.accept': async (socket, m) => {
        const data = socket.data as HubData;
        const { sid, hub_e2e_pub, sealed_secret } = checked(said.accept, m);
        if (data.waiting >= MAX_WAITING_ACCEPTS)
          throw new IngleError('rate_limited', 'Too many pairings at once.', { retry_after: 1 });
        data.waiting++;
        try {
          await accept(root, data.hub_id, sid, hub_e2e_pub, sealed_secret);
        } finally {
          data.waiting--;
        }
      },
    },
    came(socket) {
      const data = socket.data as HubData;
      data.line = relay.hubUp(data.hub_id, socket);
      // Another process became its home while it was let in.
      if (!root.ways.isSettled(data.hub_id)) socket.conn.close();
    },
    gone(this: Socket) {
      const { line, hub_id } = this.data as HubData;
      relay.hubDown(line, this);
      this.conn.close();
      log('info', 'hub offline', { hub_id });
    },
  };
}
