// The blocks of ULM as nodes of the tree. Pure.
import { treeText } from '../../text/tree.ts';
import { expression } from '../expression.ts';
import type { Act, Column, Field, Inline, Node, Value } from '../tree.ts';
import { asWords } from '../words.ts';
import { type Args, argsOf } from './args.ts';
import { directives } from './directives.ts';
import { fieldOf, MAX_FIELDS } from './form.ts';
import { actOf, type Ink, inlinesOf, plainOf } from './inline.ts';
import { type ActionLink, type Block, blocksOf, type DirectiveLine } from './syntax.ts';

/** Characters of one document: 32 KiB take markdown-it some 10 ms at worst on a hub's processor. */
export const MAX_ULM = 32 * 1024;
const MAX_COLUMNS = 50;

/** Blocks of one list as nodes, with directives as what they hold. */
interface Reading extends Ink {
  lines: readonly string[];
  /** Forms that have no action of their own: an action link that submits one may become its button. */
  waiting: Map<string, Extract<Node, { is: 'form' }>>;
  ids: Set<string>;
}

const lineOf = (block: Block) => `/${(block.token.map?.[0] ?? 0) + 1}/1`;

/** A text as nodes; one that is too long is a note. */
export function markdown(text: string, ink: Ink, pointer = ''): readonly Node[] {
  if (text.length > MAX_ULM)
    return [ink.draft.note('too_large', pointer, `A text of ULM has at most ${MAX_ULM} characters.`)];
  const source = text.replace(/\r\n?/g, '\n').replace(/\0/g, '\ufffd');
  const at: Reading = { ...ink, lines: source.split('\n'), waiting: new Map(), ids: new Set() };
  return blocks(blocksOf(source), at, pointer);
}

/** Inline text of one line, as a table's cell has it. */
function inlineOf(text: string, at: Ink, pointer: string): Inline[] {
  const block = blocksOf(text).find((b) => b.children.some((c) => c.token.type === 'inline'));
  return block ? inlinesOf(block.children[0]!.token.children ?? [], at, pointer) : [text];
}

function blocks(list: readonly Block[], at: Reading, base: string): Node[] {
  const nodes: Node[] = [];
  for (let i = 0; i < list.length; i++) {
    const block = list[i]!;
    const pointer = base + lineOf(block);
    if (block.token.type !== 'directive') {
      nodes.push(...at.draft.nodes(pointer, () => node(block, at, base)));
      continue;
    }
    const { name, args } = block.token.meta as unknown as DirectiveLine;
    if (name === '') {
      at.draft.problem('not_open', pointer, '":::" closes a directive, and none is open here.');
      continue;
    }
    let end = i + 1;
    for (let open = 1; end < list.length; end++) {
      const token = list[end]!.token;
      if (token.type !== 'directive') continue;
      open += (token.meta as unknown as DirectiveLine).name === '' ? -1 : 1;
      if (open === 0) break;
    }
    if (end === list.length)
      at.draft.problem('not_closed', pointer, `":::${name}" is closed by a line ":::".`);
    const inner = list.slice(i + 1, end);
    const last = list[end]?.token.map?.[0] ?? (inner.at(-1)?.token.map?.[1] || block.token.map![1]);
    const raw = at.lines.slice(block.token.map![1], last);
    nodes.push(
      ...at.draft.nodes(pointer, () => directive(name, argsOf(args), inner, raw, at, pointer, base)),
    );
    i = end;
  }
  return nodes;
}

