// wpa_supplicant over its D-Bus API (w1.fi/wpa_supplicant/devel/dbus.html).
import { IngleError } from '../protocol/errors.ts';
import type { Bus } from '../system/bus.ts';
import { fromVariant, type Variant } from '../system/contract.ts';
import type { WifiReason } from './contract.ts';
import { ssidBytes } from './credentials.ts';
import type { Known } from './networks.ts';
import { joining, judge, type Told } from './verdict.ts';

const name = 'fi.w1.wpa_supplicant1';
const root = '/fi/w1/wpa_supplicant1';
const iface = `${name}.Interface`;

export interface Supplicant {
  /**
   * Joins one network alone; settles `associated` or with the reason it cannot be joined.
   * @param signal gives up with its reason (a WifiReason) when it aborts
   */
  join(radio: string, n: Known, signal: AbortSignal): Promise<'associated' | WifiReason>;
  /** Follows what wpa_supplicant has on this radio from before; the network that is joined, '' when none. */
  resume(radio: string): Promise<string>;
  /** Looks for any of these and stays with one; `onState` hears of wpa_supplicant's states from now on. */
  roam(radio: string, known: readonly Known[]): Promise<void>;
  /** Gives the radio back. */
  release(radio: string): Promise<void>;
  /** The network joined now, '' when none. */
  current(radio: string): Promise<string>;
}

/** The settings of one network as wpa_supplicant names them. */
export function settings(n: Known): Record<string, [string, unknown]> {
  const rawKey = /^[0-9a-fA-F]{64}$/.test(n.psk);
  const out: Record<string, [string, unknown]> = { ssid: ['ay', ssidBytes(n.ssid)] };
  if (n.hidden) out['scan_ssid'] = ['i', 1];
  if (n.psk === '' || n.security === 'open') {
    out['key_mgmt'] = ['s', 'NONE'];
    return out;
  }
  const wpa2 = 'WPA-PSK WPA-PSK-SHA256';
  const only3 = n.security === 'wpa3' && !rawKey;
  out['key_mgmt'] = ['s', only3 ? 'SAE' : n.security === 'wpa2' || rawKey ? wpa2 : `${wpa2} SAE`];
  out['proto'] = ['s', 'RSN'];
  // Management frames: WPA3 demands protection, WPA2 takes it where offered.
  out['ieee80211w'] = ['i', only3 ? 2 : 1];
  out['psk'] = rawKey ? ['ay', Buffer.from(n.psk, 'hex')] : ['s', n.psk];
  return out;
}

/**
 * @param onState hears each state of wpa_supplicant on any radio of ours
 * @param onGone wpa_supplicant itself ended; what it was told is forgotten
 */
