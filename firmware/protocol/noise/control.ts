// Control messages inside the channel: `[0][JSON]` (wire.ts).
import { concat, utf8 } from '../bytes.ts';
import { IngleError } from '../errors.ts';
import { parseObject, shape } from '../json.ts';
import { type Control, messageKind } from '../wire.ts';

const shapes = {
  welcome: {
    t: 'string',
    hub_id: 'string',
    owner_id: 'string',
    hub_name: 'string',
    version: 'string',
    admitted: 'boolean',
    need: 'string?',
    first: 'boolean',
    sign_pub: 'string?',
    elevated_until: 'number',
  },
  assertion: { t: 'string', credential: 'object', public_key: 'string?', label: 'string?' },
  admitted: { t: 'string', elevated_until: 'number' },
  refused: { t: 'string', error: 'string', message: 'string' },
  serving: { t: 'string', ok: 'boolean' },
  direct: { t: 'string', stun: 'array' },
  offer: { t: 'string', id: 'number', end: 'object' },
  answer: { t: 'string', id: 'number', end: 'object?' },
  work: { t: 'string' },
  member: { t: 'string', certificate: 'string', signature: 'string' },
  rotate: { t: 'string', e2e_pub: 'string', sign_pub: 'string', signature: 'string' },
} as const;

export function encodeControl(control: Control): Uint8Array {
  return concat(Uint8Array.of(messageKind.control), utf8(JSON.stringify(control)));
}

/**
 * The control message in a channel's plaintext, or null when the plaintext is of another kind.
 * @throws IngleError `invalid_request` when it is one but malformed.
 */
export function decodeControl(plaintext: Uint8Array): Control | null {
  if (plaintext[0] !== messageKind.control) return null;
  const m = parseObject(plaintext.subarray(1));
  const t = m['t'];
  if (typeof t !== 'string' || !Object.hasOwn(shapes, t))
    throw new IngleError('invalid_request', 'A control message of no known kind.', { pointer: '/t' });
  const given = shape(m, shapes[t as Control['t']]) as unknown as Control;
  if (given.t === 'welcome') {
    given.need ??= null;
    if (given.need !== null && given.need !== 'assertion')
      throw new IngleError('invalid_request', 'An unknown need.', { pointer: '/need' });
  }
  return given;
}
