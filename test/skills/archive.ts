// Packages built by hand, as a hostile publisher would: every field of every header can be what it likes.
import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import { crc32, deflateRawSync } from 'node:zlib';
import * as assert from 'uvu/assert';
import { type ErrorCode, IngleError } from '../../firmware/protocol/errors.ts';
import { checkPackage, type PackedFile } from '../../firmware/skills/package.ts';
import { nobody, type Publishers } from '../../firmware/skills/publishers.ts';
import type { Signer } from '../../firmware/skills/signer.ts';

const bytesOf = (text: string) => new Uint8Array(Buffer.from(text));

/** The key of a seed byte, so that a test's packages are the same each time. */
export function signerOfSeed(seed: number): Signer {
  const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), Buffer.alloc(32, seed)]);
  const secret: KeyObject = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const { x } = createPublicKey(secret).export({ format: 'jwk' });
  return {
    key: new Uint8Array(Buffer.from(x!, 'base64url')),
    sign: (message) => new Uint8Array(sign(null, message, secret)),
  };
}

export const idOfKey = (key: Uint8Array) =>
  createHash('sha256').update(key).digest().subarray(0, 16).toString('base64url');

export const manifest = (id = 'lamp', version = '1.2.0') => ({
  id,
  version,
  capabilities: { visual: true, ui: { title: 'Lamp', modes: ['panel'], schema: 'ui/v0' } },
});

export const file = (path: string, text: string): PackedFile => ({ path, bytes: bytesOf(text) });
export const lamp = (id = 'lamp', version = '1.2.0'): PackedFile[] => [
  file('manifest.json', JSON.stringify(manifest(id, version))),
  file('skill.js', 'export const skill = { start() {} };\n'.repeat(20)),
  file('texts/en.json', '{"on":"On"}'),
];

export interface Entry {
  name: string;
  bytes?: Uint8Array;
  /** What the header says, where it lies. */
  size?: number;
  type?: string;
  link?: string;
  mode?: string;
  mtime?: string;
  prefix?: string;
  magic?: string;
  sum?: string;
  /** Bytes behind the body where zeros belong. */
  pad?: number;
}

export function block(e: Entry): Uint8Array {
  const out = Buffer.alloc(512);
  out.write(e.name, 0, 100, 'latin1');
  out.write(e.mode ?? '0000644\0', 100, 'latin1');
  for (const at of [108, 116, 329, 337]) out.write('0000000\0', at, 'latin1');
  out.write(`${(e.size ?? e.bytes?.length ?? 0).toString(8).padStart(11, '0')}\0`, 124, 'latin1');
  out.write(e.mtime ?? '00000000000\0', 136, 'latin1');
  out.write(e.type ?? '0', 156, 'latin1');
  out.write(e.link ?? '', 157, 100, 'latin1');
  out.write(e.magic ?? 'ustar\x0000', 257, 'latin1');
  out.write(e.prefix ?? '', 345, 155, 'latin1');
  out.fill(' ', 148, 156);
  const sum = out.reduce((a, b) => a + b, 0);
  out.write(e.sum ?? `${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return new Uint8Array(out);
}

export function tar(entries: readonly Entry[], end = 1024): Buffer {
  const parts = entries.flatMap((e) => {
    const bytes = e.bytes ?? new Uint8Array(0);
    return [block(e), bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512, e.pad ?? 0)];
  });
  return Buffer.concat([...parts, Buffer.alloc(end)]);
}

export function gzip(bytes: Uint8Array, level = 9): Buffer {
  const tail = Buffer.alloc(8);
  tail.writeUInt32LE(crc32(bytes), 0);
  tail.writeUInt32LE(bytes.length % 2 ** 32, 4);
  return Buffer.concat([Buffer.from('1f8b08000000000002ff', 'hex'), deflateRawSync(bytes, { level }), tail]);
}

type Meta = Record<string, unknown> & { files: unknown };
export const metaOf = (files: readonly PackedFile[], more: Record<string, unknown> = {}): Meta => ({
  format: 'ingle-skill/1',
  id: 'lamp',
  version: '1.2.0',
  publisher: idOfKey(signerOfSeed(1).key),
  files: files.map(({ path, bytes }) => ({
    path,
    size: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
  })),
  ...more,
});

/** package.json and its signature. @param seed 0: unsigned */
export function head(meta: unknown, seed = 1): Entry[] {
  const text = bytesOf(typeof meta === 'string' ? meta : JSON.stringify(meta));
  if (seed === 0) return [{ name: 'package.json', bytes: text }];
  const s = signerOfSeed(seed);
  const signature = s.sign(Buffer.concat([Buffer.from('ingle-skill/1\n'), text]));
  const seal = [s.key, signature].map((b) => `${Buffer.from(b).toString('base64url')}\n`).join('');
  return [
    { name: 'package.json', bytes: text },
    { name: 'package.sig', bytes: bytesOf(seal) },
  ];
}

export const entriesOf = (files: readonly PackedFile[]): Entry[] =>
  files.map(({ path, bytes }) => ({ name: path, bytes }));

/** A good package but for what is changed in its entries; package.json and signature come first. */
export function made(change: (entries: Entry[]) => Entry[] = (e) => e, files = lamp(), meta = metaOf(files)) {
  return gzip(tar(change([...head(meta), ...entriesOf(files)])));
}

export const check = (bytes: Uint8Array | AsyncIterable<Uint8Array>) => checkPackage(bytes, nobody);

export type Row = [name: string, bytes: () => Uint8Array, code: ErrorCode, words: RegExp];

/** Whether a package is refused with these words. */
export async function refuses(
  bytes: Uint8Array | AsyncIterable<Uint8Array>,
  code: ErrorCode,
  words: RegExp,
  publishers: Publishers = nobody,
): Promise<void> {
  try {
    await checkPackage(bytes, publishers);
  } catch (e) {
    assert.instance(e, IngleError, `${words}: ${(e as Error).stack}`);
    const { code: got, message } = e as IngleError;
    assert.is(got, code, message);
    assert.match(message, words);
    assert.ok(message.length < 6000);
    return;
  }
  assert.unreachable(`taken: ${words}`);
}

export const bad = 'invalid_request';
export const at = (name: string, more: Partial<Entry>) => (entries: Entry[]) =>
  entries.map((e) => (e.name === name ? { ...e, ...more } : e));
export const code = lamp()[1]!;
/** A package whose package.json names one more file, and has it. */
export const withFile = (path: string, more: Partial<Entry> = {}) => {
  const files = [...lamp(), file(path, 'x')].sort((a, b) => (a.path < b.path ? -1 : 1));
  return made(at(path, more), files);
};
export const withMeta = (change: Record<string, unknown>, seed = 1) =>
  gzip(tar([...head(metaOf(lamp(), change), seed), ...entriesOf(lamp())]));
export const { files } = metaOf(lamp()) as { files: Record<string, unknown>[] };
