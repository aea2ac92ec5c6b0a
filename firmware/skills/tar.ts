// One block of a package's archive: POSIX ustar (IEEE 1003.1-2017, pax, "ustar Interchange Format"), of which a
// package has regular files only, each with the one header its name and size can have. Pure.
import { fromUtf8, utf8 } from '../protocol/bytes.ts';

export const BLOCK = 512;

/** Zeros behind a file's bytes up to the next block. */
export const padding = (size: number) => (BLOCK - (size % BLOCK)) % BLOCK;

const checksumAt = 148;
const octal = (n: number, digits: number) => n.toString(8).padStart(digits, '0');

/** The header of a file. @param name at most 100 bytes of ASCII */
export function headerOf(name: string, size: number): Uint8Array {
  const block = new Uint8Array(BLOCK);
  const put = (at: number, text: string) => block.set(utf8(text), at);
  put(0, name);
  put(100, '0000644\0');
  for (const at of [108, 116, 329, 337]) put(at, '0000000\0'); // uid, gid, devmajor, devminor
  put(124, `${octal(size, 11)}\0`);
  put(136, `${octal(0, 11)}\0`); // mtime
  put(156, '0');
  put(257, 'ustar\x0000');
  put(checksumAt, sumOf(block));
  return block;
}

/** The checksum as it is written: its own eight bytes count as blanks. */
function sumOf(block: Uint8Array): string {
  let sum = 0;
  for (let i = 0; i < BLOCK; i++) sum += i >= checksumAt && i < checksumAt + 8 ? 32 : block[i]!;
  return `${octal(sum, 6)}\0 `;
}

/** A text field up to its first zero; what is not printable ASCII shows as "?". */
function field(block: Uint8Array, at: number, length: number): string {
  const bytes = block.subarray(at, at + length);
  const end = bytes.indexOf(0);
  return Array.from(end < 0 ? bytes : bytes.subarray(0, end), (b) =>
    b >= 0x20 && b < 0x7f ? String.fromCharCode(b) : '?',
  ).join('');
}

export const nameIn = (block: Uint8Array) => field(block, 0, 100);

/** The size a header says, or undefined. */
export function sizeIn(block: Uint8Array): number | undefined {
  const text = fromUtf8(block.subarray(124, 136).map((b) => b & 0x7f));
  return /^[0-7]{11}\0$/.test(text) ? Number.parseInt(text, 8) : undefined;
}

const kinds: Readonly<Record<string, string>> = {
  '1': 'is a hard link',
  '2': 'is a symbolic link',
  '3': 'is a device',
  '4': 'is a device',
  '5': 'is a folder',
  '6': 'is a pipe',
  x: 'is a header of pax',
  g: 'is a header of pax',
  K: 'is an extension of GNU tar',
  L: 'is an extension of GNU tar',
  S: 'is an extension of GNU tar',
};

/** What is wrong with a header that is not the one of `name` and `size`. Goes on after the name of the entry. */
export function faultOfHeader(block: Uint8Array, name: string, size: number): string {
  if (block.every((b) => b === 0)) return 'is missing: the archive ends before it';
  if (fromUtf8(block.subarray(checksumAt, checksumAt + 8).map((b) => b & 0x7f)) !== sumOf(block))
    return 'has a damaged header';
  const type = field(block, 156, 1);
  if (type !== '0') return `${kinds[type] ?? 'is of a kind nobody knows'}; a package has files only`;
  const named = nameIn(block);
  if (named !== name) return `is missing: "${named.slice(0, 60)}" stands in its place`;
  if (sizeIn(block) !== size) return 'has another size than package.json says';
  return 'has another mode, owner or time than files of a package have';
}
