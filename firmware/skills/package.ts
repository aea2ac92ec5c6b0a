// A package: a skill in one file, `<id>-<version>.ingle-skill`. A gzip of a tar in a strict subset (tar.ts), whose first
// entry says what follows and whose second is the publisher's signature over the first. Other kinds of packages (a
// scenario's, say) are made and read by the same functions.
import { createHash } from 'node:crypto';
import { concat, fromBase64url, toBase64url, utf8 } from '../protocol/bytes.ts';
import { IngleError } from '../protocol/errors.ts';
import { parseObject } from '../protocol/json.ts';
import { MAX_BODY } from '../protocol/limits.ts';
import { verifyEd25519 } from '../protocol/noise/ed25519.ts';
import { gzipped, unzipped } from './gzip.ts';
import { checkManifest, type Manifest } from './manifest.ts';
import { checkMeta, LIMITS, type Meta, metaOf, namedSkill, type PackageKind } from './package-meta.ts';
import { keyIdOf, nameOf, type Publishers, type Trust, trustIn } from './publishers.ts';
import type { Signer } from './signer.ts';
import { BLOCK, faultOfHeader, headerOf, nameIn, padding, sizeIn } from './tar.ts';

export interface PackedFile {
  /** Below the skill's folder: `manifest.json`, `texts/en.json`. */
  path: string;
  bytes: Uint8Array;
}

export interface Package {
  meta: Meta;
  /** Names the whole content: base64url of the SHA-256 of package.json. */
  digest: string;
  publisher: { id: string; key: string; name: string | undefined } | undefined;
  trust: Trust;
  /**
   * The files in order, each whole and as package.json says. One that breaks off has thrown; only when it has come to
   * its end is the package good.
   */
  files: AsyncGenerator<PackedFile, void>;
  /** Leaves off reading. */
  close(): Promise<void>;
}

const metaName = 'package.json';
const signatureName = 'package.sig';
const sealed = /^([A-Za-z0-9_-]{43})\n([A-Za-z0-9_-]{86})\n$/;
const SEAL_BYTES = 43 + 1 + 86 + 1;

const bad = (path: string, says: string) =>
  new IngleError('invalid_request', `${path} ${says}.`, { path: path.slice(0, 100) });
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes);
/** What a publisher signs. */
const statement = (meta: Uint8Array, { format }: PackageKind) => concat(utf8(`${format}\n`), meta);

/**
 * The manifest in a package.
 * @throws IngleError with all its faults
 */
export function manifestIn(bytes: Uint8Array): Manifest {
  const path = 'manifest.json';
  let value: unknown;
  try {
    value = parseObject(bytes, MAX_BODY);
  } catch (e) {
    const large = (e as IngleError).code === 'too_large';
    throw large
      ? new IngleError('too_large', `${path} may have at most ${MAX_BODY} bytes.`, { path })
      : bad(path, 'is no JSON object, or nests too deep');
  }
  try {
    return checkManifest(value);
  } catch (e) {
    const { code, message, details } = e as IngleError;
    throw new IngleError(code, message, { ...details, path });
  }
}

const skillPackage: PackageKind = { ...namedSkill, identity: manifestIn };

/**
 * Makes a package of a skill. The same files and key give the same archive; how gzip packs it may differ between releases of zlib.
 * @param files of a skill's folder, in any order
 * @param signer without one the package is unsigned
 * @throws IngleError `invalid_request`, `too_large`: all that is wrong with the manifest, or with the names
 */
export function packSkill(
  files: readonly PackedFile[],
  signer?: Signer,
): { bytes: Uint8Array; meta: Meta; manifest: Manifest } {
  const found = files.find((f) => f.path === 'manifest.json');
  if (!found) throw bad('manifest.json', 'is missing');
  const manifest = manifestIn(found.bytes);
  return { ...packed(skillPackage, manifest, files, signer), manifest };
}

/**
 * Makes a package of a kind. @throws IngleError `invalid_request`, `too_large`: all that is wrong with the names
 * @param identity what the kind's main file says
 */
