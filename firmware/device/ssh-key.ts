// Public keys as OpenSSH writes them in authorized_keys: RFC 4253, 6.6 (ssh-rsa), RFC 5656, 3.1 (ecdsa), RFC 8709, 4
// (ed25519), OpenSSH's PROTOCOL.u2f (sk-…). Pure.

/** Length in bytes of a point of NIST's curves, uncompressed. */
const points: Readonly<Record<string, number>> = { nistp256: 65, nistp384: 97, nistp521: 133 };
/** Shorter moduli are refused by today's OpenSSH (RequiredRSASize is 1024) or soon will be. */
const leastRsaBits = 2048;

/** The strings of SSH's wire form (RFC 4251, 5), or undefined where lengths do not add up. */
function stringsOf(bytes: Buffer): Buffer[] | undefined {
  const out: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    if (at + 4 > bytes.length) return undefined;
    const end = at + 4 + bytes.readUInt32BE(at);
    if (end > bytes.length) return undefined;
    out.push(bytes.subarray(at + 4, end));
    at = end;
  }
  return out;
}

function bitsOf(number: Buffer): number {
  const first = number.findIndex((b) => b !== 0);
  return first < 0 ? 0 : (number.length - first) * 8 - Math.clz32(number[first]!) + 24;
}

/** What is wrong with the fields behind the type, or undefined. */
function faultOfFields(type: string, fields: readonly Buffer[]): string | undefined {
  const broken = `its ${type} is broken: copy the whole line of the .pub file`;
  const curve = /^(?:sk-)?ecdsa-sha2-(nistp\d+)/.exec(type)?.[1];
  // A security key's has the name of its application at the end.
  const rest = type.startsWith('sk-') ? fields.slice(0, -1) : fields;
  if (type.startsWith('sk-') && !fields.at(-1)?.length) return broken;
  if (curve) {
    const [name, point] = rest;
    const fits = name?.toString() === curve && point?.length === points[curve] && point?.[0] === 4;
    return rest.length === 2 && fits ? undefined : broken;
  }
  if (type === 'ssh-rsa') {
    const [exponent, modulus] = rest;
    if (rest.length !== 2 || !exponent?.length || !modulus?.length) return broken;
    const bits = bitsOf(modulus);
    return bits < leastRsaBits ? `its RSA key has ${bits} bits: at least ${leastRsaBits}` : undefined;
  }
  return rest.length === 1 && rest[0]!.length === 32 ? undefined : broken;
}

const types = [
  ...['ssh-ed25519', 'ssh-rsa', ...Object.keys(points).map((c) => `ecdsa-sha2-${c}`)],
  ...['sk-ssh-ed25519@openssh.com', 'sk-ecdsa-sha2-nistp256@openssh.com'],
];

/** What is wrong with a public key, for its maker, or undefined. */
export function faultOfSshKey(line: string): string | undefined {
  if (/PRIVATE KEY/.test(line)) return 'that is a private key; the public one is in the .pub file beside it';
  const [type = '', base64 = ''] = line.split(' ');
  if (!types.includes(type)) return `a public key of OpenSSH begins with one of ${types.join(', ')}`;
  const bytes = Buffer.from(base64, 'base64');
  const [name, ...fields] = stringsOf(bytes) ?? [];
  // Buffer passes over what is no base64.
  if (!base64 || bytes.toString('base64') !== base64 || !name)
    return `its ${type} is broken: copy the whole line of the .pub file`;
  if (name.toString('latin1') !== type) return `it says ${type} and holds another type`;
  return faultOfFields(type, fields);
}
