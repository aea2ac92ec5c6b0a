// The two state machines of Wi-Fi, as tables.
import type { Table } from '../system/machine.ts';

export type SoftapState =
  | 'off'
  /** hostapd, address, dnsmasq and firewall come up. */
  | 'starting'
  | 'on'
  /** The one radio is lent to the station; comes back by itself. */
  | 'paused'
  /** It fell; started again in a moment. */
  | 'fallen';

export type SoftapEvent = 'start' | 'up' | 'fell' | 'retry' | 'give_up' | 'lend' | 'resume' | 'stop' | 'gone';

export const softapTable: Table<SoftapState, SoftapEvent> = {
  off: { start: 'starting' },
  starting: { up: 'on', fell: 'fallen', give_up: 'off', stop: 'off', gone: 'off', lend: 'paused' },
  on: { start: 'starting', fell: 'fallen', lend: 'paused', stop: 'off', gone: 'off' },
  paused: { start: 'starting', resume: 'starting', stop: 'off', gone: 'off' },
  fallen: { start: 'starting', retry: 'starting', give_up: 'off', lend: 'paused', stop: 'off', gone: 'off' },
};

export type StationState =
  | 'off'
  /** wpa_supplicant looks for the network and proves the password. */
  | 'associating'
  /** Joined; an address is awaited. */
  | 'addressing'
  /** There is an address; root is asked for. */
  | 'checking'
  | 'connected'
  /** The joined network is out of reach; wpa_supplicant keeps looking. */
  | 'lost';

export type StationEvent =
  | 'connect'
  | 'rejoin'
  | 'associated'
  | 'addressed'
  | 'online'
  | 'failed'
  | 'lost'
  | 'leave'
  | 'gone';

const over = { failed: 'off', leave: 'off', gone: 'off' } as const;

export const stationTable: Table<StationState, StationEvent> = {
  off: { connect: 'associating', rejoin: 'lost' },
  associating: { ...over, associated: 'addressing' },
  addressing: { ...over, addressed: 'checking', lost: 'off' },
  checking: { ...over, online: 'connected', lost: 'off' },
  connected: { connect: 'associating', lost: 'lost', leave: 'off', gone: 'off' },
  lost: { connect: 'associating', associated: 'connected', leave: 'off', gone: 'off' },
};
