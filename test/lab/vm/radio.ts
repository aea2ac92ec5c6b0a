// Phones and home routers in the lab: each has a radio and a network namespace of its own.
import type { Vm } from './lab.ts';

/** Moves an interface's radio into a new namespace, away from the hub's sight. */
export async function lendRadio(vm: Vm, radio: string, namespace: string): Promise<void> {
  await vm.must(
    `ip netns add ${namespace}; ip netns exec ${namespace} ip link set lo up; ` +
      `iw phy $(basename $(readlink /sys/class/net/${radio}/phy80211)) set netns name ${namespace}`,
  );
}

export const inside = (namespace: string) => `ip netns exec ${namespace}`;

export interface RouterOptions {
  ssid: string;
  psk?: string;
  /** wpa2 unless there is no psk. */
  security?: 'wpa2' | 'wpa3';
  hidden?: boolean;
  dhcp?: boolean;
  channel?: number;
}

/** A home router: hostapd and, unless told not to, dnsmasq that gives addresses of 192.168.50.0/24. */
export async function router(vm: Vm, namespace: string, radio: string, o: RouterOptions): Promise<void> {
  await stopRouter(vm, namespace);
  const lines = [
    `interface=${radio}`,
    'driver=nl80211',
    `ssid=${o.ssid}`,
    'hw_mode=g',
    `channel=${o.channel ?? 6}`,
    ...(o.hidden ? ['ignore_broadcast_ssid=1'] : []),
    ...(o.psk === undefined ? [] : ['wpa=2', 'rsn_pairwise=CCMP', `wpa_passphrase=${o.psk}`]),
    ...(o.psk === undefined
      ? []
      : o.security === 'wpa3'
        ? ['wpa_key_mgmt=SAE', 'ieee80211w=2']
        : ['wpa_key_mgmt=WPA-PSK']),
  ];
  await vm.put(`/run/lab-${namespace}.conf`, `${lines.join('\n')}\n`);
  await vm.must(
    `systemd-run -q --collect --unit=lab-hostapd-${namespace} -p NetworkNamespacePath=/run/netns/${namespace} hostapd /run/lab-${namespace}.conf`,
  );
  await vm.until(`${inside(namespace)} iw dev ${radio} info | grep -q 'ssid\\|channel'`);
  await vm.must(`${inside(namespace)} ip addr replace 192.168.50.1/24 dev ${radio}`);
  if (o.dhcp !== false)
    await vm.must(
      `systemd-run -q --collect --unit=lab-dnsmasq-${namespace} -p NetworkNamespacePath=/run/netns/${namespace} dnsmasq -k -C /dev/null --interface=${radio} --bind-interfaces --no-ping --dhcp-authoritative --dhcp-range=192.168.50.10,192.168.50.99,10m --address=/root.lab/192.168.50.1 --dhcp-leasefile=/run/lab-${namespace}.leases --user=root`,
    );
}

export async function stopRouter(vm: Vm, namespace: string): Promise<void> {
  for (const unit of [`lab-hostapd-${namespace}`, `lab-dnsmasq-${namespace}`])
    await vm.run(`systemctl stop ${unit}; systemctl reset-failed ${unit}`);
}

/** A tiny root in a namespace: answers root's sign of life on 192.168.50.1:8080. */
export async function rootStandIn(vm: Vm, namespace: string): Promise<void> {
  await vm.must(
    `mkdir -p /run/lab-root/health && echo '{"ok":true}' >/run/lab-root/health/live && systemd-run -q --collect --unit=lab-root-${namespace} -p NetworkNamespacePath=/run/netns/${namespace} /run/lab/bin/busybox httpd -f -p 8080 -h /run/lab-root`,
  );
}

/**
 * A phone joins a network by wpa_supplicant; true once its handshake is done, false once it is late or the network
 * has refused it (`refused`: what wpa_supplicant then says, an extended regular expression).
 */
export async function phoneJoins(
  vm: Vm,
  namespace: string,
  radio: string,
  network: { ssid: string; psk: string; keyMgmt?: string; channel?: number },
  timeoutMs = 30_000,
  refused = '',
): Promise<boolean> {
  await phoneLeaves(vm, namespace);
  const lines = [
    `ctrl_interface=/run/lab-wpa-${namespace}`,
    // An access point that is full answers no probe; its beacons are heard by who waits on its channel.
    ...(network.channel ? ['passive_scan=1'] : []),
    'network={',
    `  ssid=${Buffer.from(network.ssid).toString('hex')}`,
    `  psk="${network.psk}"`,
    `  key_mgmt=${network.keyMgmt ?? 'WPA-PSK'}`,
    '  ieee80211w=1',
    ...(network.channel ? [`  scan_freq=${2407 + 5 * network.channel}`] : []),
    '}',
  ];
  await vm.put(`/run/lab-wpa-${namespace}.conf`, `${lines.join('\n')}\n`);
  const log = `/run/lab-wpa-${namespace}.log`;
  await vm.must(
    `rm -f ${log}; systemd-run -q --collect --unit=lab-wpa-${namespace} -p NetworkNamespacePath=/run/netns/${namespace} wpa_supplicant -Dnl80211 -i${radio} -c/run/lab-wpa-${namespace}.conf -f${log}`,
  );
  const no = refused === '' ? '' : `|| { grep -q -E '${refused}' ${log} && echo refused; }`;
  return vm.until(`grep -q CTRL-EVENT-CONNECTED ${log} ${no}`, { timeoutMs }).then(
    (said) => said !== 'refused',
    () => false,
  );
}

export async function phoneLeaves(vm: Vm, namespace: string): Promise<void> {
  await vm.run(`systemctl stop lab-wpa-${namespace}; systemctl reset-failed lab-wpa-${namespace}`);
}

/** Asks for an address as a phone does; what the script of the client printed. */
export async function phoneAddress(vm: Vm, namespace: string, radio: string): Promise<string> {
  return vm.must(
    `${inside(namespace)} /run/lab/bin/busybox udhcpc -i ${radio} -n -q -t 10 -T 2 -O 114 -s /run/lab/bin/dhcp.sh 2>&1`,
  );
}
