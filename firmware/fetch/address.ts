// Which addresses are out in the world. Pure.
import { BlockList, isIP } from 'node:net';

/** IPv4 that leads to no public host (IANA IPv4 Special-Purpose Address Registry, and multicast). */
const special4 = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  // Link-local, and where clouds keep their metadata.
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const;

/** Within 2000::/3, what leads elsewhere: protocol assignments and Teredo, documentation, 6to4. */
const special6 = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const;

const refused = new BlockList();
for (const [net, bits] of special4) refused.addSubnet(net, bits, 'ipv4');
for (const [net, bits] of special6) refused.addSubnet(net, bits, 'ipv6');
const global6 = new BlockList();
global6.addSubnet('2000::', 3, 'ipv6');

/**
 * Whether an address is a public unicast one. Of IPv6 only 2000::/3 is, so addresses that carry an IPv4 address
 * (mapped, NAT64) are not.
 */
export function isPublic(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !refused.check(address, 'ipv4');
  // A zone is of a link.
  return (
    family === 6 &&
    !address.includes('%') &&
    global6.check(address, 'ipv6') &&
    !refused.check(address, 'ipv6')
  );
}
