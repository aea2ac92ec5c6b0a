// hostapd: its configuration, and what it says on stdout. Pure (hostapd.conf of 2.10).

export interface AccessPoint {
  interface: string;
  ssid: Uint8Array;
  psk: string;
  /** Channel in the 2.4 GHz band: every phone hears it. */
  channel: number;
  /** ISO 3166-1 alpha-2; `00` leaves the radio's own world rules. */
  country: string;
  /** WPA3 beside WPA2, where the radio can. */
  sae: boolean;
  /** Folder of its control socket. */
  control: string;
}

const hex = (b: Uint8Array) => Buffer.from(b).toString('hex');

/** The configuration file. It holds the PSK: write it 0600 where only the service reads. */
export function hostapdConfig(a: AccessPoint): string {
  const rawKey = /^[0-9a-fA-F]{64}$/.test(a.psk);
  // SAE needs the words of the password; a ready-made key has none.
  const sae = a.sae && !rawKey;
  const lines = [
    `interface=${a.interface}`,
    'driver=nl80211',
    `ctrl_interface=${a.control}`,
    // Bytes in hexadecimal: no name can end the line and begin a setting.
    `ssid2=${hex(a.ssid)}`,
    'utf8_ssid=1',
    ...(a.country === '00' ? [] : [`country_code=${a.country}`, 'ieee80211d=1']),
    'hw_mode=g',
    `channel=${a.channel}`,
    'ieee80211n=1',
    'wmm_enabled=1',
    'auth_algs=1',
    'wpa=2',
    'rsn_pairwise=CCMP',
    `wpa_key_mgmt=WPA-PSK${sae ? ' SAE' : ''}`,
    rawKey ? `wpa_psk=${a.psk}` : `wpa_passphrase=${a.psk}`,
    // Transition: WPA3 clients must protect management frames, WPA2 ones may.
    ...(sae ? ['ieee80211w=1', 'sae_require_mfp=1'] : []),
    // One client at a time: setup is one person; one that is gone without a word makes room after a minute.
    'max_num_sta=1',
    'ap_isolate=1',
    'ap_max_inactivity=60',
    'wps_state=0',
  ];
  return `${lines.join('\n')}\n`;
}

export type HostapdEvent =
  | { kind: 'up' }
  | { kind: 'down' }
  | { kind: 'joined'; mac: string }
  | { kind: 'left'; mac: string }
  | { kind: 'failed' };

/** What a line of hostapd's stdout says, or undefined when it is of no interest. */
export function parseHostapd(line: string): HostapdEvent | undefined {
  const station = /AP-STA-(CONNECTED|DISCONNECTED) ((?:[0-9a-f]{2}:){5}[0-9a-f]{2})\b/i.exec(line);
  if (station)
    return { kind: station[1] === 'CONNECTED' ? 'joined' : 'left', mac: station[2]!.toLowerCase() };
  if (/: AP-ENABLED\b/.test(line)) return { kind: 'up' };
  if (/: (AP-DISABLED|INTERFACE-DISABLED)\b/.test(line)) return { kind: 'down' };
  if (
    /Could not (set|select|configure|find)|initialization failed|Unable to setup interface|Failed to (set|start|create)/i.test(
      line,
    )
  )
    return { kind: 'failed' };
  return undefined;
}
