// Bindings of ui/v0: `{{state.cpu.percent}}`, `{{meta.title}}`, `{{state.samples[*].at}}`. A path, never code. Pure.

/** What bindings may see. */
export interface Scope {
  state: unknown;
  meta: unknown;
}

type Step = string | number | '*';
const stepForm = '(?:\\.[A-Za-z_][\\w-]*|\\[\\d{1,6}\\]|\\[\\*\\])*';
const grammar = new RegExp(`^(state|meta)(${stepForm})$`);
const bindingForm = `\\{\\{\\s*(?:state|meta)${stepForm}\\s*\\}\\}`;
/** What `bindingError` takes, as one regular expression: braces come in bindings or alone. */
export const templateForm = `^(?:[^{}]|${bindingForm}|\\{(?!\\{)|\\{(?=${bindingForm})|\\}(?!\\}))*$`;
const mark = /\{\{([^{}]*)\}\}/g;
const parsed = new Map<string, { root: 'state' | 'meta'; steps: { key: Step; all: boolean }[] } | null>();

function parse(path: string) {
  const known = parsed.get(path);
  if (known !== undefined) return known;
  const match = grammar.exec(path);
  const made = match && {
    root: match[1] as 'state' | 'meta',
    steps: [...match[2]!.matchAll(/\.([\w-]+)|\[(\d+)\]|\[(\*)\]/g)].map((m) => ({
      key: m[1] ?? (m[2] !== undefined ? Number(m[2]) : '*'),
      all: m[3] === '*',
    })),
  };
  if (parsed.size > 5000) parsed.clear();
  parsed.set(path, made);
  return made;
}

/** Why a text's bindings are wrong, as a sentence's end; null when they are right or there are none. */
export function bindingError(text: string): string | null {
  for (const m of text.matchAll(mark))
    if (!parse(m[1]!.trim())) return `has a binding that is not a path of state or meta: {{${m[1]}}}`;
  return /\{\{|\}\}/.test(text.replace(mark, ' ')) ? 'has a binding that does not close' : null;
}

function walk(value: unknown, steps: { key: Step; all: boolean }[], at: number): unknown {
  const step = steps[at];
  if (!step) return value;
  if (value === null || typeof value !== 'object') return undefined;
  if (step.all) return Array.isArray(value) ? value.map((v) => walk(v, steps, at + 1)) : undefined;
  // Own properties only: a path never reaches a prototype.
  return Object.hasOwn(value, step.key)
    ? walk((value as Record<string | number, unknown>)[step.key], steps, at + 1)
    : undefined;
}

/**
 * The value of one path (`state.a[*].b` gives an array); undefined where nothing is or the path is wrong.
 */
export function lookup(path: string, scope: Scope): unknown {
  const p = parse(path.trim());
  return p ? walk(scope[p.root], p.steps, 0) : undefined;
}

/**
 * A text with its bindings filled in. A text that is one binding alone gives the value itself, of whatever type;
 * else values are joined into a string by `show`.
 */
export function evaluate(text: string, scope: Scope, show: (v: unknown) => string = plainText): unknown {
  const alone = /^\s*\{\{([^{}]*)\}\}\s*$/.exec(text);
  if (alone) return lookup(alone[1]!, scope);
  return text.replace(mark, (_, path: string) => show(lookup(path, scope)));
}

/** Bindings filled in at every depth of a JSON value; keys stay as they are. */
export function evaluateAll(value: unknown, scope: Scope): unknown {
  if (typeof value === 'string') return evaluate(value, scope) ?? null;
  if (Array.isArray(value)) return value.map((v) => evaluateAll(v, scope));
  if (value !== null && typeof value === 'object')
    return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, evaluateAll(v, scope)]));
  return value;
}

/** A value as text: nothing for nothing, JSON for structures. */
export function plainText(v: unknown): string {
  if (v === null || v === undefined) return '';
  return typeof v === 'object' ? JSON.stringify(v) : String(v);
}
