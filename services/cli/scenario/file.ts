// A scenario as its author has it: scenario.yaml with the files it includes, every fault with its line and column; and the
// package of it.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { IngleError } from '../../../firmware/protocol/errors.ts';
import { packPrototype } from '../../../firmware/scenario/bundle.ts';
import { checkPrototype } from '../../../firmware/scenario/check.ts';
import { type ScenarioFault, saidIn } from '../../../firmware/scenario/fault.ts';
import { withIncludes } from '../../../firmware/scenario/include.ts';
import { type Readme, readmeLanguage } from '../../../firmware/scenario/readme.ts';
import type { Prototype } from '../../../firmware/scenario/schema.ts';
import { draftOf, starter } from '../../../firmware/scenario/template-draft.ts';
import { walk } from '../../../firmware/scenario/walk.ts';
import { isPacked } from '../../../firmware/skills/gzip.ts';
import { readSigner } from '../../../firmware/skills/signer.ts';
import { writeWhole } from '../../../firmware/system/atomic.ts';
import type { Language } from '../../../firmware/text/i18n.ts';
import type { Say } from '../say.ts';
import { plain } from '../show.ts';
import { devTextOf } from '../skill/text.ts';
import { MOST_YAML, readYaml, type Yaml, type YamlFile } from '../yaml.ts';
import type { Text } from './text.ts';

interface At {
  say: Say;
  t: Text;
  language: Language;
}

/** The library, which who develops nothing does without. */
async function yamlOf(t: Text): Promise<Yaml> {
  return import('yaml').catch(() => {
    throw new IngleError('not_supported', t('noYaml'));
  });
}

/** @throws IngleError `not_found`, `unavailable` */
function read(yaml: Yaml, file: string, name: string, { t, language }: At): YamlFile {
  try {
    const text = statSync(file).size > MOST_YAML ? undefined : readFileSync(file, 'utf8');
    return readYaml(yaml, text, name, devTextOf(language));
  } catch (e) {
    const { code, message } = e as NodeJS.ErrnoException;
    throw code === 'ENOENT'
      ? new IngleError('not_found', t('noFile', { file: plain(file, 300) }))
      : new IngleError('unavailable', t('fileFailed', { file: plain(file, 300), why: plain(message, 300) }));
  }
}

function refuse(file: string, lines: readonly string[], { t }: At): never {
  const faults = [...new Set(lines)].slice(0, 40).map((line) => plain(line, 500));
  const told = faults.map((line) => `  ${line}`).join('\n');
  throw new IngleError('invalid_request', t('faults', { file: plain(file, 300), faults: told }), { faults });
}

/**
 * The scenario of a file, with its includes put in.
 * @throws IngleError `invalid_request` with every fault as `file:line:column: what is wrong`, `not_found`
 */
export async function scenarioIn(file: string, at: At): Promise<Prototype> {
  const yaml = await yamlOf(at.t);
  const name = basename(file);
  const own = read(yaml, file, name, at);
  if (own.faults.length > 0) refuse(file, own.faults, at);
  const files = new Map([[name, own]]);
  const placed = (of: YamlFile) => (f: ScenarioFault) =>
    `${of.at(f.pointer)}: ${f.pointer} ${saidIn(f, at.language)}`.replace(/: {2,}/, ': ');
  const { $schema: _, ...value } = Object(own.value) as Prototype;
  const faults = checkPrototype(own.value);
  if (faults.length > 0) refuse(file, faults.map(placed(own)), at);

  // Files of the same folder alone can be named.
  const folder = dirname(file);
  const others = readdirSync(folder).filter((f) => /\.ya?ml$/.test(f) && f !== name);
  for (const other of others) files.set(other, read(yaml, join(folder, other), other, at));
  const parsed = new Map([...files].map(([n, f]) => [n, f.value]));
  const { prototype, faults: missing } = withIncludes(value, name, parsed);
  const broken = missing.flatMap((f) => {
    const of = files.get(f.file) ?? own;
    return of.faults.length > 0 ? of.faults : [placed(of)(f)];
  });
  if (broken.length > 0) refuse(file, broken, at);
  // What only shows once everything is put in has no line of its own.
  const whole = checkPrototype(prototype);
  if (whole.length > 0)
    refuse(
      file,
      whole.map((f) => `${name}: ${f.pointer} ${saidIn(f, at.language)}`),
      at,
    );
  return prototype;
}

