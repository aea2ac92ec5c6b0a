// `ingle licences`: the licences of what the image holds beside Debian's packages (image/licences.ts).
import { readFileSync } from 'node:fs';
import { IngleError } from '../../../firmware/protocol/errors.ts';
import type { Say } from '../say.ts';

/** @throws IngleError `not_found` where no image was built */
export function licences(say: Say, env: NodeJS.ProcessEnv = process.env): void {
  const file = env['INGLE_LICENCES'] || '/usr/share/doc/ingle/copyright';
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    throw new IngleError('not_found', say.text('licencesMissing', { file }));
  }
  say.event({ file, licences: text });
  say.line(text.trimEnd());
}
