// The one who owns the radios: lends them to the access point and to the station, so that the two never fight.
import { IngleError } from '../protocol/errors.ts';
import { openQueue } from '../protocol/queue.ts';
import type { Log } from '../system/log.ts';
import { type Access, createAccess } from './access.ts';
import type { WifiReason } from './contract.ts';
import { checkPsk, freshPsk, parseCidr, ssidBytes } from './credentials.ts';
import { type Network, near, quietChannel } from './iw.ts';
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
import { createStation } from './station.ts';
import type { Supplicant } from './supplicant.ts';

export type Wifi = ReturnType<typeof createWifi>;

const invalid = (message: string, field: string) => new IngleError('invalid_request', message, { field });

export function createWifi(o: {
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
}) {
  const { radios, log, events } = o;
  let country = o.country;
  let seen: { networks: Network[]; at: number } | undefined;
  let present = radios.list();
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
  const station = createStation(shared, {
    supplicant: o.supplicant,
    networks: o.networks,
    access: () => access,
  });
  const access: Access = createAccess(shared, {
    runtime: o.runtime,
    country: () => country,
    async channel(radio) {
      const missed = (e: unknown) => log.info('no scan before the access point', { error: e });
      if (isFresh() || oneRadio(radios)) {
        if (!isFresh()) await look(radio).catch(missed);
        return quietChannel(seen?.networks ?? []);
      }
      // The other radio looks at all bands, for seconds, once this one's beacons are in the air.
      return quietChannel((await radios.scan(radio, near).catch(missed)) ?? []);
    },
    async makeRoom() {
      if (oneRadio(radios) && (station.state === 'lost' || station.state === 'connected'))
        await station.leave('canceled');
    },
  });

  const isFresh = () => seen !== undefined && Date.now() - seen.at <= shared.time.fresh;

  async function look(radio: string): Promise<void> {
    const networks = await radios.scan(radio);
    seen = { networks, at: Date.now() };
    events.scanDone(networks.length);
  }

  /** Compares the radios with those of a moment ago. */
  function watch(): void {
    const now = radios.list();
    if (now.join() === present.join()) return;
    const before = present;
    present = now;
    log.notice('radios changed', { now: now.join(' ') });
    events.radios(now.length);
    if (before[0] !== undefined && !now.includes(before[0])) station.abort('no_radio');
    void queued(async () => {
      await access.pulled();
      if (radios.list().length === 0) station.gone();
      else await station.rejoin();
    }).catch((e) => log.warn('the radios are not followed', { error: e }));
  }
  const timer = setInterval(watch, 1000);

  async function takeUp(): Promise<void> {
    country = (await o.networks.country()) ?? country;
    if (country !== '00')
      await radios.setCountry(country).catch((e) => log.warn('country not set', { error: e }));
    await queued(station.rejoin);
  }
  let begun = Promise.resolve();

  return {
    /** Brings back what a restart interrupted: country and known networks. The state is told once it is known. */
    begin(): Promise<void> {
      begun = takeUp();
      return begun;
    },

    /** Whether the hub is better off with this process: what is joined, or looked for, wpa_supplicant keeps alone. */
    isNeeded: () =>
      access.wanted !== undefined ||
      access.state !== 'off' ||
      !['off', 'lost', 'connected'].includes(station.state),

    supplicantState: station.supplicantState,
    supplicantGone: station.supplicantGone,

    /** Networks in reach; an older list where the radio does not look now. */
    async scan(fresh: boolean): Promise<{ networks: Network[]; age_s: number }> {
      const radio = stationRadio(radios);
      if (!radio && !seen) throw noRadio();
      if (radio && (fresh || !seen) && !station.busy)
        await queued(() => look(radio)).catch((e) => {
          if (!seen) throw e;
          log.info('an older list is answered', { error: e });
        });
      if (!seen) throw new IngleError('unavailable', 'The radio is busy. Try again in a moment.');
      // The second radio hears the hub itself.
      const networks = seen.networks.filter((n) => n.ssid !== access.wanted?.ssid);
      return { networks, age_s: Math.round((Date.now() - seen.at) / 1000) };
    },

    async connect(n: Known): Promise<{ ok: boolean; reason: string }> {
      ssidBytes(n.ssid);
      if (!['', 'open', 'wpa2', 'wpa3'].includes(n.security))
        throw invalid('Security is open, wpa2, wpa3 or empty.', 'security');
      const isProtected = n.security === 'wpa2' || n.security === 'wpa3';
      const seenProtected = seen?.networks.some((x) => x.ssid === n.ssid && x.security !== 'open');
      if (n.psk !== '') checkPsk(n.psk);
      else if (isProtected || seenProtected) throw invalid('This network needs a password.', 'psk');
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
        const count = await o.networks.forget(ssid);
        if (ssid !== '' && count === 0)
          throw new IngleError('not_found', 'This network is not known.', { field: 'ssid' });
        if (ssid === '') station.forgetLast();
        if (station.state === 'off' || (ssid !== '' && station.joined !== ssid && station.joined !== ''))
          return;
        await station.leave('stopped');
        await station.rejoin();
      });
    },

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
      if (other && !oneRadio(radios) && !isFresh())
        void queued(() => look(other)).catch((e) => log.info('no scan yet', { error: e }));
      return { psk, address: net.address, interface: up.interface, security: up.sae ? 'wpa2+wpa3' : 'wpa2' };
    },

    async softapStop(): Promise<void> {
      access.unwant();
      await queued(async () => {
        if (access.state !== 'off') await access.close('stop', 'stopped');
        await station.rejoin();
      });
    },

    async country(code: string): Promise<string> {
      if (code !== '') {
        if (!/^([A-Z]{2}|00)$/.test(code))
          throw invalid('A country is two capital letters, such as DE.', 'code');
        await radios.setCountry(code);
        await o.networks.setCountry(code);
        country = code;
      }
      return country;
    },

    async status() {
      await begun;
      const radio = stationRadio(radios);
      const on = station.joined !== '' && radio !== undefined;
      return {
        radios: radios.list().length,
        softap: access.state,
        station: station.state,
        country,
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
      clearInterval(timer);
      station.abort('stopped');
      await queued(async () => {
        if (access.state !== 'off') await access.close('stop', 'stopped');
      });
      access.stop();
      station.stop();
    },
  };
}
