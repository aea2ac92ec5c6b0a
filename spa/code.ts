// The code a person types, and the link they scan. Pure.

/** What of the typed code is there: one group, both, or not enough. */
export function readCode(text: string): { code: string; secret: string | null } | null {
  const digits = text.replace(/\D/g, '');
  if (digits.length === 6) return { code: digits, secret: null };
  return digits.length === 12 ? { code: digits.slice(0, 6), secret: digits.slice(6) } : null;
}

/** `482913507` -> `482-913 507`: groups as the hub shows them, while typing; `max` digits are kept. */
export function groupCode(text: string, max: 6 | 12): string {
  const d = text.replace(/\D/g, '').slice(0, max);
  const pair = (s: string) => (s.length > 3 ? `${s.slice(0, 3)}-${s.slice(3)}` : s);
  return d.length > 6 ? `${pair(d.slice(0, 6))} ${pair(d.slice(6))}` : pair(d);
}

export interface PairingLink {
  code: string;
  /** Base64url of 32 bytes each; null: INSECURE, the hub sends them through root (its debug mode). */
  secret: { hubStatic: string; psk: string } | null;
}

/**
 * A pairing link's fragment `#v1.<code>.<hubStaticPub>.<psk>`, or `#insecure.<code>` of the hub's debug mode, which
 * only a person can choose: root's word does not; `bad` when it tries to be one and is not.
 */
export function readFragment(hash: string): PairingLink | 'bad' | null {
  const insecure = /^#insecure\.(\d{6})$/.exec(hash);
  if (insecure) return { code: insecure[1]!, secret: null };
  if (!hash.startsWith('#v1.')) return null;
  const m = /^#v1\.(\d{6})\.([\w-]{43})\.([\w-]{43})$/.exec(hash);
  return m ? { code: m[1]!, secret: { hubStatic: m[2]!, psk: m[3]! } } : 'bad';
}

/** A pairing link in what was typed or pasted: its whole address, or the part from `#` or `v1.` on; else null. */
export function readPasted(text: string): ReturnType<typeof readFragment> {
  const words = /(?:#|^)((?:v1|insecure)\.\S*)/.exec(text.trim());
  return words && readFragment(`#${words[1]}`);
}
