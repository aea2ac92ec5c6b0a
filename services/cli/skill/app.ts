// The scenario app of a skill's folder: scenario.yaml and its pages, read with the place of every fault; and checked anew in
// what is packed.
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { LineCounter, Document as Yaml } from 'yaml';
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
import type { DevText, Text } from './text.ts';

const main = 'scenario.yaml';
/** The most one file may have, and brackets in it: more would take the reader minutes. */
const most = { bytes: 64 * 1024, brackets: 8000 };

type Library = typeof import('yaml');

interface Read {
  value: unknown;
  /** `file:line:column` of what a pointer names, or of what it would lie in. */
  at(pointer: string): string;
  faults: string[];
}

const steps = (pointer: string) =>
  pointer
    .split('/')
    .slice(1)
    .map((s) => s.replace(/~1/g, '/').replace(/~0/g, '~'));

function placeOf(yaml: Library, document: Yaml, lines: LineCounter, pointer: string): string {
  let node: unknown = document.contents;
  let offset = 0;
  for (const step of steps(pointer)) {
    if (yaml.isMap(node)) {
      const pair = node.items.find((p) => yaml.isScalar(p.key) && String(p.key.value) === step);
      if (!pair) break;
      offset = (yaml.isScalar(pair.key) && pair.key.range?.[0]) || offset;
      node = pair.value;
    } else if (yaml.isSeq(node)) {
      const item = node.items[Number(step)];
      if (!item) break;
      offset = (yaml.isNode(item) && item.range?.[0]) || offset;
      node = item;
    } else break;
  }
  const { line, col } = lines.linePos(offset);
  return `${line || 1}:${col || 1}`;
}

/** A YAML or JSON file of any making, judged within a second. @throws IngleError `not_found` */
function readFile(yaml: Library, folder: string, name: string, t: DevText): Read {
  const file = join(folder, name);
  if (!existsSync(file)) throw new IngleError('not_found', t('noAppFile', { file }));
  const fault = (says: string): Read => ({ value: undefined, at: () => name, faults: [`${name}: ${says}`] });
  if (statSync(file).size > most.bytes) return fault(t('appFileLarge', { most: most.bytes }));
  const text = readFileSync(file, 'utf8');
  if ((text.match(/[[{]/g)?.length ?? 0) > most.brackets || /^(?:[ \t]*[-?:][ \t]){100}/m.test(text))
    return fault(t('appFileDeep'));
  const lineCounter = new yaml.LineCounter();
  const document = yaml.parseDocument(text, { lineCounter, version: '1.2', prettyErrors: false });
  const at = (pointer: string) => `${name}:${placeOf(yaml, document as Yaml, lineCounter, pointer)}`;
  const broken = [...document.errors, ...document.warnings].slice(0, 20).map(({ pos, message }) => {
    const { line, col } = lineCounter.linePos(pos[0]);
    return `${name}:${line}:${col}: ${message}`;
  });
  if (broken.length > 0) return { value: undefined, at, faults: broken };
  try {
    // Names that stand for others may not grow a file.
    return { value: document.toJS({ maxAliasCount: 20 }), at, faults: [] };
  } catch (e) {
    return fault((e as Error).message);
  }
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
