// Takes the secrets out of text that leaves the hub (a journal on a technician's stick). Pure.
// Two nets: values this hub is known to hold, wherever they stand, and the shapes secrets have.

const gone = '[removed]';
/** Names whose value is a secret, as they stand in logs, JSON, headers and configurations. */
const names =
  'psk|passphrase|password|passwd|pass|pin|otp|secret|client_?secret|token|access_?token|refresh_?token|auth_?token|id_?token|jwt|api_?key|key|private_?key|pre_?shared_?key|pairing_?code|cookie|set-cookie|proof|ticket|session_jwt|sealed_secret|device_code|wpa_passphrase|sae_password|x-service-token|authorization|proxy-authorization';

/** Applied in order; each replaces what it finds by `gone`, keeping the words around. */
const shapes: readonly [RegExp, string][] = [
  // A network password may hold blanks and commas: unquoted, it goes on to the next name or a wider gap. Before all
  // others, as its first word may look like something else, and its rest would stay.
  [
    /((?:^|[^A-Za-z0-9])(?:wpa_passphrase|sae_password|passphrase|password|psk|пароль)\)?\s*[=:](?!\s*\[removed\])\s*)(?!["'\\])(?:(?!\s{2}|\t|\s[\p{L}\w-]+[=:]).)+/giu,
    `$1${gone}`,
  ],
  // A pairing link's fragment holds the code and the channel's secret; a link is worth nothing without it.
  [/#(v\d+|insecure)\.[A-Za-z0-9._~-]+/g, `#$1.${gone}`],
  // What a camera reads off a label; a network's name may hold blanks, and a line may be cut.
  [/\bWIFI:(?=[A-Z]:)(?:.{0,300}?;;|\S*)/g, `WIFI:${gone}`],
  // JWS and JWT (RFC 7515): three parts, the first a JSON object.
  [/\beyJ[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]*)*/g, gone],
  // Hashes of console secrets and of Unix passwords.
  [/\bscrypt\$[\w$+/=-]+/g, gone],
  [/\$(?:[0-9][a-z]?|y|gy|7)\$[^\s:"']+/g, gone],
  // Tokens that say by their beginning whose they are.
  [/\b(?:gh[pousr]_|github_pat_|glpat-|xox[abprs]-|sk-|hf_|npm_|AKIA|AIza)[A-Za-z0-9_-]{12,}/g, gone],
  // A messenger's bot token.
  [/\b\d{6,12}:[A-Za-z0-9_-]{30,}/g, gone],
  [/\b(Bearer|Basic|Digest)\s+[^\s"',;]+/gi, `$1 ${gone}`],
  // The name and password of an address.
  [/:\/\/[^\s/@"']+@/g, `://${gone}@`],
  // "name": "value" of JSON, also where it was quoted once more.
  [
    new RegExp(
      `(\\\\*["'](?:[\\w-]*[_-])?(?:${names})\\\\*["']\\s*:\\s*)(?:\\\\*"(?:\\\\.|[^"\\\\])*\\\\*"|[^\\s,}\\]]+)`,
      'gi',
    ),
    `$1"${gone}"`,
  ],
  // name=value, name: value, and the same with quotes; "Password: x   PIN: y" of our console. A word is looked at once,
  // from its beginning: from each of its parts, a long one would take seconds.
  [
    new RegExp(
      `(?<![\\w-])((?:[\\w-]*[_-])?(?:${names})\\)?\\s*(?:=|:|\\bis\\b)(?!\\s*\\[removed\\])\\s*)("(?:\\\\.|[^"\\\\])*"|'[^']*'|[^\\s,;&"'}\\])]+)`,
      'gi',
    ),
    `$1${gone}`,
  ],
  [/((?:пароль|пин-код|пин|код)\s*[:=](?!\s*\[removed\])\s*)[^\s,;]+/giu, `$1${gone}`],
  // A typed pairing code, both groups or one: 482-913 507-226.
  [/(^|[^\d-])\d{3}-\d{3}(?:[ +]\d{3}-\d{3})?(?![\d-])/g, `$1${gone}`],
  // Raw keys: 32 bytes and more in hexadecimal, or in base64.
  [/(^|[^0-9A-Fa-f])[0-9A-Fa-f]{64,}(?![0-9A-Fa-f])/g, `$1${gone}`],
  [/(^|[^0-9A-Fa-f:])(?:[0-9A-Fa-f]{2}:){15,}[0-9A-Fa-f]{2}(?![0-9A-Fa-f])/g, `$1${gone}`],
  // 16 bytes and more in base64 with its padding, which no word of a log ends in.
  [/(^|[^A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{22,}={1,2}(?![A-Za-z0-9+/_=-])/g, `$1${gone}`],
  [/(^|[^A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{43,}={0,2}(?![A-Za-z0-9+/_-])/g, `$1${gone}`],
];

const pemBegin = /-----BEGIN [A-Z ]*PRIVATE KEY-----/;
const pemEnd = /-----END [A-Z ]*PRIVATE KEY-----/;

/**
 * A function that takes secrets out of a text, line after line; what it is given next may go on where this one ended.
 * @param known secrets this hub holds (passwords, PINs, tokens); shorter than 4 characters they are passed over
 */
export function redactor(known: readonly string[] = []): (line: string) => string {
  // The longest first, so that a secret within another does not leave the rest of it.
  const values = [...new Set(known.filter((k) => k.length >= 4))]
    .sort((a, b) => b.length - a.length)
    .map((k) => k.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  const held = values.length > 0 ? new RegExp(values.join('|'), 'g') : undefined;
  let inKey = false;
  return (line) => {
    if (inKey) {
      inKey = !pemEnd.test(line);
      return gone;
    }
    if (pemBegin.test(line)) {
      inKey = !pemEnd.test(line);
      return line.slice(0, line.search(pemBegin)) + gone;
    }
    let text = held ? line.replace(held, gone) : line;
    for (const [shape, by] of shapes) text = text.replace(shape, by);
    return text;
  };
}