export async function checkFile(file: string, at: At): Promise<void> {
  const p = await scenarioIn(file, at);
  const steps = walk(p.steps).length;
  at.say.event({ file: resolve(file), id: p.id, version: p.version, steps });
  at.say.line(at.t('good', { file: plain(file, 300), id: p.id, version: p.version, steps }));
}

/**
 * A folder with a scenario of one's own, from the one of `from` or from the smallest there is. Nothing that is there is
 * replaced.
 */
export async function newFolder(
  folder: string,
  { id, from }: { id: string; from?: string | undefined },
  at: At,
): Promise<void> {
  const { say, t } = at;
  const file = resolve(folder, 'scenario.yaml');
  if (existsSync(file)) throw new IngleError('conflict', t('newTaken', { file: plain(file, 300) }));
  const yaml = await yamlOf(t);
  const template = from === undefined ? starter : await scenarioIn(from, at);
  const name = basename(id).replaceAll(/[_-]/g, ' ');
  const { include: _, ...draft } = draftOf(template, {
    id,
    name: name.charAt(0).toUpperCase() + name.slice(1),
  });
  try {
    mkdirSync(resolve(folder), { recursive: true });
    await writeWhole(file, Buffer.from(yaml.stringify(draft, { lineWidth: 110 })), 0o644);
    const readme = resolve(folder, 'README.md');
    if (!existsSync(readme))
      await writeWhole(readme, Buffer.from(`# ${draft.name}\n\n${t('newReadme')}\n`), 0o644);
  } catch (e) {
    throw new IngleError('unavailable', t('outFailed', { file, why: (e as Error).message }));
  }
  say.event({ file, id, version: draft.version });
  say.line(t('newWritten', { file: plain(file, 300), id }));
}

/** Whether a package may take the file's place. */
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

/** What the README of a folder says, in each language. @throws IngleError `not_found`, `invalid_request` */
function readmeIn(folder: string, { t }: At): Readme {
  const readme: Record<string, string> = {};
  // README.md comes before readme.md, and the first counts.
  for (const name of readdirSync(folder).sort()) {
    if (!/^(?:README|readme)\.(?:.*\.)?md$/.test(name)) continue;
    const language = readmeLanguage(name);
    if (language === undefined)
      throw new IngleError('invalid_request', t('badReadme', { file: plain(join(folder, name), 300) }));
    readme[language] ??= readFileSync(join(folder, name), 'utf8');
  }
  if (readme['en'] === undefined)
    throw new IngleError('not_found', t('noReadme', { folder: plain(folder, 300) }));
  return readme;
}

export async function packFolder(
  folder: string,
  { key, out }: { key?: string | undefined; out?: string | undefined },
  at: At,
): Promise<void> {
  const { say, t } = at;
  const prototype = await scenarioIn(join(folder, 'scenario.yaml'), at);
  const readme = readmeIn(folder, at);
  const signer = key === undefined ? undefined : readSigner(key);
  const { bytes, meta } = packPrototype(prototype, readme, signer);
  const file = resolve(out ?? `${meta.id.replace('/', '.')}-${meta.version}.ingle-scenario`);
  try {
    if (!(await isFree(file))) throw new IngleError('conflict', t('outTaken', { file }));
    await writeWhole(file, bytes, 0o644);
  } catch (e) {
    if (e instanceof IngleError) throw e;
    rmSync(`${file}.new`, { force: true });
    throw new IngleError('unavailable', t('outFailed', { file, why: (e as Error).message }));
  }
  const { id, version, publisher } = meta;
  say.event({ file, id, version, publisher: publisher ?? null, bytes: bytes.length });
  const size = Math.ceil(bytes.length / 1024);
  say.line(publisher ? t('packed', { file, size, key: publisher }) : t('packedUnsigned', { file, size }));
}

/** The bytes of a package. @throws IngleError `not_found`, `unavailable` */
export function packageOf(file: string, { t }: Pick<At, 't'>): Uint8Array {
  try {
    return readFileSync(file);
  } catch (e) {
    const { code, message } = e as NodeJS.ErrnoException;
    throw code === 'ENOENT'
      ? new IngleError('not_found', t('noFile', { file: plain(file, 300) }))
      : new IngleError('unavailable', t('fileFailed', { file: plain(file, 300), why: plain(message, 300) }));
  }
}
