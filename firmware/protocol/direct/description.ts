// What two ends of a data channel must know of each other, in place of session descriptions (SDP, RFC 8866): a hostile
// one never reaches the parser of a WebRTC library, as the text for it is written here from checked values.

/** One end of a data channel, as it travels inside the end-to-end channel. */
export interface Description {
  /** ICE's name and password (RFC 8839, section 5.4). */
  ufrag: string;
  pwd: string;
  /** SHA-256 of the certificate of its DTLS, as in SDP (RFC 8122, section 5). */
  fingerprint: string;
  /** Where it can be reached: RFC 8839, section 5.1, with a plain address and UDP. */
  candidates: string[];
}

/** Places that one side may name. */
export const MAX_CANDIDATES = 12;
/** Longest message, bytes, as either library is told; a frame and what is around it are less. */
export const MAX_MESSAGE_SIZE = 65_600;

const ice = /^[A-Za-z0-9+/]+$/;
const fingerprint = /^[0-9A-F]{2}(:[0-9A-F]{2}){31}$/;
/** foundation, component, transport, priority, address, port, type and, for what a STUN server told, the address behind it. */
const candidate =
  /^candidate:[A-Za-z0-9+/]{1,32} 1 (?:UDP|udp) (\d{1,10}) ([0-9a-fA-F:.]{3,45}) (\d{1,5}) typ (host|srflx)( raddr [0-9a-fA-F:.]{3,45} rport \d{1,5})?$/;

const isIce = (v: unknown, least: number): v is string =>
  typeof v === 'string' && v.length >= least && v.length <= 256 && ice.test(v);

function isAddress(text: string): boolean {
  const parts = text.split('.');
  if (!text.includes(':')) return parts.length === 4 && parts.every((p) => /^\d{1,3}$/.test(p) && +p < 256);
  try {
    return new URL(`http://[${text}]`).hostname !== '';
  } catch {
    return false;
  }
}
function isCandidate(text: unknown): text is string {
  const m = typeof text === 'string' ? candidate.exec(text) : null;
  return (
    m !== null && Number(m[1]) < 2 ** 32 && isAddress(m[2]!) && Number(m[3]) > 0 && Number(m[3]) < 65_536
  );
}

/** A description from outside, or null where it is none. Never throws. */
export function checkedDescription(given: unknown): Description | null {
  if (typeof given !== 'object' || given === null) return null;
  const { ufrag, pwd, fingerprint: print, candidates } = given as Record<string, unknown>;
  if (!isIce(ufrag, 4) || !isIce(pwd, 22)) return null;
  if (typeof print !== 'string' || !fingerprint.test(print)) return null;
  if (!Array.isArray(candidates) || candidates.length > MAX_CANDIDATES || !candidates.every(isCandidate))
    return null;
  return { ufrag, pwd, fingerprint: print, candidates: candidates as string[] };
}

/**
 * What a library's own description says. Candidates that no other side can use are left out, among them the names under
 * which browsers hide their addresses from pages (draft-ietf-mmusic-mdns-ice-candidates).
 * @returns null for a text without what is needed
 */
export function readDescription(sdp: string): Description | null {
  const lines = sdp.split(/\r?\n/);
  const value = (name: string) => lines.find((l) => l.startsWith(`a=${name}:`))?.slice(name.length + 3);
  const candidates = lines
    .filter((l) => l.startsWith('a=candidate:'))
    // What comes after the type says nothing that is needed.
    .map((l) => l.slice(2).replace(/( typ (?:host|srflx(?: raddr \S+ rport \d+)?)).*$/, '$1'))
    .filter(isCandidate);
  const print = /^sha-256 (.+)$/i.exec(value('fingerprint') ?? '')?.[1]?.toUpperCase();
  return checkedDescription({
    ufrag: value('ice-ufrag'),
    pwd: value('ice-pwd'),
    fingerprint: print,
    candidates: candidates.slice(0, MAX_CANDIDATES),
  });
}

/** The text for a library; the answering side is the one that begins DTLS (RFC 8842, section 5.3). */
export function writeDescription(d: Description, type: 'offer' | 'answer'): string {
  return [
    ...['v=0', 'o=- 1 1 IN IP4 0.0.0.0', 's=-', 't=0 0', 'a=group:BUNDLE 0'],
    ...['m=application 9 UDP/DTLS/SCTP webrtc-datachannel', 'c=IN IP4 0.0.0.0', 'a=mid:0'],
    `a=ice-ufrag:${d.ufrag}`,
    `a=ice-pwd:${d.pwd}`,
    `a=fingerprint:sha-256 ${d.fingerprint}`,
    `a=setup:${type === 'offer' ? 'actpass' : 'active'}`,
    'a=sctp-port:5000',
    `a=max-message-size:${MAX_MESSAGE_SIZE}`,
    ...d.candidates.map((c) => `a=${c}`),
    // A library that is told of no candidate, and that none will come, gives up before it is called.
    'a=ice-options:trickle',
    '',
  ].join('\r\n');
}
