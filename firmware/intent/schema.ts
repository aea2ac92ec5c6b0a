// A rule set: intent rules and the lists their slots name. Its schema, and the rules between its fields. Pure.
import * as T from 'typebox';
import { type Fault, faultsOf, SAYS } from '../protocol/endpoint/check.ts';
import { type Language, languages } from '../text/i18n.ts';
import { type ListValue, type SlotValue, typeNames } from './kinds.ts';
import { tokensOf } from './normal.ts';
import { FREE, MAX_PATTERN, type Node, nameForm, slotsOf, tryTemplate } from './template.ts';

const closed = { additionalProperties: false };
/** Rules of a set, patterns of a rule and language, values of a list, ways to say a value. */
export const MAX_RULES = 10_000;
const MAX_PATTERNS = 50;
const MAX_VALUES = 1000;
const MAX_SAYS = 30;

const name = (says: string) => ({ pattern: `^${nameForm}$`, [SAYS]: { pattern: says } });
const pattern = T.String({
  minLength: 1,
  maxLength: MAX_PATTERN,
  description: 'Words, [optional], (one|another), {slot} and {slot:type}.',
});
const perLanguage = <S extends T.TSchema>(of: S, description: string) =>
  T.Object({ en: T.Optional(of), ru: T.Optional(of) }, { ...closed, minProperties: 1, description });
const value = T.Unsafe<SlotValue>({
  type: ['string', 'number', 'boolean'],
  maxLength: 200,
  [SAYS]: { type: 'must be a text, a number, true or false' },
  description: 'What a program gets.',
});
const slot = T.Object(
  {
    type: T.Optional(
      T.String({
        ...name('is no type of a slot'),
        description:
          'free, number, time, date, duration, or the name of a list: for a {slot} without a type.',
      }),
    ),
    value: T.Optional(value),
  },
  { ...closed, minProperties: 1, maxProperties: 1, description: 'A type, or a value that is always given.' },
);

const rule = T.Object(
  {
    intent: T.String({
      pattern: '^[A-Za-z][A-Za-z0-9_.:-]{0,63}$',
      [SAYS]: { pattern: 'is no name of an intent, as lights.on' },
    }),
    pattern: T.Optional(pattern),
    patterns: T.Optional(
      perLanguage(T.Array(pattern, { minItems: 1, maxItems: MAX_PATTERNS }), 'Patterns of each language.'),
    ),
    slots: T.Optional(
      T.Unsafe<Record<string, T.Static<typeof slot>>>({
        type: 'object',
        maxProperties: 16,
        propertyNames: name('is no name of a slot'),
        additionalProperties: slot,
      }),
    ),
  },
  closed,
);

const said = T.Array(T.String({ minLength: 1, maxLength: 80 }), { minItems: 1, maxItems: MAX_SAYS });
const listValue = T.Object(
  {
    out: value,
    says: T.Unsafe<ListValue['says']>({
      anyOf: [said, perLanguage(said, 'Spoken forms of each language.')],
      [SAYS]: { anyOf: 'must be texts, or texts for each language: {en: […], ru: […]}' },
    }),
  },
  closed,
);

export const ruleSetSchema = T.Object(
  {
    rules: T.Array(rule, { maxItems: MAX_RULES }),
    lists: T.Optional(
      T.Unsafe<Record<string, T.Static<typeof listValue>[]>>({
        type: 'object',
        maxProperties: 200,
        propertyNames: name('is no name of a list'),
        additionalProperties: T.Array(listValue, { minItems: 1, maxItems: MAX_VALUES }),
      }),
    ),
  },
  {
    ...closed,
    $id: 'urn:ingle:schema:intents',
    title: 'Ingle intent rules',
    description: 'What can be said to the hub, and what it means.',
  },
);

export type RuleSet = T.Static<typeof ruleSetSchema>;
export type Rule = RuleSet['rules'][number];

/** A pattern of a rule, where it stands, and its language; none when it is for both. */
interface Written {
  text: string;
  pointer: string;
  language?: Language;
}

