// Which address a client has: the one it came from, or what the outermost of our own proxies saw.
import { BlockList, isIP } from 'node:net';

export interface Proxies {
  /** Whether a peer is a proxy of ours, whose headers count. Without a list every peer is, as root cannot tell. */
  trusts(peer: string): boolean;
  /** The client's address. @param header of its request */
  clientOf(header: (name: string) => string, peer: string): string;
}

/** A network as `10.0.0.0/8`, `2001:db8::/32`, or one address; null where it is none. */
export function networkOf(text: string): { address: string; bits: number; family: 'ipv4' | 'ipv6' } | null {
  const [address = '', prefix, ...more] = text.split('/');
  const version = isIP(address);
  const most = version === 6 ? 128 : 32;
  const bits = prefix === undefined ? most : /^\d{1,3}$/.test(prefix) ? Number(prefix) : -1;
  if (version === 0 || more.length > 0 || bits < 0 || bits > most) return null;
  return { address, bits, family: version === 6 ? 'ipv6' : 'ipv4' };
}

/** @param config how many proxies stand in front, and their networks; none for any peer */
export function openProxies(config: { proxies: number; trustedProxies: readonly string[] }): Proxies {
  const { proxies, trustedProxies } = config;
  const list = new BlockList();
  for (const text of trustedProxies) {
    const n = networkOf(text);
    if (n) list.addSubnet(n.address, n.bits, n.family);
  }
  function trusts(peer: string): boolean {
    if (trustedProxies.length === 0) return true;
    // An IPv4 peer on a socket for both families counts by its IPv4 address.
    const version = isIP(peer);
    return version !== 0 && list.check(peer, version === 6 ? 'ipv6' : 'ipv4');
  }
  return {
    trusts,
    clientOf(header, peer) {
      if (proxies === 0 || !trusts(peer)) return peer;
      const seen = header('x-forwarded-for')
        .split(',')
        .map((s) => s.trim())
        .filter((s) => s !== '');
      return seen[seen.length - proxies] ?? peer;
    },
  };
}
