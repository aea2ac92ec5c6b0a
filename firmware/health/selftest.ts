// The self-test of the factory line: which parts failed, and the code a worker scans or types. Pure.
import { createHash } from 'node:crypto';
import type { HealthText } from '../text/health.ts';

export type Part = 'wifi' | 'bluetooth' | 'audio' | 'storage' | 'clock' | 'label';

/** Codes of faults, short enough to be read over a noisy line; none is ever given another meaning. */
export const faults = {
  W1: 'why_no_service',
  W2: 'why_no_radio',
  W3: 'why_no_networks',
  B1: 'why_no_adapter',
  A1: 'why_no_service',
  A2: 'why_no_sink',
  A3: 'why_no_source',
  A4: 'why_verdict',
  S1: 'why_storage',
  C1: 'why_clock',
  L1: 'why_label',
} as const satisfies Record<string, HealthText>;
export type Fault = keyof typeof faults;

export interface Result {
  part: Part;
  /** Empty when the part is good; null where the device has none. */
  fault: Fault | '' | null;
  /** Values of the fault's text. */
  values: Record<string, string | number>;
}

/** Crockford's base 32: no letter that looks like a digit. */
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** `FAIL-W2-A4`, or `PASS-` and four characters that are of this device and this version alone. */
export function resultCode(
  results: readonly Result[],
  device: { model: string; serial: string; version: string },
): string {
  const found = results.flatMap((r) => (r.fault ? [r.fault] : []));
  if (found.length > 0) return `FAIL-${found.join('-')}`;
  const { model, serial, version } = device;
  const hash = createHash('sha256')
    .update(JSON.stringify([model, serial, version]))
    .digest();
  return `PASS-${[0, 1, 2, 3].map((i) => alphabet[hash[i]! & 31]).join('')}`;
}
