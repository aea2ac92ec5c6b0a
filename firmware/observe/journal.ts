// What happened lately, in memory: a bounded row of events, each with an id, and a word on what is no longer here. Pure.
import { utf8 } from '../protocol/bytes.ts';

export interface Kept {
  id: string;
  topic: string;
  /** The event as JSON. */
  text: string;
}

/**
 * Why something between an id and what follows may be missing: it was dropped to make room, nobody heard the bus, or
 * the id is none of this journal's (an earlier process, another hub, a guess).
 */
export type Gap = 'dropped' | 'unheard' | 'unknown';

export interface Page {
  events: Kept[];
  /** What was read has ids after this one. */
  from: string;
  /** What comes later has an id after this one. */
  next: string;
  gap: Gap | null;
}

/** A place in the journal that moves on as it is read. */
export interface Reader {
  /** The next events, in order, each once. A gap is told once. */
  read(limit: number): Page;
}

export interface Journal {
  /** @returns the id of the event */
  add(topic: string, text: string): string;
  /** From here back something may be missing that never came to be added. */
  miss(): void;
  /** The id before everything that is yet to come. */
  last(): string;
  /** Reads topics that begin with `prefix`, after `id`. */
  after(id: string, prefix?: string): Reader;
  /** The last events. */
  tail(limit: number, prefix?: string): Page;
}

/** The form of an id: the tag of a journal, and a number that grows. */
export const idForm = '^[A-Za-z0-9_]{1,32}-[0-9]{1,15}$';
const form = new RegExp(idForm);

const room = { events: 2000, bytes: 1024 * 1024 };

/** @param tag drawn anew for each journal, so that its ids are told from those of another */
export function openJournal(tag: string, max = room): Journal {
  const kept: (Kept & { n: number; bytes: number })[] = [];
  let bytes = 0;
  let last = 0;
  /** Numbers up to which something was dropped, or never heard. */
  let dropped = 0;
  let unheard = 0;

  const idOf = (n: number) => `${tag}-${n}`;
  function numberOf(id: string): number | undefined {
    const n = form.test(id) && id.startsWith(`${tag}-`) ? Number(id.slice(tag.length + 1)) : last + 1;
    return n <= last ? n : undefined;
  }
  /** The place of the first event after `n`. */
  function placeAfter(n: number): number {
    let from = 0;
    let to = kept.length;
    while (from < to) {
      const middle = (from + to) >> 1;
      if (kept[middle]!.n > n) to = middle;
      else from = middle + 1;
    }
    return from;
  }
  const shown = ({ id, topic, text }: Kept): Kept => ({ id, topic, text });

  return {
    add(topic, text) {
      const event = { id: idOf(++last), topic, text, n: last, bytes: utf8(text).length };
      kept.push(event);
      bytes += event.bytes;
      while (kept.length > max.events || bytes > max.bytes) {
        const first = kept.shift()!;
        bytes -= first.bytes;
        dropped = first.n;
      }
      return event.id;
    },
    miss() {
      // A number of its own: an id that was given before it is told from one that is given after it.
      unheard = ++last;
    },
    last: () => idOf(last),
    after(id, prefix = '') {
      const given = numberOf(id);
      let at = given ?? 0;
      let isUnknown = given === undefined;
      /** Up to where it was told that something is missing. */
      let told = 0;
      return {
        read(limit) {
          const floor = Math.max(dropped, unheard);
          let gap: Gap | null = null;
          if (isUnknown) gap = 'unknown';
          else if (at < floor && told < floor) gap = at < dropped ? 'dropped' : 'unheard';
          isUnknown = false;
          if (gap) told = floor;
          const events: Kept[] = [];
          let next = last;
          for (let i = placeAfter(at); i < kept.length; i++) {
            if (!kept[i]!.topic.startsWith(prefix)) continue;
            events.push(shown(kept[i]!));
            if (events.length < limit) continue;
            next = kept[i]!.n;
            break;
          }
          const from = idOf(at);
          at = next;
          return { events, from, next: idOf(next), gap };
        },
      };
    },
    tail(limit, prefix = '') {
      const events: Kept[] = [];
      for (let i = kept.length - 1; i >= 0 && events.length < limit; i--)
        if (kept[i]!.topic.startsWith(prefix)) events.unshift(shown(kept[i]!));
      return { events, from: idOf(0), next: idOf(last), gap: null };
    },
  };
}
