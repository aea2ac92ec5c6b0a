// The page of a skill's screen: its view drawn with its present state as still HTML, for programs that embed a page and
// know no ui/v0. Nothing in it runs. Pure.
import { inLanguage, type Language } from '../text/i18n.ts';
import { evaluate, plainText, type Scope } from '../ui/binding.ts';
import type { View, ViewNode } from '../ui/schema.ts';

const escaped = (s: string) => s.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
/** Rows of a table that are drawn. */
const ROWS = 200;
const DEPTH = 24;

const style =
  'body{font:16px/1.5 system-ui,sans-serif;margin:1rem;color-scheme:light dark}section{border:1px solid #8886;border-radius:.75rem;padding:.75rem;margin:.75rem 0}dl{display:inline-block;margin:0 1rem .5rem 0}dd{margin:0;font-size:1.25rem}dt{opacity:.75}table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.25rem .5rem .25rem 0;vertical-align:top;overflow-wrap:anywhere}';

/** A page of the view; of what moves or takes orders it shows nothing. */
export function panelPage(view: View, state: unknown, language: Language): string {
  const scope: Scope = { state, meta: view.meta ?? {} };
  const show = (v: unknown): string => escaped(inLanguage(v, language) ?? plainText(v));
  const say = (template: string | undefined): string =>
    template === undefined
      ? ''
      : show(evaluate(template, scope, (v) => inLanguage(v, language) ?? plainText(v)));

  function table({ columns = [], rows }: ViewNode): string {
    const all = rows === undefined ? [] : evaluate(rows, scope);
    const cell = (of: unknown, key: string) =>
      of !== null && typeof of === 'object' && Object.hasOwn(of, key)
        ? show((of as Record<string, unknown>)[key])
        : '';
    const body = (Array.isArray(all) ? all : [])
      .slice(0, ROWS)
      .map((r) => `<tr>${columns.map((c) => `<td>${cell(r, c.key)}</td>`).join('')}</tr>`);
    return `<table><tr>${columns.map((c) => `<th>${say(c.label)}</th>`).join('')}</tr>${body.join('')}</table>`;
  }
  function draw(n: ViewNode, depth: number): string {
    if (depth > DEPTH) return '';
    const inside = () =>
      [...(n.child ? [n.child] : []), ...(n.children ?? [])].map((c) => draw(c, depth + 1)).join('');
    switch (n.type) {
      case 'title':
        return `<h2>${say(n.text)}</h2>`;
      case 'text':
      case 'badge':
      case 'empty':
        return `<p>${say(n.text ?? n.title)}</p>`;
      case 'metric':
        return `<dl><dt>${say(n.label)}</dt><dd>${say(n.value)}</dd></dl>`;
      case 'stack':
      case 'row':
        return `<div>${inside()}</div>`;
      case 'card': {
        const body = inside();
        return body ? `<section>${n.title ? `<h3>${say(n.title)}</h3>` : ''}${body}</section>` : '';
      }
      case 'table':
        return table(n);
      default:
        return '';
    }
  }
  return `<!doctype html><html lang="${language}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${say(view.meta?.title)}</title><style>${style}</style></head><body>${draw(view.layout, 0)}</body></html>`;
}
