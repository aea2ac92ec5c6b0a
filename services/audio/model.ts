// The models of spoken languages: Debian's English one, and whatever folders the configuration names.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { IngleError } from '../../firmware/protocol/errors.ts';
import type { Config } from '../../firmware/system/config.ts';
import type { Language } from '../../firmware/text/i18n.ts';

export interface Model {
  language: Language;
  /** Folder of the acoustic model. */
  acoustic: string;
  dictionary: string;
  /** A language model, by which anything may be said. */
  anything?: string;
}

export type Models = (language: Language) => Model;

const names: Record<Language, string> = { en: 'English', ru: 'Russian' };
/** What every acoustic model of pocketsphinx has. */
const parts = ['mdef', 'means', 'variances', 'transition_matrices'];

/**
 * The models of a configuration. A folder has an acoustic model, in itself or in a folder of its own, and a dictionary
 * (*.dict or *.dic); a language model (*.lm.bin, *.lm) may be there. Looked for at each call: a folder may come later.
 * @throws IngleError `not_supported`, which says what is missing
 */
export const openModels =
  (folders: Config['speech']['models']): Models =>
  (language) => {
    const folder = folders[language];
    const name = names[language];
    const lacks = (what: string) =>
      new IngleError('not_supported', `${what}`, { lang: language, ...(folder ? { folder } : {}) });
    if (!folder)
      throw lacks(
        `This hub has no model of spoken ${name}. Put one for pocketsphinx (an acoustic model and its dictionary) in a folder, and name the folder as "speech.models.${language}" in /etc/ingle/config.json.`,
      );
    if (!existsSync(folder))
      throw lacks(`The model of spoken ${name} is not installed: "${folder}" is not there.`);
    const files = readdirSync(folder).sort();
    const acoustic = ['', ...files]
      .map((f) => join(folder, f))
      .find((at) => parts.every((part) => existsSync(join(at, part))));
    if (!acoustic)
      throw lacks(
        `The model of spoken ${name} in "${folder}" has no acoustic model: a folder with ${parts.join(', ')}.`,
      );
    const one = (form: RegExp) => files.filter((f) => form.test(f)).map((f) => join(folder, f))[0];
    const dictionary = one(/\.dict?$/);
    if (!dictionary)
      throw lacks(`The model of spoken ${name} in "${folder}" has no dictionary: a file *.dict or *.dic.`);
    const anything = one(/^(?!.*phone).*\.lm(\.bin)?$/);
    return { language, acoustic, dictionary, ...(anything ? { anything } : {}) };
  };
