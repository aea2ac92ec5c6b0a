import { contract } from '../system/contract.ts';

/**
 * Why something about Wi-Fi did not work, or ended. The first eight are outcomes of joining a network; the text for
 * a person stands in text/reasons.ts.
 */
export type WifiReason =
  /** The network refused the password. */
  | 'wrong_password'
  /** No access point of that name answered. */
  | 'not_found'
  /** The network turned the hub away (full, filtered, or a security it demands and we lack). */
  | 'refused'
  /** Joined, but no address came by DHCP or router advertisement. */
  | 'no_address'
  /** Joined, with an address, but root's /health/live does not answer. */
  | 'no_internet'
  /** The network went away while it was being joined. */
  | 'vanished'
  | 'timeout'
  /** Another order came in between. */
  | 'canceled'
  /** There is no radio, or it was pulled out. */
  | 'no_radio'
  /** The radio refuses to work (blocked, or its driver fails). */
  | 'radio_failed'
  /** hostapd or dnsmasq died more often than it was started again. */
  | 'crashed'
  /** Nobody joined the access point in its idle time. */
  | 'idle'
  /** Ended because it was asked to. */
  | 'stopped';

/** What Status tells of the access point, the joined network, and what is kept. */
const detail = {
  dict: {
    'softap?': {
      dict: {
        ssid: 's',
        address: 's',
        interface: 's',
        channel: 'i',
        security: 's',
        clients: 'i',
        /** Seconds since 1970. */
        started_at: 'd',
      },
    },
    'station?': { dict: { ssid: 's', addresses: 'as', interface: 's' } },
    /** Networks that are kept. */
    known: 'i',
    /** The newest outcome of Connect, kept until the next. */
    'last?': { dict: { ssid: 's', ok: 'b', reason: 's', at: 'd' } },
  },
} as const;

/** Wi-Fi of the hub: networks in reach, joining one, and the access point of setup. */
export const wifi1 = contract({
  name: 'io.ingle.Wifi1',
  bus: 'io.ingle.Wifi1',
  path: '/io/ingle/Wifi1',
  doc: 'Networks in reach, joining one, and the access point of setup.',
  methods: {
    Scan: {
      doc: 'Networks in reach, strongest first: ssid, signal (percent), security (open, wpa2, wpa3, other). `fresh` looks now, also while the access point is up where the radio can; else the newest list is answered. `age_s` tells its age.',
      in: { fresh: 'b' },
      out: { networks: [{ ssid: 's', signal: 'u', security: 's' }], age_s: 'u' },
      errors: ['unavailable'],
    },
    Connect: {
      doc: 'Joins a network and answers when that is decided, at most 120 s later; Result says the same. `security` is open, wpa2, wpa3 or empty (whatever the network offers). `psk`: 8 to 63 characters or 64 hexadecimal digits, empty for an open network. With one radio the access point is away meanwhile and comes back when joining fails. What was joined is kept and joined again after a restart.',
      in: { ssid: 's', psk: 's', hidden: 'b', security: 's' },
      out: { ok: 'b', reason: 's' },
      errors: ['invalid_request', 'conflict', 'unavailable'],
    },
    Forget: {
      doc: 'Leaves and forgets a network, or with an empty ssid all of them.',
      in: { ssid: 's' },
      out: {},
      errors: ['not_found'],
    },
    Status: {
      doc: 'Radios, the access point and the joined network now. `softap` and `station` are the states of firmware/wifi/machine.ts.',
      in: {},
      out: { radios: 'u', softap: 's', station: 's', country: 's', detail },
      errors: [],
    },
    SoftapStart: {
      doc: 'Opens the access point for one client. An empty `psk` makes a fresh one of 12 characters; an empty `cidr` is 10.42.0.1/24. Ends by itself after `idle_timeout` seconds without a client (0 = never). Running already, it is started anew with what is given.',
      in: { ssid: 's', psk: 's', cidr: 's', idle_timeout: 'u' },
      out: { psk: 's', address: 's', interface: 's', security: 's' },
      errors: ['invalid_request', 'conflict', 'unavailable'],
    },
    SoftapStop: { doc: 'Closes the access point; closed already is fine.', in: {}, out: {}, errors: [] },
    Country: {
      doc: 'Sets the regulatory country (ISO 3166-1 alpha-2; 00 = world), keeps it, and answers the one in force.',
      in: { code: 's' },
      out: { code: 's' },
      errors: ['invalid_request'],
    },
  },
  signals: {
    StateChanged: {
      doc: 'The access point (`part` softap) or the station moved. `reason` is a reason of failure or end, or empty.',
      args: { part: 's', state: 's', old: 's', reason: 's' },
    },
    ScanDone: { doc: 'A fresh list is there.', args: { count: 'u' } },
    ClientJoined: { doc: 'A client joined the access point.', args: { mac: 's' } },
    ClientLeft: { doc: 'A client left the access point.', args: { mac: 's' } },
    Result: { doc: 'How joining a network ended.', args: { ssid: 's', ok: 'b', reason: 's' } },
    RadiosChanged: { doc: 'A radio came or went.', args: { radios: 'u' } },
  },
  properties: {},
});
