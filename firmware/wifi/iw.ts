// What `iw` prints: networks in reach, and what a radio can. Pure; the text comes from strangers' radios.

export type Security = 'open' | 'wpa2' | 'wpa3' | 'other';

export interface Network {
  ssid: string;
  /** 0 to 100. */
  signal: number;
  security: Security;
  /** MHz. */
  frequency: number;
}

/** The bytes behind iw's `\xNN` escapes, read as UTF-8 (names are bytes; what is not UTF-8 shows as U+FFFD). */
export function unescapeSsid(text: string): string {
  const bytes: number[] = [];
  for (let i = 0; i < text.length; i++) {
    const m = /^\\x([0-9a-f]{2})/i.exec(text.slice(i, i + 4));
    if (m) {
      bytes.push(Number.parseInt(m[1]!, 16));
      i += 3;
    } else if (text[i] === '\\' && text[i + 1] === '\\') {
      bytes.push(0x5c);
      i++;
    } else bytes.push(...new TextEncoder().encode(text[i]));
  }
  return new TextDecoder().decode(Uint8Array.from(bytes));
}

/** dBm to percent: -50 and above is 100, -100 and below 0 (the scale most systems show). */
export function percent(dbm: number): number {
  return Math.max(0, Math.min(100, Math.round(2 * (dbm + 100))));
}

function securityOf(block: string): Security {
  const suites = /\bRSN:[\s\S]*?\* Authentication suites: ([^\n]*)/.exec(block)?.[1] ?? '';
  if (/\bPSK\b/.test(suites)) return 'wpa2';
  if (/\bSAE\b/.test(suites)) return 'wpa3';
  if (suites !== '' || /\b(WPA|RSN):/.test(block) || /capability:[^\n]*\bPrivacy\b/.test(block))
    return 'other';
  return 'open';
}

/**
 * Networks of `iw dev X scan`, one a name (the strongest), strongest first. Hidden ones have no name and are left out;
 * names with control characters are kept but shown with them replaced.
 */
export function parseScan(text: string): Network[] {
  const best = new Map<string, Network>();
  for (const block of text.split(/^(?=BSS [0-9a-f]{2}:)/m)) {
    if (!block.startsWith('BSS ')) continue;
    const raw = /^\tSSID: (.*)$/m.exec(block)?.[1] ?? '';
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    const ssid = unescapeSsid(raw).replace(/[\u0000-\u001f\u007f]/g, '\ufffd');
    if (ssid === '' || /^\ufffd+$/.test(ssid)) continue;
    const n: Network = {
      ssid,
      signal: percent(Number(/^\tsignal: (-?[\d.]+) dBm/m.exec(block)?.[1] ?? -100)),
      security: securityOf(block),
      frequency: Number(/^\tfreq: (\d+)/m.exec(block)?.[1] ?? 0),
    };
    const old = best.get(ssid);
    if (!old || n.signal > old.signal) best.set(ssid, n);
  }
  return [...best.values()].sort((a, b) => b.signal - a.signal || (a.ssid < b.ssid ? -1 : 1));
}

/** What a radio can, from `iw phy phyN info`. */
export function parsePhy(text: string): { ap: boolean; sae: boolean } {
  const modes = /Supported interface modes:\n((?:\t\t \* .*\n?)+)/.exec(text)?.[1] ?? '';
  return {
    ap: /\* AP$/m.test(modes),
    // WPA3 as an access point: hostapd does SAE itself, and management frames need the CMAC cipher.
    sae: /SAE with AUTHENTICATE command/.test(text) && /\* CMAC \(00-0f-ac:6\)/.test(text),
  };
}

/** MHz of channels 1, 6 and 11, where an access point of ours may be: its neighbours there, and most between them. */
export const near = [2412, 2437, 2462];

/** The least crowded of channels 1, 6 and 11: what is on a neighbouring channel disturbs as well (2.4 GHz, 5 MHz apart). */
export function quietChannel(networks: readonly Network[]): number {
  const load = (channel: number) => {
    const centre = 2407 + 5 * channel;
    return networks.reduce(
      (sum, n) => sum + n.signal * Math.max(0, 1 - Math.abs(n.frequency - centre) / 25),
      0,
    );
  };
  return [1, 6, 11].reduce((a, b) => (load(b) < load(a) ? b : a));
}
