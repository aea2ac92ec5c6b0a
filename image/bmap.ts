// The block map of a disk image: which blocks a flasher must write. What is not in it may keep what was there before,
// so zeroes that matter are in it. Format: bmap 2.0, as bmaptool reads it.
import { createHash } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

const blockSize = 4096;

/** First and last block, both written. */
export type Range = [first: number, last: number];

/** Byte ranges (start, length) as block ranges, in order, joined where they touch. */
export function rangesOf(bytes: readonly (readonly [start: number, length: number])[]): Range[] {
  const out: Range[] = [];
  const sorted = bytes
    .filter(([, length]) => length > 0)
    .map(([at, length]): Range => [Math.floor(at / blockSize), Math.ceil((at + length) / blockSize) - 1])
    .sort((a, b) => a[0] - b[0]);
  for (const [first, last] of sorted) {
    const before = out.at(-1);
    if (before && first <= before[1] + 1) before[1] = Math.max(before[1], last);
    else out.push([first, last]);
  }
  return out;
}

/** The text of the map of `image`. */
export function bmapText(image: string, ranges: readonly Range[]): string {
  const fd = openSync(image, 'r');
  const size = fstatSync(fd).size;
  const chunk = Buffer.alloc(2 ** 20);
  const lines = ranges.map(([first, last]) => {
    const hash = createHash('sha256');
    const end = Math.min((last + 1) * blockSize, size);
    for (let at = first * blockSize; at < end; ) {
      const n = readSync(fd, chunk, 0, Math.min(chunk.length, end - at), at);
      hash.update(chunk.subarray(0, n));
      at += n;
    }
    const blocks = first === last ? `${first}` : `${first}-${last}`;
    return `        <Range chksum="${hash.digest('hex')}"> ${blocks} </Range>`;
  });
  closeSync(fd);
  const mapped = ranges.reduce((sum, [first, last]) => sum + last - first + 1, 0);
  const none = '0'.repeat(64);
  const text = `<?xml version="1.0" ?>
<bmap version="2.0">
    <ImageSize> ${size} </ImageSize>
    <BlockSize> ${blockSize} </BlockSize>
    <BlocksCount> ${Math.ceil(size / blockSize)} </BlocksCount>
    <MappedBlocksCount> ${mapped} </MappedBlocksCount>
    <ChecksumType> sha256 </ChecksumType>
    <BmapFileChecksum> ${none} </BmapFileChecksum>
    <BlockMap>
${lines.join('\n')}
    </BlockMap>
</bmap>
`;
  // The sum is over the file with zeroes in its place.
  return text.replace(none, createHash('sha256').update(text).digest('hex'));
}
