// Secrets as root keeps and compares them.
import { createHash } from 'node:crypto';
import { utf8 } from '../firmware/protocol/bytes.ts';

/** SHA-256 of a high-entropy secret, base64url: enough to recognise it, nothing to use. */
export function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

/** Constant-time comparison of two texts of any length. */
export function sameText(a: string, b: string): boolean {
  const [x, y] = [utf8(digest(a)), utf8(digest(b))];
  let diff = 0;
  for (let i = 0; i < x.length; i++) diff |= x[i]! ^ y[i]!;
  return diff === 0;
}
