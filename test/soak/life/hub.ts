// What the life of a hub in the lab needs beside test/vm/hub.ts: suites of many steps, Wi-Fi's own word, BLE.
import type { Test } from 'uvu';
import { call, home, journal, plain, reach, type SetupStatus, secrets } from '../../vm/hub.ts';
import type { Vm } from '../../vm/lab.ts';
import { lendRadio, phoneAddress, type RouterOptions } from '../../vm/radio.ts';
import { phoneJoins, router } from './radio.ts';

export interface Lab {
  vm: Vm;
}
export type Check = (name: string, run: (c: Lab) => Promise<void>) => void;

/** A measured value, on a line of its own: the runner of the tests writes dots before it. */
export const figure = (name: string, value: string | number) => console.log(`\nFIGURE ${name} ${value}`);

/** Names the checks of a suite on a machine; one that fails says so at once, as such a suite is long. */
export function checksOf(test: Test<Lab>, why: string | undefined): Check {
  return (name, run) => {
    if (why) return test.skip(name, run);
    test(name, async (c) => {
      const began = Date.now();
      try {
        await run(c);
      } catch (e) {
        console.log(`failed: ${name}\n${(e as Error).message}`);
        throw e;
      } finally {
        console.log(`\n${((Date.now() - began) / 1000).toFixed(1)} s  ${name}`);
      }
    });
  };
}

/** Why a call is refused: what busctl says of it. */
export async function refusal(vm: Vm, order: string, user = ''): Promise<string> {
  const [service, method, ...rest] = order.split(' ');
  const name = `io.ingle.${service} /io/ingle/${service} io.ingle.${service}`;
  const as = user === '' ? '' : `setpriv --reuid=${user} --clear-groups `;
  const r = await vm.run(`${as}busctl --timeout=200 call ${name} ${method} ${rest.join(' ')}`);
  if (r.code === 0) throw new Error(`${order} is not refused`);
  return r.stderr;
}

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
  timeoutMs = 120_000,
): Promise<WifiStatus> {
  for (const end = Date.now() + timeoutMs; ; ) {
    const s = await wifiStatus(vm).catch((e) => e as Error);
    if (!(s instanceof Error) && holds(s)) return s;
    if (Date.now() > end)
      throw new Error(`still waiting: ${what}\n${JSON.stringify(s)}\n${await journal(vm)}`);
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
}

/**
 * Plugs radios in: wlan0 (and, with `two`, wlan1) is the hub's, wlan2 a phone's, wlan3 a home router's. ingle-wifi
 * looks away meanwhile, so that the hub never had the others.
 */
export async function plugRadios(vm: Vm, two = false): Promise<void> {
  // Stopped, the bus would start it again at the ladder's next question.
  await vm.must(
    'mkdir -p /run/systemd/system/ingle-wifi.service.d; printf "[Unit]\\nConditionPathExists=/run/lab-radios\\n" >/run/systemd/system/ingle-wifi.service.d/radios.conf; systemctl daemon-reload; systemctl stop ingle-wifi; modprobe mac80211_hwsim radios=4 regtest=5',
    { timeoutMs: 120_000 },
  );
  await vm.until('test -e /sys/class/net/wlan3');
  if (!two) await lendRadio(vm, 'wlan1', 'second');
  await lendRadio(vm, 'wlan2', 'phone');
  await lendRadio(vm, 'wlan3', 'home');
  await vm.must('touch /run/lab-radios; systemctl start ingle-wifi', { timeoutMs: 120_000 });
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

/** The phone joins the hub's access point and has an address there; what its DHCP client said. */
export async function phoneIn(vm: Vm): Promise<string> {
  const { ssid, psk } = await secrets(vm);
  if (!(await phoneJoins(vm, 'phone', 'wlan2', { ssid, psk }, 90_000)))
    throw new Error(`the phone does not join\n${await journal(vm)}`);
  return phoneAddress(vm, 'phone', 'wlan2');
}

export interface Heard {
  event: string;
  [key: string]: unknown;
}

/** Runs the phone's BLE end on the second controller; what it heard, by event. Meanwhile it is in /run/central.out. */
export async function bleCentral(
  vm: Vm,
  mode: 'setup' | 'improv',
  given: unknown,
): Promise<Map<string, Heard>> {
  await vm.must('hciconfig hci1 up; rm -f /run/central.out');
  await vm.put('/run/central.json', JSON.stringify(given));
  const r = await vm.run(
    `set -o pipefail; NODE_PATH=/usr/lib/ingle/node_modules NOBLE_HCI_DEVICE_ID=1 node /run/lab/central.cjs ${mode} "$(cat /run/central.json)" | tee /run/central.out`,
    { timeoutMs: 300_000 },
  );
  const heard = r.stdout
    .split('\n')
    .filter((l) => l.startsWith('{'))
    .map((l) => JSON.parse(l) as Heard);
  if (r.code !== 0) console.log(r.stdout, r.stderr, await journal(vm));
  return new Map(heard.map((h) => [h.event, h]));
}
