// CRC-32 (ISO-HDLC, as in zlib, gzip and PNG). Node's own came with 20.15.

const table = Uint32Array.from({ length: 256 }, (_, n) => {
  let c = n;
  for (let k = 0; k < 8; k++) c = c & 1 ? (c >>> 1) ^ 0xedb88320 : c >>> 1;
  return c;
});

/** @param before the sum of what came before these bytes */
export function crc32(bytes: Uint8Array, before = 0): number {
  let c = ~before;
  for (const b of bytes) c = (c >>> 8) ^ table[(c ^ b) & 0xff]!;
  return ~c >>> 0;
}
