// The page of a skill's screen: its tree drawn with its present state as still HTML, for programs that embed a page and
// know no trees. Nothing in it runs. Pure.
import { inLanguage, type Language } from '../text/i18n.ts';
import { below } from '../ui/needs.ts';
import type { Inline, Node, Tree, Value } from '../ui/tree.ts';
import { evaluate, holds, isLazy, plainText, type Scope } from '../ui/value.ts';

const escaped = (s: string) => s.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
/** Rows of a table that are drawn. */
const ROWS = 200;
const DEPTH = 32;
/** What one page may cost. */
const STEPS = 1_000_000;

const style =
  'body{font:16px/1.5 system-ui,sans-serif;margin:1rem;color-scheme:light dark}section{border:1px solid #8886;border-radius:.75rem;padding:.75rem;margin:.75rem 0}dl{display:inline-block;margin:0 1rem .5rem 0}dd{margin:0;font-size:1.25rem}dt{opacity:.75}table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.25rem .5rem .25rem 0;vertical-align:top;overflow-wrap:anywhere}';

/** A page of the tree; of what moves or takes orders it shows nothing. */
export function panelPage(tree: Tree, state: unknown, language: Language): string {
  const top: Scope = { state, meta: tree.meta ?? {}, budget: { steps: STEPS } };
  const words = (v: unknown, scope: Scope): string => inLanguage(v, language) ?? plainText(v, scope);
  const say = (value: Value | undefined, scope: Scope): string =>
    escaped(
      words(
        evaluate(value, scope, (v) => words(v, scope)),
        scope,
      ),
    );

  function inline(i: Inline, scope: Scope): string {
    if (i !== null && typeof i === 'object') {
      if ('br' in i) return '<br>';
      if ('mark' in i || 'act' in i) return i.of.map((part) => inline(part, scope)).join('');
    }
    return say(i, scope);
  }
  function table(n: Extract<Node, { is: 'table' }>, scope: Scope, depth: number): string {
    const all = isLazy(n.rows) ? [] : evaluate(n.rows, scope);
    const body = (Array.isArray(all) ? all : []).slice(0, ROWS).map((row: unknown) => {
      const of = { ...scope, row };
      const cells = n.columns.map((c) =>
        c.cell ? draw(c.cell, of, depth + 1) : say({ path: ['row', c.key] }, of),
      );
      return `<tr>${cells.map((c) => `<td>${c}</td>`).join('')}</tr>`;
    });
    return `<table><tr>${n.columns.map((c) => `<th>${say(c.label, scope)}</th>`).join('')}</tr>${body.join('')}</table>`;
  }
  function draw(n: Node, scope: Scope, depth: number): string {
    if (depth > DEPTH || !holds(n.when, scope)) return '';
    const inside = (of: readonly Node[]) => of.map((c) => draw(c, scope, depth + 1)).join('');
    switch (n.is) {
      case 'title':
        return `<h2>${say(n.text, scope)}</h2>`;
      case 'text':
        return `<p>${n.of.map((i) => inline(i, scope)).join('')}</p>`;
      case 'badge':
      case 'code':
      case 'empty':
        return `<p>${say(n.text, scope)}</p>`;
      case 'metric': {
        const unit = n.unit === undefined ? '' : ` ${say(n.unit, scope)}`;
        return `<dl><dt>${say(n.label, scope)}</dt><dd>${say(n.value, scope)}${unit}</dd></dl>`;
      }
      case 'card': {
        const body = inside(n.children);
        const title = n.title === undefined ? '' : `<h3>${say(n.title, scope)}</h3>`;
        return body ? `<section>${title}${body}</section>` : '';
      }
      case 'each': {
        const all = evaluate(n.of, scope);
        return (Array.isArray(all) ? all : [])
          .slice(0, ROWS)
          .map((row: unknown) => draw(n.child, { ...scope, row }, depth + 1))
          .join('');
      }
      case 'table':
        return table(n, scope, depth);
      case 'button':
      case 'input':
      case 'form':
      case 'note':
        return '';
      default:
        return `<div>${inside(below(n))}</div>`;
    }
  }
  return `<!doctype html><html lang="${language}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${say(tree.title, top)}</title><style>${style}</style></head><body>${tree.main.map((n) => draw(n, top, 0)).join('')}</body></html>`;
}
