// Whom the owner has invited: read from memory, written through. Their end is theirs for good, whatever the clock does.

import {
  checkWished,
  hasLapsed,
  isWelcome,
  MOST_PEOPLE,
  type Person,
  personId,
  type Wished,
} from '../people/person.ts';
import { random } from '../protocol/bytes.ts';
import { IngleError } from '../protocol/errors.ts';
import { openQueue } from '../protocol/queue.ts';
import type { Identity } from './rows.ts';
import type { UplinkStore } from './store.ts';

type PeopleStore = Pick<UplinkStore, 'people' | 'putPerson'>;

export type People = Awaited<ReturnType<typeof openPeople>>;

/** @param place where they are invited to; @param now Unix seconds */
export async function openPeople(store: PeopleStore, place: () => Identity | undefined, now: () => number) {
  const people = new Map((await store.people()).map((p) => [p.id, p]));

  /** Two changes of one person do not undo each other. */
  const changing = openQueue();

  function known(id: string): Person {
    const p = people.get(id);
    if (!p) throw new IngleError('not_found', 'There is no such person.');
    return p;
  }
  /** Stored, then true: what fails to be stored has not happened. */
  async function keep(p: Person): Promise<Person> {
    const at = place();
    if (!at) throw new IngleError('conflict', 'This hub belongs to nobody yet.');
    await store.putPerson(p, at);
    people.set(p.id, p);
    return p;
  }

  return {
    all: (): Person[] => [...people.values()],
    /** @throws IngleError `not_found` */
    known,
    /** A person to whom the hub is open now. */
    welcome(id: string): Person | undefined {
      const p = people.get(id);
      return p && isWelcome(p, now()) ? p : undefined;
    },
    /** @throws IngleError `invalid_request`, `conflict` */
    async add(wished: Wished, invitedBy: string): Promise<Person> {
      const said = checkWished(wished);
      if (people.size >= MOST_PEOPLE)
        throw new IngleError('conflict', `A hub knows at most ${MOST_PEOPLE} people. Remove somebody first.`);
      const id = personId(random(15));
      return keep({ id, ...said, created_at: now(), ended_at: 0, invited_by: invitedBy });
    },
    /** Another name, role or end; an end that was over begins anew with a later one. @throws IngleError */
    change: (id: string, wished: Partial<Wished>): Promise<Person> =>
      changing.add(() => {
        const was = known(id);
        const said = checkWished({ ...was, ...wished });
        // A new name does not bring back whose end was seen by another clock.
        const over = wished.until === undefined ? was.ended_at : 0;
        const ended_at = said.until === 0 || now() < said.until ? over : over || now();
        return keep({ ...was, ...said, ended_at });
      }),
    /** Notes whose end has come; gives them. */
    lapse: (): Promise<Person[]> =>
      changing.add(() => {
        const over = [...people.values()].filter((p) => hasLapsed(p, now()));
        return Promise.all(over.map((p) => keep({ ...p, ended_at: now() })));
      }),
    /** Forgets somebody, once `drop` has. @throws IngleError `not_found` */
    remove: <D>(id: string, drop: () => Promise<D>): Promise<D> =>
      changing.add(async () => {
        known(id);
        const dropped = await drop();
        people.delete(id);
        return dropped;
      }),
    /** The hub has another place. */
    forgetAll: (): void => people.clear(),
  };
}
