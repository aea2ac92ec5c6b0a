// What the page of people asks of the hub.
import type { peopleApi } from '../firmware/people/api.ts';
import type { Answer, Sent } from '../firmware/protocol/endpoint/endpoint.ts';
import { translator } from '../firmware/text/i18n.ts';
import { roleName } from '../firmware/text/people.ts';
import { spaPeopleTexts } from '../firmware/text/spa-people.ts';
import { reached } from './current.ts';
import { app } from './store.ts';

export type Person = Answer<typeof peopleApi.change>;
export type Invitation = Answer<typeof peopleApi.invite>;
export type Wished = Sent<typeof peopleApi.add>;

const at = (id: string) => `/api/people/${id}`;

/** The hub's orders. @throws IngleError what it answered, `unavailable` when it is not reached */
export const hub = {
  list: async () => (await reached().request<Answer<typeof peopleApi.list>>('GET', '/api/people')).people,
  add: (wished: Wished) => reached().request<Answer<typeof peopleApi.add>>('POST', '/api/people', wished),
  change: (id: string, wished: Sent<typeof peopleApi.change>) =>
    reached().request<Person>('PATCH', at(id), wished),
  remove: (id: string) => reached().request('DELETE', at(id)),
  invite: (id: string) => reached().request<Invitation>('POST', `${at(id)}/invite`, {}),
};

type Key = keyof (typeof spaPeopleTexts)['en'];
export const say = (key: Key, values?: Record<string, string | number>) =>
  translator(spaPeopleTexts, app().language)(key, values);
export const roleText = (role: Person['role']) => roleName(role, app().language);

/** A day of a date field as the moment it ends here, Unix seconds; 0 = none. */
export const endOf = (day: string): number =>
  day === '' ? 0 : Math.floor(new Date(`${day}T23:59:59`).getTime() / 1000);

/** Unix seconds as a date field has them. */
export function dayOf(seconds: number): string {
  if (seconds === 0) return '';
  const d = new Date(seconds * 1000);
  const two = (n: number) => String(n).padStart(2, '0');
  return `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())}`;
}

export const dateText = (seconds: number): string =>
  new Intl.DateTimeFormat(app().language, { dateStyle: 'medium' }).format(seconds * 1000);
