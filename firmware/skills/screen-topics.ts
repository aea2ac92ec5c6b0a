// ui.action and ui.query at a skill: two paths of its host, which ask the skill's own functions. What comes and what a
// query answers is checked by the local API, as a skill's process carries no checker.
import type { Json, JsonObject, Skill, SkillEndpoint, UiAction, UiQuery } from './sdk/skill.ts';

/** Nothing is remembered of it: it changes nothing. */
export const queryPath = '/v1/ui/query';
export const actionPath = '/v1/ui/action';

/** The paths of a skill that has such functions. */
export function topicPaths(skill: Pick<Skill, 'action' | 'query'>): SkillEndpoint[] {
  const paths: SkillEndpoint[] = [];
  if (skill.action)
    paths.push({
      method: 'POST',
      path: actionPath,
      answer: ({ id, owner_id, body: { action_id, payload = {}, context = {} } }) =>
        skill.action!({ id, owner_id, action_id, payload, context } as unknown as UiAction),
    });
  if (skill.query)
    paths.push({
      method: 'POST',
      path: queryPath,
      async answer({ owner_id, body }) {
        const { params = {}, page = 0, pageSize = 50, search = '', query, sort } = body as JsonObject;
        const asked = { owner_id, query, params, page, pageSize, search, ...(sort ? { sort } : {}) };
        return { body: (await skill.query!(asked as unknown as UiQuery)) as unknown as Json };
      },
    });
  return paths;
}
