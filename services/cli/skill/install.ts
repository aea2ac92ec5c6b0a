// `ingle skill install` and its kin: a package is looked at on the hub, a person says yes, its trial is followed.
import { createReadStream } from 'node:fs';
import { isSkillId } from '../../../firmware/documents/key.ts';
import type { Answer } from '../../../firmware/protocol/endpoint/endpoint.ts';
import { type ErrorCode, IngleError, toIngleError } from '../../../firmware/protocol/errors.ts';
import { LIMITS } from '../../../firmware/skills/package-meta.ts';
import type { packagesApi } from '../../../firmware/skills/packages-api.ts';
import type { Language } from '../../../firmware/text/i18n.ts';
import { type Abilities, mayDo } from '../../../firmware/text/may-do.ts';
import { plain } from '../show.ts';
import type { On } from './on.ts';
import { textOf } from './text.ts';

export type Listed = Answer<typeof packagesApi.list>;
export type Shown = Listed['skills'][number];
type Prepared = Answer<typeof packagesApi.prepare>;

/** How often the hub is asked how a trial stands, milliseconds. */
const LOOK_MS = 500;
/** Longer than a trial, the way back and a restart of the hub together, milliseconds. */
const MOST_MS = 5 * 60_000;

const pause = () => new Promise((done) => setTimeout(done, LOOK_MS));

/** @throws IngleError `not_found`, `unavailable`, `too_large` before anything is sent */
async function bytesOf(file: string, { t, language }: Pick<On, 't' | 'language'>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let size = 0;
  const said = { file: plain(file, 200) };
  try {
    for await (const part of createReadStream(file) as AsyncIterable<Uint8Array>) {
      size += part.byteLength;
      if (size > LIMITS.packed)
        throw new IngleError('too_large', t('tooLarge', { ...said, most: LIMITS.packed }));
      parts.push(part);
    }
  } catch (e) {
    if (e instanceof IngleError) throw e;
    const { code, message } = e as NodeJS.ErrnoException;
    throw code === 'ENOENT'
      ? new IngleError('not_found', textOf(language)('inMissing', said))
      : new IngleError('unavailable', textOf(language)('inFailed', { ...said, why: plain(message, 300) }));
  }
  return Buffer.concat(parts);
}

function tell({ skill, package: p }: Prepared, { say, t, language }: On): void {
  const { skill_id, version: from } = skill;
  say.event({ event: 'prepared', ...p, skill_id, from });
  say.line(t('checked', { skill: skill_id, version: p.version, title: titleOf(skill, language) }));
  if (from) say.line(t('update', { from, to: p.version }));
  say.line(t(p.trust, { name: plain(p.publisher?.name ?? '-'), key: p.publisher?.id ?? '-' }));
  say.line(textOf(language)('may'));
  for (const line of mayDo(p.manifest as Abilities, language)) say.line(`  ${line}`);
}

export const titleOf = ({ title, titles }: Shown, language: Language) => plain(titles?.[language] ?? title);

/** Whether a person said yes. */
export const isYes = (said: string) => ['yes', 'y', 'да', 'д'].includes(said.trim().toLowerCase());

export async function install(on: On, file: string, isUpdate: boolean): Promise<void> {
  const { ask, t } = on;
  const prepared = await ask<Prepared>('POST', '/api/skills/prepare', await bytesOf(file, on));
  tell(prepared, on);
  const { version, trust, publisher } = prepared.package;
  const named = { skill: prepared.skill.skill_id, version };
  if (isUpdate && !prepared.skill.version) throw new IngleError('conflict', t('notHere', named));
  if (trust === 'unknown')
    throw new IngleError(
      'forbidden',
      t('wantsTrust', { ...named, id: publisher?.id ?? '', key: publisher?.key ?? '' }),
      { publisher },
    );
  if (!on.flags.has('yes') && !isYes((await on.question?.(t('ask'))) ?? ''))
    throw new IngleError('conflict', t('stays', named));
  await activate(on, named.skill, version);
}