export async function supplicant(
  bus: Bus,
  onState: (state: string) => void,
  onGone: () => void,
): Promise<Supplicant> {
  const paths = new Map<string, string>();
  let told: ((t: Told) => void) | undefined;

  await bus.watchName(name, (owner) => {
    if (owner !== '' || paths.size === 0) return;
    paths.clear();
    onGone();
  });
  await bus.match(
    { sender: name, interface: 'org.freedesktop.DBus.Properties', member: 'PropertiesChanged', arg0: iface },
    (s) => {
      if (![...paths.values()].includes(s.path)) return;
      const p = fromVariant(s.body[1]) as Record<string, unknown>;
      // The status is read before the state: a state of failure is judged with its cause known.
      if (typeof p['AuthStatusCode'] === 'number') told?.({ authStatus: p['AuthStatusCode'] });
      if (typeof p['AssocStatusCode'] === 'number') told?.({ assocStatus: p['AssocStatusCode'] });
      if (typeof p['DisconnectReason'] === 'number')
        told?.({ disconnectReason: Math.abs(p['DisconnectReason']) });
      if (typeof p['State'] === 'string') {
        told?.({ state: p['State'] });
        onState(p['State']);
      }
    },
  );
  await bus.match({ sender: name, interface: iface, member: 'ScanDone' }, (s) => {
    if ([...paths.values()].includes(s.path)) told?.({ scanDone: s.body[0] === true });
  });

  const call = (path: string, i: string, member: string, signature = '', body: unknown[] = []) =>
    bus.call(name, path, i, member, signature, body);
  const property = async (path: string, property: string) =>
    fromVariant((await call(path, 'org.freedesktop.DBus.Properties', 'Get', 'ss', [iface, property]))[0]);

  async function interfaceOf(radio: string): Promise<string> {
    const config = { Ifname: bus.variant('s', radio), Driver: bus.variant('s', 'nl80211') };
    const path = await call(root, name, 'GetInterface', 's', [radio]).catch(() =>
      call(root, name, 'CreateInterface', 'a{sv}', [config]),
    );
    paths.set(radio, path[0] as string);
    return path[0] as string;
  }
  async function add(path: string, n: Known): Promise<string> {
    const dict: Record<string, Variant> = {};
    for (const [k, [type, value]] of Object.entries(settings(n))) dict[k] = bus.variant(type, value);
    return (await call(path, iface, 'AddNetwork', 'a{sv}', [dict]))[0] as string;
  }

  const self: Supplicant = {
    async join(radio, n, signal) {
      const path = await interfaceOf(radio);
      await call(path, iface, 'RemoveAllNetworks');
      let j = joining;
      const verdict = new Promise<'associated' | WifiReason>((resolve) => {
        told = (t) => {
          const step = judge(j, t);
          j = step.next;
          if (step.verdict) resolve(step.verdict);
        };
        const aborted = () => resolve((signal.reason as WifiReason) ?? 'canceled');
        signal.addEventListener('abort', aborted, { once: true });
        if (signal.aborted) aborted();
      });
      try {
        await call(path, iface, 'SelectNetwork', 'o', [await add(path, n)]);
        return await verdict;
      } catch (e) {
        if (signal.aborted) return signal.reason as WifiReason;
        throw e instanceof IngleError && e.code === 'unavailable'
          ? new IngleError('unavailable', 'wpa_supplicant does not answer; the hub cannot join networks.')
          : e;
      } finally {
        told = undefined;
      }
    },
    async resume(radio) {
      const there = await call(root, name, 'GetInterface', 's', [radio]).catch(() => undefined);
      if (!there) return '';
      const path = there[0] as string;
      paths.set(radio, path);
      const ssid = await self.current(radio);
      // The state is read last, as it may change while the name is asked for.
      return (await property(path, 'State').catch(() => '')) === 'completed' ? ssid : '';
    },
    async roam(radio, known) {
      const path = await interfaceOf(radio);
      await call(path, iface, 'RemoveAllNetworks');
      for (const n of known) {
        const network = await add(path, n);
        await call(network, 'org.freedesktop.DBus.Properties', 'Set', 'ssv', [
          `${name}.Network`,
          'Enabled',
          bus.variant('b', true),
        ]);
      }
    },
    async release(radio) {
      const path = paths.get(radio);
      paths.delete(radio);
      if (path) await call(root, name, 'RemoveInterface', 'o', [path]).catch(() => {});
    },
    async current(radio) {
      const path = paths.get(radio);
      if (!path) return '';
      const network = (await property(path, 'CurrentNetwork').catch(() => '/')) as string;
      if (network === '/') return '';
      const p = fromVariant(
        (
          await call(network, 'org.freedesktop.DBus.Properties', 'Get', 'ss', [
            `${name}.Network`,
            'Properties',
          ])
        )[0],
      ) as Record<string, string>;
      // A name comes back in quotes, or as hexadecimal digits when it has other bytes.
      const ssid = p['ssid'] ?? '';
      return ssid.startsWith('"') ? ssid.slice(1, -1) : Buffer.from(ssid, 'hex').toString();
    },
  };
  return self;
}
