// What happens on the hub: heard while somebody asks, kept for those who come back, streamed, and taken from outside.
import type { Caller } from '../../firmware/documents/acl.ts';
import { MAX_EVENT, MAX_PAYLOAD, observeApi } from '../../firmware/observe/api.ts';
import { type Journal, openJournal, type Page } from '../../firmware/observe/journal.ts';
import { type Bucket, openBucket, rate, take } from '../../firmware/protocol/bucket.ts';
import { fromUtf8, random, toHex, utf8 } from '../../firmware/protocol/bytes.ts';
import type { Sent } from '../../firmware/protocol/endpoint/endpoint.ts';
import { bind, type Handlers } from '../../firmware/protocol/endpoint/router.ts';
import { IngleError, toIngleError } from '../../firmware/protocol/errors.ts';
import type { Bus } from '../../firmware/system/bus.ts';
import { fromVariant } from '../../firmware/system/contract.ts';
import type { Asked, LocalEndpoint } from './dispatch.ts';
import type { Response } from './http.ts';

/** From where a reader goes on. */
interface From {
  query: { after?: string };
  last_event_id?: string | undefined;
}

export interface Observe {
  /** An event of this service. */
  event(topic: string, payload: unknown): void;
  /** A stream of events whose topic begins with `prefix`. @throws IngleError `rate_limited` when too many listen. */
  stream(prefix: string, from: From): Promise<Response>;
  endpoints: LocalEndpoint[];
}

const MAX_READERS = 16;
/** What is kept of a topic, characters. */
const MAX_TOPIC = 255;
const BEAT_MS = 15_000;
/** A stream that broke off is asked for again after this, milliseconds. */
const RETRY_MS = 3000;
/** The bus is heard on for so long, so that who comes back or asks again has missed nothing. */
const LINGER_MS = 60_000;
/** Events in one write: what a reader that takes nothing costs. */
const PAGE = 16;