/** All patterns of a rule, in their order. */
function patternsOf(rule: Rule, at: number): Written[] {
  const pointer = `/rules/${at}`;
  return [
    ...(rule.pattern === undefined ? [] : [{ text: rule.pattern, pointer: `${pointer}/pattern` }]),
    ...languages.flatMap((language) =>
      (rule.patterns?.[language] ?? []).map((text, i) => ({
        text,
        pointer: `${pointer}/patterns/${language}/${i}`,
        language,
      })),
    ),
  ];
}

/** The type a slot of a pattern has in its rule. */
const typeOf = (rule: Rule, slot: { name: string; type: string }): string =>
  slot.type === FREE ? (rule.slots?.[slot.name]?.type ?? FREE) : slot.type;

/** A pattern with its tree, in which slots have the types of their rule. */
export interface Parsed extends Written {
  node: Node;
  rule: Rule;
  /** Place of the rule. */
  at: number;
}

/** The tree with the types that the rule gives to slots written without one. */
function typed(node: Node, rule: Rule): Node {
  if (node.kind === 'word') return node;
  if (node.kind === 'slot') return { ...node, type: typeOf(rule, node) };
  if (node.kind === 'optional') return { kind: 'optional', of: typed(node.of, rule) };
  if (node.kind === 'choice') return { kind: 'choice', of: node.of.map((n) => typed(n, rule)) };
  return { kind: 'sequence', parts: node.parts.map((n) => typed(n, rule)) };
}

/** Reads a rule's patterns into `into`; what is wrong with them. */
function readRule(rule: Rule, at: number, isType: (type: string) => boolean, into: Parsed[]): Fault[] {
  const faults: Fault[] = [];
  if (rule.pattern === undefined && rule.patterns === undefined)
    faults.push({ pointer: `/rules/${at}`, says: 'has neither "pattern" nor "patterns"' });
  for (const written of patternsOf(rule, at)) {
    const { text, pointer } = written;
    const parsed = tryTemplate(text);
    if ('fault' in parsed) {
      faults.push({ pointer, says: `${parsed.fault.says} (at character ${parsed.fault.offset + 1})` });
      continue;
    }
    const node = rule.slots ? typed(parsed.node, rule) : parsed.node;
    for (const { name, type } of slotsOf(node)) {
      if (!isType(type))
        faults.push({ pointer, says: `has a slot of the type "${type}", which is not there` });
      if (rule.slots?.[name]?.value !== undefined)
        faults.push({ pointer, says: `fills the slot "${name}", whose value is fixed` });
    }
    into.push({ ...written, node, rule, at });
  }
  for (const [name, { type }] of Object.entries(rule.slots ?? {}))
    if (type !== undefined && !isType(type))
      faults.push({ pointer: `/rules/${at}/slots/${name}/type`, says: `there is no type "${type}"` });
  return faults;
}

function listFaults(name: string, values: readonly ListValue[]): Fault[] {
  if ([FREE, ...typeNames].includes(name))
    return [{ pointer: `/lists/${name}`, says: 'has the name of a type' }];
  return values.flatMap(({ says }, i) =>
    Object.values(says)
      .flat()
      .flatMap((said) =>
        tokensOf(said).length > 0
          ? []
          : [{ pointer: `/lists/${name}/${i}/says`, says: `has a form without words: "${said}"` }],
      ),
  );
}

/** A rule set's patterns as trees, and everything that is wrong with it, with JSON pointers. */
export function readRules(value: unknown): { faults: Fault[]; patterns: Parsed[] } {
  const patterns: Parsed[] = [];
  const faults = faultsOf(ruleSetSchema, value);
  if (faults.length > 0) return { faults, patterns };
  const { rules, lists = {} } = value as RuleSet;
  const types = new Set<string>([FREE, ...typeNames, ...Object.keys(lists)]);
  const isType = (type: string) => types.has(type);
  for (const [name, values] of Object.entries(lists)) faults.push(...listFaults(name, values));
  for (const [i, rule] of rules.entries()) faults.push(...readRule(rule, i, isType, patterns));
  return { faults, patterns };
}

/** Everything that is wrong with a rule set, with JSON pointers; none when it can be compiled. */
export const faultsOfRules = (value: unknown): Fault[] => readRules(value).faults;
