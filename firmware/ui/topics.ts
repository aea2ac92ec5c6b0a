// The bus topics of screens: what they carry, who says it to whom, and by which way it goes.
import * as T from 'typebox';
import type { Topic } from '../protocol/endpoint/endpoint.ts';
import { record } from '../protocol/endpoint/record.ts';
import type { ToClient } from './topic-names.ts';

const strict = { additionalProperties: false };
const anything = record(T.Unknown());
const id = T.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9_.:-]{0,63}$' });
const words = T.Union([T.String({ maxLength: 500 }), record(T.String({ maxLength: 500 }))], {
  description: 'A text, or one for each language.',
});
const context = T.Object(
  {
    skill: T.Optional(T.String()),
    path: T.Optional(T.String({ maxLength: 400 })),
    session: T.Optional(T.String({ maxLength: 128 })),
  },
  { ...strict, description: 'Where it was pressed. Who pressed is the hub’s to know, not this message’s.' },
);

const action = T.Object(
  {
    type: T.Optional(T.Literal('ui.action')),
    action_id: id,
    payload: T.Optional(anything),
    context: T.Optional(context),
  },
  strict,
);

const query = T.Object(
  {
    query: id,
    params: T.Optional(anything),
    page: T.Optional(T.Integer({ minimum: 0, description: 'From 0.' })),
    pageSize: T.Optional(T.Integer({ minimum: 1, maximum: 500 })),
    sort: T.Optional(
      T.Object({ key: T.String({ maxLength: 128 }), descending: T.Optional(T.Boolean()) }, strict),
    ),
    search: T.Optional(T.String({ maxLength: 200 })),
    context: T.Optional(context),
  },
  strict,
);

/** What a query is answered with. */
export const uiPage = T.Object({
  rows: T.Array(T.Unknown(), { maxItems: 500 }),
  total: T.Integer({ minimum: 0, description: 'Rows of all pages.' }),
});

const toast = T.Object(
  { text: words, kind: T.Optional(T.Union([T.Literal('info'), T.Literal('warning'), T.Literal('error')])) },
  strict,
);
const notify = T.Object(
  {
    title: words,
    body: T.Optional(words),
    tag: T.Optional(
      T.String({ maxLength: 64, description: 'A newer one takes the place of one with its tag.' }),
    ),
  },
  strict,
);
const route = T.Object(
  {
    area: T.Union([T.Literal('main'), T.Literal('side'), T.Literal('modal')]),
    to: T.String({ maxLength: 400 }),
    params: T.Optional(anything),
  },
  strict,
);

export type UiAction = T.Static<typeof action>;
export type UiQuery = T.Static<typeof query>;
export type UiPage = T.Static<typeof uiPage>;

/** What a client says to a skill: a command of its document, done once by its id; or a request to the skill's path. */
export const toSkill = {
  'ui.action': {
    doc: 'Client to skill. A command `bus.publish` reaches the skill’s `action`, once by its id; so does `POST /skills/{skill_id}/v1/ui/action`.',
    payload: action,
  },
  'ui.query': {
    doc: 'Client to skill. A command `bus.publish` reaches the skill’s `query`, which answers `{rows, total}`; a table that pages asks `POST /skills/{skill_id}/v1/ui/query` itself and nothing is kept of it.',
    payload: query,
  },
} as const satisfies Record<string, Topic>;

/** What a skill tells those who look, by `ctx.tell`. The hub writes it into the person's `desktop/state:main`, under `said`. */
export const toClient = {
  'ui.toast': { doc: 'Skill to client: a line that goes by itself.', payload: toast },
  'ui.notify': { doc: 'Skill to client: something that is worth a notice.', payload: notify },
  'ui.route': { doc: 'Skill to client: another place is to be shown in a work area.', payload: route },
} as const satisfies Record<ToClient, Topic>;

/** What goes as a document, which is there after a restart and merges: never published by itself. */
export const asDocument = {
  'ui.render': {
    doc: 'Skill to client. It is the view document `<owner>/<skill>/view:main` (`ctx.setView`), not a message.',
    payload: T.Object({}, { additionalProperties: true }),
  },
  'ui.patch': {
    doc: 'Skill to client. It is a change of the state document (`ctx.setState`), not a message: only what differs travels.',
    payload: T.Object({}, { additionalProperties: true }),
  },
  'ui.state': {
    doc: 'Both ways. It is the state document: `state:main` is the skill’s, `state:device/<id>` and `state:owner/<id>` the person’s.',
    payload: T.Object({}, { additionalProperties: true }),
  },
} as const satisfies Record<string, Topic>;

export const uiTopics = { ...toSkill, ...toClient, ...asDocument };
export type ToSkill = keyof typeof toSkill;

export const isToSkill = (topic: string): topic is ToSkill => Object.hasOwn(toSkill, topic);
