// What the image is made of, as SPDX 2.3 (https://spdx.github.io/spdx-spec/v2.3/): the Debian packages of which files are
// left in the root, and the npm modules in the bundles and beside them. Equal images have equal lists.
import { createHash } from 'node:crypto';
import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bootPackages } from './boot.ts';
import { bundled } from './bundles.ts';
import { headerModules } from './compile.ts';
import { suite } from './packages.ts';

export interface DebianPackage {
  name: string;
  version: string;
  arch: string;
  /** Source package and its version, where they differ from its own: `glibc`, `2.41-12`. */
  source: string;
  sourceVersion: string;
  homepage: string;
}

/** Packages of a dpkg status text that are installed, in their order there. */
export function readStatus(text: string): DebianPackage[] {
  return text.split(/\n\n+/).flatMap((block) => {
    const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1] ?? '';
    if (field('Status') !== 'install ok installed') return [];
    const source = /^(\S+)(?: \((.*)\))?$/.exec(field('Source'));
    return [
      {
        name: field('Package'),
        version: field('Version'),
        arch: field('Architecture'),
        source: source?.[1] ?? field('Package'),
        sourceVersion: source?.[2] ?? field('Version'),
        homepage: field('Homepage'),
      },
    ];
  });
}

/** Names of licences in one of Debian's copyright files, in its own spelling, sorted; none for one of free form. */
export function licencesOf(copyright: string): string[] {
  if (!/^Format:.*copyright-format/m.test(copyright)) return [];
  return [...new Set([...copyright.matchAll(/^License: *(\S.*?) *$/gm)].map((m) => m[1]!))].sort();
}

export interface NpmModule {
  name: string;
  version: string;
  /** As its package.json says it. */
  license: string;
  /** Where it was fetched, '' when the lock does not say. */
  resolved: string;
  /** `sha512-<base64>`. */
  integrity: string;
}

type Lock = { packages: Record<string, Record<string, unknown>> };

/** Modules of a lock file at `folders`, such as `node_modules/yjs`. @throws Error for one that is not in the lock */
export function readLock(lock: Lock, folders: readonly string[]): NpmModule[] {
  return folders.map((folder) => {
    const p = lock.packages[folder];
    if (!p) throw new Error(`package-lock.json does not know ${folder}`);
    const text = (key: string) => (typeof p[key] === 'string' ? (p[key] as string) : '');
    const name = text('name') || folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length);
    return {
      name,
      version: text('version'),
      license: text('license'),
      resolved: text('resolved'),
      integrity: text('integrity'),
    };
  });
}

/** Letters, digits, dots and hyphens are all an identifier may have; of two that would be equal the later is counted. */
function identifiers(): (...parts: string[]) => string {
  const given = new Set<string>();
  return (...parts) => {
    const wished = `SPDXRef-${parts.join('-').replace(/[^A-Za-z0-9.-]/g, '-')}`;
    let id = wished;
    for (let n = 2; given.has(id); n++) id = `${wished}-${n}`;
    given.add(id);
    return id;
  };
}

/** Each once, however many folders have it. */
function once<T>(all: readonly T[], key: (one: T) => string): T[] {
  const seen = new Set<string>();
  return all.filter((one) => !seen.has(key(one)) && seen.add(key(one)));
}
/** Expressions that name only licences of SPDX's list; anything else is told as a remark. */
const isExpression = (license: string) =>
  /^[A-Za-z0-9][A-Za-z0-9.+-]*( (AND|OR|WITH) [A-Za-z0-9][A-Za-z0-9.+-]*)*$/.test(
    license.replace(/[()]/g, ''),
  ) && !license.includes('/');

export interface ImageOf {
  /** Name of the image's model. */
  name: string;
  version: string;
  arch: string;
  /** Seconds since 1970. */
  date: number;
}

