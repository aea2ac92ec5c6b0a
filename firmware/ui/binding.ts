// Bindings of ui/v0: `{{state.cpu.percent}}`, `{{meta.title}}`, `{{state.samples[*].at}}`. A path, never code. Pure.
import type { Path, Value } from './tree.ts';

const stepForm = '(?:\\.[A-Za-z_][\\w-]*|\\[\\d{1,6}\\]|\\[\\*\\])*';
const grammar = new RegExp(`^(state|meta)(${stepForm})$`);
const bindingForm = `\\{\\{\\s*(?:state|meta)${stepForm}\\s*\\}\\}`;
/** What `bindingError` takes, as one regular expression: braces come in bindings or alone. */
export const templateForm = `^(?:[^{}]|${bindingForm}|\\{(?!\\{)|\\{(?=${bindingForm})|\\}(?!\\}))*$`;
const mark = /\{\{([^{}]*)\}\}/g;

/** A path as the tree has it; null for what is none. */
function parse(path: string): Path | null {
  const match = grammar.exec(path);
  return (
    match && {
      path: [
        match[1] as 'state' | 'meta',
        ...[...match[2]!.matchAll(/\.([\w-]+)|\[(\d+)\]|\[\*\]/g)].map(
          (m) => m[1] ?? (m[2] === undefined ? null : Number(m[2])),
        ),
      ],
    }
  );
}

/** Why a text's bindings are wrong, as a sentence's end; null when they are right or there are none. */
export function bindingError(text: string): string | null {
  for (const m of text.matchAll(mark))
    if (!parse(m[1]!.trim())) return `has a binding that is not a path of state or meta: {{${m[1]}}}`;
  return /\{\{|\}\}/.test(text.replace(mark, ' ')) ? 'has a binding that does not close' : null;
}

/** A text that is one binding and nothing else, as its path; null for any other. */
export function pathOf(text: string): Path | null {
  const alone = /^\s*\{\{([^{}]*)\}\}\s*$/.exec(text);
  return alone && parse(alone[1]!.trim());
}

/** A text with bindings, of which `bindingError` has no fault to tell, as a value. */
export function compileText(text: string): Value {
  const alone = pathOf(text);
  if (alone) return alone;
  const parts: Value[] = [];
  let at = 0;
  for (const m of text.matchAll(mark)) {
    if (m.index > at) parts.push(text.slice(at, m.index));
    parts.push(parse(m[1]!.trim()) ?? m[0]);
    at = m.index + m[0].length;
  }
  if (parts.length === 0) return text;
  if (at < text.length) parts.push(text.slice(at));
  return { join: parts };
}
