// The reference of the languages of screens (`ingle ui reference`): each part with its properties and an example that is
// drawn as the application draws it.
import { html } from 'htm/preact';
import { render } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { translator } from '../firmware/text/i18n.ts';
import { referenceTexts } from '../firmware/text/reference.ts';
import type { Part, Property } from '../firmware/ui/described.ts';
import type { Drawn, Referenced } from '../firmware/ui/referenced.ts';
import { plainText } from '../firmware/ui/value.ts';
import type { Rows } from './drawing.ts';
import { LanguageSwitch } from './frame.ts';
import { Sample } from './sample.ts';
import { app, useApp } from './store.ts';
import { startLanguage } from './text.ts';

type Say = ReturnType<typeof translator<keyof (typeof referenceTexts)['en']>>;
const groups = [
  ['ui/v0', 'views'],
  ['usdl/0.2', 'pages'],
  ['ulm', 'texts'],
] as const;

/** The rows of an example as a skill would answer with them. */
const pageOf =
  ({ rows }: Drawn): Rows['page'] =>
  async ({ page, pageSize, sort, search }) => {
    const wanted = search?.toLowerCase() ?? '';
    const found = rows.filter((r) => plainText(Object.values(r)).toLowerCase().includes(wanted));
    if (sort) {
      const by = (r: (typeof rows)[number]) => r[sort.key] as string | number;
      found.sort((a, b) => (by(a) < by(b) ? -1 : by(a) > by(b) ? 1 : 0) * (sort.descending ? -1 : 1));
    }
    return { rows: found.slice(page * pageSize, (page + 1) * pageSize), total: found.length };
  };

function Live({ part, drawn, t }: { part: Part; drawn: Drawn; t: Say }) {
  const [asked, setAsked] = useState<unknown>(null);
  const page = useMemo(() => pageOf(drawn), [drawn]);
  return html`<div class="ref-live" role="group" aria-label=${t('example', { name: part.name })}>
      <${Sample} tree=${drawn.tree} state=${drawn.state} asks=${setAsked} page=${page} />
    </div>
    <div role="status" class="ref-asks">${asked !== null && html`<p class="soft">${t('asks')}</p><pre class="v-code" tabindex="0" lang="en">${JSON.stringify(asked, null, 2)}</pre>`}</div>`;
}

const row = (p: Property, t: Say) =>
  html`<tr><th scope="row"><code>${p.name}</code></th><td><code>${p.type}</code></td>
    <td lang="en">${p.required && html`<strong lang=${app().language}>${t('required')}</strong>${'. '}`}${p.doc} ${p.bounds && html`<span class="soft">${p.bounds}</span> `}${p.since && html`<span class="soft" lang=${app().language}>${t('since', { version: p.since })}</span>`}</td></tr>`;

function Entry({ part, drawn, t }: { part: Part; drawn: Drawn | undefined; t: Say }) {
  return html`<section class="ref-part" id=${part.id}>
    <h3><a href=${`#${part.id}`}>${part.name}</a> ${part.since && html`<span class="soft">${t('since', { version: part.since })}</span>`}</h3>
    <p lang="en">${part.says}</p>
    ${
      drawn &&
      html`<${Live} key=${app().language} part=${part} drawn=${drawn} t=${t} />
        <details><summary>${t('source')}</summary><pre class="v-code" tabindex="0">${drawn.source}</pre></details>`
    }
    ${
      part.properties.length > 0 &&
      html`<details><summary>${t('properties')}</summary>
        <div class="v-table" tabindex="0" role="region" aria-label=${`${t('properties')}: ${part.name}`}><table>
          <thead><tr><th scope="col">${t('property')}</th><th scope="col">${t('type')}</th><th scope="col">${t('about')}</th></tr></thead>
          <tbody>${part.properties.map((p) => row(p, t))}</tbody>
        </table></div></details>`
    }
  </section>`;
}

/** What of a part is searched: its names and what is said of them. */
const wordsOf = (p: Part) =>
  [p.name, p.language, p.says, ...p.properties.flatMap((one) => [one.name, one.doc, one.type])]
    .join(' ')
    .toLowerCase();

function Page({ all }: { all: Referenced }) {
  const { language } = useApp();
  const [typed, type] = useState('');
  const t = translator(referenceTexts, language);
  const known = useMemo(() => all.parts.map((part) => ({ part, words: wordsOf(part) })), [all]);
  const wanted = typed.trim().toLowerCase().split(/\s+/);
  const found = known.flatMap(({ part, words }) => (wanted.every((w) => words.includes(w)) ? [part] : []));
  useEffect(() => {
    document.title = `${t('title')} · Ingle`;
  }, [language]);
  const onInput = (e: Event & { currentTarget: HTMLInputElement }) => type(e.currentTarget.value);
  return html`<header class="ref-head">
      <h1>${t('title')}</h1><${LanguageSwitch} />
      <p class="lead">${t('lead')} <span class="soft">Ingle ${all.version}</span></p>
      <label class="field"><span>${t('search')}</span><input class="input" type="search" value=${typed} onInput=${onInput} /></label>
      <p class="soft" role="status">${found.length > 0 ? t('found', { count: found.length }) : t('nothing')}</p>
    </header>
    <main class="ref-main">${groups.map(([of, name]) => {
      const parts = found.filter((p) => p.language === of);
      return (
        parts.length > 0 &&
        html`<h2>${t(name)}</h2>
          <nav aria-label=${t(name)}><ul class="ref-names">${parts.map((p) => html`<li><a href=${`#${p.id}`}>${p.name}</a></li>`)}</ul></nav>
          <div class="ref-parts">${parts.map((p) => html`<${Entry} key=${p.id} part=${p} drawn=${all.examples[language][p.id]} t=${t} />`)}</div>`
      );
    })}</main>`;
}

export function show(all: Referenced): void {
  startLanguage();
  render(html`<${Page} all=${all} />`, document.getElementById('app')!);
  // What the address names was not there when the browser looked.
  if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
}
