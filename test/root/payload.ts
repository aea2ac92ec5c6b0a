// Ten megabytes that both ends of a transfer know. A piece of them that is missing, twice there or out of place shows:
// the period is a prime.
import { createHash } from 'node:crypto';

export type Way = 'down' | 'up';

export const PIECE = 64 * 1024;
/** In its midst a transfer waits until something has befallen it: a quick one would be through. */
export const HELD = 6_000_000;
/** Text, as a local API of a test reads it. */
export const whole = Buffer.alloc(10_000_000, period(65_521));
export const sha256 = createHash('sha256').update(whole).digest('hex');

function period(length: number): string {
  let text = '';
  for (let i = 0; text.length < length; i++) text += createHash('sha512').update(`${i}`).digest('base64url');
  return text.slice(0, length);
}