/** The SPDX document's text. `licences` has those of each Debian package by its name. */
export function spdx(
  image: ImageOf,
  debian: readonly DebianPackage[],
  licences: ReadonlyMap<string, readonly string[]>,
  npm: readonly NpmModule[],
): string {
  const id = identifiers();
  const root = id('image');
  const none = 'NOASSERTION';
  const base = { filesAnalyzed: false, licenseConcluded: none, copyrightText: none };
  const packages: Record<string, unknown>[] = [
    {
      SPDXID: root,
      name: `ingle-${image.name}`,
      versionInfo: image.version,
      downloadLocation: none,
      licenseDeclared: none,
      primaryPackagePurpose: 'OPERATING_SYSTEM',
      ...base,
    },
  ];
  for (const d of once(debian, (p) => `${p.name} ${p.version} ${p.arch}`)) {
    const named = licences.get(d.name) ?? [];
    const purl = `pkg:deb/debian/${encodeURIComponent(d.name)}@${encodeURIComponent(d.version)}?arch=${d.arch}&distro=${suite}`;
    packages.push({
      SPDXID: id('deb', d.name, d.arch),
      name: d.name,
      versionInfo: d.version,
      supplier: 'Organization: Debian',
      sourceInfo: `built from ${d.source} ${d.sourceVersion}`,
      downloadLocation: none,
      ...(d.homepage ? { homepage: d.homepage } : {}),
      licenseDeclared: none,
      licenseComments:
        named.length > 0
          ? `Debian's copyright file names: ${named.join('; ')}`
          : `See /usr/share/doc/${d.name}/copyright`,
      externalRefs: [{ referenceCategory: 'PACKAGE-MANAGER', referenceType: 'purl', referenceLocator: purl }],
      ...base,
    });
  }
  for (const n of once(npm, (m) => `${m.name} ${m.version} ${m.integrity}`)) {
    const hash = /^sha512-(.+)$/.exec(n.integrity)?.[1];
    const name = n.name.split('/').map(encodeURIComponent).join('/');
    packages.push({
      SPDXID: id('npm', n.name, n.version),
      name: n.name,
      versionInfo: n.version,
      downloadLocation: n.resolved || none,
      licenseDeclared: isExpression(n.license) ? n.license : none,
      ...(isExpression(n.license)
        ? {}
        : { licenseComments: `Its package.json says: ${n.license || 'nothing'}` }),
      ...(hash
        ? { checksums: [{ algorithm: 'SHA512', checksumValue: Buffer.from(hash, 'base64').toString('hex') }] }
        : {}),
      externalRefs: [
        {
          referenceCategory: 'PACKAGE-MANAGER',
          referenceType: 'purl',
          referenceLocator: `pkg:npm/${name}@${encodeURIComponent(n.version)}`,
        },
      ],
      ...base,
    });
  }
  const contained = packages.slice(1).map((p) => ({
    spdxElementId: root,
    relationshipType: 'CONTAINS',
    relatedSpdxElement: p['SPDXID'],
  }));
  const hash = createHash('sha256')
    .update(JSON.stringify([image, packages]))
    .digest('hex');
  return `${JSON.stringify(
    {
      spdxVersion: 'SPDX-2.3',
      dataLicense: 'CC0-1.0',
      SPDXID: 'SPDXRef-DOCUMENT',
      name: `ingle-${image.name}-${image.version}-${image.arch}`,
      documentNamespace: `https://ingle.invalid/spdx/ingle-${image.name}-${image.version}-${image.arch}-${hash}`,
      creationInfo: {
        created: new Date(image.date * 1000).toISOString().replace(/\.\d+Z$/, 'Z'),
        creators: [`Tool: ingle-image-${image.version}`],
      },
      packages,
      relationships: [
        { spdxElementId: 'SPDXRef-DOCUMENT', relationshipType: 'DESCRIBES', relatedSpdxElement: root },
        ...contained,
      ],
    },
    null,
    1,
  )}\n`;
}

/** Whether any file of a package but its notice is left in the root. */
function isCarried(base: string, root: string, p: DebianPackage): boolean {
  const info = join(base, 'var/lib/dpkg/info');
  const list = [`${p.name}.list`, `${p.name}:${p.arch}.list`]
    .map((f) => join(info, f))
    .find((f) => existsSync(f));
  if (!list) return false;
  return readFileSync(list, 'utf8')
    .split('\n')
    .some((f) => {
      if (!f || f.startsWith('/usr/share/doc/') || f.startsWith('/boot/')) return false;
      const s = lstatSync(join(root, f), { throwIfNoEntry: false });
      return s !== undefined && !s.isDirectory();
    });
}

/**
 * Folders of npm's modules in an image, such as `node_modules/yjs`, sorted: those in its bundles, and those whose headers
 * are compiled into its machine code.
 * @param files what of dist/ it carries
 */
export function carriedModules(top: string, files: readonly string[]): string[] {
  const headers = headerModules.map((n) => `node_modules/${n}`).filter((d) => existsSync(join(top, d)));
  return [...new Set([...bundled(top, files), ...headers])].sort();
}

/**
 * The SBOM of a staged root.
 * @param base the Debian root it was made from, which still has dpkg's records
 * @param parts boot loader, firmware of boards and programs of the initial RAM disk, likewise
 * @param modules what carriedModules() gave
 */
export function makeSbom(o: {
  top: string;
  base: string;
  parts: string;
  root: string;
  modules: readonly string[];
  image: ImageOf;
}): string {
  const recorded = (at: string) => readStatus(readFileSync(join(at, 'var/lib/dpkg/status'), 'utf8'));
  const all = recorded(o.base);
  const kernel = (p: DebianPackage) => /^linux-image-\d/.test(p.name);
  const debian = all.filter((p) => kernel(p) || isCarried(o.base, o.root, p));
  const more = bootPackages(o.image.arch).filter((name) => !debian.some((p) => p.name === name));
  debian.push(...recorded(o.parts).filter((p) => more.includes(p.name)));
  debian.sort((a, b) => (a.name < b.name ? -1 : 1));
  const licences = new Map<string, readonly string[]>();
  for (const docs of [join(o.base, 'usr/share/doc'), join(o.parts, 'usr/share/doc')])
    for (const name of readdirSync(docs)) {
      const file = join(docs, name, 'copyright');
      if (existsSync(file)) licences.set(name, licencesOf(readFileSync(file, 'utf8')));
    }
  const lock = JSON.parse(readFileSync(join(o.top, 'package-lock.json'), 'utf8')) as Lock;
  return spdx(o.image, debian, licences, readLock(lock, o.modules));
}