function node(block: Block, at: Reading, base: string): Node[] {
  const { token, children } = block;
  const pointer = base + lineOf(block);
  const inlines = () => inlinesOf(children[0]?.token.children ?? [], at, pointer);
  switch (token.type) {
    case 'heading_open':
      return [
        { is: 'title', text: plainOf(inlines()), level: Math.min(3, Number(token.tag[1])) as 1 | 2 | 3 },
      ];
    case 'paragraph_open':
      return paragraph(inlines(), children[0]?.token.children ?? [], at);
    case 'bullet_list_open':
    case 'ordered_list_open':
      return [
        {
          is: 'list',
          ...(token.type === 'ordered_list_open' ? { ordered: true } : {}),
          items: children.map((item) => blocks(item.children, at, base)),
        },
      ];
    case 'blockquote_open':
      return [{ is: 'quote', children: blocks(children, at, base) }];
    case 'fence':
    case 'code_block':
      return [{ is: 'code', text: at.draft.text(token.content.replace(/\n$/, ''), pointer) }];
    case 'hr':
      return [{ is: 'rule' }];
    default:
      return [{ is: 'text', of: [at.draft.text(token.content, pointer)] }];
  }
}

/** Action links alone are buttons; one that submits a form without an action is the form's own. */
function paragraph(
  of: Inline[],
  tokens: readonly { type: string; content: string; meta: unknown }[],
  at: Reading,
): Node[] {
  const solid = tokens.filter(
    (t) => !(t.type === 'softbreak' || (t.type === 'text' && t.content.trim() === '')),
  );
  if (solid.length === 0 || solid.some((t) => t.type !== 'action')) return [{ is: 'text', of }];
  const buttons: Node[] = [];
  for (const [i, token] of solid.entries()) {
    const link = token.meta as unknown as ActionLink;
    const act = actOf(link, at.names);
    const form = act.do === 'action' && act.form !== undefined ? at.waiting.get(act.form) : undefined;
    if (form) {
      at.waiting.delete(form.id!);
      Object.assign(form, { act, label: link.label });
    } else buttons.push({ is: 'button', label: link.label, act, ...(i === 0 ? { tone: 'primary' } : {}) });
  }
  return buttons.length > 1 ? [{ is: 'row', children: buttons }] : buttons;
}

function directive(
  name: string,
  args: Args,
  inner: readonly Block[],
  raw: readonly string[],
  at: Reading,
  pointer: string,
  base: string,
): Node[] {
  const words = args.named.get('title') ?? args.bare.join(' ');
  const title = words === '' ? {} : { title: plainOf(inlineOf(words.slice(0, 400), at, pointer)) };
  const known = Object.hasOwn(directives, name) ? Object.keys(directives[name]!.takes) : null;
  for (const key of args.named.keys())
    if (known && !known.includes(key))
      at.draft.problem(
        'unknown_argument',
        pointer,
        `":::${name}" takes no "${key}", but ${known.join(', ')}.`,
      );
  if (name === 'card') return [{ is: 'card', ...title, children: blocks(inner, at, base) }];
  if (name === 'form') return form(args, title, raw, at, pointer);
  if (name === 'table') return [table(args, title, raw, at, pointer)];
  return [
    at.draft.note(
      'unknown_directive',
      pointer,
      `":::${name}" is not known; these are: ${Object.keys(directives).join(', ')}.`,
    ),
    ...blocks(inner, at, base),
  ];
}

