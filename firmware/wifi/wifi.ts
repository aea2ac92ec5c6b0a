// The one who owns the radios: lends them to the access point and to the station, so that the two never fight.
import { IngleError } from '../protocol/errors.ts';
import { openQueue } from '../protocol/queue.ts';
import type { Log } from '../system/log.ts';
import { type Access, createAccess } from './access.ts';
import type { WifiReason } from './contract.ts';
import { checkPsk, freshPsk, parseCidr, ssidBytes } from './credentials.ts';
import type { Network } from './iw.ts';
import type { Known, Networks } from './networks.ts';
import {
  noRadio,
  oneRadio,
  type Radios,
  type Shared,
  softapRadio,
  stationRadio,
  type WifiEvents,
  type WifiTimes,
  wifiTimes,
} from './ports.ts';
import { createScan, type Scan } from './scan.ts';
import { createStation, type Station } from './station.ts';
import type { Supplicant } from './supplicant.ts';

export type Wifi = ReturnType<typeof createWifi>;

const invalid = (message: string, field: string) => new IngleError('invalid_request', message, { field });

export interface WifiParts {
  radios: Radios;
  supplicant: Supplicant;
  networks: Networks;
  events: WifiEvents;
  /** Folder of this boot that only the service reads. */
  runtime: string;
  log: Log;
  /** Regulatory country until one is set; `00` = world. */
  country: string;
  times?: Partial<WifiTimes>;
}

export function createWifi(o: WifiParts) {
  const { radios, log, events } = o;
  // Why a machine moves; read when the new state is entered.
  let reason: WifiReason | '' = '';
  const shared: Shared = {
    radios,
    events,
    log,
    time: { ...wifiTimes, ...o.times },
    queued: openQueue().add,
    move(m, event, why = '') {
      reason = why;
      const moved = m.fire(event);
      reason = '';
      return moved;
    },
    entered: (part) => (state, old) => events.state(part, state, old, reason),
  };
  const { queued } = shared;
  const country = createCountry(o);
  const scan = createScan(shared);
  const station = createStation(shared, {
    supplicant: o.supplicant,
    networks: o.networks,
    access: () => access,
  });
  const access: Access = createAccess(shared, {
    runtime: o.runtime,
    country: country.now,
    channel: scan.channel,
    async makeRoom() {
      if (oneRadio(radios) && (station.state === 'lost' || station.state === 'connected'))
        await station.leave('canceled');
    },
  });

  const unwatch = watch(o, (before, now) => {
    events.radios(now.length);
    if (before[0] !== undefined && !now.includes(before[0])) station.abort('no_radio');
    void queued(async () => {
      await access.pulled();
      if (radios.list().length === 0) station.gone();
      else await station.rejoin();
    }).catch((e) => log.warn('the radios are not followed', { error: e }));
  });
  let begun = Promise.resolve();

  return {
    /** Brings back what a restart interrupted: country and known networks. The state is told once it is known. */
    begin(): Promise<void> {
      begun = country.takeUp().then(() => queued(station.rejoin));
      return begun;
    },

    /** Whether the hub is better off with this process: what is joined, or looked for, wpa_supplicant keeps alone. */
    isNeeded: () =>
      access.wanted !== undefined ||
      access.state !== 'off' ||
      !['off', 'lost', 'connected'].includes(station.state),

    supplicantState: station.supplicantState,
    supplicantGone: station.supplicantGone,

    ...stationOrders(o, shared, station, access, scan),
    ...softapOrders(shared, station, access, scan),

    async country(code: string): Promise<string> {
      if (code !== '') await country.set(code);
      return country.now();
    },

    async status() {
      await begun;
      const radio = stationRadio(radios);
      const on = station.joined !== '' && radio !== undefined;
      return {
        radios: radios.list().length,
        softap: access.state,
        station: station.state,
        country: country.now(),
        detail: {
          softap: access.describe(),
          station: on
            ? { ssid: station.joined, addresses: await radios.addresses(radio), interface: radio }
            : undefined,
          known: (await o.networks.all()).length,
          last: station.last,
        },
      };
    },

    /** The access point ends with the process; a network that is joined stays for the next one. */
    async stop(): Promise<void> {
      unwatch();
      station.abort('stopped');
      await queued(async () => {
        if (access.state !== 'off') await access.close('stop', 'stopped');
      });
      access.stop();
      station.stop();
    },
  };
}

