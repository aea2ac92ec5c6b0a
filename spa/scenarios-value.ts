// The value of a parameter as it is typed, by the kind of its default. Pure.

export type Kind = 'switch' | 'number' | 'text' | 'list' | 'value' | 'choice';
/** What is typed: a switch is on or off, all else a text. */
export type Typed = string | boolean;

export function kindOf(value: unknown): Kind {
  if (typeof value === 'boolean') return 'switch';
  if (typeof value === 'number') return 'number';
  if (typeof value === 'string') return 'text';
  if (Array.isArray(value) && value.every((v) => ['string', 'number'].includes(typeof v))) return 'list';
  return 'value';
}

export function typedOf(kind: Kind, value: unknown): Typed {
  if (kind === 'switch') return value === true;
  if (kind === 'list') return (value as unknown[]).join('\n');
  return kind === 'value' ? JSON.stringify(value) : String(value);
}

/** The value that was typed; undefined for what is none. `before` says what a list holds. */
export function readValue(kind: Kind, typed: Typed, before: unknown): unknown {
  if (kind === 'switch') return typed === true;
  const text = String(typed);
  if (kind === 'text' || kind === 'choice') return text;
  const number = (s: string) => (s.trim() === '' || !Number.isFinite(Number(s)) ? undefined : Number(s));
  if (kind === 'number') return number(text);
  if (kind === 'list') {
    const items = text.split('\n').flatMap((l) => (l.trim() === '' ? [] : [l.trim()]));
    const isNumbers =
      (before as unknown[]).length > 0 && (before as unknown[]).every((v) => typeof v === 'number');
    const all = isNumbers ? items.map(number) : items;
    return all.some((v) => v === undefined) ? undefined : all;
  }
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
