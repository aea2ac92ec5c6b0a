// The languages of screens as a page of reference tells them: every part with its properties, out of the schemas. Pure.
import { templateForm } from './binding.ts';
import { type Kind, nodeTypes, nodeTypes1, viewSchema, viewSchema1 } from './schema.ts';
import { actionLink, type Directive, directives, fieldLine, plainText } from './ulm/directives.ts';
import { components, everywhere, usdlSchema } from './usdl/schema.ts';

export interface Property {
  /** `columns[].key` of what lies in another. */
  name: string;
  type: string;
  /** Keywords of JSON Schema with their values. */
  bounds: string;
  required: boolean;
  doc: string;
  /** The version from which on it is there; the first where it is left out. */
  since?: string;
}
export interface Part {
  /** Of the whole page: `ui-v0-button`. */
  id: string;
  language: 'ui/v0' | 'usdl/0.2' | 'ulm';
  name: string;
  says: string;
  since?: string;
  properties: readonly Property[];
}

interface Schema {
  type?: string | readonly string[];
  const?: unknown;
  enum?: readonly unknown[];
  $ref?: string;
  description?: string;
  pattern?: string;
  allOf?: readonly Schema[];
  items?: Schema;
  properties?: Readonly<Record<string, Schema>>;
  additionalProperties?: boolean | Schema;
  required?: readonly string[];
}

function typeOf(s: Schema): string {
  if (s.$ref) return s.$ref.slice(s.$ref.lastIndexOf('/') + 1);
  if (s.enum) return s.enum.map((v) => JSON.stringify(v)).join(' | ');
  if (s.const !== undefined) return JSON.stringify(s.const);
  if (s.items) return `${s.items.properties ? 'object' : typeOf(s.items)}[]`;
  if (s.pattern === templateForm) return s.allOf ? 'binding' : 'template';
  return [s.type ?? 'any'].flat().join(' | ');
}

const bounded = ['minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems', 'pattern'] as const;
const boundsOf = (s: Schema): string =>
  bounded
    .map((name) => [name, (s as Record<string, unknown>)[name]] as const)
    // What a template is cannot be read off its pattern.
    .filter(([, value]) => value !== undefined && value !== templateForm)
    .map(([name, value]) => `${name} ${value}`)
    .join(', ');

/** A property, and below it those of what it holds. */
function rowsOf(name: string, s: Schema, required: boolean): Property[] {
  const row = { name, type: typeOf(s), bounds: boundsOf(s), required, doc: s.description ?? '' };
  const map = typeof s.additionalProperties === 'object' ? s.additionalProperties : undefined;
  const [inner, step] = s.items?.properties ? [s.items, '[].'] : map?.properties ? [map, '.*.'] : [s, '.'];
  return [row, ...propertiesOf(inner, Object.keys(inner.properties ?? {}), name + step)];
}

function propertiesOf(
  s: Schema,
  names: readonly string[],
  before = '',
  needs: readonly string[] = s.required ?? [],
): Property[] {
  return names.flatMap((n) => {
    const one = s.properties?.[n];
    return one ? rowsOf(before + n, one, needs.includes(n)) : [];
  });
}

const idOf = (language: string, name: string) =>
  `${language} ${name}`
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
const part = (language: Part['language'], name: string, says: string, properties: Property[]): Part => ({
  id: idOf(language, name),
  language,
  name,
  says,
  properties,
});

/** What the first version does not have is marked. */
function since(rows: Property[], earlier: readonly Property[]): Property[] {
  return rows.map((r) => (earlier.some((e) => e.name === r.name) ? r : { ...r, since: 'ui/v0.1' }));
}

function views(): Part[] {
  const nodeOf = (s: unknown) => (s as { $defs: { node: Schema } }).$defs.node;
  const [old, now] = [nodeOf(viewSchema), nodeOf(viewSchema1)];
  const top = viewSchema1 as unknown as Schema;
  const whole = part(
    'ui/v0',
    'view',
    (viewSchema as Schema).description ?? '',
    propertiesOf(top, Object.keys(top.properties ?? {})),
  );
  return [
    whole,
    ...Object.entries(nodeTypes1 as Record<string, Kind>).map(([name, kind]) => {
      const names = [...kind.needs, ...kind.takes];
      const rows = propertiesOf(now, names, '', kind.needs);
      const made = part('ui/v0', name, kind.says, since(rows, propertiesOf(old, names)));
      return Object.hasOwn(nodeTypes, name) ? made : { ...made, since: 'ui/v0.1', properties: rows };
    }),
  ];
}

function pages(): Part[] {
  const top = usdlSchema as unknown as Schema;
  const one = (usdlSchema as unknown as { $defs: { component: Schema } }).$defs.component;
  const whole = part('usdl/0.2', 'page', top.description ?? '', [
    ...propertiesOf(top, Object.keys(top.properties ?? {})),
    ...propertiesOf(one, everywhere, 'components[].', []),
  ]);
  return [
    whole,
    ...Object.entries(components as Record<string, Kind>).map(([name, kind]) =>
      part('usdl/0.2', name, kind.says, propertiesOf(one, [...kind.needs, ...kind.takes], '', kind.needs)),
    ),
  ];
}

function texts(): Part[] {
  const of = (name: string, d: Directive) =>
    part(
      'ulm',
      name,
      d.says,
      Object.entries(d.takes).flatMap(([n, { needed, ...s }]) => rowsOf(n, s, needed === true)),
    );
  return [
    of('text', plainText),
    ...Object.entries(directives).map(([name, d]) => of(`:::${name}`, d)),
    of('field', fieldLine),
    of('@action', actionLink),
  ];
}

/** Every part of every language that a hub compiles for skills' authors. */
export const describedParts = (): Part[] => [...views(), ...pages(), ...texts()];