export function observe(bus: Bus): Observe {
  const journal = openJournal(toHex(random(6)));
  const readers = new Set<() => void>();
  const admit = admission();
  let hearing: Promise<() => Promise<void>> | undefined;
  let leaving: NodeJS.Timeout | undefined;

  function add(named: string, payload: unknown, at = Date.now()): string {
    // Anew, as a piece of a text keeps the whole of it.
    const topic = named.length > MAX_TOPIC ? fromUtf8(utf8(named.slice(0, MAX_TOPIC))) : named;
    let text = JSON.stringify({ at, topic, payload });
    const size = utf8(text).length;
    if (size > MAX_EVENT) text = JSON.stringify({ at, topic, too_large: size });
    const id = journal.add(topic, text);
    for (const pump of readers) pump();
    return id;
  }

  /** Settles when nothing that comes over the bus will be missed. */
  async function hear(): Promise<void> {
    clearTimeout(leaving);
    hearing ??= bus
      .match({ interface: 'io.ingle.Bus1', member: 'Event' }, (s) => {
        const topic = String(s.body[0]);
        // What was taken from outside is in the journal by now.
        if (s.sender !== bus.name || !topic.startsWith('external.')) add(topic, fromVariant(s.body[1]));
      })
      .then((stop) => {
        journal.miss();
        return stop;
      });
    try {
      await hearing;
    } catch (e) {
      hearing = undefined;
      throw e;
    } finally {
      linger();
    }
  }

  function linger(): void {
    clearTimeout(leaving);
    if (readers.size > 0) return;
    leaving = setTimeout(() => {
      hearing?.then((stop) => stop()).catch(() => {});
      hearing = undefined;
    }, LINGER_MS);
    leaving.unref();
  }

  async function stream(prefix: string, { query, last_event_id }: From): Promise<Response> {
    if (readers.size >= MAX_READERS)
      throw new IngleError('rate_limited', 'Too many listen already.', { retry_after: 10 });
    await hear();
    return {
      status: 200,
      headers: { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' },
      stream(write) {
        // A browser asks for the same address again, with what it read last in the header.
        const id = last_event_id || query.after || journal.last();
        const { pump, writable, end } = follow(journal, id, prefix, write);
        readers.add(pump);
        clearTimeout(leaving);
        return {
          writable,
          stop() {
            end();
            readers.delete(pump);
            linger();
          },
        };
      },
    };
  }

  const handlers: Handlers<typeof observeApi, Asked, Response> = {
    stream: (asked) => stream(asked.query.topic ?? '', asked),
    async tail({ query: { topic = '', after, limit = '100' } }) {
      await hear();
      const { events, next, gap } = after
        ? journal.after(after, topic).read(Number(limit))
        : journal.tail(Number(limit), topic);
      return { events: events.map((e) => ({ id: e.id, ...JSON.parse(e.text) })), next, gap };
    },
    ingest({ caller, body: { events } }) {
      const publish = publications(bus, events);
      admit(caller, events.length);
      let last = '';
      for (const [i, e] of events.entries()) {
        publish[i]!();
        last = add(e.topic, e.payload, e.at);
      }
      return { taken: events.length, last };
    },
  };
  return { event: add, stream, endpoints: bind(observeApi, handlers) };
}

/** Writes what comes after `id`, now and at each `pump`, as far as there is room. */
function follow(journal: Journal, id: string, prefix: string, write: (chunk: string) => boolean) {
  const reader = journal.after(id, prefix);
  let at = journal.last();
  // Without an event of its own, so that a stream that breaks off before the first can be resumed.
  let full = !write(`retry: ${RETRY_MS}\n${at === id ? `id: ${id}\n` : ''}\n`);
  function pump(): void {
    while (!full) {
      const page = reader.read(PAGE);
      const text = framed(page);
      at = page.next;
      if (text === '') return;
      full = !write(text);
    }
  }
  pump();
  const beat = setInterval(() => {
    // Past events of other topics too: they may be dropped before the next of its own.
    if (!full) full = !write(`id: ${at}\n\n`);
  }, BEAT_MS);
  return {
    pump,
    writable() {
      full = !write(':\n\n');
      pump();
    },
    end: () => clearInterval(beat),
  };
}

/** A page as server-sent events. */
function framed({ events, from, gap }: Page): string {
  const lost = gap ? `event: gap\nid: ${from}\ndata: ${JSON.stringify({ reason: gap })}\n\n` : '';
  return lost + events.map((e) => `event: event\nid: ${e.id}\ndata: ${e.text}\n\n`).join('');
}

/**
 * What sends each of the events over the bus.
 * @throws IngleError `too_large`, `invalid_request` with the pointer of the first that cannot be sent
 */
function publications(bus: Bus, events: Sent<typeof observeApi.ingest>['events']): (() => void)[] {
  return events.map(({ topic, payload }, i) => {
    const pointer = `/events/${i}/payload`;
    if (utf8(JSON.stringify(payload)).length > MAX_PAYLOAD)
      throw new IngleError('too_large', `The payload of an event may have at most ${MAX_PAYLOAD} bytes.`, {
        pointer,
      });
    try {
      return bus.publication(topic, payload);
    } catch (e) {
      const { code, message } = toIngleError(e);
      throw new IngleError(code, message, { pointer });
    }
  });
}

/** Events from outside of one caller: so many at once, and a second. */
const mine = rate(200, 20);
/** Callers whose rate is known; more of them share what is left of all. */
const MAX_CALLERS = 64;
const everybody = rate(1000, 100);

/** Refuses who tells too much. @throws IngleError `rate_limited` */
function admission(): (caller: Caller, count: number) => void {
  const known = new Map<string, Bucket>();
  const all = openBucket(everybody, Date.now());
  return (caller, count) => {
    const now = Date.now();
    const who = caller ? `${caller.owner_id}/${caller.browser}` : '';
    const own = known.get(who) ?? openBucket(mine, now);
    // The one who was silent longest makes room.
    known.delete(who);
    known.set(who, own);
    if (known.size > MAX_CALLERS) known.delete(known.keys().next().value!);
    for (const [bucket, r] of [
      [own, mine],
      [all, everybody],
    ] as const)
      if (!take(bucket, r, now, count))
        throw new IngleError('rate_limited', 'Too many events; the hub takes 20 a second.', {
          retry_after: Math.ceil((count - bucket.left) / r.perMs / 1000),
        });
  };
}