export async function activate(on: On, skill_id: string, version: string): Promise<void> {
  const path = `${pathOf(on, skill_id)}/activate`;
  await follow(on, await on.ask<Shown>('POST', path, { version }), version);
}

export async function rollback(on: On, skill_id: string): Promise<void> {
  const begun = await on.ask<Shown>('POST', `${pathOf(on, skill_id)}/rollback`, {});
  await follow(on, begun, begun.trying ?? begun.version ?? '');
}

/** A skill's path, also of words that would lead to another. @throws IngleError `not_found` */
export function pathOf({ t }: Pick<On, 't'>, skill_id: string): string {
  if (!isSkillId(skill_id)) throw new IngleError('not_found', t('noSkill', { skill: plain(skill_id, 60) }));
  return `/api/skills/${skill_id}`;
}

/** A skill of the list. @throws IngleError `not_found` */
export async function one({ ask, t }: Pick<On, 'ask' | 't'>, skill_id: string): Promise<Shown> {
  const { skills } = await ask<Listed>('GET', '/api/skills');
  const found = skills.find((s) => s.skill_id === skill_id);
  if (!found) throw new IngleError('not_found', t('noSkill', { skill: plain(skill_id, 60) }));
  return found;
}

const codeOf: Record<NonNullable<Shown['fault']>['reason'], ErrorCode> = {
  timeout: 'timeout',
  broken: 'unavailable',
  no_room: 'conflict',
  storage: 'unavailable',
};

/** Says each step of a trial. @throws IngleError why the version is not used, `timeout` while it is not over */
async function follow(on: On, begun: Shown, version: string): Promise<void> {
  const { say, t } = on;
  const named = { skill: begun.skill_id, version };
  let told = '';
  let now = begun;
  for (const last = Date.now() + MOST_MS; Date.now() < last; now = await again(on, now)) {
    if (now.state === 'active' && now.version === version) {
      say.event({ event: 'active', ...named, from: begun.version === version ? null : begun.version });
      return say.line(t('done', named));
    }
    const isOver = now.state === 'active' || now.state === 'prepared';
    if (isOver)
      throw now.fault?.version === version
        ? refusal(on, now, now.fault)
        : new IngleError('conflict', t('changed', named));
    if (now.state !== told && (now.state === 'trial' || now.state === 'returning')) {
      told = now.state;
      say.event({ event: now.state, ...named });
      say.line(t(now.state, named));
    }
  }
  throw new IngleError('timeout', t('seeList'));
}

/** Looks after a while. A hub that is starting anew is asked again. */
async function again(on: On, before: Shown): Promise<Shown> {
  await pause();
  try {
    return await one(on, before.skill_id);
  } catch (e) {
    if (['unavailable', 'timeout'].includes(toIngleError(e).code)) return before;
    throw e;
  }
}

/** Settles when nothing is left of a skill that is being removed. @throws IngleError `timeout` */
export async function gone(on: On, skill_id: string): Promise<void> {
  for (const last = Date.now() + MOST_MS; Date.now() < last; await pause()) {
    const { skills } = await on.ask<Listed>('GET', '/api/skills');
    if (!skills.some((s) => s.skill_id === skill_id)) return;
  }
  throw new IngleError('timeout', on.t('seeList'));
}

function refusal({ t, words }: On, s: Shown, fault: NonNullable<Shown['fault']>): IngleError {
  const why = {
    skill: s.skill_id,
    version: fault.version,
    reason: words(`reason_${fault.reason}`),
    message: plain(fault.message, 500),
    before: s.version ?? '',
  };
  const said = `${t(s.version ? 'failedBack' : 'failedNone', why)} ${t('seeLogs', why)}`;
  return new IngleError(codeOf[fault.reason], said, { fault, version: s.version });
}
