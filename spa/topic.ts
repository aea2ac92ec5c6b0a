// What a screen says to a skill, ui.action and ui.query: where it goes, where it comes from, and that nobody hears it.
import { IngleError, toIngleError } from '../firmware/protocol/errors.ts';
import { type Icon, toast } from './store.ts';
import { t } from './text.ts';

/** Names this page's visit; root's session is not a skill's to know. */
const visit = crypto.randomUUID();

/** Told already, with the name of what is not there. */
export class Unsupported extends IngleError {}

/** Tells a person what is not there. */
export function unsupported(what: string): Unsupported {
  toast(t('not_supported', { type: what.slice(0, 80) }));
  return new Unsupported('not_supported', 'This action is not known here.');
}

/** @throws IngleError `not_supported` for what names no skill */
export function pathOf(icon: Icon, topic: 'action' | 'query', target = icon.skill_id): string {
  if (!/^[a-z][a-z0-9_]{0,47}$/.test(target)) throw new IngleError('not_supported', 'This names no skill.');
  return `/skills/${target}/v1/ui/${topic}`;
}

export const context = (icon: Icon) => ({ skill: icon.skill_id, path: location.pathname, session: visit });

/** Whether a skill has no such path. */
export const isAbsent = (e: unknown): boolean =>
  ['not_found', 'not_supported'].includes(toIngleError(e).code);
