// What the hub says aloud and prints: bus topics, and the older paths that do the same.
import * as T from 'typebox';
import type { Topic } from '../protocol/endpoint/endpoint.ts';
import { ok } from '../system/api.ts';
import { localArea } from '../system/local-api.ts';
import { MAX_PRINT } from './print.ts';
import { topics } from './topics.ts';

const strict = { additionalProperties: false };

const speech = T.Object(
  {
    text: T.String({ minLength: 1, maxLength: 500 }),
    lang: T.Optional(
      T.Union([T.Literal('en'), T.Literal('ru')], { description: 'The hub’s own where it is left out.' }),
    ),
    sink_id: T.Optional(
      T.String({
        description: 'Left out: the best output. "*": every connected one, in turn.',
        maxLength: 200,
      }),
    ),
  },
  strict,
);

const line = T.Object(
  {
    text: T.String({
      description: 'One line; control characters are taken out.',
      minLength: 1,
      maxLength: MAX_PRINT,
    }),
    level: T.Optional(T.Union([T.Literal('info'), T.Literal('warning'), T.Literal('error')])),
  },
  strict,
);

export const ioTopics = {
  [topics.speak]: { doc: 'The hub speaks the text.', payload: speech },
  [topics.print]: {
    doc: 'The open consoles (serial, screen) print the line, ten at once and then one a second. A console with a secret prints only while somebody has typed it.',
    payload: line,
  },
} as const satisfies Record<string, Topic>;

const successor = (topic: string) => ({ since: '2026-11-23', successor: `/api/docs#topic-${topic}` });

export const ioApi = localArea({
  say: {
    method: 'POST',
    path: '/api/say',
    who: 'owner',
    doc: 'Speaks a text, and answers when it was spoken.',
    body: speech,
    answer: T.Object({
      text: T.String(),
      lang: T.String(),
      spoken: T.Array(T.String(), { description: 'The outputs that took it.' }),
    }),
    errors: ['not_found', 'not_supported', 'timeout', 'conflict', 'forbidden'],
    deprecated: successor(topics.speak),
  },
  print: {
    method: 'POST',
    path: '/api/io/console/print',
    who: 'owner',
    doc: 'Prints a line on the consoles that are open.',
    body: line,
    answer: ok,
    errors: ['forbidden'],
    deprecated: successor(topics.print),
  },
});
