// The one-time secrets of a setup window; a label printed by the maker replaces them (D45).
import { randomInt } from 'node:crypto';

export interface Secrets {
  /** Network name of the access point. */
  ssid: string;
  /** WPA2/WPA3 passphrase, 12 characters. */
  psk: string;
  /** 6 digits; authorises BLE and bot. */
  pin: string;
  /** Id of the window: what BLE's OneTimePIN shows, worth nothing by itself. */
  window: string;
}

/** Letters and digits nobody mishears or misreads: no 0/o, 1/l/i, no b/d/p/t pairs spoken alike. */
const alphabet = '23456789acefhjkmrwxy';

export function makePsk(length = 12): string {
  let psk = '';
  for (let i = 0; i < length; i++) psk += alphabet[randomInt(alphabet.length)];
  return psk;
}

export function makePin(): string {
  return String(randomInt(1_000_000)).padStart(6, '0');
}

/** Network name of the setup access point, as a label printed in the factory tells it too. */
export function ssidOf(name: string, serial: string): string {
  return `${name}-${serial.slice(-4)}`.slice(0, 32);
}

/**
 * Secrets of a new window. A device maker's printed label (`label`) replaces the one-time PSK and PIN, so that
 * setup is possible with nothing but the label and a phone.
 */
export function newSecrets(name: string, serial: string, label?: { psk: string; pin: string }): Secrets {
  return {
    ssid: ssidOf(name, serial),
    psk: label?.psk ?? makePsk(),
    pin: label?.pin ?? makePin(),
    window: String(randomInt(1_000_000)).padStart(6, '0'),
  };
}

/** A secret as it is spoken: one character at a time, groups of four apart. */
export function spell(secret: string): string {
  return (secret.match(/.{1,4}/g) ?? []).map((g) => [...g].join(' ')).join(', ');
}
