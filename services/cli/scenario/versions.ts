// Versions of a scenario: which are there, what another one would change for people, and the way there and back.
import type { Answer } from '../../../firmware/protocol/endpoint/endpoint.ts';
import { IngleError } from '../../../firmware/protocol/errors.ts';
import type { Offered } from '../../../firmware/scenario/answers.ts';
import type { scenariosApi } from '../../../firmware/scenario/api.ts';
import { plain, when } from '../show.ts';
import { scenarioId } from './given.ts';
import { dotted, type On } from './on.ts';
import { problemOf, texts } from './shown.ts';

type Api = typeof scenariosApi;

const versionsOf = async ({ ask, t }: On, id: string) =>
  (await ask<Answer<Api['versions']>>('GET', `/api/scenarios/versions/${dotted(id, t)}`)).versions;

/** What a version would make of what people changed, a line each. */
const changesOf = (
  { t, language }: On,
  v: Offered,
  isTold: (p: { repaired: boolean }) => boolean,
): string[] =>
  v.changes.flatMap(({ user, name, problems }) =>
    problems.filter(isTold).map((p) => {
      const who = name ?? t(user === 'house' ? 'house' : 'someOwner');
      return t('versionChange', texts({ who, pointer: p.pointer, says: problemOf(p, language) }));
    }),
  );

export async function toldVersions(on: On, given: string): Promise<void> {
  const { say, t } = on;
  for (const v of await versionsOf(on, given)) {
    say.event({ ...v });
    const at = when(v.installed_at / 1000);
    const from =
      v.installed_at === 0
        ? t('fromImage')
        : v.publisher === ''
          ? t('fromUnsigned', { when: at })
          : t('fromKey', { when: at, key: plain(v.publisher, 60) });
    const mark = v.used ? '*' : ' ';
    say.line(
      t('version', { mark, version: plain(v.version), from: v.used ? `${t('used')}, ${from}` : from }),
    );
    for (const line of changesOf(on, v, () => true)) say.line(line);
  }
}

export async function use(on: On, id: string, version: string): Promise<void> {
  const { ask, say, t, given } = on;
  const versions = await versionsOf(on, id);
  const next = versions.find((v) => v.version === version);
  if (!next) {
    const there = versions.map((v) => plain(v.version)).join(', ');
    throw new IngleError('not_found', t('noVersion', { id, version: plain(version), versions: there }));
  }
  if (next.used) return say.line(t('usedAlready', { id, version }));
  const changes = changesOf(on, next, (p) => !p.repaired).join('\n');
  if (changes !== '' && !given.flags.has('yes'))
    throw new IngleError('conflict', t('unfit', { id, version, changes }), { changes: next.changes });
  await ask('POST', '/api/scenarios/prototypes/install', { id, version });
  say.event({ id, version });
  say.line(t('using', { id, version, before: versions.find((v) => v.used)!.version }));
}

export async function rollBack(on: On, given: string): Promise<void> {
  const id = scenarioId(given, on.t);
  const versions = await versionsOf(on, id);
  const at = versions.findIndex((v) => v.used);
  const before = versions[at - 1];
  if (!before)
    throw new IngleError('conflict', on.t('noEarlier', { id, version: versions[at]?.version ?? '' }));
  await use(on, id, before.version);
}

export async function update({ ask, say, t }: On): Promise<void> {
  const { updated } = await ask<Answer<Api['sync']>>('POST', '/api/scenarios/sync', {});
  for (const one of updated) {
    say.event(one);
    say.line(t('updated', texts(one)));
  }
  if (updated.length === 0) say.line(t('upToDate'));
}

export async function remove({ ask, say, t }: On, given: string): Promise<void> {
  const id = scenarioId(given, t);
  await ask('POST', '/api/scenarios/uninstall', { id });
  say.event({ removed: id });
  const { prototypes } = await ask<Answer<Api['prototypes']>>('GET', '/api/scenarios/prototypes');
  const left = prototypes.find((p) => p.id === id);
  say.line(left ? t('removedTo', texts({ id, version: left.version })) : t('removed', { id }));
}
