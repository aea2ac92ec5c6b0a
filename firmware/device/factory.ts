// What the factory gives one device: factory.json on its factory partition, and the label stuck to it. Pure.
import * as T from 'typebox';
import { SAYS } from '../protocol/endpoint/check.ts';
import { type Complete, type Issue, readFields } from './check.ts';

const text = (pattern: string, says: string, more = {}) => T.String({ pattern, [SAYS]: says, ...more });
const factorySchema = T.Object(
  {
    /** Model of the device file; a factory part of another model is not used. */
    model: text('^[a-z0-9][a-z0-9-]{0,30}$', 'the model of the device file'),
    serial: text('^[A-Za-z0-9][A-Za-z0-9-]{3,31}$', '4 to 32 letters, digits and -'),
    /** Password of the setup access point, and the PIN; empty: one-time ones are made at each setup. */
    psk: T.Optional(text('^([A-Za-z0-9]{8,63})?$', '8 to 63 letters and digits', { default: '' })),
    pin: T.Optional(text('^([0-9]{6})?$', '6 digits', { default: '' })),
  },
  { additionalProperties: false },
);
export type Factory = Complete<T.Static<typeof factorySchema>>;

/** Reads the value of a factory.json. */
export function checkFactory(value: unknown): { factory: Factory; issues: Issue[] } {
  const { file: factory, issues } = readFields(factorySchema, value);
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
