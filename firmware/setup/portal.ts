// The captive portal: what a request to the access point's address gets. Pure.

/** Hosts that phones and computers ask to learn whether they are online, and who asks. */
export const probes: Readonly<Record<string, string>> = {
  'captive.apple.com': 'iOS and macOS',
  'www.apple.com': 'iOS and macOS, older',
  'connectivitycheck.gstatic.com': 'Android',
  'connectivitycheck.android.com': 'Android',
  'clients3.google.com': 'Android, older',
  'www.google.com': 'Android and ChromeOS',
  'play.googleapis.com': 'Android',
  'www.msftconnecttest.com': 'Windows 10 and newer',
  'ipv6.msftconnecttest.com': 'Windows 10 and newer',
  'www.msftncsi.com': 'Windows 7 and 8',
  'detectportal.firefox.com': 'Firefox',
  'nmcheck.gnome.org': 'NetworkManager',
  'network-test.debian.org': 'NetworkManager, Debian',
  'connectivity-check.ubuntu.com': 'NetworkManager, Ubuntu',
  'ping.archlinux.org': 'NetworkManager, Arch',
  'fedoraproject.org': 'NetworkManager, Fedora',
};

export type Answer =
  | { kind: 'page' }
  | { kind: 'api' }
  | { kind: 'redirect'; to: string }
  | { kind: 'refuse' };

/**
 * What to do with a request by its Host header. A name that is not ours is answered with a redirect to the wizard:
 * every system takes that (instead of its expected body or 204) for "there is a portal here" (RFC 8952, section 1).
 * @param own names and addresses of the access point
 */
export function answer(host: string | undefined, path: string, own: readonly string[]): Answer {
  const name = (host ?? '').toLowerCase().replace(/:\d+$/, '').replace(/\.$/, '');
  const home = `http://${own[0]}/`;
  if (!own.includes(name))
    return path.startsWith('/api/') ? { kind: 'refuse' } : { kind: 'redirect', to: home };
  if (path.startsWith('/api/')) return { kind: 'api' };
  // Some systems ask our own address for their probe's path, after an earlier redirect.
  if (/^\/(generate_204|gen_204|hotspot-detect\.html|connecttest\.txt|ncsi\.txt|canonical\.html)$/.test(path))
    return { kind: 'redirect', to: home };
  return { kind: 'page' };
}
