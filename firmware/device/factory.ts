// What the factory gives one device: factory.json on its factory partition, and the label stuck to it. Pure.
import type { Issue } from './check.ts';
import { object, text } from './check.ts';

export interface Factory {
  /** Model of the device file; a factory part of another model is not used. */
  model: string;
  serial: string;
  /** Password of the setup access point, and the PIN; empty: one-time ones are made at each setup. */
  psk: string;
  pin: string;
}

const file = object({
  model: text(/^[a-z0-9][a-z0-9-]{0,30}$/, 'the model of the device file'),
  serial: text(/^[A-Za-z0-9][A-Za-z0-9-]{3,31}$/, '4 to 32 letters, digits and -'),
  psk: text(/^([A-Za-z0-9]{8,63})?$/, '8 to 63 letters and digits', ''),
  pin: text(/^(\d{6})?$/, '6 digits', ''),
});

/** Reads the value of a factory.json. */
export function checkFactory(value: unknown): { factory: Factory; issues: Issue[] } {
  const issues: Issue[] = [];
  const factory = file(value, '', issues);
  if ((factory.psk === '') !== (factory.pin === ''))
    issues.push({ path: 'pin', says: 'a label has both a password and a PIN, or neither' });
  return { factory, issues };
}

/** The text of factory.json: one field a line, as the boot's shell script reads it. */
export function factoryJson(f: Factory): string {
  const fields = Object.entries(f).map(([k, v]) => `  ${JSON.stringify(k)}: ${JSON.stringify(v)}`);
  return `{\n${fields.join(',\n')}\n}\n`;
}

/** What a phone's camera joins the access point by (the de-facto `WIFI:` form; `\;,:"` are escaped). */
export function wifiCode(ssid: string, psk: string): string {
  const esc = (t: string) => t.replace(/[\\;,:"]/g, (c) => `\\${c}`);
  return `WIFI:T:WPA;S:${esc(ssid)};P:${esc(psk)};;`;
}
