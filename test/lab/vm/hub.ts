// What a person does with a hub in the lab, and what a look at it shows: the ladder, its access point, a phone in it.
import { PATIENCE, pause, type Vm } from './lab.ts';

/** Where the hub of the lab finds root: in the home network. */
export const rootUrl = 'http://192.168.50.1:8080';
/** Survives each boot of the machine, as a maker's configuration would. */
export const labRoot = `systemd.setenv=INGLE_ROOT=${rootUrl}`;
export const home = { ssid: 'Home', psk: 'correct horse' };

export interface SetupStatus {
  state: string;
  mode: string;
  attempts: number;
  online: boolean;
  ssid: string;
  error: string;
  reason: string;
  channels: string[];
}

/** Variants of busctl's JSON as plain values. */
export function plain(v: unknown): unknown {
  if (Array.isArray(v)) return v.map(plain);
  if (v !== null && typeof v === 'object') {
    const o = v as Record<string, unknown>;
    if ('type' in o && 'data' in o) return plain(o['data']);
    return Object.fromEntries(Object.entries(o).map(([k, x]) => [k, plain(x)]));
  }
  return v;
}

const quote = (a: string | number | boolean) => `'${String(a).replaceAll("'", "'\\''")}'`;

/** Calls io.ingle.<service> as root; the reply's values. Throws what the hub said. */
export async function call(
  vm: Vm,
  service: 'Setup1' | 'Wifi1' | 'Ble1' | 'Audio1' | 'Uplink1' | 'Update1',
  method: string,
  signature = '',
  ...args: (string | number | boolean)[]
): Promise<unknown[]> {
  const name = `io.ingle.${service} /io/ingle/${service} io.ingle.${service}`;
  const text = await vm.must(
    `busctl --timeout=200 --json=short call ${name} ${method} ${signature} ${args.map(quote).join(' ')}`,
    { timeoutMs: 220_000 },
  );
  return text === '' ? [] : (JSON.parse(text) as { data: unknown[] }).data;
}

export async function status(vm: Vm): Promise<SetupStatus> {
  const [state, mode, attempts, detail] = await call(vm, 'Setup1', 'Status');
  return { state, mode, attempts, ...(plain(detail) as object) } as SetupStatus;
}

export const journal = async (vm: Vm) =>
  (await vm.run('journalctl -b -u "ingle-*" -u "lab-*" -u bluetooth --no-pager -o short-monotonic -n 80'))
    .stdout;

/** All that setup has said since the boot. */
export const ladderLog = (vm: Vm) => vm.must('journalctl -b -u ingle-setup --no-pager -o cat');

/** Waits until the ladder is where it should be. */
export async function reach(
  vm: Vm,
  what: string,
  holds: (s: SetupStatus) => boolean,
  timeoutMs = PATIENCE,
): Promise<SetupStatus> {
  const end = Date.now() + timeoutMs;
  let last = '';
  while (Date.now() < end) {
    try {
      const s = await status(vm);
      if (holds(s)) return s;
      last = JSON.stringify(s);
    } catch (e) {
      last = (e as Error).message;
    }
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
  throw new Error(`still waiting: ${what}\n${last}\n${await journal(vm)}`);
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

/** What a person at the console sees. */
export async function secrets(vm: Vm): Promise<{ ssid: string; psk: string; pin: string; window: string }> {
  const [ssid, psk, pin, window] = (await call(vm, 'Setup1', 'Secrets')) as string[];
  return { ssid: ssid!, psk: psk!, pin: pin!, window: window! };
}

/** Asks the setup pages as the phone's browser does. */
export async function curl(
  vm: Vm,
  path: string,
  o: { host?: string; post?: unknown; flags?: string } = {},
): Promise<string> {
  const post =
    o.post === undefined ? '' : `-H 'content-type: application/json' -d ${quote(JSON.stringify(o.post))}`;
  const host = o.host ? `-H 'Host: ${o.host}'` : '';
  // What curl asks again for it writes anew into a file; where it prints, each answer follows the one before.
  const into = o.flags ?? '-o $A';
  return vm.must(
    `A=$(mktemp) && ip netns exec phone curl -sS -m 60 --retry 20 --retry-connrefused --retry-delay 1 ${into} ${host} ${post} 'http://10.42.0.1${path}' && cat $A && rm $A`,
  );
}

export const json = async <T>(vm: Vm, path: string, post?: unknown): Promise<T> =>
  JSON.parse(await curl(vm, path, post === undefined ? {} : { post })) as T;

/** The screen's and the serial line's. */
export const consoles = ['ingle-serial@tty1', 'ingle-serial@ttyS0'];
/** Units that have no part in setup; they are left out where many boots, or many minutes, are emulated. */
export const noPart = [...consoles, 'ingle-skill@1', 'ingle-skill@2', 'ingle-update'];
/** Nor in the ladder alone. */
export const notLadder = [...noPart, 'bluetooth', 'ingle-api', 'ingle-uplink'];
/** Words for the kernel by which services are not there at all. */
export const without = (units: readonly string[]) =>
  units.map((unit) => `systemd.mask=${unit}.service`).join(' ');

/** Everything an access point leaves when it is not taken down, but for the lab's own. */
export const strays =
  'nft list tables | grep -v " ingle_hub$"; pgrep -a "^(hostapd|dnsmasq)$" | grep -v /run/lab | grep -v -- "-C /dev/null"; find /run/ingle/wifi -name "*.conf"; ls /run/ingle/setup/access-point.json 2>/dev/null; iw dev | grep "type AP"; true';

/** The real root, in the home network; it takes a while to answer. */
export async function startRoot(vm: Vm): Promise<void> {
  await vm.must(
    'systemctl stop lab-root-home 2>/dev/null; mkdir -p /var/lib/lab-root; ' +
      'mkdir -p /run/lab-root/root && cp /run/lab/root.js /run/lab-root/root/main.js && ln -sfn /usr/lib/ingle/native /run/lab-root/native && echo \'{"type":"module"}\' >/run/lab-root/package.json && ' +
      'systemd-run -q --collect --unit=lab-root-home -p NetworkNamespacePath=/run/netns/home -p WorkingDirectory=/run/lab-root node /run/lab-root/root/main.js --host 0.0.0.0 --port 8080 --data /var/lib/lab-root --origin http://localhost:8080 ' +
      `--audience ${rootUrl}`,
  );
}

export const rootAnswers = (vm: Vm) =>
  vm.until('ip netns exec home curl -sf -m 5 http://127.0.0.1:8080/health/live');

/** Between root and the home network: for a while nothing gets through. */
export async function cutOffRoot(vm: Vm, meanwhile: () => Promise<void>): Promise<void> {
  const nft = 'ip netns exec home nft';
  await vm.must(
    `${nft} 'table inet lab { chain in { type filter hook input priority 0; tcp dport 8080 reject with tcp reset; }; }'`,
  );
  await meanwhile().finally(() => vm.must(`${nft} delete table inet lab`));
}
