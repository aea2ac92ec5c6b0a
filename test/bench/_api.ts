// Our side of the bench `api`: the server, router, checks and token of ingle-api with one endpoint more, whose body is
// 1 KiB and whose handler does next to nothing.
import * as T from 'typebox';
import { defaultScenario } from '../../firmware/desktop/default.ts';
import { bind } from '../../firmware/protocol/endpoint/router.ts';
import type { Skills } from '../../firmware/skills/follow.ts';
import { localArea } from '../../firmware/system/local-api.ts';
import { tokenCheck } from '../../firmware/system/token.ts';
import { answering } from '../../services/api/answer.ts';
import { dispatcher } from '../../services/api/dispatch.ts';
import { listen } from '../../services/api/server.ts';

const closed = { additionalProperties: false };
/** Both sides check by this. */
export const order = {
  body: T.Object(
    {
      name: T.String({ minLength: 1, maxLength: 80 }),
      at: T.Integer({ minimum: 0 }),
      rows: T.Array(
        T.Object(
          {
            id: T.String({ pattern: '^[a-z][a-z0-9_]{0,47}$' }),
            amount: T.Number({ minimum: 0, maximum: 1000 }),
            unit: T.Union([T.Literal('piece'), T.Literal('kg')]),
            note: T.Optional(T.String({ maxLength: 200 })),
          },
          closed,
        ),
        { maxItems: 50 },
      ),
    },
    closed,
  ),
  answer: T.Object({ ok: T.Literal(true), rows: T.Integer() }),
};

/** A body of 1 KiB that is as it should be. */
export function body(): string {
  const rows = Array.from({ length: 9 }, (_, i) => ({
    id: `thing_${i}`,
    amount: i + 0.5,
    unit: i % 2 ? 'kg' : 'piece',
    note: '',
  }));
  const given = { name: 'an order', at: 1_700_000_000, rows };
  for (let i = 0; JSON.stringify(given).length < 1024; i = (i + 1) % rows.length) rows[i]!.note += 'x';
  return JSON.stringify(given);
}

const [, , port, file] = process.argv;
if (process.argv[1]?.includes('_api') && port && file) {
  const area = localArea({
    order: { method: 'POST', path: '/api/order', who: 'owner', doc: 'Takes an order.', ...order },
  });
  let rows = 0;
  const endpoints = bind(area, {
    order: (asked: { body: T.Static<typeof order.body> }) => {
      rows += asked.body.rows.length;
      return { ok: true as const, rows };
    },
  });
  const skills = { known: () => new Map(), owners: () => ['o1'], async addOwner() {} } as unknown as Skills;
  const desktop = { of: () => ({ skills: [], layout: defaultScenario.layout }) };
  const dispatch = dispatcher({ endpoints, skills, desktop, admit() {} });
  const commands = { once: () => Promise.reject(new Error('nobody asks twice here')) };

  await listen('127.0.0.1', Number(port), {
    ...answering({ dispatch, commands, skills, token: tokenCheck(file) }),
    upgrade() {
      throw new Error('there are no sockets here');
    },
  });
}
