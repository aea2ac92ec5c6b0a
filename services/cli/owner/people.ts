// `ingle people …`: whom the owner has invited, over the local API as local control.
import { peopleApi } from '../../../firmware/people/api.ts';
import type { Answer } from '../../../firmware/protocol/endpoint/endpoint.ts';
import { IngleError } from '../../../firmware/protocol/errors.ts';
import { personRoles } from '../../../firmware/protocol/roles.ts';
import type { Language } from '../../../firmware/text/i18n.ts';
import { roleName } from '../../../firmware/text/people.ts';
import { type At, jsonAsker } from '../hub/ask.ts';
import type { Say } from '../say.ts';
import { plain, scanned, when } from '../show.ts';

export type PeopleCommand = 'people list' | 'people invite' | 'people change' | 'people remove';

type Person = Answer<typeof peopleApi.change>;
type Added = Answer<typeof peopleApi.add>;
type Invitation = Answer<typeof peopleApi.invite>;

const isId = (text: string) => /^person_[\w-]{20}$/.test(text);
const lengths = { h: 3600, d: 86_400 } as const;

/**
 * When somebody's time ends, Unix seconds; 0 = never. `now` in milliseconds.
 * @throws IngleError `invalid_request`
 */
export function untilOf(text: string, say: Pick<Say, 'text'>, now: number): number {
  if (text === 'never') return 0;
  const [, count, unit] = /^(\d{1,5})([hd])$/.exec(text) ?? [];
  if (count) return Math.floor(now / 1000) + Number(count) * lengths[unit as 'h' | 'd'];
  // A date without a time is that day's end, where the hub is.
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(text);
  const at = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2})?$/.test(text)
    ? new Date(`${text}${isDay ? 'T23:59:59' : ''}`).getTime()
    : Number.NaN;
  if (Number.isNaN(at)) throw new IngleError('invalid_request', say.text('badUntil'));
  return Math.floor(at / 1000);
}

export async function people(
  command: PeopleCommand,
  {
    arguments: [who = ''],
    values,
  }: { arguments: readonly string[]; values: Readonly<Record<string, string>> },
  at: At,
  say: Say,
  language: Language,
): Promise<void> {
  const ask = jsonAsker(at, say);
  const { name, role, until } = values;
  const wished = {
    ...(name === undefined ? {} : { name }),
    ...(role === undefined ? {} : { role }),
    ...(until === undefined ? {} : { until: untilOf(until, say, Date.now()) }),
  };
  if (role !== undefined && !(personRoles as readonly string[]).includes(role))
    throw new IngleError('invalid_request', say.text('badRole', { roles: personRoles.join(', ') }));
  const id = () => {
    if (!isId(who)) throw new IngleError('invalid_request', say.text('badPerson'));
    return who;
  };

  function line(p: Person): string {
    const seen = Math.max(0, ...p.browsers.map((b) => b.seen_at));
    const end = p.ended
      ? say.text('personEnded')
      : p.until === 0
        ? say.text('personForever')
        : say.text('personUntil', { until: when(p.until) });
    const words = { id: p.id, name: plain(p.name), role: roleName(p.role, language), end };
    return p.browsers.length > 0
      ? say.text('personLine', { ...words, browsers: p.browsers.length, seen: when(seen) })
      : say.text('personNew', words);
  }
  function invited(i: Invitation): void {
    say.line(say.text('personCode', { page: i.verify_uri, code: i.code, until: when(i.expires_at) }));
    say.line(`${say.text('loginLink')}\n\n  ${i.link}\n`);
    say.line(scanned(i.link, process.stdout.isTTY === true && !process.env['NO_COLOR'], say));
  }

  switch (command) {
    case 'people list': {
      const { people: all } = await ask<Answer<typeof peopleApi.list>>('GET', peopleApi.list.path);
      for (const p of all) {
        say.event({ ...p });
        say.line(line(p));
      }
      if (all.length === 0) say.line(say.text('personNone'));
      return;
    }
    case 'people invite': {
      if (isId(who)) {
        const again = await ask<Invitation>('POST', `/api/people/${who}/invite`);
        say.event({ ...again });
        return invited(again);
      }
      const added = await ask<Added>('POST', peopleApi.add.path, { role: 'guest', ...wished, name: who });
      say.event({ ...added });
      say.line(line(added.person));
      if (added.invitation) return invited(added.invitation);
      throw new IngleError(
        'unavailable',
        say.text('personNoCode', { why: plain(added.trouble ?? '', 300), id: added.person.id }),
      );
    }
    case 'people change': {
      const changed = await ask<Person>('PATCH', `/api/people/${id()}`, wished);
      say.event({ ...changed });
      say.line(line(changed));
      return;
    }
    case 'people remove':
      await ask('DELETE', `/api/people/${id()}`);
      say.event({ removed: who });
      say.line(say.text('personRemoved'));
  }
}
