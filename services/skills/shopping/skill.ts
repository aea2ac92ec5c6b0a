// shopping: one list for everybody at home. Each person's document shows it; the skill's own storage has it.
import { IngleError } from '../../../firmware/protocol/errors.ts';
import { openQueue } from '../../../firmware/protocol/queue.ts';
import type {
  Json,
  JsonObject,
  Skill,
  SkillContext,
  SkillDefinition,
} from '../../../firmware/skills/sdk/skill.ts';
import { briefOf, changed, changeOf, type Items, MAX_ITEMS } from './list.ts';

const stored = 'items';
const nothing = { i18n: { en: 'Nothing to buy', ru: 'Покупать нечего' } };

function start(ctx: SkillContext): Skill {
  const line = openQueue();
  const items = () => (ctx.storage.get<never>(stored) as Items | undefined) ?? {};
  const show = (owner_id: string) => {
    const { count, brief } = briefOf(items());
    ctx.setState(owner_id, { items: items() as unknown as JsonObject, count, brief: brief ?? nothing });
  };

  // One after the other: each begins with what the one before has left.
  const change = (action: string, payload: JsonObject) =>
    line.add(async () => {
      const change = changeOf(action, payload);
      if (!change) throw new IngleError('invalid_request', 'The list takes put, got, back and clear.');
      const next = changed(items(), change);
      if (!next)
        throw new IngleError('conflict', `The list holds ${MAX_ITEMS} things. Empty the basket first.`);
      await ctx.storage.set(stored, next as unknown as JsonObject);
      for (const owner_id of ctx.owners()) show(owner_id);
      return { body: {} };
    });

  return {
    attached: show,
    action: ({ action_id, payload }) => change(action_id, payload),
    endpoints: [
      {
        method: 'POST',
        path: '/v1/actions/put',
        answer: ({ body }) => change('put', body as JsonObject),
      },
      {
        method: 'GET',
        path: '/v1/items',
        answer: () => ({ body: { items: Object.values(items()) as unknown as Json } }),
      },
    ],
  };
}

export const skill: SkillDefinition = { start };
