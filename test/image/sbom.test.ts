// gate: in, it starts none of the programs that its imports know
import { suite } from 'uvu';
import * as assert from 'uvu/assert';
import { licencesOf, readLock, readStatus, spdx } from '../../image/sbom.ts';

const test = suite('sbom');

const status = `Package: libc6
Status: install ok installed
Source: glibc
Architecture: amd64
Version: 2.41-12
Homepage: https://www.gnu.org/software/libc/libc.html
Description: GNU C Library: Shared libraries
 Source: this line is part of the description

Package: removed
Status: deinstall ok config-files
Architecture: amd64
Version: 1

Package: wireless-regdb
Status: install ok installed
Source: wireless-regdb (2026.02.04)
Architecture: all
Version: 2026.02.04-1~deb13u1
`;

const lock = {
  packages: {
    '': { name: 'ingle' },
    'node_modules/yjs': {
      version: '13.6.33',
      license: 'MIT',
      resolved: 'https://registry.npmjs.org/yjs/-/yjs-13.6.33.tgz',
      integrity: 'sha512-AAEC',
    },
    'node_modules/uWebSockets.js': { name: 'uws-pack', version: '20.0.8', license: '(MIT OR WTFPL)' },
    'node_modules/a/node_modules/@scope/b': { version: '1.0.0', license: 'MIT/X11' },
  },
};
const folders = ['node_modules/yjs', 'node_modules/uWebSockets.js', 'node_modules/a/node_modules/@scope/b'];

test('installed packages are read with what they were built from', () => {
  assert.equal(
    readStatus(status).map((p) => [p.name, p.version, p.arch, p.source, p.sourceVersion]),
    [
      ['libc6', '2.41-12', 'amd64', 'glibc', '2.41-12'],
      ['wireless-regdb', '2026.02.04-1~deb13u1', 'all', 'wireless-regdb', '2026.02.04'],
    ],
  );
});

test("licences are named in Debian's words, and not guessed from free text", () => {
  const dep5 =
    'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\nFiles: *\nLicense: LGPL-2.1+\n text\n\nFiles: x\nLicense: Expat\n\nLicense: LGPL-2.1+\n';
  assert.equal(licencesOf(dep5), ['Expat', 'LGPL-2.1+']);
  assert.equal(licencesOf('This is free software.\nLicense: maybe'), []);
});

test('a module has its own name and version, wherever it lies; one the lock does not know is an error', () => {
  assert.equal(
    readLock(lock, folders).map((m) => `${m.name}@${m.version}`),
    ['yjs@13.6.33', 'uws-pack@20.0.8', '@scope/b@1.0.0'],
  );
  assert.throws(() => readLock(lock, ['node_modules/stranger']), /does not know node_modules\/stranger/);
});

const image = { name: 'generic', version: '1.2.3', arch: 'amd64', date: 1_700_000_000 };
const write = () =>
  spdx(image, readStatus(status), new Map([['libc6', ['LGPL-2.1+']]]), readLock(lock, folders));

test('the list is SPDX 2.3: every package once, identified, and contained in the image', () => {
  const d = JSON.parse(write());
  assert.is(d.spdxVersion, 'SPDX-2.3');
  assert.is(d.dataLicense, 'CC0-1.0');
  // With an underscore in JSON (schemas/spdx-schema.json of SPDX 2.3), where the specification's text has a hyphen.
  assert.is(d.packages[0].primaryPackagePurpose, 'OPERATING_SYSTEM');
  assert.is(d.creationInfo.created, '2023-11-14T22:13:20Z');
  const ids = d.packages.map((p: { SPDXID: string }) => p.SPDXID);
  assert.is(new Set(ids).size, ids.length);
  for (const i of ids) assert.match(i, /^SPDXRef-[A-Za-z0-9.-]+$/);
  for (const p of d.packages)
    for (const key of ['name', 'versionInfo', 'downloadLocation', 'licenseDeclared', 'licenseConcluded'])
      assert.type(p[key], 'string', `${p.name} ${key}`);
  const contained = d.relationships.filter(
    (r: { relationshipType: string }) => r.relationshipType === 'CONTAINS',
  );
  assert.equal(
    contained.map((r: { relatedSpdxElement: string }) => r.relatedSpdxElement),
    ids.slice(1),
  );
  const locators = d.packages.flatMap((p: { externalRefs?: { referenceLocator: string }[] }) =>
    (p.externalRefs ?? []).map((r) => r.referenceLocator),
  );
  assert.equal(locators, [
    'pkg:deb/debian/libc6@2.41-12?arch=amd64&distro=trixie',
    'pkg:deb/debian/wireless-regdb@2026.02.04-1~deb13u1?arch=all&distro=trixie',
    'pkg:npm/yjs@13.6.33',
    'pkg:npm/uws-pack@20.0.8',
    'pkg:npm/%40scope/b@1.0.0',
  ]);
});

test('identifiers are unique, however names are spelled, and a module that lies in two folders is named once', () => {
  const deb = (name: string) =>
    readStatus(`Package: ${name}\nStatus: install ok installed\nArchitecture: amd64\nVersion: 1\n`)[0]!;
  const npm = (name: string, version: string, integrity = '') => ({
    name,
    version,
    license: 'MIT',
    resolved: '',
    integrity,
  });
  const d = JSON.parse(
    spdx(
      image,
      [deb('libstdc++6'), deb('libstdc--6'), deb('libstdc+-6'), deb('libstdc++6')],
      new Map(),
      // "@a/b" and "a-b" are spelled alike once the sign and the slash are gone.
      [
        npm('@a/b', '1.0.0'),
        npm('-a-b', '1.0.0'),
        npm('ws', '8.0.0'),
        npm('ws', '8.0.0'),
        npm('ws', '8.0.1'),
      ],
    ),
  ) as {
    packages: { SPDXID: string; name: string; versionInfo: string }[];
    relationships: { spdxElementId: string; relatedSpdxElement: string }[];
  };
  const ids = d.packages.map((p) => p.SPDXID);
  assert.is(new Set(ids).size, ids.length, ids.join(' '));
  assert.equal(
    d.packages.slice(1).map((p) => `${p.name} ${p.versionInfo}`),
    ['libstdc++6 1', 'libstdc--6 1', 'libstdc+-6 1', '@a/b 1.0.0', '-a-b 1.0.0', 'ws 8.0.0', 'ws 8.0.1'],
  );
  for (const r of d.relationships)
    for (const id of [r.spdxElementId, r.relatedSpdxElement])
      assert.ok(id === 'SPDXRef-DOCUMENT' || ids.includes(id), id);
});

test('a licence is declared only as SPDX knows it; checksums are in hexadecimal', () => {
  const d = JSON.parse(write());
  const of = (name: string) => d.packages.find((p: { name: string }) => p.name === name);
  assert.equal(
    ['yjs', 'uws-pack', '@scope/b', 'libc6'].map((n) => of(n).licenseDeclared),
    ['MIT', '(MIT OR WTFPL)', 'NOASSERTION', 'NOASSERTION'],
  );
  assert.match(of('@scope/b').licenseComments, /MIT\/X11/);
  assert.match(of('libc6').licenseComments, /LGPL-2\.1\+/);
  assert.equal(of('yjs').checksums, [{ algorithm: 'SHA512', checksumValue: '000102' }]);
});

test('equal inputs give equal bytes, and another input another name', () => {
  assert.is(write(), write());
  const other = spdx(image, [], new Map(), []);
  assert.is.not(JSON.parse(other).documentNamespace, JSON.parse(write()).documentNamespace);
});

test.run();
