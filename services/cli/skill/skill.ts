// `ingle skill`: writing a skill, a publisher's key, making and signing packages, looking at one.
import { createReadStream, existsSync, rmSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { resolve } from 'node:path';
import { toBase64url } from '../../../firmware/protocol/bytes.ts';
import { IngleError } from '../../../firmware/protocol/errors.ts';
import { isPacked } from '../../../firmware/skills/gzip.ts';
import { checkPackage, type PackedFile, packSkill, readPackage } from '../../../firmware/skills/package.ts';
import { readPublishers } from '../../../firmware/skills/publisher-files.ts';
import { keyIdOf, nobody, type Publishers } from '../../../firmware/skills/publishers.ts';
import { makeSigner, readSigner, type Signer } from '../../../firmware/skills/signer.ts';
import { writeWhole } from '../../../firmware/system/atomic.ts';
import { readConfig } from '../../../firmware/system/config.ts';
import type { Language } from '../../../firmware/text/i18n.ts';
import { mayDo } from '../../../firmware/text/may-do.ts';
import type { Command } from '../args.ts';
import { nearestHouse } from '../find.ts';
import type { Say } from '../say.ts';
import { plain } from '../show.ts';
import { checkPackedApp } from './app.ts';
import { build, testSkill } from './build.ts';
import { dev } from './dev.ts';
import { filesIn } from './folder.ts';
import { newSkill } from './new.ts';
import type { OnHub } from './on-hub.ts';
import { devTextOf, type Text, textOf } from './text.ts';

export type SkillCommand = Exclude<Extract<Command, `skill ${string}`>, OnHub>;

const kib = (bytes: number) => Math.ceil(bytes / 1024);

/** Whom the hub of this computer trusts; nobody where there is none. */
function trustedHere(): Publishers {
  const house = process.env['INGLE_DATA'] ? undefined : nearestHouse();
  return readPublishers(house ? { data: house.hub, skills: house.skills } : readConfig());
}

/** A package's file as it is read. @throws IngleError for what the system says of the file */
async function* contentOf(file: string, t: Text): AsyncGenerator<Uint8Array, void> {
  try {
    yield* createReadStream(file) as AsyncIterable<Uint8Array>;
  } catch (e) {
    const { code, message } = e as NodeJS.ErrnoException;
    throw code === 'ENOENT'
      ? new IngleError('not_found', t('inMissing', { file }))
      : new IngleError('unavailable', t('inFailed', { file, why: message }));
  }
}

/** Whether a package may take the file's place. A key that was named by mistake may not be lost. */
async function isFree(file: string): Promise<boolean> {
  if (!existsSync(file)) return true;
  const f = await open(file, 'r');
  try {
    const begin = new Uint8Array(10);
    const { bytesRead } = await f.read(begin, 0, begin.length);
    return isPacked(begin.subarray(0, bytesRead));
  } finally {
    await f.close();
  }
}

/** Packs, writes and says so. */
async function write(
  files: readonly PackedFile[],
  signer: Signer | undefined,
  out: string | undefined,
  say: Say,
  t: Text,
) {
  const { bytes, meta, manifest } = packSkill(files, signer);
  await checkPackedApp(files, manifest, t);
  const size = files.reduce((sum, f) => sum + f.bytes.length, 0);
  const named = { skill: meta.id, version: meta.version };
  say.line(t('packing', { ...named, count: files.length, size: kib(size) }));
  const file = resolve(out ?? `${meta.id}-${meta.version}.ingle-skill`);
  try {
    if (!(await isFree(file))) throw new IngleError('conflict', t('outTaken', { file }));
    await writeWhole(file, bytes, 0o644);
  } catch (e) {
    if (e instanceof IngleError) throw e;
    rmSync(`${file}.new`, { force: true });
    throw new IngleError('unavailable', t('outFailed', { file, why: (e as Error).message }));
  }
  say.event({
    file,
    id: meta.id,
    version: meta.version,
    publisher: meta.publisher ?? null,
    files: files.length,
    bytes: bytes.length,
  });
  say.line(
    meta.publisher
      ? t('packed', { file, size: kib(bytes.length), key: meta.publisher })
      : t('packedUnsigned', { file, size: kib(bytes.length) }),
  );
}

async function show(file: string, say: Say, t: Text, language: Language): Promise<void> {
  const { meta, digest, publisher, trust, manifest } = await checkPackage(contentOf(file, t), trustedHere());
  say.event({
    id: meta.id,
    version: meta.version,
    digest,
    publisher: publisher ? { id: publisher.id, key: publisher.key, name: publisher.name ?? null } : null,
    trust,
    files: meta.files,
    manifest,
  });
  const title = plain(manifest.capabilities.ui?.title ?? '-');
  say.line(t('shown', { skill: meta.id, version: meta.version, title }));
  say.line(t(trust, { name: plain(publisher?.name ?? ''), key: publisher?.id ?? '' }));
  say.line(t('files'));
  for (const { path, size } of meta.files) say.line(t('file', { size: String(size).padStart(8), path }));
  say.line(t('may'));
  for (const line of mayDo(manifest, language)) say.line(`  ${line}`);
}

async function sign(file: string, signer: Signer, out: string | undefined, say: Say, t: Text) {
  const { files } = await readPackage(contentOf(file, t), nobody);
  const all: PackedFile[] = [];
  for await (const one of files) all.push(one);
  await write(all, signer, out, say, t);
}

function sayKey({ key }: Signer, say: Say, t: Text, more: Record<string, unknown> = {}): void {
  const id = keyIdOf(key);
  const text = toBase64url(key);
  say.event({ ...more, id, key: text });
  say.line(t('keyId', { id }));
  say.line(t('keyPublic', { key: text }));
}

/** @throws IngleError whose words cannot drive the terminal, whatever the package says */
export async function skill(
  command: SkillCommand,
  what: string,
  values: Readonly<Record<string, string>>,
  say: Say,
  language: Language,
): Promise<void> {
  const t = textOf(language);
  const { key, out } = values;
  try {
    const d = devTextOf(language);
    if (command === 'skill new') newSkill(what, say, d);
    else if (command === 'skill build') await build(what, say, d);
    else if (command === 'skill test') await testSkill(what, say, d);
    else if (command === 'skill dev') await dev(what, say, d);
    else if (command === 'skill key new') {
      const made = makeSigner(what);
      say.line(t('keyMade', { file: resolve(what) }));
      sayKey(made, say, t, { file: resolve(what) });
    } else if (command === 'skill key show') sayKey(readSigner(what), say, t);
    else if (command === 'skill pack') {
      const signer = key === undefined ? undefined : readSigner(key);
      await write(filesIn(what, t), signer, out, say, t);
    } else if (command === 'skill sign') {
      if (!key) throw new IngleError('invalid_request', say.text('wantsValue', { option: '--key', command }));
      await sign(what, readSigner(key), out, say, t);
    } else await show(what, say, t, language);
  } catch (e) {
    if (!(e instanceof IngleError)) throw e;
    const lines = e.message.split('\n').map((line) => plain(line, 2000));
    throw new IngleError(e.code, lines.slice(0, 40).join('\n'), e.details);
  }
}