export function packed(
  kind: PackageKind,
  { id, version }: { id: string; version: string },
  files: readonly PackedFile[],
  signer?: Signer,
): { bytes: Uint8Array; meta: Meta } {
  const sorted = [...files].sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
  const meta: Meta = {
    format: kind.format,
    id,
    version,
    ...(signer ? { publisher: keyIdOf(signer.key) } : {}),
    files: sorted.map(({ path, bytes }) => ({
      path,
      size: bytes.length,
      sha256: sha256(bytes).digest('hex'),
    })),
  };
  const text = utf8(JSON.stringify(checkMeta(meta, LIMITS, kind)));
  if (text.length > LIMITS.meta) throw tooLarge(metaName, LIMITS.meta);
  const seal =
    signer && utf8(`${toBase64url(signer.key)}\n${toBase64url(signer.sign(statement(text, kind)))}\n`);
  const entries = [
    { path: metaName, bytes: text },
    ...(seal ? [{ path: signatureName, bytes: seal }] : []),
    ...sorted,
  ];
  const blocks = entries.flatMap(({ path, bytes }) => [
    headerOf(path, bytes.length),
    bytes,
    new Uint8Array(padding(bytes.length)),
  ]);
  const bytes = gzipped(concat(...blocks, new Uint8Array(2 * BLOCK)));
  if (bytes.length > LIMITS.packed) throw tooLarge('The package', LIMITS.packed);
  return { bytes, meta };
}

const tooLarge = (what: string, most: number) =>
  new IngleError('too_large', `${what} is larger than ${most} bytes, which is the most.`);

/** Takes bytes by count from what comes in pieces; holds one piece. */
class Taker {
  #have = new Uint8Array(0) as Uint8Array;
  readonly #from: AsyncGenerator<Uint8Array, void>;
  constructor(from: AsyncGenerator<Uint8Array, void>) {
    this.#from = from;
  }
  /** @throws IngleError where there are fewer */
  async take(count: number, what: string): Promise<Uint8Array> {
    const out = new Uint8Array(count);
    for (let at = 0; at < count; ) {
      if (this.#have.length === 0) {
        const { value } = await this.#from.next();
        if (!value) throw bad(what, 'is missing or not whole: the archive ends before');
        this.#have = value;
      }
      const part = this.#have.subarray(0, count - at);
      out.set(part, at);
      at += part.length;
      this.#have = this.#have.subarray(part.length);
    }
    return out;
  }
  /** Gives back what was taken last. */
  putBack(bytes: Uint8Array): void {
    this.#have = concat(bytes, this.#have);
  }
  async atEnd(): Promise<boolean> {
    return this.#have.length === 0 && (await this.#from.next()).done === true;
  }
  close(): Promise<unknown> {
    return this.#from.return();
  }
}

/** The body of an entry whose header was taken. */
async function bodyOf(from: Taker, header: Uint8Array, path: string, size: number): Promise<Uint8Array> {
  const wanted = headerOf(path, size);
  if (!header.every((b, i) => b === wanted[i])) throw bad(path, faultOfHeader(header, path, size));
  const bytes = await from.take(size, path);
  const rest = await from.take(padding(size), path);
  if (rest.some((b) => b !== 0)) throw bad(path, 'is followed by what is no part of it');
  return bytes;
}

async function* filesOf(from: Taker, meta: Meta, kind: PackageKind): AsyncGenerator<PackedFile, void> {
  try {
    for (const { path, size, sha256: sum } of meta.files) {
      const bytes = await bodyOf(from, await from.take(BLOCK, path), path, size);
      if (sha256(bytes).digest('hex') !== sum) throw bad(path, 'is not what package.json says it is');
      if (path === kind.main) {
        const { id, version } = kind.identity(bytes);
        if (id !== meta.id) throw bad(path, `is of "${id}", and package.json of "${meta.id}"`);
        if (version !== meta.version)
          throw bad(path, `is of version ${version}, and package.json of ${meta.version}`);
      }
      yield { path, bytes };
    }
    const end = await from.take(2 * BLOCK, 'The end of the archive');
    if (end.some((b) => b !== 0))
      throw bad(`"${nameIn(end).slice(0, 60)}"`, 'is in the archive, and package.json does not name it');
    if (!(await from.atEnd())) throw bad('The archive', 'goes on behind its end');
  } finally {
    await from.close();
  }
}

