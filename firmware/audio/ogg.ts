// The packets of an Ogg Opus file (RFC 3533, RFC 7845), read whole and strictly: how long they are is known before any
// of them is decoded. Pure.
import { concat } from '../protocol/bytes.ts';
import { IngleError } from '../protocol/errors.ts';

/** Rate at which Ogg Opus counts, Hz. */
export const OPUS_RATE = 48_000;
/** The longest packet, samples: 120 ms (RFC 6716, 3.1). */
const MAX_PACKET = 5760;
const HEAD = 27;

export interface OpusFile {
  channels: 1 | 2;
  /** Of the first samples, those that are dropped; at 48 kHz, as the others. */
  skip: number;
  /** Samples in all, without those that are dropped at both ends. */
  samples: number;
  packets: Uint8Array[];
}

const bad = (says: string) => new IngleError('invalid_request', `${says} Record it again.`);
const cut = () => bad('This Ogg file is cut off.');

const table = Uint32Array.from({ length: 256 }, (_, n) => {
  let c = n << 24;
  for (let k = 0; k < 8; k++) c = c & 0x8000_0000 ? (c << 1) ^ 0x04c1_1db7 : c << 1;
  return c >>> 0;
});
/** Ogg's own sum: CRC-32 that is not reflected, over the page with zeros in the sum's place. */
function sumOf(page: Uint8Array): number {
  let c = 0;
  for (let i = 0; i < page.length; i++)
    c = ((c << 8) ^ table[(c >>> 24) ^ (i >= 22 && i < 26 ? 0 : page[i]!)]!) >>> 0;
  return c;
}

interface Page {
  isContinued: boolean;
  isLast: boolean;
  /** Where the stream is at its end; -1: no packet ends in it. */
  granule: bigint;
  serial: number;
  sequence: number;
  lacing: Uint8Array;
  body: Uint8Array;
  size: number;
}

function pageAt(bytes: Uint8Array, at: number): Page {
  if (bytes.length - at < HEAD) throw cut();
  const view = new DataView(bytes.buffer, bytes.byteOffset + at, bytes.length - at);
  if (view.getUint32(0) !== 0x4f67_6753 || view.getUint8(4) !== 0)
    throw bad('This Ogg file is damaged: a page does not begin where it should.');
  const flags = view.getUint8(5);
  const segments = view.getUint8(26);
  if (view.byteLength < HEAD + segments) throw cut();
  const lacing = bytes.subarray(at + HEAD, at + HEAD + segments);
  const size = HEAD + segments + lacing.reduce((sum, n) => sum + n, 0);
  if (view.byteLength < size) throw cut();
  if (view.getUint32(22, true) !== sumOf(bytes.subarray(at, at + size)))
    throw bad('This Ogg file is damaged: the sum of a page is wrong.');
  return {
    isContinued: (flags & 1) !== 0,
    isLast: (flags & 4) !== 0,
    granule: view.getBigInt64(6, true),
    serial: view.getUint32(14, true),
    sequence: view.getUint32(18, true),
    lacing,
    body: bytes.subarray(at + HEAD + segments, at + size),
    size,
  };
}

/** Samples of a packet at 48 kHz, by its first byte (RFC 6716, 3.1). */
export function samplesOf(packet: Uint8Array): number {
  const [toc, second = 0] = packet;
  if (toc === undefined) throw bad('This recording has an empty packet.');
  const config = toc >> 3;
  const frame =
    config < 12
      ? [480, 960, 1920, 2880][config & 3]!
      : config < 16
        ? [480, 960][config & 1]!
        : [120, 240, 480, 960][config & 3]!;
  const frames = [1, 2, 2, second & 63][toc & 3]!;
  const samples = frames * frame;
  if (samples === 0 || samples > MAX_PACKET)
    throw bad('This recording has a packet of an impossible length.');
  return samples;
}

function readHead(packet: Uint8Array): Pick<OpusFile, 'channels' | 'skip'> {
  const name = String.fromCharCode(...packet.subarray(0, 8));
  if (name !== 'OpusHead' || packet.length < 19)
    throw new IngleError('not_supported', 'In this Ogg file is no Opus. Send Opus or a WAV file.');
  const view = new DataView(packet.buffer, packet.byteOffset, packet.length);
  const channels = view.getUint8(9);
  if (view.getUint8(8) >> 4 !== 0 || view.getUint8(18) !== 0 || (channels !== 1 && channels !== 2))
    throw new IngleError('not_supported', 'This Opus recording is not mono or stereo. Send one that is.');
  return { channels, skip: view.getUint16(10, true) };
}

/**
 * Reads a file that holds one Opus stream.
 * @param most samples at 48 kHz that it may have
 * @throws IngleError `invalid_request`, `not_supported`
 */
export function readOgg(bytes: Uint8Array, most: number): OpusFile {
  const packets: Uint8Array[] = [];
  let head: Pick<OpusFile, 'channels' | 'skip'> | undefined;
  let parts: Uint8Array[] = [];
  let [seen, samples, trimmed, position] = [0, 0, 0, 0n];
  let [serial, isOver] = [-1, false];

  function take(packet: Uint8Array): number {
    if (seen++ === 0) head = readHead(packet);
    // The second one is comments.
    if (seen <= 2) return 0;
    const n = samplesOf(packet);
    samples += n;
    if (samples - head!.skip > most)
      throw bad(`A recording may have at most ${Math.floor(most / OPUS_RATE)} seconds.`);
    packets.push(packet);
    return n;
  }
  for (let [at, sequence] = [0, 0]; at < bytes.length; sequence++) {
    const page = pageAt(bytes, at);
    at += page.size;
    if (serial < 0) serial = page.serial;
    if (isOver || page.serial !== serial) throw bad('This Ogg file holds more than one recording.');
    if (page.sequence !== sequence) throw bad('This Ogg file lacks a page.');
    if (page.isContinued !== parts.length > 0) throw bad('This Ogg file lacks a part of a packet.');
    let [from, inPage] = [0, 0];
    for (const n of page.lacing) {
      parts.push(page.body.subarray(from, from + n));
      from += n;
      if (n === 255) continue;
      inPage += take(parts.length === 1 ? parts[0]! : concat(...parts));
      parts = [];
    }
    isOver = page.isLast;
    // A recording ends within its last packet: its granule says where.
    const over = position + BigInt(inPage) - page.granule;
    if (isOver && page.granule >= 0n && over > 0n && over <= BigInt(inPage)) trimmed = Number(over);
    if (page.granule >= 0n) position = page.granule;
  }
  if (parts.length > 0) throw cut();
  const left = samples - (head?.skip ?? 0) - trimmed;
  if (!head || left <= 0) throw bad('This recording has no sound in it.');
  return { ...head, samples: left, packets };
}