function form(
  args: Args,
  title: { title?: Value },
  raw: readonly string[],
  at: Reading,
  pointer: string,
): Node[] {
  let id = args.named.get('id') ?? '';
  if (!/^[A-Za-z_][\w-]{0,63}$/.test(id) || at.ids.has(id)) {
    at.draft.problem('bad_id', pointer, 'A form has an id of its own: ":::form id=order".');
    for (let n = 1; id === '' || at.ids.has(id) || !/^\w/.test(id); n++) id = `form${n}`;
    id = id.replace(/[^\w-]/g, '').slice(0, 64) || 'form';
  }
  at.ids.add(id);
  const fields: Field[] = [];
  let own: { label: Value; act: Act } | undefined;
  const action = args.named.get('action');
  if (action)
    own = {
      label: args.named.get('submit') ?? treeText('send'),
      act: { do: 'action', id: action, form: id },
    };
  raw.forEach((line, n) => {
    if (line.trim() === '') return;
    const here = pointer.replace(/\/(\d+)\/1$/, (_, l: string) => `/${Number(l) + n + 1}/1`);
    const field = fieldOf(line, at);
    if (field !== null && typeof field === 'object') {
      if (fields.length >= MAX_FIELDS)
        at.draft.problem('too_large', here, `A form has at most ${MAX_FIELDS} fields.`);
      else if (fields.some((f) => f.name === field.name))
        at.draft.problem('bad_field', here, `The form has two fields "${field.name}".`);
      else fields.push(field);
      return;
    }
    const link = inlineOf(line, at, here).find(
      (one): one is { act: Act; of: Inline[] } => one !== null && typeof one === 'object' && 'act' in one,
    );
    if (link && link.act.do === 'action' && !own)
      own = { label: plainOf(link.of), act: { ...link.act, form: link.act.form ?? id } };
    else
      at.draft.problem(
        field === null ? 'bad_field' : 'unknown_input',
        here,
        field === null
          ? 'A line of a form is "name: input(required)" or "name: chips(a, b)".'
          : `"${field}" is no kind of input: input, secret, number, date, time, area, check, choice, chips.`,
      );
  });
  const made: Extract<Node, { is: 'form' }> = {
    is: 'form',
    id,
    ...title,
    fields,
    ...(own ?? { label: treeText('send'), act: { do: 'action', id, form: id } }),
  };
  if (!own) at.waiting.set(id, made);
  return [made];
}

const cellMark = /\{\{\s*([A-Za-z_][\w-]{0,63})\s*\}\}/;

function table(
  args: Args,
  title: { title?: Value },
  raw: readonly string[],
  at: Reading,
  pointer: string,
): Node {
  const cells = (line: string) =>
    line
      .replace(/^[\s>|]+|[\s|]+$/g, '')
      .split('|')
      .slice(0, MAX_COLUMNS)
      .map((c) => c.trim().slice(0, 1000));
  const rows = raw.filter((l) => l.trim() !== '' && !/^[\s|:-]+$/.test(l)).map(cells);
  const template = rows.find((r) => r.some((c) => c.includes('{{'))) ?? [];
  const heads = rows.find((r) => !r.some((c) => c.includes('{{')));
  if (template.length === 0)
    at.draft.problem('bad_table', pointer, 'A table has a row of cells: "{{name}} | {{price}}".');
  const row: Ink = { ...at, names: { ...at.names, row: true } };
  const columns = template.map((cell, i): Column => {
    const key = cellMark.exec(cell)?.[1] ?? `c${i + 1}`;
    const label = heads?.[i] ? plainOf(inlineOf(heads[i], at, pointer)) : asWords(key);
    if (/^\{\{\s*[A-Za-z_][\w-]*\s*\}\}$/.test(cell)) return { key, label };
    return { key, label, cell: { is: 'text', of: inlineOf(cell, row, pointer) } };
  });
  const query = args.named.get('query');
  const data = args.named.get('data');
  const size = Number(args.named.get('pageSize') ?? 20);
  const value = data === undefined ? null : expression(data.replace(/^\{\{|\}\}$/g, ''), at.names);
  if (!query && value === null)
    at.draft.problem(
      'bad_table',
      pointer,
      'A table says where its rows are: query=<name> or data=state.<path>.',
    );
  const search = args.named.get('search') === 'true' || args.bare.includes('search');
  return {
    is: 'table',
    ...(args.bare.length > 0 && search && args.bare.length === 1 ? {} : title),
    columns,
    rows: query
      ? {
          query: query.slice(0, 200),
          ...(args.named.get('target') ? { target: args.named.get('target')! } : {}),
          pageSize: Number.isInteger(size) ? Math.max(1, Math.min(200, size)) : 20,
        }
      : value,
    ...(search ? { search: true } : {}),
  };
}
