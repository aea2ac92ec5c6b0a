// `ingle skill list`, `publishers` and `logs`: what is on the hub, as a person reads it.
import type { Answer } from '../../../firmware/protocol/endpoint/endpoint.ts';
import { IngleError } from '../../../firmware/protocol/errors.ts';
import type { packagesApi } from '../../../firmware/skills/packages-api.ts';
import type { servicesApi } from '../../../firmware/supervisor/api.ts';
import { plain, when } from '../show.ts';
import { type Listed, one, type Shown } from './install.ts';
import type { On } from './on.ts';

const nameOf = (p: Shown['publisher'], { t }: On) => (p ? plain(p.name ?? p.id) : t('noPublisher'));

function tell(s: Shown, on: On): void {
  const { say, t, words } = on;
  const marks = [
    s.unsigned ? t('markUnsigned') : '',
    s.available || s.off || s.state !== 'active' ? '' : t('markAway'),
    s.off ? `  ${words(`off_${s.off}`)}` : '',
  ];
  say.line(
    t('line', {
      skill: s.skill_id,
      version: s.trying ?? s.version ?? '-',
      state: words(`state_${s.state}`),
      publisher: s.state === 'image' ? '' : nameOf(s.publisher, on),
      marks: marks.join(''),
    }).trimEnd(),
  );
  if (s.previous) say.line(t('back', { version: s.previous }));
  for (const p of s.prepared)
    if (p.version !== s.previous && p.version !== s.trying)
      say.line(t('prepared', { version: p.version, publisher: nameOf(p.publisher, on) }));
  if (s.fault)
    say.line(
      t('fault', {
        version: s.fault.version,
        reason: words(`reason_${s.fault.reason}`),
        message: plain(s.fault.message, 300),
      }),
    );
}

export async function list(on: On): Promise<void> {
  const { developer, sandbox, skills } = await on.ask<Listed>('GET', '/api/skills');
  on.say.event({ developer, sandbox, skills });
  for (const s of skills) tell(s, on);
  if (developer) on.say.line(on.t('developerOn'));
  if (sandbox !== 'there') on.say.line(on.words(developer ? 'sandbox_open' : `sandbox_${sandbox}`));
}

export async function publishers({ ask, say, t }: On): Promise<void> {
  const all = await ask<Answer<typeof packagesApi.publishers>>('GET', '/api/skills/publishers');
  say.event(all);
  for (const p of all.publishers) {
    const ids = p.ids?.join(', ') ?? t('anySkill');
    const marks = `${p.revoked ? t('revokedMark') : ''}${p.maker ? t('makerMark') : ''}`;
    say.line(t('publisher', { id: p.id, name: plain(p.name), ids: plain(ids, 300), marks }));
  }
  if (all.publishers.length === 0) say.line(t('noPublishers'));
}

export async function logs(on: On, skill_id: string): Promise<void> {
  const { ask, say, t } = on;
  const named = { skill: plain(skill_id, 60) };
  const { services } = await ask<Answer<typeof servicesApi.list>>('GET', '/api/services');
  const unit = services.find((s) => s.skill_id === skill_id)?.unit;
  if (!unit) {
    await one(on, skill_id);
    throw new IngleError('not_found', t('noLogs', named));
  }
  const path = `/api/services/${encodeURIComponent(unit)}/logs`;
  const { lines } = await ask<Answer<typeof servicesApi.logs>>('GET', path);
  say.event({ skill: skill_id, unit, lines });
  for (const { at, level, text } of lines)
    say.line(t('logLine', { at: when(at ?? 0), level: plain(level), text: plain(text, 2000) }));
  if (lines.length === 0) say.line(t('noLines', named));
}
