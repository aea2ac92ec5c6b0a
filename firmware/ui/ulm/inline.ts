// Inline text of ULM as the tree's: marks, links that may be followed, actions, bindings. Pure.
import type { Token } from 'markdown-it';
import { linkOf } from '../destination.ts';
import type { Draft } from '../draft.ts';
import { expression, type Names, payloadOf } from '../expression.ts';
import type { Act, Inline, Value } from '../tree.ts';
import { argsOf } from './args.ts';
import type { ActionLink } from './syntax.ts';

/** What a text is compiled with. */
export interface Ink {
  draft: Draft;
  names: Names;
}

/** What an action link does: `submit` names its form, `target` another skill, the others are its payload. */
export function actOf(link: ActionLink, names: Names): Act {
  const { named } = argsOf(link.args);
  const [form, target] = [named.get('submit'), named.get('target')];
  const payload = [...named].filter(([k]) => k !== 'submit' && k !== 'target');
  return {
    do: 'action',
    id: link.id,
    ...(target ? { target } : {}),
    ...(payload.length > 0 ? { payload: payloadOf(Object.fromEntries(payload), names) } : {}),
    ...(form ? { form } : {}),
  };
}

const marks = { em_open: 'em', strong_open: 'strong' } as const;

/** @param pointer where the text stands in its source, for problems */
export function inlinesOf(tokens: readonly Token[], ink: Ink, pointer: string): Inline[] {
  const top: Inline[] = [];
  const stack: Inline[][] = [top];
  const put = (one: Inline) => {
    const list = stack.at(-1)!;
    const last = list.at(-1);
    if (typeof one === 'string' && typeof last === 'string') list[list.length - 1] = last + one;
    else if (one !== '') list.push(one);
  };
  /** Goes on within `of`, which `made` holds; without `made` it is the text around it. */
  const open = (made: ((of: Inline[]) => Inline) | null) => {
    if (!made) return stack.push(stack.at(-1)!);
    const of: Inline[] = [];
    stack.at(-1)!.push(made(of));
    return stack.push(of);
  };
  for (const token of tokens) {
    if (token.nesting === -1) {
      if (stack.length > 1) stack.pop();
    } else if (token.type === 'em_open' || token.type === 'strong_open') {
      const mark = marks[token.type];
      open((of) => ({ mark, of }));
    } else if (token.type === 'link_open') {
      const href = String(token.attrGet('href') ?? '');
      const act = linkOf(href);
      if (!act)
        ink.draft.problem(
          'unsafe_link',
          pointer,
          `A link leads to https://, mailto:, skill:<id> or a page, not to "${href.slice(0, 80)}".`,
        );
      open(act && ((of) => ({ act, of })));
    } else if (token.type === 'action') {
      const link = token.meta as unknown as ActionLink;
      put({ act: actOf(link, ink.names), of: [link.label] });
    } else if (token.type === 'binding') {
      const value = expression(token.meta?.['of'] as string, ink.names);
      if (value === null) ink.draft.problem('bad_binding', pointer, `${token.content} is no path of data.`);
      put(value ?? token.content);
    } else if (token.type === 'code_inline') put({ mark: 'code', of: [token.content] });
    else if (token.type === 'softbreak') put(' ');
    else if (token.type === 'hardbreak') put({ br: true });
    // Nothing is fetched for a page: an image is what it says.
    else if (token.type === 'image')
      for (const one of inlinesOf(token.children ?? [], ink, pointer)) put(one);
    else put(token.content);
  }
  return top;
}

/** The words of inline text alone, as a heading or a label has them. */
export function plainOf(inlines: readonly Inline[]): Value {
  const parts: Value[] = [];
  const walk = (list: readonly Inline[]): void => {
    for (const one of list)
      if (one !== null && typeof one === 'object' && 'br' in one) parts.push(' ');
      else if (
        one !== null &&
        typeof one === 'object' &&
        'of' in one &&
        Array.isArray(one.of) &&
        ('mark' in one || 'act' in one)
      )
        walk(one.of);
      else parts.push(one as Value);
  };
  walk(inlines);
  const joined: Value[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (typeof part === 'string' && typeof last === 'string') joined[joined.length - 1] = last + part;
    else joined.push(part);
  }
  return joined.length === 0 ? '' : joined.length === 1 ? joined[0]! : { join: joined };
}
