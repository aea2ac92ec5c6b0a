// The local API of what happens on the hub: a stream, a look back, and events from outside.
import * as T from 'typebox';
import { SAYS } from '../protocol/endpoint/check.ts';
import { localArea } from '../system/local-api.ts';
import { idForm } from './journal.ts';

const strict = { additionalProperties: false };

/** What a reader asks for: which events, and from where on. */
const topic = T.String({ description: 'Only topics that begin with this.' });
export const after = T.String({
  description: 'Only events after the one with this id. The header Last-Event-ID goes before it.',
  pattern: idForm,
  [SAYS]: { pattern: 'is not the id of an event' },
});

/** Events one request may bring. */
const MAX_EVENTS = 100;
/** Largest payload that is taken, and the largest event that is passed on, bytes of JSON. */
export const MAX_PAYLOAD = 8 * 1024;
export const MAX_EVENT = 16 * 1024;

const id = T.String({ description: 'The id of an event, or of a place between two.' });
/** A topic on which others than the hub itself speak. */
export const externalTopic = T.String({
  description: 'Below "external."; what other topics say is the hub\'s own word.',
  pattern: '^external(\\.[a-z][a-z0-9_]*)+$',
  maxLength: 80,
  [SAYS]: { pattern: 'is not a topic below "external."' },
});
const given = T.Object(
  {
    topic: externalTopic,
    payload: T.Unknown({ description: `Any JSON of at most ${MAX_PAYLOAD} bytes.` }),
    at: T.Optional(
      T.Integer({
        description: 'When it happened, Unix milliseconds; now where it is left out.',
        minimum: 0,
        maximum: 8.64e15,
      }),
    ),
  },
  strict,
);

export const observeApi = localArea({
  stream: {
    method: 'GET',
    path: '/api/observe/stream',
    who: 'elevated',
    doc: 'What happens on the hub, as server-sent events; a `gap` comes before them where something after the given id is lost.',
    query: { topic, after },
    errors: ['assertion_required', 'forbidden'],
  },
  tail: {
    method: 'GET',
    path: '/api/observe/tail',
    who: 'elevated',
    doc: 'The last events, or the first after an id; whoever asks on with `next` within a minute misses nothing.',
    query: {
      topic,
      after,
      limit: T.String({
        description: 'Events in one answer, 1 to 500; 100 where it is left out.',
        pattern: '^([1-9][0-9]?|[1-4][0-9]{2}|500)$',
        [SAYS]: { pattern: 'must be a number from 1 to 500' },
      }),
    },
    answer: T.Object({
      events: T.Array(
        T.Object({
          id,
          at: T.Integer({ description: 'Unix milliseconds.' }),
          topic: T.String(),
          payload: T.Optional(T.Unknown()),
          too_large: T.Optional(
            T.Integer({ description: 'Bytes of an event that is named without its payload.' }),
          ),
        }),
      ),
      next: id,
      gap: T.Union([T.Literal('dropped'), T.Literal('unheard'), T.Literal('unknown'), T.Null()], {
        description:
          'Why events after the given id may be missing: there was no room for them, nobody listened, or the id is of another start or another hub.',
      }),
    }),
    errors: ['assertion_required', 'forbidden'],
  },
  ingest: {
    method: 'POST',
    path: '/api/observe/ingest',
    who: 'owner',
    doc: 'Tells the hub events from outside, all or none of them.',
    body: T.Object({ events: T.Array(given, { minItems: 1, maxItems: MAX_EVENTS }) }, strict),
    answer: T.Object({ taken: T.Integer(), last: id }),
    errors: ['forbidden', 'too_large'],
  },
});
