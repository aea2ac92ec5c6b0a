// The manual pages; the build writes each to dist/man (rollup.schemas.js).
import { version } from '../../firmware/system/config.ts';
import { cliHelp } from '../../firmware/text/cli-help.ts';
import { type Language, translator } from '../../firmware/text/i18n.ts';
import { type Command, commands } from './args.ts';
import { manual } from './man.ts';
import { reference } from './reference.ts';

function page(language: Language): string {
  const help = translator(cliHelp, language);
  return manual(
    reference(commands, (of) => help(of as Command)),
    language,
    version,
  );
}

export const texts = { 'ingle.1': page('en'), 'ru/ingle.1': page('ru') };
