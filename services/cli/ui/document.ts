// A document of a screen as its author's file has it, compiled as a hub compiles it.
import { readFileSync, statSync } from 'node:fs';
import { basename, extname } from 'node:path';
import { MAX_SKILL_DOCUMENT } from '../../../firmware/documents/staging.ts';
import type { Language } from '../../../firmware/text/i18n.ts';
import { compile, frontEndOf } from '../../../firmware/ui/compile.ts';
import type { Previewed } from '../../../firmware/ui/previewed.ts';
import type { PreviewText } from './text.ts';

/** `<name>.state.json` beside `<name>.json`: what the skill's state document would hold. */
export const stateFileOf = (file: string): string =>
  `${file.slice(0, file.length - extname(file).length)}.state.json`;

const isObject = (v: unknown): v is Record<string, unknown> =>
  v !== null && typeof v === 'object' && !Array.isArray(v);

/**
 * The document in a file, by the file's name: a text is ULM, lines of JSON and lists are messages of A2UI.
 * @throws Error saying where the file cannot be parsed
 */
async function sourceOf(file: string, text: string): Promise<Record<string, unknown>> {
  const kind = extname(file).toLowerCase();
  if (kind === '.md' || kind === '.ulm') return { ulm: text };
  if (kind === '.jsonl') return { a2ui: text };
  const value =
    kind === '.yaml' || kind === '.yml' ? (await import('yaml')).parse(text) : (JSON.parse(text) as unknown);
  if (Array.isArray(value)) return { a2ui: value };
  // A view that is none is said so by its front end.
  return isObject(value) ? value : {};
}

function stateIn(file: string): unknown {
  if (!statSync(file, { throwIfNoEntry: false })) return {};
  const state = JSON.parse(readFileSync(file, 'utf8')) as unknown;
  if (!isObject(state)) throw new Error('a state is an object.');
  return state;
}

/**
 * Looks at a file once.
 * @param before what was shown until now: its tree stays where the file cannot be used
 */
export async function lookAt(
  file: string,
  language: Language,
  t: PreviewText,
  before?: Previewed,
): Promise<Previewed> {
  const name = basename(file);
  const last = { kind: before?.kind ?? '', tree: before?.tree ?? null, state: before?.state ?? {} };
  const broken = (fault: string): Previewed => ({ ...last, file: name, language, problems: [], fault });
  let source: Record<string, unknown>;
  try {
    if (statSync(file).size > MAX_SKILL_DOCUMENT)
      return broken(t('tooLarge', { kib: MAX_SKILL_DOCUMENT / 1024 }));
    source = await sourceOf(file, readFileSync(file, 'utf8'));
  } catch (e) {
    const why = (e as Error).message.split('\n')[0]!;
    return broken(t('notParsed', { why: /[.!?]$/.test(why) ? why : `${why}.` }));
  }
  const { tree, problems } = await compile(source);
  const shown = { file: name, language, kind: frontEndOf(source), tree, problems };
  const stateFile = stateFileOf(file);
  try {
    return { ...shown, state: stateIn(stateFile), fault: '' };
  } catch (e) {
    const fault = t('badState', { file: basename(stateFile), why: (e as Error).message });
    return { ...shown, state: last.state, fault };
  }
}
