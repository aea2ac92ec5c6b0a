// What the owner of the radios needs of the machine, and whom it tells. The service gives programs; tests give faults.

import { IngleError } from '../protocol/errors.ts';
import type { Log } from '../system/log.ts';
import type { Machine } from '../system/machine.ts';
import type { WifiReason } from './contract.ts';
import type { Network } from './iw.ts';
import type { Softap, SoftapOptions } from './softap.ts';

export interface Radios {
  list(): string[];
  abilities(radio: string): Promise<{ ap: boolean; sae: boolean }>;
  /** @param frequencies MHz; all of the radio's when left out */
  scan(radio: string, frequencies?: readonly number[]): Promise<Network[]>;
  addresses(radio: string): Promise<string[]>;
  setCountry(code: string): Promise<void>;
  openSoftap(o: SoftapOptions): Promise<Softap>;
  /** Whether root's /health/live answers. */
  online(): Promise<boolean>;
}

export interface WifiEvents {
  state(part: 'softap' | 'station', state: string, old: string, reason: string): void;
  scanDone(count: number): void;
  client(mac: string, here: boolean): void;
  result(ssid: string, ok: boolean, reason: string): void;
  radios(count: number): void;
}

/** Times in milliseconds. */
export interface WifiTimes {
  /** The phone's last answer gets through before its access point goes away. */
  grace: number;
  /** Finding the network and proving the password. */
  associate: number;
  address: number;
  internet: number;
  /** A network lost while it is being joined may take this to come back: a frame was missed. */
  comeback: number;
  /** Between two looks at something that tells nothing by itself. */
  poll: number;
  /** Before a fallen access point is started again. */
  retry: number;
  /** So long a look round is good enough to choose a channel by. */
  fresh: number;
}

export const wifiTimes: WifiTimes = {
  grace: 1500,
  associate: 45_000,
  address: 30_000,
  internet: 20_000,
  comeback: 10_000,
  poll: 500,
  retry: 1000,
  fresh: 60_000,
};

/** What the access point and the station share. */
export interface Shared {
  radios: Radios;
  events: WifiEvents;
  log: Log;
  time: WifiTimes;
  /** Everything that touches a radio waits for what touched it before. */
  queued<T>(work: () => Promise<T>): Promise<T>;
  /** Moves a machine and tells why. */
  move<E extends string>(m: Machine<string, E>, event: E, why?: WifiReason | ''): boolean;
  /** What a machine calls on entering a state. */
  entered(part: 'softap' | 'station'): (state: string, old: string) => void;
}

/** The station has the first radio. */
export const stationRadio = (radios: Radios) => radios.list()[0];
/** With two radios the access point takes the second, so that joining leaves it alone. */
export const softapRadio = (radios: Radios) => radios.list()[1] ?? radios.list()[0];
/** One radio serves both, in turn. */
export const oneRadio = (radios: Radios) => stationRadio(radios) === softapRadio(radios);

export function noRadio(): IngleError {
  return new IngleError(
    'unavailable',
    'There is no Wi-Fi radio. Plug one in, or use a cable or the serial console.',
    { reason: 'no_radio' satisfies WifiReason },
  );
}
