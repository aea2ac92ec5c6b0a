// `ingle ui reference`: every part of the languages of screens on one page, out of the schemas, with live examples. The page
// is a file by itself: it asks nobody for anything.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { IngleError } from '../../../firmware/protocol/errors.ts';
import { hashSource } from '../../../firmware/protocol/inline.ts';
import { version } from '../../../firmware/system/config.ts';
import { type Language, languages, translator } from '../../../firmware/text/i18n.ts';
import { referenceTexts } from '../../../firmware/text/reference.ts';
import { compile } from '../../../firmware/ui/compile.ts';
import { describedParts } from '../../../firmware/ui/described.ts';
import type { Drawn, Referenced } from '../../../firmware/ui/referenced.ts';
import type { Say } from '../say.ts';
import { plain } from '../show.ts';
import { bundled, checkout } from './bundle.ts';
import { type Example, examplesIn } from './examples.ts';
import { previewTextOf } from './text.ts';

/** What tells a page of this command from any other. */
const mark = '<meta name="generator" content="ingle ui reference">';

async function drawn({ source, state = {}, rows = [] }: Example): Promise<Drawn> {
  const { tree } = await compile(source);
  const { ulm } = source;
  return { source: typeof ulm === 'string' ? ulm : JSON.stringify(source, null, 2), tree, state, rows };
}

/** All that the page shows. */
export async function referenced(): Promise<Referenced> {
  const of = async (language: Language) => {
    const entries = Object.entries(examplesIn(language)).map(
      async ([id, e]) => [id, await drawn(e)] as const,
    );
    return [language, Object.fromEntries(await Promise.all(entries))] as const;
  };
  const examples = Object.fromEntries(await Promise.all(languages.map(of))) as Referenced['examples'];
  return { version, parts: describedParts(), examples };
}

/** @throws IngleError `not_supported` outside of a checkout */
export async function referencePage(language: Language): Promise<string> {
  const t = previewTextOf(language);
  const top = checkout(t);
  const contents = `import { show } from './spa/reference.ts';\nshow(${JSON.stringify(await referenced())});`;
  const { script, style } = await bundled(top, contents, t);
  const sheet = `${style}\n${readFileSync(join(top, 'spa/reference.css'), 'utf8')}`;
  const policy = [
    "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; worker-src blob:; require-trusted-types-for 'script'; trusted-types ingle-vega",
    `script-src ${hashSource(script)}`,
    `style-src ${hashSource(sheet)}`,
  ].join('; ');
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="content-security-policy" content="${policy}">${mark}
<meta name="viewport" content="width=device-width, initial-scale=1"><title>Ingle</title><link rel="icon" href="data:,"><style>${sheet}</style></head>
<body><div id="app"></div><script>${script}</script></body></html>
`;
}

/** @throws IngleError `conflict` where another page is in the way */
export async function writeReference(out: string | undefined, say: Say, language: Language): Promise<void> {
  const text = translator(referenceTexts, language);
  const folder = resolve(out ?? join(checkout(previewTextOf(language)), 'dist/reference'));
  const file = join(folder, 'index.html');
  if (existsSync(file) && !readFileSync(file, 'utf8').includes(mark))
    throw new IngleError('conflict', text('foreign', { file: plain(file, 300) }));
  const page = await referencePage(language);
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, page);
  say.event({ file });
  say.line(text('written', { file: plain(file, 300) }));
}