/** The key that signed, checked; `header` is that of package.sig. */
async function signedBy(
  from: Taker,
  header: Uint8Array,
  meta: Meta,
  text: Uint8Array,
  kind: PackageKind,
): Promise<string> {
  const seal = await bodyOf(from, header, signatureName, SEAL_BYTES);
  const [, key = '', signature = ''] = sealed.exec(String.fromCharCode(...seal)) ?? [];
  let raw: { key: Uint8Array; signature: Uint8Array };
  try {
    raw = { key: fromBase64url(key), signature: fromBase64url(signature) };
  } catch {
    throw bad(signatureName, 'is no signature');
  }
  if (!key) throw bad(signatureName, 'is no signature');
  if (!(await verifyEd25519(raw.key, raw.signature, statement(text, kind)).catch(() => false)))
    throw new IngleError('forbidden', 'The signature is wrong: the package was changed or is forged.', {
      path: signatureName,
    });
  if (keyIdOf(raw.key) !== meta.publisher)
    throw new IngleError('forbidden', 'The package names another publisher than the one who signed it.', {
      path: metaName,
      pointer: '/publisher',
    });
  return key;
}

async function* slices(bytes: Uint8Array): AsyncGenerator<Uint8Array, void> {
  for (let at = 0; at < bytes.length; at += BLOCK * 128) yield bytes.subarray(at, at + BLOCK * 128);
}

/**
 * Opens a package: what it says of itself, and who says so. Nothing of a file is handed on before the signature is
 * verified and the file's own hash is right. At most one file is held. Whoever does not read `files` to their end
 * closes it.
 * @param kind what it must be; a skill where it is left out
 * @param source a stream ends or fails by itself: nothing here waits for a time
 * @throws IngleError `invalid_request`, `too_large`, `forbidden`; here or while the files are read
 */
export async function readPackage(
  source: AsyncIterable<Uint8Array> | Uint8Array,
  publishers: Publishers,
  limits: typeof LIMITS = LIMITS,
  kind: PackageKind = skillPackage,
): Promise<Package> {
  const from = new Taker(unzipped(source instanceof Uint8Array ? slices(source) : source, limits.packed));
  try {
    const header = await from.take(BLOCK, metaName);
    const size = sizeIn(header) ?? 0;
    if (size > limits.meta && nameIn(header) === metaName) throw tooLarge(metaName, limits.meta);
    const text = await bodyOf(from, header, metaName, Math.min(size, limits.meta));
    const meta = metaOf(text, limits, kind);
    const second = await from.take(BLOCK, meta.publisher ? signatureName : meta.files[0]!.path);
    const isSigned = nameIn(second) === signatureName;
    if (isSigned !== (meta.publisher !== undefined))
      throw new IngleError(
        'forbidden',
        isSigned
          ? 'The package is signed and names no publisher.'
          : 'The package names a publisher, and its signature is missing.',
        { path: signatureName },
      );
    const key = isSigned ? await signedBy(from, second, meta, text, kind) : undefined;
    const trust = trustIn(publishers, meta.id, key);
    if (!isSigned) from.putBack(second);
    return {
      meta,
      digest: toBase64url(sha256(text).digest()),
      publisher: key ? { id: meta.publisher!, key, name: nameOf(publishers, key) } : undefined,
      trust,
      files: filesOf(from, meta, kind),
      async close() {
        await from.close();
      },
    };
  } catch (e) {
    await from.close();
    throw e;
  }
}

/** Reads a package to its end and answers what is in it, without the files. @throws IngleError as `readPackage` */
export async function checkPackage(
  source: AsyncIterable<Uint8Array> | Uint8Array,
  publishers: Publishers,
): Promise<Omit<Package, 'files' | 'close'> & { manifest: Manifest }> {
  const { files, close: _, ...said } = await readPackage(source, publishers);
  let manifest: Manifest | undefined;
  for await (const { path, bytes } of files) if (path === 'manifest.json') manifest = manifestIn(bytes);
  return { ...said, manifest: manifest! };
}
