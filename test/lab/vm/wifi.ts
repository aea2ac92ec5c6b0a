// Wi-Fi of the hub in the lab: its own word on it, the radios around it, and the phone in its access point.
import { call, home, journal, plain, reach, type SetupStatus, secrets } from './hub.ts';
import { PATIENCE, pause, type Vm } from './lab.ts';
import { lendRadio, phoneAddress, phoneJoins, type RouterOptions, router } from './radio.ts';

export interface WifiStatus {
  radios: number;
  softap: string;
  station: string;
  detail: {
    last?: { reason: string; ok: boolean; ssid: string };
    softap?: { clients: number; interface: string; channel: number };
    station?: { ssid: string; addresses: string[] };
  };
}

export async function wifiStatus(vm: Vm): Promise<WifiStatus> {
  const [radios, softap, station, , detail] = await call(vm, 'Wifi1', 'Status');
  return { radios, softap, station, detail: plain(detail) } as WifiStatus;
}

/** Waits until Wi-Fi is as it should be. */
export async function wifiReaches(
  vm: Vm,
  what: string,
  holds: (s: WifiStatus) => boolean,
  timeoutMs = PATIENCE,
): Promise<WifiStatus> {
  for (const end = Date.now() + timeoutMs; ; ) {
    const s = await wifiStatus(vm).catch((e) => e as Error);
    if (!(s instanceof Error) && holds(s)) return s;
    if (Date.now() > end)
      throw new Error(`still waiting: ${what}\n${JSON.stringify(s)}\n${await journal(vm)}`);
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

/** Waits until the access point has one client: an emulated phone may lose it for a moment. */
export const oneIsIn = (vm: Vm) => wifiReaches(vm, 'one client', (s) => s.detail.softap?.clients === 1);

/**
 * Plugs radios in: wlan0 (and, with `two`, wlan1) is the hub's, wlan2 a phone's, wlan3 a home router's. ingle-wifi
 * looks away meanwhile, so that the hub never had the others.
 */
export async function plugRadios(vm: Vm, two = false): Promise<void> {
  await vm.must(
    'systemctl start ingle-wifi && systemctl kill -s STOP ingle-wifi && modprobe mac80211_hwsim radios=4 regtest=5',
  );
  await vm.until('test -e /sys/class/net/wlan3');
  if (!two) await lendRadio(vm, 'wlan1', 'second');
  await lendRadio(vm, 'wlan2', 'phone');
  await lendRadio(vm, 'wlan3', 'home');
  await vm.must('systemctl kill -s CONT ingle-wifi');
}

/** Takes the radio of `namespace` back to the hub, as if plugged in. */
export const returnRadio = (vm: Vm, radio: string, namespace: string) =>
  vm.must(
    `ip netns exec ${namespace} iw phy $(ip netns exec ${namespace} iw dev ${radio} info | sed -n "s/.*wiphy /phy/p") set netns 1`,
  );

/** A window of setup opened by order: nothing is known, and the channels named are open. */
export async function openSetup(vm: Vm, ...channels: string[]): Promise<SetupStatus> {
  await call(vm, 'Wifi1', 'Forget', 's', '');
  await call(vm, 'Setup1', 'Restart', 's', 'serial');
  return reach(vm, `open: ${channels.join(', ')}`, (s) => channels.every((x) => s.channels.includes(x)));
}

/** The home network, as its owner has it. */
export function openHome(vm: Vm, o: Partial<RouterOptions> = {}): Promise<void> {
  return router(vm, 'home', 'wlan3', { ...home, ...o });
}

/**
 * The phone joins the hub's access point and has an address there; what its DHCP client said. Its radio asks anew when
 * an answer is a tenth of a second late, and an emulated access point may then take it for two and lose it: the phone
 * tries again.
 */
export async function phoneIn(vm: Vm, keyMgmt = 'WPA-PSK'): Promise<string> {
  const { ssid, psk } = await secrets(vm);
  let said = '';
  for (let tries = 4; tries > 0; tries--)
    if (await phoneJoins(vm, 'phone', 'wlan2', { ssid, psk, keyMgmt }, 30_000))
      try {
        return await phoneAddress(vm, 'phone', 'wlan2');
      } catch (e) {
        said = (e as Error).message;
      }
  const log = await vm.must('tail -n 40 /run/lab-wpa-phone.log');
  throw new Error(`the phone does not get in\n${said}\n${log}\n${await journal(vm)}`);
}
