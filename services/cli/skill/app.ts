// The scenario app of a skill's folder: scenario.yaml and its pages, read with the place of every fault; and checked anew in
// what is packed.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { IngleError } from '../../../firmware/protocol/errors.ts';
import {
  type AppProblem,
  type AppSource,
  compileApp,
  contractsOf,
  MAX_SOURCE,
  sourceIn,
} from '../../../firmware/scenario-app/compile.ts';
import type { ScenarioApp } from '../../../firmware/scenario-app/schema.ts';
import type { Manifest } from '../../../firmware/skills/manifest.ts';
import type { PackedFile } from '../../../firmware/skills/package.ts';
import { plain } from '../show.ts';
import { MOST_YAML, readYaml, type Yaml, type YamlFile } from '../yaml.ts';
import type { DevText, Text } from './text.ts';

const main = 'scenario.yaml';
/** A file of the folder. @throws IngleError `not_found` */
function readFile(yaml: Yaml, folder: string, name: string, t: DevText): YamlFile {
  const file = join(folder, name);
  if (!existsSync(file)) throw new IngleError('not_found', t('noAppFile', { file }));
  // What is far too large is not even read.
  const text = statSync(file).size > MOST_YAML ? undefined : readFileSync(file, 'utf8');
  return readYaml(yaml, text, name, t);
}

function refuse(
  lines: readonly string[],
  t: (key: 'appFaults', values: { faults: string }) => string,
): never {
  const told = [...new Set(lines)].slice(0, 40).map((line) => `  ${plain(line, 500)}`);
  throw new IngleError('invalid_request', t('appFaults', { faults: told.join('\n') }), { faults: told });
}

export interface AppOf {
  /** The text of scenario.json. */
  text: string;
  contracts: { skill: string; contracts: string[] }[] | undefined;
}

/**
 * The app of a folder, where its manifest says there is one.
 * @throws IngleError `invalid_request` with every fault as `file:line:column: what is wrong`
 */
export async function appIn(folder: string, manifest: Manifest, t: DevText): Promise<AppOf | undefined> {
  if (!manifest.capabilities.ui?.app) return undefined;
  const yaml = await import('yaml').catch(() => {
    throw new IngleError('not_supported', t('noSdk'));
  });
  const files = new Map([[main, readFile(yaml, folder, main, t)]]);
  const scenario = files.get(main)!.value as ScenarioApp;
  const named = Object.values(Object(Object(scenario)['routes']) as ScenarioApp['routes']).flatMap((r) => {
    const name = (r as { usdl?: unknown } | null)?.usdl;
    // What has another form is told by the schema, and no path leads out of the folder.
    const isName = typeof name === 'string' && /^[a-z0-9_][a-z0-9._-]*(\/[a-z0-9_][a-z0-9._-]*)*$/.test(name);
    return isName && existsSync(join(folder, name)) ? [name] : [];
  });
  for (const name of new Set(named)) files.set(name, readFile(yaml, folder, name, t));
  const broken = [...files.values()].flatMap((f) => f.faults);
  if (broken.length > 0) refuse(broken, t);
  const pages = Object.fromEntries([...files].filter(([n]) => n !== main).map(([n, f]) => [n, f.value]));
  const source: AppSource = { scenario, pages };
  const { permissions: asked } = scenario;
  const { problems } = await compileApp(source, manifest.id, contractsOf(Array.isArray(asked) ? asked : []));
  const placed = ({ file, pointer, hint }: AppProblem) =>
    `${files.get(file)?.at(pointer) ?? file}: ${pointer} ${hint}`.replace(/: {2,}/, ': ');
  if (problems.length > 0) refuse(problems.map(placed), t);
  const text = `${JSON.stringify(source)}\n`;
  if (Buffer.byteLength(text) > MAX_SOURCE) refuse([t('appLarge', { most: MAX_SOURCE })], t);
  return { text, contracts: asked?.length ? asked : undefined };
}

/**
 * Whether what is packed has the app that its manifest says.
 * @throws IngleError `invalid_request` with every fault
 */
export async function checkPackedApp(
  files: readonly PackedFile[],
  manifest: Manifest,
  t: Text,
): Promise<void> {
  if (!manifest.capabilities.ui?.app) return;
  const found = files.find((f) => f.path === 'scenario.json');
  if (!found) return refuse([t('noApp')], t);
  let source: AppSource;
  try {
    source = sourceIn(JSON.parse(new TextDecoder().decode(found.bytes)));
  } catch {
    return refuse([t('noApp')], t);
  }
  if (found.bytes.length > MAX_SOURCE) refuse([t('appLarge', { most: MAX_SOURCE })], t);
  const { problems } = await compileApp(source, manifest.id, contractsOf(manifest.permissions?.contracts));
  const lines = problems.map(({ file, pointer, hint }) => `${file}: ${pointer} ${hint}`);
  if (lines.length > 0) refuse(lines, t);
}
