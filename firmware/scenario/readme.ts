// What an author says of a scenario: a text for each language. README.md is the English one, which readers of a language
// that has none get too; README.ru.md is the Russian one. In a package the names are in lower case. Pure.
import { isTag } from './localized.ts';

/** By language, as `en`, which is always there. */
export type Readme = Readonly<Record<string, string>>;

export const readmeName = (language: string) => (language === 'en' ? 'readme.md' : `readme.${language}.md`);

/** The language of a file of this name; undefined where it is no readme. */
export function readmeLanguage(name: string): string | undefined {
  const found = /^(?:README|readme)(?:\.([a-z0-9-]+))?\.md$/.exec(name);
  if (!found) return undefined;
  const [, language] = found;
  if (language === undefined) return 'en';
  return language !== 'en' && isTag(language) ? language : undefined;
}
