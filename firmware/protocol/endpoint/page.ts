// Declared endpoints as a page to read: HTML without scripts, and nothing that is loaded from anywhere. Pure.
import type { TSchema } from 'typebox';
import { errorTable } from '../errors.ts';
import { commonErrors, type Endpoint, methodsOf } from './endpoint.ts';
import type { Described } from './openapi.ts';

/** What the page's one style sheet says; its hash is what the content policy lets in. */
export const pageStyle = `
:root { color-scheme: light dark; --bg: #f7f3ec; --surface: #fffdf9; --line: #e0d6c7; --ink: #221c15; --soft: #675b4d; --accent: #a8431a; --tint: #fbe9dd; }
@media (prefers-color-scheme: dark) { :root { --bg: #16120e; --surface: #211b15; --line: #3d332a; --ink: #f3ebe0; --soft: #b9a996; --accent: #ff9b66; --tint: #3a2317; } }
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { margin: 0 auto; max-width: 60rem; padding: 1.5rem 1rem 4rem; background: var(--bg); color: var(--ink); font: 1rem/1.5 ui-sans-serif, system-ui, "Noto Sans", "DejaVu Sans", sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; line-height: 1.2; } h2 { margin: 3rem 0 1rem; font-size: 1.3rem; }
h3 { margin: 0; font-size: 1rem; font-weight: 600; }
code, pre { font: .875rem/1.5 ui-monospace, "DejaVu Sans Mono", monospace; }
pre { margin: .25rem 0 .75rem; padding: .75rem; border-radius: 8px; background: var(--bg); white-space: pre-wrap; }
a { color: var(--accent); } nav ul { display: flex; flex-wrap: wrap; gap: .5rem; padding: 0; list-style: none; }
nav a { display: inline-block; min-height: 44px; padding: .6rem 1rem; border-radius: 999px; background: var(--tint); text-decoration: none; }
article { margin: 0 0 1rem; padding: 1rem; border: 1px solid var(--line); border-radius: 12px; background: var(--surface); }
article p { margin: .25rem 0 .75rem; } .soft, dt { color: var(--soft); } dt { font-size: .875rem; } dd { margin: 0; }
.method { margin-right: .5rem; padding: .1rem .5rem; border-radius: 6px; background: var(--tint); color: var(--accent); font-weight: 700; }
table { width: 100%; border-collapse: collapse; } th, td { padding: .4rem .5rem; border-bottom: 1px solid var(--line); text-align: left; }
`;

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const html = (text: string) => text.replace(/[&<>"']/g, (c) => escapes[c]!);

type Json = Readonly<Record<string, unknown>>;

/** A schema as a programmer would write the type of its values, over several lines where it has fields. */
export function typeText(schema: TSchema | Json, indent = ''): string {
  const s = schema as Json;
  const inner = `${indent}  `;
  if ('const' in s) return JSON.stringify(s['const']);
  if (Array.isArray(s['enum'])) return s['enum'].map((v) => JSON.stringify(v)).join(' | ');
  const either = (s['anyOf'] ?? s['oneOf']) as Json[] | undefined;
  if (Array.isArray(either)) return either.map((e) => typeText(e, indent)).join(' | ');
  if (s['type'] === 'array') {
    const items = s['items'] ? typeText(s['items'] as Json, indent) : 'anything';
    return `${/[|]/.test(items) ? `(${items})` : items}[]${bounds(s, 'minItems', 'maxItems')}`;
  }
  if (s['type'] === 'object' || s['properties']) {
    const fields = Object.entries((s['properties'] ?? {}) as Record<string, Json>);
    if (fields.length === 0) {
      const of = (s['additionalProperties'] ??
        Object.values((s['patternProperties'] ?? {}) as object)[0]) as Json;
      return of && typeof of === 'object' && Object.keys(of).some((k) => !k.startsWith('~'))
        ? `{ [name]: ${typeText(of, indent)} }`
        : 'object';
    }
    const required = new Set((s['required'] ?? []) as string[]);
    const lines = fields.map(([name, field]) => {
      const about = field['description'] ? `  // ${String(field['description']).replace(/\s+/g, ' ')}` : '';
      return `${inner}${name}${required.has(name) ? '' : '?'}: ${typeText(field, inner)}${about}`;
    });
    return `{\n${lines.join('\n')}\n${indent}}`;
  }
  if (s['type'] === 'string') return `string${form(s)}`;
  if (typeof s['type'] === 'string') return `${s['type']}${bounds(s, 'minimum', 'maximum')}`;
  return 'anything';
}

/** What is said of a text's form: its own sentence where it has one. */
function form(s: Json): string {
  if (s['pattern']) return ` /${String(s['pattern'])}/`;
  return bounds(s, 'minLength', 'maxLength');
}

function bounds(s: Json, least: string, most: string): string {
  const [from, to] = [s[least], s[most]];
  if (from === undefined && to === undefined) return '';
  return ` (${from === undefined ? `at most ${to}` : to === undefined ? `at least ${from}` : `${from} to ${to}`})`;
}

function row(what: string, given: string): string {
  return `<dt>${what}</dt><dd>${given}</dd>`;
}
const block = (text: string) => `<pre>${html(text)}</pre>`;

function article(area: string, name: string, e: Endpoint, d: Described): string {
  const methods = methodsOf(e)
    .map((m) => `<code class="method">${m}</code>`)
    .join('');
  const fields = (of: Record<string, TSchema>) =>
    block(
      Object.entries(of)
        .map(([key, schema]) => `${key}: ${typeText(schema)}`)
        .join('\n'),
    );
  const rows = [
    ...(e.params ? [row('In the path', fields(e.params))] : []),
    ...(e.query ? [row('After the “?”', fields(e.query))] : []),
    ...(e.body
      ? [
          row(
            'Body',
            e.body === 'raw'
              ? `<p>As it is sent${e.maxBody ? `, at most ${e.maxBody} bytes` : ''}.</p>`
              : block(typeText(e.body)),
          ),
        ]
      : []),
    ...(e.answer ? [row('Answer', block(typeText(e.answer)))] : []),
    ...(e.errors?.length
      ? [row('Errors', `<p>${e.errors.map((c) => `<a href="#errors"><code>${c}</code></a>`).join(', ')}</p>`)]
      : []),
  ];
  const who = d.who[e.who]?.doc ?? '';
  return `<article id="${html(`${area}.${name}`)}"><h3>${methods}<code>${html(e.path)}</code></h3>
<p>${html(e.doc)} <span class="soft">${html(who)}${e.command ? ' A command document may ask for it.' : ''}</span></p>
${e.deprecated ? `<p><strong>Deprecated</strong> since ${html(e.deprecated.since)}. <a href="${html(e.deprecated.successor.replace(/^[^#]*#/, '#'))}">What replaces it</a></p>` : ''}
${rows.length > 0 ? `<dl>${rows.join('')}</dl>` : ''}</article>`;
}

function topics(all: NonNullable<Described['topics']>): string {
  const each = Object.entries(all).map(
    ([name, { doc, payload }]) =>
      `<article id="topic-${html(name)}"><h3><code>${html(name)}</code></h3><p>${html(doc)}</p>${block(typeText(payload))}</article>`,
  );
  return `<section id="topics" aria-labelledby="topics-title"><h2 id="topics-title">Bus topics</h2>
<p>Signals <code>Event(topic, payload)</code> of <code>io.ingle.Bus1</code> at <code>/io/ingle/Bus1</code> on the hub's D-Bus, for its own services.</p>${each.join('')}</section>`;
}

function errors(): string {
  const rows = Object.entries(errorTable).map(([code, { http }]) => {
    const any = commonErrors.includes(code as never) ? ' <span class="soft">from any path</span>' : '';
    return `<tr><td><code>${code}</code>${any}</td><td>${http}</td></tr>`;
  });
  return `<section id="errors" aria-labelledby="errors-title"><h2 id="errors-title">Errors</h2>
<p>Each is an object with <code>error</code>, a stable code, <code>message</code>, a sentence for a person, and sometimes <code>details</code>: <code>pointer</code> names the faulty field (RFC 6901), <code>faults</code> all of them.</p>
<table><thead><tr><th scope="col">Code</th><th scope="col">HTTP</th></tr></thead><tbody>${rows.join('')}</tbody></table></section>`;
}

/** The page of an API. */
export function apiPage(d: Described): string {
  const names = Object.keys(d.areas);
  const sections = Object.entries(d.areas).map(
    ([area, endpoints]) => `<section aria-labelledby="${html(area)}"><h2 id="${html(area)}">${html(area)}</h2>
${Object.entries(endpoints)
  .map(([name, e]) => article(area, name, e, d))
  .join('\n')}</section>`,
  );
  const links = [...names, ...(d.topics ? ['topics'] : []), 'errors']
    .map((n) => `<li><a href="#${html(n)}">${html(n)}</a></li>`)
    .join('');
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${html(d.title)}</title><style>${pageStyle}</style></head>
<body><header><h1>${html(d.title)}</h1><p>${html(d.description)}</p>
<p class="soft">Version ${html(d.version)}. Programs read the same as OpenAPI 3.1 from <code>/api/openapi.json</code>.</p></header>
<nav aria-label="Areas"><ul>${links}</ul></nav>
<main>${sections.join('\n')}
${d.topics ? topics(d.topics) : ''}${errors()}</main></body></html>
`;
}
