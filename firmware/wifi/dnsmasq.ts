// dnsmasq on the access point: one address for the one client, and every name leads to the wizard. Pure.

export interface Portal {
  interface: string;
  /** The hub's address, the client's range and the mask (see parseCidr). */
  address: string;
  first: string;
  last: string;
  netmask: string;
  /** Folder for leases and the pid. */
  runtime: string;
}

/**
 * The configuration file. There is no DHCP option 114 (RFC 8910): its URL must be HTTPS with a certificate the phone
 * trusts, which a hub without a network cannot have; phones find the portal by their own probes.
 */
export function dnsmasqConfig(p: Portal): string {
  return [
    'keep-in-foreground',
    'log-facility=-',
    `pid-file=${p.runtime}/dnsmasq.pid`,
    `interface=${p.interface}`,
    'except-interface=lo',
    'bind-interfaces',
    'no-resolv',
    'no-hosts',
    'no-poll',
    'cache-size=0',
    // Every name is ours, and there is no IPv6 to go round it.
    `address=/#/${p.address}`,
    'filter-AAAA',
    // Phones must ask again at once when they are back on the internet.
    'local-ttl=1',
    `dhcp-range=${p.first},${p.last},${p.netmask},10m`,
    `dhcp-option=option:router,${p.address}`,
    `dhcp-option=option:dns-server,${p.address}`,
    'dhcp-authoritative',
    'dhcp-lease-max=10',
    'no-ping',
    `dhcp-leasefile=${p.runtime}/dnsmasq.leases`,
    '',
  ].join('\n');
}
