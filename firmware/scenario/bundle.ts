// A version of a prototype as one signed file: a package as skills have them (firmware/skills/package.ts), of a format of
// its own. The hub reads no YAML: the scenario in it is JSON, with its includes put in.
import { concat, utf8 } from '../protocol/bytes.ts';
import { refusal } from '../protocol/endpoint/check.ts';
import { IngleError } from '../protocol/errors.ts';
import { parseObject } from '../protocol/json.ts';
import { type Package, packed, readPackage } from '../skills/package.ts';
import { LIMITS, type Meta, type PackageKind } from '../skills/package-meta.ts';
import type { Publishers } from '../skills/publishers.ts';
import type { Signer } from '../skills/signer.ts';
import { checkPrototype } from './check.ts';
import { faultAt, type ScenarioFault } from './fault.ts';
import { type Readme, readmeLanguage, readmeName } from './readme.ts';
import { fullId, type Prototype, packedIdForm } from './schema.ts';
import { walk } from './walk.ts';

const main = 'scenario.json';
/** The most the scenario, and its READMEs together, may have: bytes. */
const MOST_BYTES = 256 * 1024;

/** Where a scenario still names other files, which no package has. */
function includeFaults(p: Prototype): ScenarioFault[] {
  const inSteps = walk(p.steps).flatMap(({ step, pointer }) =>
    step.include === undefined ? [] : [faultAt(`${pointer}/include`, 'no_fragment', { id: step.include })],
  );
  return [...(p.include ?? []).map((id, i) => faultAt(`/include/${i}`, 'no_fragment', { id })), ...inSteps];
}

/** The prototype in a package. @throws IngleError with all its faults */
function prototypeIn(bytes: Uint8Array): Prototype {
  let value: unknown;
  try {
    value = parseObject(bytes, MOST_BYTES);
  } catch (e) {
    if ((e as IngleError).code === 'too_large')
      throw new IngleError('too_large', `${main} may have at most ${MOST_BYTES} bytes.`, { path: main });
    throw new IngleError('invalid_request', `${main} is no JSON object, or nests too deep.`, { path: main });
  }
  const faults = checkPrototype(value);
  const all = faults.length > 0 ? faults : includeFaults(value as unknown as Prototype);
  if (all.length > 0) throw refusal(all, `${main} has a fault:`);
  return value as unknown as Prototype;
}

const scenarioPackage: PackageKind = {
  format: 'ingle-scenario/1',
  idForm: packedIdForm,
  idIs: 'the id of a scenario with its namespace',
  required: [main, readmeName('en')],
  mayHave: (path) => readmeLanguage(path) !== undefined,
  main,
  identity(bytes) {
    const { id, version } = prototypeIn(bytes);
    return { id: fullId(id), version };
  },
};

/**
 * Makes the package of one version.
 * @param prototype with its includes put in
 * @param signer without one the package is unsigned
 * @throws IngleError `invalid_request`, `too_large`
 */
export function packPrototype(
  prototype: Prototype,
  readme: Readme,
  signer?: Signer,
): { bytes: Uint8Array; meta: Meta } {
  const { $schema: _, ...rest } = prototype;
  const files = [
    { path: main, bytes: utf8(`${JSON.stringify({ ...rest, id: fullId(prototype.id) })}\n`) },
    ...Object.entries(readme).map(([language, text]) => ({ path: readmeName(language), bytes: utf8(text) })),
  ];
  return packed(scenarioPackage, scenarioPackage.identity(files[0]!.bytes), files, signer);
}

/** A package that was read to its end. */
export interface PackedPrototype extends Omit<Package, 'files' | 'close'> {
  prototype: Prototype;
  readme: Readme;
}

/**
 * Reads a package to its end. Whether its version may follow the one that is there is `mayFollow` of publishers.ts.
 * @throws IngleError `invalid_request`, `too_large`; `not_supported` for a package of another kind; `forbidden` for a
 * signature that is wrong, a key that is revoked, and an id that is another publisher's
 */
export async function readPrototype(
  source: AsyncIterable<Uint8Array> | Uint8Array,
  publishers: Publishers,
): Promise<PackedPrototype> {
  const { files, close: _, ...said } = await readPackage(source, publishers, LIMITS, scenarioPackage);
  let scenario: Uint8Array = new Uint8Array(0);
  let left = MOST_BYTES;
  const readme: Record<string, string> = {};
  for await (const { path, bytes } of files) {
    const language = readmeLanguage(path);
    if (bytes.length > (language === undefined ? MOST_BYTES : left)) {
      await files.return();
      const what = language === undefined ? path : 'Its readmes together';
      throw new IngleError('too_large', `${what} may have at most ${MOST_BYTES} bytes.`, { path });
    }
    if (language === undefined) scenario = concat(bytes);
    else {
      left -= bytes.length;
      readme[language] = new TextDecoder().decode(bytes);
    }
  }
  return { ...said, prototype: prototypeIn(scenario), readme };
}
