// A repository of prototypes: `<namespace>/<name>/manifest.yaml`, and a folder for each version with `scenario.yaml`,
// `README.md` (`README.ru.md` for another language) and files of fragments. How YAML is parsed is handed in. Pure.
import { compareVersions } from '../update/version.ts';
import { checkPrototype, type Surroundings } from './check.ts';
import { below, faultAt, formFaults, type ScenarioFault } from './fault.ts';
import { withIncludes } from './include.ts';
import { type PrototypeManifest, prototypeManifestSchema } from './manifest.ts';
import { type Readme, readmeLanguage } from './readme.ts';
import { fullId, type Prototype, prototypeSchema } from './schema.ts';

/** A file that was parsed. */
export interface ParsedFile {
  value: unknown;
  /** `<file>:<line>:<column>` of what a pointer names. */
  at(pointer: string): string;
  /** What keeps it from being read, each with its place. */
  faults: readonly string[];
}
export type Parse = (text: string, file: string) => ParsedFile;

export interface PrototypeVersion {
  /** With its includes put in. */
  prototype: Prototype;
  readme: Readme;
}
export interface StoredPrototype {
  id: string;
  manifest: PrototypeManifest;
  versions: ReadonlyMap<string, PrototypeVersion>;
}
export interface RepositoryFault {
  /** `<file>:<line>:<column>`, or the file alone where it is not there. */
  place: string;
  /** Undefined for what no parser could read. */
  fault: ScenarioFault | undefined;
  /** In English. */
  says: string;
}

/** In a repository its name is in capitals. */
const isReadme = (name: string) => name.startsWith('README') && readmeLanguage(name) !== undefined;
const sorted = (names: Iterable<string>) => [...new Set(names)].sort();

/** The capabilities and anchors that a manifest tells of a version. */
export function listedOf(p: Prototype): { caps: string[]; anchors: string[] } {
  return {
    caps: sorted(Object.values(p.slots ?? {}).map((s) => s.cap)),
    anchors: sorted(Object.keys(p.anchors ?? {})),
  };
}

/** What a manifest says that is not so. */
function manifestFaults(m: PrototypeManifest, id: string): ScenarioFault[] {
  return [
    ...(m.id === id ? [] : [faultAt('/id', 'wrong_folder', { id })]),
    ...m.versions.flatMap(({ version }, i) => {
      const pointer = `/versions/${i}/version`;
      const before = m.versions[i - 1]?.version;
      return before !== undefined && compareVersions(before, version) >= 0
        ? [faultAt(pointer, 'not_newer', { before })]
        : [];
    }),
  ];
}

class Reading {
  readonly faults: RepositoryFault[] = [];
  readonly #files: ReadonlyMap<string, string>;
  readonly #parse: Parse;
  constructor(files: ReadonlyMap<string, string>, parse: Parse) {
    this.#files = files;
    this.#parse = parse;
  }
  text(file: string): string | undefined {
    return this.#files.get(file);
  }
  parsed(file: string): ParsedFile | undefined {
    const read = this.#parse(this.#files.get(file)!, file);
    if (read.faults.length === 0) return read;
    for (const line of read.faults) {
      const [, place = file, says = line] = /^([^:]+(?::\d+:\d+)?): (.*)$/s.exec(line) ?? [];
      this.faults.push({ place, fault: undefined, says });
    }
    return undefined;
  }
  tell(place: string, fault: ScenarioFault): void {
    this.faults.push({ place, fault, says: `${fault.pointer} ${fault.says}`.trim() });
  }
  tellAll(read: ParsedFile, faults: readonly ScenarioFault[]): void {
    for (const f of faults) this.tell(read.at(f.pointer), f);
  }
}

/** What the README says, in each language there is; undefined without an English one. */
function readReadme(r: Reading, folder: string, names: readonly string[]): Readme | undefined {
  const readme = Object.fromEntries(
    names.filter(isReadme).map((name) => [readmeLanguage(name)!, r.text(`${folder}/${name}`)!]),
  );
  for (const name of names.filter(isReadme))
    if (readme[readmeLanguage(name)!]!.trim() === '') r.tell(`${folder}/${name}`, faultAt('', 'empty'));
  return readme['en'] === undefined ? undefined : readme;
}

