// Who asks: the service token, and whom its holder names (D10).
import { type Caller, checkPrincipal } from '../../firmware/documents/acl.ts';
import { fromBase64url, fromUtf8 } from '../../firmware/protocol/bytes.ts';
import { IngleError } from '../../firmware/protocol/errors.ts';
import type { TokenCheck } from '../../firmware/system/token.ts';

/**
 * The caller of a request; `null` is local control.
 * @throws IngleError `unauthenticated` without the service token, `invalid_request` for a principal that is none.
 */
export function callerOf(headers: Record<string, string>, token: TokenCheck): Caller {
  if (!token.matches(headers['x-service-token'] ?? ''))
    throw new IngleError('unauthenticated', 'This needs the header X-Service-Token with the service token.');
  const named = headers['x-ingle-principal'];
  if (named === undefined) return null;
  let value: unknown;
  try {
    value = JSON.parse(fromUtf8(fromBase64url(named)));
  } catch {
    throw new IngleError('invalid_request', 'X-Ingle-Principal is not base64url of JSON.');
  }
  return checkPrincipal(value);
}
