// What Update1 tells, in words for the owner. Pure.

import type { JsonObject } from '../../../firmware/skills/sdk/skill.ts';
import type { Caller } from '../../../firmware/system/contract.ts';
import {
  type Language,
  type Localized,
  localized,
  localizer,
  translator,
} from '../../../firmware/text/i18n.ts';
import { updateText } from '../../../firmware/text/update.ts';
import type { update1 } from '../../../firmware/update/contract.ts';
import { restful, type UpdateState } from '../../../firmware/update/machine.ts';
import type { Shown } from './view.ts';

type Status = Awaited<ReturnType<Caller<typeof update1>['Status']>>;

/** What Update1.Status answers; without ingle-update there are no details. */
export type Told = Omit<Status, 'detail'> & { detail: Partial<Status['detail']> };

/** What a hub without ingle-update tells. */
export const unsupported = (version: string): Told => ({
  state: 'unsupported',
  version,
  slot: '',
  detail: {},
});

const key = (text: string) =>
  Object.hasOwn(updateText.en, text) ? (text as keyof typeof updateText.en) : undefined;

/** What is under way, by the state; RAUC's own words for its steps are English. */
const steps: Record<string, keyof typeof updateText.en> = {
  downloading: 'stepDownload',
  verifying: 'stepVerify',
  installing: 'stepInstall',
};

/** States in which the next step is a person's. */
const waiting: ReadonlySet<string> = new Set<UpdateState>(['available', 'downloaded', 'installed']);

/** The state document, what of the screen is there, and whether something moves. */
export function describe(told: Told): { state: JsonObject; shown: Shown; busy: boolean } {
  const t = localizer(updateText);
  const { state, detail: d } = told;
  const time = (seconds: number, language: Language) => new Date(seconds * 1000).toLocaleString(language);
  const supported = state !== 'unsupported';
  const target = d.target || d.offer?.version || '';
  const percent = d.percent ?? -1;
  const moving = ['downloading', 'verifying', 'installing'].includes(state);
  const r = d.result;
  const why = key(r?.reason ?? '');
  const result: Localized | '' = !r
    ? ''
    : r.ok
      ? t(r.kind === 'rollback' ? 'wentBack' : 'updated', (l) => ({
          from: r.from,
          to: r.to,
          time: time(r.at, l),
        }))
      : localized((l) => {
          const say = translator(updateText, l);
          const text = [why ? say(why) : '', r.text].filter(Boolean).join(' ');
          return say('notUpdated', { to: r.to, time: time(r.at, l), text });
        });
  const headline = t(key(`state_${state}`) ?? 'state_idle', { version: target });
  const reason = key(d.error?.reason ?? '');
  const trouble = reason ? t(reason) : '';
  const notes = state === 'available' || state === 'downloaded' ? (d.offer?.notes ?? '') : '';
  return {
    state: {
      state,
      headline,
      // What waits for a person; trouble that is over by the next check asks for nobody.
      alert: waiting.has(state) ? headline : '',
      version: told.version,
      offer: d.offer
        ? t('size', { version: d.offer.version, mib: Math.ceil(d.offer.size / 2 ** 20) })
        : t('none'),
      previous: d.previous?.version ?? t('none'),
      step: t(steps[state] ?? 'progress'),
      percent: percent < 0 ? '…' : `${percent} %`,
      trouble,
      result,
      notes,
      checked: d.checked_at ? t('checked', (l) => ({ time: time(d.checked_at!, l) })) : t('neverChecked'),
    },
    shown: {
      supported,
      can: d.can ?? [],
      progress: moving,
      notes: notes !== '',
      trouble: trouble !== '',
      result: result !== '',
    },
    busy: supported && !restful.has(state as UpdateState),
  };
}