/** One version: its scenario and its README. */
function readVersion(
  r: Reading,
  folder: string,
  names: readonly string[],
  around: Surroundings,
): { read: ParsedFile; version: PrototypeVersion } | undefined {
  const main = `${folder}/scenario.yaml`;
  const readme = readReadme(r, folder, names);
  const read = r.parsed(main);
  if (!read) return undefined;
  const form = formFaults(prototypeSchema, read.value);
  r.tellAll(read, form);
  if (form.length > 0) return undefined;
  const parts = new Map([['scenario.yaml', read]]);
  for (const name of names.filter((n) => /\.ya?ml$/.test(n) && n !== 'scenario.yaml')) {
    const part = r.parsed(`${folder}/${name}`);
    if (part) parts.set(name, part);
  }
  const values = new Map([...parts].filter(([n]) => n !== 'scenario.yaml').map(([n, p]) => [n, p.value]));
  const { prototype, faults } = withIncludes(read.value as Prototype, 'scenario.yaml', values);
  for (const f of faults) r.tell(parts.get(f.file)?.at(f.pointer) ?? f.file, f);
  if (faults.length > 0) return undefined;
  // What is wrong in the file itself is told at its place; what only shows with its fragments, at the file's.
  const own = checkPrototype(read.value, around);
  r.tellAll(read, own);
  const whole = own.length > 0 || values.size === 0 ? [] : checkPrototype(prototype, around);
  for (const f of whole) r.tell(main, f);
  return own.length > 0 || whole.length > 0 || readme === undefined
    ? undefined
    : { read, version: { prototype, readme } };
}

function readOne(
  r: Reading,
  id: string,
  files: readonly string[],
  around: Surroundings,
): StoredPrototype | undefined {
  const main = `${id}/manifest.yaml`;
  if (!files.includes('manifest.yaml')) {
    r.tell(id, faultAt('', 'no_manifest'));
    return undefined;
  }
  const read = r.parsed(main);
  if (!read) return undefined;
  const form = formFaults(prototypeManifestSchema, read.value);
  const manifest = read.value as PrototypeManifest;
  r.tellAll(read, form.length > 0 ? form : manifestFaults(manifest, id));
  if (form.length > 0) return undefined;
  const listed = new Set(manifest.versions.map((v) => v.version));
  for (const f of files) {
    const [folder = '', name] = f.split('/');
    if (f === 'manifest.yaml') continue;
    if (
      name === undefined ||
      f.split('/').length > 2 ||
      !(isReadme(name) || /^[a-z0-9_][a-z0-9._-]*\.ya?ml$/.test(name))
    )
      r.tell(`${id}/${f}`, faultAt('', 'stray_file'));
    else if (!listed.has(folder) && name === 'scenario.yaml') r.tell(`${id}/${f}`, faultAt('', 'unlisted'));
  }
  const versions = new Map<string, PrototypeVersion>();
  for (const [i, { version, caps, anchors }] of manifest.versions.entries()) {
    const names = files.filter((f) => f.startsWith(`${version}/`)).map((f) => f.slice(version.length + 1));
    for (const file of ['scenario.yaml', 'README.md'])
      if (!names.includes(file)) {
        const pointer = `/versions/${i}/version`;
        r.tell(read.at(pointer), faultAt(pointer, 'no_version', { file: `${version}/${file}` }));
      }
    const found = names.includes('scenario.yaml')
      ? readVersion(r, `${id}/${version}`, names, around)
      : undefined;
    if (!found) continue;
    const { prototype } = found.version;
    if (fullId(prototype.id) !== id) r.tellAll(found.read, [faultAt('/id', 'wrong_folder', { id })]);
    if (prototype.version !== version)
      r.tellAll(found.read, [faultAt('/version', 'wrong_folder', { id: version })]);
    const real = listedOf(prototype);
    for (const [field, said] of [
      ['caps', caps],
      ['anchors', anchors],
    ] as const)
      if (JSON.stringify(said) !== JSON.stringify(real[field]))
        r.tellAll(read, [
          faultAt(below(`/versions/${i}`, field), 'differs', { is: JSON.stringify(real[field]) }),
        ]);
    versions.set(version, found.version);
  }
  return { id, manifest, versions };
}

/**
 * Reads a repository. What is whole comes back, and all that is wrong beside it; who takes nothing with a fault looks
 * at `faults` first.
 * @param files path below the repository's folder -> text
 */
export function readPrototypes(
  files: ReadonlyMap<string, string>,
  parse: Parse,
  around: Surroundings = {},
): { prototypes: StoredPrototype[]; faults: RepositoryFault[] } {
  const r = new Reading(files, parse);
  const byId = new Map<string, string[]>();
  for (const path of [...files.keys()].sort()) {
    const [namespace, name, ...rest] = path.split('/');
    if (rest.length === 0) r.tell(path, faultAt('', 'stray_file'));
    else byId.set(`${namespace}/${name}`, [...(byId.get(`${namespace}/${name}`) ?? []), rest.join('/')]);
  }
  const prototypes = [...byId].flatMap(([id, names]) => readOne(r, id, names, around) ?? []);
  return { prototypes, faults: r.faults };
}
