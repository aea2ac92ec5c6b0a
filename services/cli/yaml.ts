// YAML or JSON of any making, read with the place of every fault.
import type { Document, LineCounter } from 'yaml';
import type { DevText } from './skill/text.ts';

/** The most one file may have, and brackets in it: more would take the reader minutes. */
export const MOST_YAML = 64 * 1024;
const MOST_BRACKETS = 8000;

/** The library: whoever installs no tools of a developer does without it. */
export type Yaml = typeof import('yaml');

export interface YamlFile {
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

function placeOf(yaml: Yaml, document: Document, lines: LineCounter, pointer: string): string {
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

/**
 * Reads a text within a second, whatever it is.
 * @param text undefined for a file that is too large to be read
 * @param name of the file, as faults tell it
 */
export function readYaml(yaml: Yaml, text: string | undefined, name: string, t: DevText): YamlFile {
  const fault = (says: string): YamlFile => ({
    value: undefined,
    at: () => name,
    faults: [`${name}: ${says}`],
  });
  if (text === undefined || Buffer.byteLength(text) > MOST_YAML)
    return fault(t('appFileLarge', { most: MOST_YAML }));
  if ((text.match(/[[{]/g)?.length ?? 0) > MOST_BRACKETS || /^(?:[ \t]*[-?:][ \t]){100}/m.test(text))
    return fault(t('appFileDeep'));
  const lineCounter = new yaml.LineCounter();
  const document = yaml.parseDocument(text, { lineCounter, version: '1.2', prettyErrors: false });
  const at = (pointer: string) => `${name}:${placeOf(yaml, document as Document, lineCounter, pointer)}`;
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
