// The lines of a `:::form`: `name "Label": input(required, max=40)`, `size: chips(S, M, L)`. Pure.
import { template } from '../expression.ts';
import type { Field, Option } from '../tree.ts';
import { asWords } from '../words.ts';
import { argsOf } from './args.ts';
import type { Ink } from './inline.ts';

const inputs: Readonly<Record<string, Field['input']>> = {
  input: 'text',
  text: 'text',
  secret: 'secret',
  password: 'secret',
  number: 'number',
  date: 'date',
  time: 'time',
  area: 'area',
  textarea: 'area',
  check: 'check',
  checkbox: 'check',
  choice: 'choice',
  select: 'choice',
  chips: 'chips',
};
export const MAX_FIELDS = 50;
const MAX_OPTIONS = 200;

const entry =
  /^[ \t>]{0,40}(?:[-*] )?([A-Za-z_][\w-]{0,63})(?:[ \t]{1,9}"([^"]{0,200})")?[ \t]{0,9}:[ \t]{0,9}([a-z]{1,16})[ \t]{0,9}(?:\(([^()]{0,2000})\))?\s*$/;

/** A field of one line; null where the line is none; a string is the kind of field that is not known. */
export function fieldOf(line: string, ink: Ink): Field | string | null {
  const m = entry.exec(line);
  if (!m) return null;
  const [, name, label, kind, inner] = m as unknown as [string, string, string?, string?, string?];
  if (!Object.hasOwn(inputs, kind!)) return kind!;
  const input = inputs[kind!]!;
  const { named, bare } = argsOf(inner ?? '');
  const field: Field = {
    name,
    label: template(label ?? named.get('label') ?? asWords(name), ink.names),
    input,
  };
  const value = named.get('value');
  if (value !== undefined) field.value = template(value, ink.names);
  if (bare.includes('required')) field.required = true;
  const max = Number(named.get('max'));
  if (Number.isInteger(max) && max > 0) field.max = Math.min(max, 10_000);
  if (input === 'choice' || input === 'chips') {
    const options: Option[] = bare
      .filter((b) => b !== 'required')
      .map((b) => ({ value: b, label: b }))
      .concat(
        [...named]
          .filter(([k]) => !['label', 'value', 'max'].includes(k))
          .map(([k, words]) => ({ value: k, label: words })),
      );
    field.options = options.slice(0, MAX_OPTIONS);
  }
  return field;
}
