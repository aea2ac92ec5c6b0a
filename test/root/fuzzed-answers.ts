// What an answer to hostile input must look like.
import { errorTable, isErrorCode } from '../../firmware/protocol/errors.ts';

/** What no sentence for a person has: pieces of code, of the database, of the machine. */
const internal =
  /undefined|\bnull\b|\bNaN\b|\[object|\n *at |\bat \S+ \(|node_modules|\.[jt]s\b|SQL|SELECT|INSERT|constraint|postgres|TypeError|RangeError|SyntaxError|Cannot read|is not a function|Unexpected (token|end)|JSON at|ECONN|ENOENT|\/(tmp|root|home|usr|var)\//i;

/**
 * Why a body is not the one error shape; '' when it is.
 * @param status of HTTP, or 0 where there is none
 * @param more fields that may stand beside it
 */
export function errorFault(status: number, text: string, more: string[] = []): string {
  // The HTTP server itself refuses heads that are too large, before anything of ours sees them.
  if (status === 431 && text === '') return '';
  let body: { error?: unknown; message?: unknown };
  try {
    body = JSON.parse(text);
  } catch {
    return 'not JSON';
  }
  const { error, message } = body;
  if (!isErrorCode(error)) return 'no code of ours';
  if (status !== 0 && errorTable[error].http !== status) return `the status of ${error} is another`;
  const allowed = ['error', 'message', 'details', ...more];
  const odd = Object.keys(body).filter((k) => !allowed.includes(k));
  if (odd.length > 0) return `unknown fields ${odd}`;
  if (typeof message !== 'string' || !/^["A-Z].*[.!?)]$/s.test(message)) return 'no sentence';
  if (internal.test(message)) return 'internal words';
  if (['internal', 'not_supported', 'unavailable', 'timeout'].includes(error)) return 'a failure inside';
  return '';
}
