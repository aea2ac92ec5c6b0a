// The licences of what is in the bundles, with their texts, as most of them ask for: one file in the image. Debian's own
// packages have theirs beside it (/usr/share/doc/<package>/copyright).
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Where a hub has it; "ingle licences" prints it. */
export const licencesPath = 'usr/share/doc/ingle/copyright';

interface Notice {
  /** `yjs 13.6.33` */
  what: string;
  text: string;
}

const isNotice = (file: string) => /^(licen[cs]e|unlicense|copying|notice)([.-].*)?$/i.test(file);

/** https://spdx.org/licenses/MIT.html, for a module that says MIT and brings no text. */
const mit = (who: string) => `MIT License

Copyright (c) ${who}

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`;

/**
 * The licence of a module as it brings it: its files, else the end of its README, else what its package.json names. Machine
 * code of a module, in a package of its own (`@node-datachannel/linux-x64-gnu`), has the licence of that module.
 * @param dir folder of the module
 * @throws Error for a module whose licence nothing tells
 */
export function noticeOf(dir: string): Notice {
  const p = JSON.parse(readFileSync(join(dir, 'package.json'), 'utf8')) as {
    name: string;
    version: string;
    license?: unknown;
    author?: string | { name?: string };
  };
  const what = `${p.name} ${p.version}`;
  const files = readdirSync(dir).sort();
  const read = (file: string) => readFileSync(join(dir, file), 'utf8').replace(/\r\n?/g, '\n').trim();
  const own = files.filter(isNotice).map(read);
  if (own.length > 0) return { what, text: own.join('\n\n') };
  const readme = files.find((f) => /^readme(\.md|\.txt)?$/i.test(f));
  const section = readme && /^#+ *licen[cs]e *\n+([\s\S]*copyright[\s\S]*)/im.exec(read(readme))?.[1];
  if (section) return { what, text: section.trim() };
  const who = typeof p.author === 'string' ? p.author : p.author?.name;
  if (p.license === 'MIT') return { what, text: mit(who ?? `the authors of ${p.name}`) };
  const [, of = ''] = /^@([\w-]+)\//.exec(p.name) ?? [];
  const module = join(dir, '..', '..', of);
  if (of !== '' && existsSync(join(module, 'package.json'))) {
    const { what: whole, text } = noticeOf(module);
    if (whole === `${of} ${p.version}`) return { what, text };
  }
  throw new Error(`${dir} brings no licence, and its package.json says ${JSON.stringify(p.license)}.`);
}

/**
 * Text of all of them, ours first; modules with one text share it.
 * @param folders of modules, such as `node_modules/yjs` (see bundles.ts)
 */
export function licencesText(top: string, folders: readonly string[]): string {
  const texts = new Map<string, string[]>();
  for (const folder of folders) {
    const { what, text } = noticeOf(join(top, folder));
    const names = texts.get(text) ?? [];
    if (!names.includes(what)) names.push(what);
    texts.set(text, names);
  }
  const ruler = '-'.repeat(80);
  const parts = [...texts].map(([text, names]) => `${ruler}\n${names.join('\n')}\n\n${text}\n`);
  const ours = readFileSync(join(top, 'LICENSE'), 'utf8').trim();
  return `Ingle is under the Apache License 2.0, whose text comes first. The packages of npm named below it are part of it,\neach under its own licence. Packages of Debian have theirs in /usr/share/doc/<package>/copyright.\n\n${ours}\n\n${parts.join('\n')}`;
}