/** What is asked of the hub as a client: which networks there are, join one, forget it. */
function stationOrders(
  { networks }: WifiParts,
  { radios, events, log, queued }: Shared,
  station: Station,
  access: Access,
  scan: Scan,
) {
  return {
    /** Networks in reach; an older list where the radio does not look now. */
    async scan(fresh: boolean): Promise<{ networks: Network[]; age_s: number }> {
      const radio = stationRadio(radios);
      if (!radio && !scan.seen) throw noRadio();
      if (radio && (fresh || !scan.seen) && !station.busy)
        await queued(() => scan.look(radio)).catch((e) => {
          if (!scan.seen) throw e;
          log.info('an older list is answered', { error: e });
        });
      if (!scan.seen) throw new IngleError('unavailable', 'The radio is busy. Try again in a moment.');
      // The second radio hears the hub itself.
      const others = scan.seen.networks.filter((n) => n.ssid !== access.wanted?.ssid);
      return { networks: others, age_s: Math.round((Date.now() - scan.seen.at) / 1000) };
    },

    async connect(n: Known): Promise<{ ok: boolean; reason: string }> {
      checkNetwork(n, scan.seen?.networks ?? []);
      if (station.busy)
        throw new IngleError('conflict', 'A network is being joined already. Wait for its result.');
      if (!stationRadio(radios)) throw noRadio();
      try {
        const why = await station.join(n);
        events.result(n.ssid, why === '', why);
        return { ok: why === '', reason: why };
      } catch (e) {
        events.result(n.ssid, false, 'radio_failed' satisfies WifiReason);
        throw e;
      }
    },

    async forget(ssid: string): Promise<void> {
      station.abort('canceled');
      await queued(async () => {
        const count = await networks.forget(ssid);
        if (ssid !== '' && count === 0)
          throw new IngleError('not_found', 'This network is not known.', { field: 'ssid' });
        if (ssid === '') station.forgetLast();
        if (station.state === 'off' || (ssid !== '' && station.joined !== ssid && station.joined !== ''))
          return;
        await station.leave('stopped');
        await station.rejoin();
      });
    },
  };
}

/** What is asked of the access point. */
function softapOrders({ radios, log, queued }: Shared, station: Station, access: Access, scan: Scan) {
  return {
    async softapStart(a: { ssid: string; psk: string; cidr: string; idle_timeout: number }) {
      ssidBytes(a.ssid);
      const psk = a.psk === '' ? freshPsk() : a.psk;
      checkPsk(psk);
      const net = parseCidr(a.cidr === '' ? '10.42.0.1/24' : a.cidr);
      if (!softapRadio(radios)) throw noRadio();
      if (station.busy && oneRadio(radios))
        throw new IngleError('conflict', 'The radio is joining a network. Wait for its result.');
      const up = await queued(() => access.start({ ssid: a.ssid, psk, net, idleMs: a.idle_timeout * 1000 }));
      const other = stationRadio(radios);
      if (other && !oneRadio(radios) && !scan.isFresh())
        void queued(() => scan.look(other)).catch((e) => log.info('no scan yet', { error: e }));
      return { psk, address: net.address, interface: up.interface, security: up.sae ? 'wpa2+wpa3' : 'wpa2' };
    },

    async softapStop(): Promise<void> {
      access.unwant();
      await queued(async () => {
        if (access.state !== 'off') await access.close('stop', 'stopped');
        await station.rejoin();
      });
    },
  };
}

/** @throws IngleError `invalid_request` when nothing can be joined by what is asked for */
function checkNetwork(n: Known, seen: readonly Network[]): void {
  ssidBytes(n.ssid);
  if (!['', 'open', 'wpa2', 'wpa3'].includes(n.security))
    throw invalid('Security is open, wpa2, wpa3 or empty.', 'security');
  const isProtected = n.security === 'wpa2' || n.security === 'wpa3';
  const seenProtected = seen.some((x) => x.ssid === n.ssid && x.security !== 'open');
  if (n.psk !== '') checkPsk(n.psk);
  else if (isProtected || seenProtected) throw invalid('This network needs a password.', 'psk');
}

/** The regulatory country: of the configuration until one was set. */
function createCountry({ radios, networks, log, country: first }: WifiParts) {
  let country = first;
  return {
    now: () => country,
    /** Brings back what was set before a restart. */
    async takeUp(): Promise<void> {
      country = (await networks.country()) ?? country;
      if (country !== '00')
        await radios.setCountry(country).catch((e) => log.warn('country not set', { error: e }));
    },
    async set(code: string): Promise<void> {
      if (!/^([A-Z]{2}|00)$/.test(code))
        throw invalid('A country is two capital letters, such as DE.', 'code');
      await radios.setCountry(code);
      await networks.setCountry(code);
      country = code;
    },
  };
}

/** Compares the radios each second with those of a moment ago. @returns ends it */
function watch({ radios, log }: WifiParts, changed: (before: string[], now: string[]) => void): () => void {
  let present = radios.list();
  const timer = setInterval(() => {
    const now = radios.list();
    if (now.join() === present.join()) return;
    const before = present;
    present = now;
    log.notice('radios changed', { now: now.join(' ') });
    changed(before, now);
  }, 1000);
  return () => clearInterval(timer);
}
