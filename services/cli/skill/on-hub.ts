// `ingle skill` for what is on the hub, through its local API.

import { fromBase64url } from '../../../firmware/protocol/bytes.ts';
import { IngleError } from '../../../firmware/protocol/errors.ts';
import { keyIdOf } from '../../../firmware/skills/publishers.ts';
import { type Language, translator } from '../../../firmware/text/i18n.ts';
import { installedTexts } from '../../../firmware/text/installed.ts';
import { jsonAsker } from '../hub/ask.ts';
import { here } from '../place.ts';
import type { Say } from '../say.ts';
import { plain } from '../show.ts';
import { activate, gone, install, isYes, one, pathOf, rollback, titleOf } from './install.ts';
import { list, logs, publishers } from './listed.ts';
import type { On, Question } from './on.ts';
import { hubTextOf } from './text.ts';

/** @throws IngleError `invalid_request` */
function keyOf(text: string, { t }: On): string {
  if (!/^[\w-]{43}$/.test(text)) throw new IngleError('invalid_request', t('badKey'));
  return text;
}

async function remove(on: On, skill_id: string): Promise<void> {
  const { ask, say, t } = on;
  const named = { skill: plain(skill_id, 60) };
  const found = await one(on, skill_id);
  if (found.state === 'image') throw new IngleError('forbidden', t('ofImage', named));
  say.line(t('removes', { ...named, title: titleOf(found, on.language) }));
  if (!on.flags.has('yes') && !isYes((await on.question?.(t('askRemove'))) ?? ''))
    throw new IngleError('conflict', t('removeYes', named));
  await ask('DELETE', pathOf(on, skill_id));
  await gone(on, skill_id);
  say.event({ event: 'removed', skill: skill_id });
  say.line(t('removed', named));
}

async function discard(on: On, skill: string, version: string): Promise<void> {
  const { ask, say, t } = on;
  // As a path, ".." would mean the skill itself.
  if (!/^\d[0-9A-Za-z.+-]*$/.test(version)) throw new IngleError('invalid_request', t('badVersion'));
  await ask('DELETE', `${pathOf(on, skill)}/prepared/${version}`);
  say.event({ event: 'discarded', skill, version });
  say.line(t('discarded', { skill, version }));
}

async function trust(on: On, given: string): Promise<void> {
  const { ask, say, t, values } = on;
  const key = keyOf(given, on);
  const { name } = values;
  if (!name) throw new IngleError('invalid_request', t('wantsName'));
  const ids = values['ids']?.split(',').map((id) => id.trim());
  await ask('POST', '/api/skills/publishers', { key, name, ...(ids ? { ids } : {}) });
  const id = keyIdOf(fromBase64url(key));
  say.event({ event: 'trusted', key, id, name, ids: ids ?? null });
  say.line(t('trustedNow', { name: plain(name), id, key }));
}

async function revoke(on: On, given: string): Promise<void> {
  const key = keyOf(given, on);
  await on.ask('DELETE', `/api/skills/publishers/${key}`);
  on.say.event({ event: 'revoked', key });
  on.say.line(on.t('revokedNow'));
}

async function developer({ ask, say, t }: On, word: string): Promise<void> {
  if (word !== 'on' && word !== 'off') throw new IngleError('invalid_request', t('badSwitch'));
  const on = word === 'on';
  await ask('POST', '/api/skills/developer', { on });
  say.event({ developer: on });
  say.line(t(on ? 'developerOn' : 'developerOff'));
}

type Work = (on: On, first: string, second: string) => Promise<void>;
const work = {
  'skill install': (on, file) => install(on, file, false),
  'skill update': (on, file) => install(on, file, true),
  'skill list': list,
  'skill activate': activate,
  'skill discard': discard,
  'skill rollback': rollback,
  'skill remove': remove,
  'skill logs': logs,
  'skill publishers': publishers,
  'skill trust': trust,
  'skill revoke': revoke,
  'skill developer': developer,
} as const satisfies Record<string, Work>;

export type OnHub = keyof typeof work;
export const isOnHub = (command: string): command is OnHub => Object.hasOwn(work, command);

/** @throws IngleError what the hub said, `unavailable` where none answers, `conflict` where nobody said yes */
export async function onHub(
  command: OnHub,
  p: Pick<On, 'flags' | 'values'> & { arguments: readonly string[] },
  say: Say,
  language: Language,
  question: Question,
): Promise<void> {
  const [first = '', second = ''] = p.arguments;
  const { flags, values } = p;
  const ask = jsonAsker(await here(), say);
  const words = translator(installedTexts, language);
  const run: Work = work[command];
  await run({ ask, say, t: hubTextOf(language), words, language, flags, values, question }, first, second);
}
