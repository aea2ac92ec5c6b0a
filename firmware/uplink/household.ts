// What the owner does about the people of the household, and what the clock does: at once for every browser of theirs.

import type { Person, Wished } from '../people/person.ts';
import { IngleError } from '../protocol/errors.ts';
import type { Codes, Issued } from './codes.ts';
import type { Core } from './core.ts';

/** Ends are looked at no more seldom, milliseconds: the hub's clock may be set at any time. */
const LOOK = 60_000;

export interface Household {
  all(): Person[];
  /** @throws IngleError */
  add(wished: Wished, invitedBy: string): Promise<Person>;
  /** @throws IngleError */
  change(id: string, wished: Partial<Wished>): Promise<Person>;
  /** Ends a person for good, with all that is pinned or open for them. @throws IngleError `not_found` */
  remove(id: string): Promise<void>;
  /** A code for a browser of theirs. @throws IngleError */
  invite(id: string): Promise<Issued>;
  stop(): void;
}

/** @param shut ends what a browser has open, at once */
export function openHousehold(core: Core, codes: Codes, shut: (browser: string) => void): Household {
  const { people, pins, log, now } = core;
  let timer: NodeJS.Timeout | undefined;

  function shutAll(person: string): void {
    for (const b of pins.browsers()) if (b.person === person) shut(b.id);
  }
  /** What was done about a person is done; a window that stays in the store lets in nobody who is not welcome. */
  const codeOf = (id: string) =>
    codes
      .close({ kind: 'person', person_id: id })
      .catch((e: Error) => log.error('the window of a person is closed, and stays stored', { error: e }));

  /** Those whose end has come are shut out, and the next end is waited for. */
  async function look(): Promise<void> {
    clearTimeout(timer);
    try {
      for (const p of await people.lapse()) {
        log.notice('the time of a person is over', { person: p.id });
        shutAll(p.id);
        await codeOf(p.id);
      }
    } catch (e) {
      log.error('an end could not be noted; it holds all the same', { error: e as Error });
    }
    const ends = people.all().flatMap((p) => (p.until > 0 && p.ended_at === 0 ? [p.until] : []));
    if (ends.length === 0) return;
    const wait = Math.max(0, (Math.min(...ends) - now()) * 1000);
    timer = setTimeout(() => void look(), Math.min(LOOK, Math.max(wait, 100)));
  }
  void look();

  return {
    all: people.all,
    async add(wished, invitedBy) {
      const p = await people.add(wished, invitedBy);
      log.notice('a person was added', { person: p.id, role: p.role });
      await look();
      return p;
    },
    async change(id, wished) {
      const before = people.known(id);
      const p = await people.change(id, wished);
      log.notice('a person was changed', { person: id, role: p.role, until: p.until });
      // Their next channel begins with what they are now.
      if (before.role !== p.role || !people.welcome(id)) shutAll(id);
      if (!people.welcome(id)) await codeOf(id);
      await look();
      return p;
    },
    async remove(id) {
      const theirs = await people.remove(id, () => pins.forgetPerson(id));
      for (const b of theirs) shut(b.id);
      await codeOf(id);
      log.notice('a person was removed', { person: id });
    },
    async invite(id) {
      people.known(id);
      if (!people.welcome(id))
        throw new IngleError('conflict', 'The time of this person is over. Give them a later end first.');
      return codes.issue(true, { kind: 'person', person_id: id });
    },
    stop: () => clearTimeout(timer),
  };
}
