// What a package says of itself: package.json, its schema and rules; for skills, and by `PackageKind` for what else
// travels so. Pure.
import * as T from 'typebox';
import { skillIdForm } from '../documents/key.ts';
import { equal, utf8 } from '../protocol/bytes.ts';
import { type Fault, faultsOf, refusal, SAYS } from '../protocol/endpoint/check.ts';
import { IngleError } from '../protocol/errors.ts';
import { parseObject } from '../protocol/json.ts';
import { isVersion } from '../update/version.ts';

export const FORMAT = 'ingle-skill/1';

const MIB = 1024 * 1024;
/** The most a package may have: bytes, but for `files`. */
export const LIMITS = { packed: 8 * MIB, unpacked: 32 * MIB, files: 512, file: 8 * MIB, meta: 64 * 1024 };

const segment = '[a-z0-9_][a-z0-9._-]*';
const pathForm = `^${segment}(/${segment})*$`;
const MAX_PATH = 100;

/** Whether a file may have this path in a package. */
export const isPackedPath = (path: string) => path.length <= MAX_PATH && new RegExp(pathForm).test(path);

/** What a package may be: each kind has a format of its own, which the signature covers, and else the same form. */
export interface PackageKind {
  format: string;
  /** How an id is written, and what an id is: "the id of a skill". */
  idForm: string;
  idIs: string;
  /** Files without which it is nothing, and whether it may have another of a name; undefined: any. */
  required: readonly string[];
  mayHave: ((path: string) => boolean) | undefined;
  /** The file that says id and version too. */
  main: string;
  /** @throws IngleError with all faults of the file */
  identity(bytes: Uint8Array): { id: string; version: string };
}

const schemaOf = <F extends string>(format: F, idForm: string, idIs: string, main: string) =>
  T.Object(
    {
      format: T.Literal(format, { description: 'What kind of file this is.' }),
      id: T.String({
        pattern: idForm,
        [SAYS]: `must be ${idIs}`,
        description: `The id, as in ${main}.`,
      }),
      version: T.String({
        minLength: 1,
        maxLength: 64,
        description: `The version, as in ${main}.`,
      }),
      publisher: T.Optional(
        T.String({
          pattern: '^[A-Za-z0-9_-]{22}$',
          [SAYS]: 'must be the id of a key, 22 characters of base64url',
          description: 'Id of the key that signed; an unsigned package has none.',
        }),
      ),
      files: T.Array(
        T.Object(
          {
            path: T.String({
              maxLength: MAX_PATH,
              pattern: pathForm,
              [SAYS]: {
                pattern:
                  'must be a path of lower-case letters, digits, ".", "_" and "-", of which no part begins with "." or "-"',
              },
              description: "Path below the skill's folder.",
            }),
            size: T.Integer({ minimum: 0, maximum: LIMITS.file, description: 'Bytes.' }),
            sha256: T.String({
              pattern: '^[0-9a-f]{64}$',
              [SAYS]: 'must be 64 hexadecimal digits',
              description: 'SHA-256 of the bytes.',
            }),
          },
          { additionalProperties: false },
        ),
        { maxItems: LIMITS.files, description: 'Every file, in the order of their names.' },
      ),
    },
    { additionalProperties: false },
  );

export const packageSchema = {
  ...schemaOf(FORMAT, skillIdForm, 'the id of a skill', 'manifest.json'),
  $id: 'urn:ingle:schema:package',
  title: 'Ingle skill package',
  description: 'package.json, the first entry of a package: what follows it, and who published it.',
};

const schemas = new Map<string, ReturnType<typeof schemaOf>>([[FORMAT, packageSchema]]);
function schemaFor({ format, idForm, idIs, main }: Omit<PackageKind, 'identity'>) {
  const known = schemas.get(format) ?? schemaOf(format, idForm, idIs, main);
  schemas.set(format, known);
  return known;
}

export type Meta = T.Static<ReturnType<typeof schemaOf>>;

/** Without these a folder is no skill. */
const skillFiles = ['manifest.json', 'skill.js'];
/** Names of the package's own entries. */
const reserved = ['package.json', 'package.sig'];

/** What of a kind package.json is judged by. */
type Named = Omit<PackageKind, 'identity'>;
export const namedSkill: Named = {
  format: FORMAT,
  idForm: skillIdForm,
  idIs: 'the id of a skill',
  required: skillFiles,
  mayHave: undefined,
  main: 'manifest.json',
};

/** What the schema does not say. */
function crossFaults({ version, files }: Meta, kind: Named, limits: typeof LIMITS): Fault[] {
  const faults: Fault[] = [];
  if (!isVersion(version))
    faults.push({ pointer: '/version', says: 'is not a version that can be compared, as 1.0.0' });
  const paths = new Set(files.map((f) => f.path));
  files.forEach(({ path }, i) => {
    const fault = (says: string) => faults.push({ pointer: `/files/${i}/path`, says: `(${path}) ${says}` });
    const before = i > 0 ? files[i - 1]!.path : '';
    if (path === before) fault('is there twice');
    else if (path < before) fault('is not in the order of names');
    if (reserved.includes(path)) fault("is a name of the package's own");
    for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1))
      if (paths.has(path.slice(0, at))) fault(`lies below "${path.slice(0, at)}", which is a file`);
  });
  const { required, mayHave } = kind;
  for (const [i, { path }] of files.entries())
    if (mayHave && !required.includes(path) && !mayHave(path))
      faults.push({ pointer: `/files/${i}/path`, says: `(${path}) has no place in this kind of package` });
  for (const name of required)
    if (!paths.has(name)) faults.push({ pointer: '/files', says: `has no ${name}` });
  if (files.reduce((sum, f) => sum + f.size, 0) > limits.unpacked)
    faults.push({ pointer: '/files', says: `may have at most ${limits.unpacked} bytes together` });
  return faults;
}

/** @throws IngleError `invalid_request` with all faults */
export function checkMeta(value: unknown, limits: typeof LIMITS = LIMITS, kind: Named = namedSkill): Meta {
  const { format } = (value ?? {}) as { format?: unknown };
  if (typeof format === 'string' && format !== kind.format && /^ingle-[a-z]{1,20}\/\d{1,9}$/.test(format))
    throw new IngleError(
      'not_supported',
      `The package is of the format ${format}; this hub knows ${kind.format}.`,
      {
        pointer: '/format',
      },
    );
  const faults = faultsOf(schemaFor(kind), value);
  const all = faults.length > 0 ? faults : crossFaults(value as Meta, kind, limits);
  if (all.length > 0) throw refusal(all, "The package's");
  return value as Meta;
}

/**
 * Reads package.json. It has one spelling: fields in the order of the schema, no blanks.
 * @throws IngleError `invalid_request`
 */
export function metaOf(text: Uint8Array, limits: typeof LIMITS, kind: Named = namedSkill): Meta {
  let value: unknown;
  try {
    value = parseObject(text, limits.meta);
  } catch {
    throw new IngleError('invalid_request', 'package.json is no JSON object.', {
      path: 'package.json',
      pointer: '',
    });
  }
  const { format, id, version, publisher, files } = checkMeta(value, limits, kind);
  const inOrder = {
    format,
    id,
    version,
    ...(publisher === undefined ? {} : { publisher }),
    files: files.map(({ path, size, sha256 }) => ({ path, size, sha256 })),
  };
  if (!equal(utf8(JSON.stringify(inOrder)), text))
    throw new IngleError(
      'invalid_request',
      'package.json is not spelled as it must be: it was made by hand.',
      {
        path: 'package.json',
        pointer: '',
      },
    );
  return value as Meta;
}
