// An invitation to a subnet, as a link or as digits a person types. Pure.
import { fromBase64url } from '../protocol/bytes.ts';
import { IngleError } from '../protocol/errors.ts';
import type { Access } from '../protocol/noise/channel.ts';

export interface Invite {
  /** Root's device code, six digits. */
  code: string;
  access: Access & { mode: 'link' | 'typed' };
}

/** The first word of the fragment; a browser's link says `v1`. */
const WORD = 'hub1';

/** The link of an invitation, from the one of a pairing window for a browser. */
export const inviteLink = (pairingLink: string): string => pairingLink.replace('/#v1.', `/#${WORD}.`);

/** @throws IngleError `invalid_request` for what is no invitation to a subnet */
export function readInvite(given: string): Invite {
  const text = given.trim();
  const digits = text.replace(/[\s-]/g, '');
  if (/^\d{12}$/.test(digits))
    return { code: digits.slice(0, 6), access: { mode: 'typed', secret: digits.slice(6) } };
  const m = new RegExp(`^https?://[^/#]+/#${WORD}\\.(\\d{6})\\.([\\w-]{43})\\.([\\w-]{43})$`).exec(text);
  if (!m)
    throw new IngleError(
      'invalid_request',
      'This is no invitation for a hub. It is a link or twelve digits; "ingle subnet invite" on the other hub makes one.',
      { pointer: '/invite' },
    );
  const [hubStatic, psk] = [fromBase64url(m[2]!), fromBase64url(m[3]!)];
  return { code: m[1]!, access: { mode: 'link', hubStatic, psk } };
}
