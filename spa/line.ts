// The channel to the hub: begun when the route through root is bound, begun anew when that is bound anew.
import { fromBase64url, toBase64url } from '../firmware/protocol/bytes.ts';
import type { Switch, SwitchOptions } from '../firmware/protocol/direct/switch.ts';
import { IngleError } from '../firmware/protocol/errors.ts';
import type { Access, Channel } from '../firmware/protocol/noise/channel.ts';
import { initiator } from '../firmware/protocol/noise/initiator.ts';
import type { KeyPair } from '../firmware/protocol/noise/x25519.ts';
import { tunnelClient } from '../firmware/protocol/tunnel/client.ts';
import type { TunnelClient } from '../firmware/protocol/tunnel/tunnel.ts';
import type { Pin } from './database.ts';
import { openRoute, type RouteEvents } from './route.ts';
import { reserveCounter, type Session, session, startCounter } from './sid.ts';

/** A session that is signed in and leads to a hub. */
export type Signed = Session & { session_jwt: string; hub_id: string };

export interface LineEvents extends Omit<RouteEvents, 'bound' | 'frame' | 'opening'> {
  /** A channel begins: all that it tells is still to come. */
  begun(channel: Channel, mode: Access['mode']): void;
  /** A frame comes, before the channel has it. */
  frame(frame: Uint8Array): void;
  /** The secret of the insecure debug mode does not come. */
  refused(error: IngleError): void;
}

function accessOf({ access: a }: Session, pin: Pin | undefined): Access | null {
  if (a?.mode === 'typed') return a;
  if (a?.mode === 'link')
    return { mode: 'link', hubStatic: fromBase64url(a.hubStatic), psk: fromBase64url(a.psk) };
  const hubStatic = a?.mode === 'proven' ? fromBase64url(a.hubStatic) : pin?.hubStatic;
  return hubStatic ? { mode: 'known', hubStatic } : null;
}

export type Line = ReturnType<typeof openLine>;

/** Opens the line and keeps it open until `close`. @throws IngleError `pairing_failed` for want of access */
export function openLine(s: Signed, key: KeyPair, pin: Pin | undefined, on: LineEvents) {
  const { sid, hub_id: hubId, session_jwt } = s;
  /** INSECURE: the hub's secret comes through root, sealed; until it is here there is no access. */
  const isSealed = () => session()?.access?.mode === 'sealed';
  let access = accessOf(s, pin);
  if (!access && !isSealed())
    throw new IngleError('pairing_failed', 'This browser is not paired with the hub.');
  let channel: Channel | null = null;
  let tunnel: TunnelClient | null = null;
  let closed = false;
  /** Highest number that has come through root, and what takes other ways beside that one. */
  let given = -1;
  let ways: Switch | undefined;

  const route = openRoute(
    {
      ...{ sid, session_jwt, browser_key_id: s.browser_key_id ?? '' },
      e2e_pubkey: toBase64url(key.publicKey),
      wantsSecret: isSealed,
    },
    {
      ...on,
      // A pairing begins once the hub is there, as each of its tries counts. Where nothing needs root, nothing was lost with it.
      opening: () => access?.mode === 'known' && !ways?.settled && shake(),
      bound: (secret) => (isSealed() ? void unsealed(secret) : ways?.settled || shake()),
      frame(frame, ctr) {
        on.frame(frame);
        if (ways) return ways.fromRelay(frame, ctr);
        given = ctr;
        channel?.receive(frame, ctr);
      },
    },
  );

  /** Begins a handshake. */
  function shake(): true {
    if (channel) {
      channel.restart();
      return true;
    }
    startCounter(sid);
    channel = initiator({
      sid,
      hubId,
      key,
      access: access!,
      counters: { reserve: async (count) => reserveCounter(sid, count) },
      timing: { handshake: 4000, backoff: 200, backoffMax: 2000 },
      send: (frame, ctr) => (ways ?? route).send(frame, ctr),
    });
    tunnel = tunnelClient(channel);
    on.begun(channel, access!.mode);
    return true;
  }

  /** Takes the sealed secret root hands over; a new one begins a new channel. */
  async function unsealed(given: string | undefined): Promise<void> {
    try {
      const { unseal } = await import('../firmware/protocol/noise/seal.ts');
      const secret = await unseal(fromBase64url(given ?? ''), key, sid, hubId);
      access = { mode: 'sealed', ...secret };
    } catch {
      return on.refused(new IngleError('pairing_failed', 'The hub sent no secret: its debug mode is off.'));
    }
    if (!isSealed() || closed) return;
    tunnel?.close();
    channel?.close();
    channel = null;
    shake();
  }

  return {
    route,
    channel: () => channel,
    tunnel: () => tunnel,
    /** Frames go straight to the hub. */
    direct: () => ways?.way === 'direct',
    /** From now on frames may take other ways than through root. */
    detour: (open: (o: SwitchOptions) => Switch) =>
      (ways = open({
        ...{ relay: route.send, given, changed: on.changed },
        receive: (frame, ctr) => channel?.receive(frame, ctr),
      })),
    close(): void {
      closed = true;
      tunnel?.close();
      channel?.close();
      route.close();
    },
  };
}
