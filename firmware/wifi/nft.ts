// The firewall of the access point: a client reaches the wizard, DHCP and DNS at the hub's address and nothing else.
// Its own table, hooked before the hub's (systemd/nftables), so that it stands whatever else is configured; what it lets
// in is marked, as the hub's would drop it else. Pure.

export const table = 'ingle_softap';
/** "Ingl": the hub's table lets in what carries it. Nothing that comes over the air brings a mark along. */
const mark = 'meta mark set 0x496e676c';

/** Removes the table; fine when it is not there. */
export function nftRemove(): string {
  return `table inet ${table}\ndelete table inet ${table}\n`;
}

/** Text for `nft -f -`; one transaction that replaces what was there. */
export function nftRules(o: { interface: string; address: string }): string {
  const i = JSON.stringify(o.interface);
  return `${nftRemove()}table inet ${table} {
  chain input {
    type filter hook input priority -10; policy accept;
    iifname != ${i} accept
    ip daddr { ${o.address}, 255.255.255.255 } udp dport 67 ${mark} accept
    ip daddr ${o.address} udp dport 53 ${mark} accept
    ip daddr ${o.address} tcp dport { 53, 80, 443 } ${mark} accept
    ip daddr ${o.address} icmp type echo-request limit rate 5/second ${mark} accept
    drop
  }
  chain forward {
    type filter hook forward priority -10; policy accept;
    iifname ${i} drop
    oifname ${i} drop
  }
}
`;
}
