// Asks a skill's endpoints: what changes something is done once by its id, and the mark of that lies in its state.
import { mergeContent, mergeMeta, readContent } from '../documents/content.ts';
import { router } from '../protocol/endpoint/router.ts';
import { IngleError, toIngleError } from '../protocol/errors.ts';
import { parseObject } from '../protocol/json.ts';
import { type Answer, isRemembered } from './answer.ts';
import type { Answers } from './load.ts';
import { fromMark, marksOf } from './marks.ts';
import { saidBySkill } from './said.ts';
import type { JsonObject, Patch, SkillEndpoint, SkillLog, SkillReply, SkillRequest } from './sdk/skill.ts';
import type { ServedOwners } from './served.ts';

/** Answers kept in memory an owner, and those kept in the state document to survive a crash. */
const KEPT = 256;
const MARKED = 64;
const MARK_BYTES = 256;

export function limit<T>(work: Promise<T>, ms: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new IngleError('timeout', 'The skill took too long.')), ms);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** @param timeoutMs the skill's own code has so long for an answer */
export function openRequests(
  endpoints: readonly SkillEndpoint[],
  served: ServedOwners,
  { log, timeoutMs }: { log: SkillLog; timeoutMs: number },
): Answers['Request'] {
  const { find } = router(endpoints.map((endpoint) => ({ endpoint })));

  /** The effect of a request and the mark that it is done, as one change. */
  function finish(request: SkillRequest, reply: SkillReply): Answer {
    const body = reply.text ?? (reply.body === undefined ? '' : JSON.stringify(reply.body));
    const type =
      reply.text === undefined ? 'application/json' : `${reply.type ?? 'text/plain'}; charset=utf-8`;
    const answer: Answer = {
      status: reply.status ?? (body ? 200 : 204),
      headers: body ? { 'content-type': type } : {},
      body: new TextEncoder().encode(body),
    };
    if (!isRemembered(request)) return answer;
    const doc = served.document(request.owner_id, 'state:main');
    const patch: Patch = reply.state?.(readContent(doc)) ?? {};
    const marks = marksOf(doc).filter((m) => m.id !== request.id);
    marks.push({ id: request.id, status: answer.status, body: body.length <= MARK_BYTES ? body : '{}' });
    doc.transact(() => {
      mergeContent(doc, patch);
      mergeMeta(doc, { done: marks.slice(-MARKED).map((m) => ({ ...m })) });
    });
    return answer;
  }

  async function run(request: SkillRequest): Promise<Answer> {
    const { endpoint } = find(request.method, request.path).bound;
    return finish(request, await endpoint.answer(request));
  }

  /** As `run`, but a fault in the skill's own code is its answer, told in the one shape. */
  async function answer(request: SkillRequest): Promise<Answer> {
    try {
      return await limit(run(request), timeoutMs);
    } catch (cause) {
      const said = saidBySkill(cause);
      if (!said) log.error('the skill failed', { path: request.path, cause: cause as Error });
      // An error of the bus has no details, as those of fields: they go as the answer that says the same.
      if (said?.details)
        return {
          status: said.status,
          headers: { 'content-type': 'application/json' },
          body: new TextEncoder().encode(JSON.stringify(said.body())),
        };
      throw said ?? toIngleError(cause);
    }
  }

  return async ({ id, owner_id, method, path, headers, body }) => {
    const s = served.find(owner_id);
    if (!s) throw new IngleError('unavailable', 'The skill does not serve this owner yet. Try again.');
    const bare = path.split('?', 1)[0]!;
    const isKept = isRemembered({ method, path: bare });
    if (isKept) {
      const mark = marksOf(served.document(owner_id, 'state:main')).find((m) => m.id === id);
      if (mark) return fromMark(mark);
      const known = s.answers.get(id);
      if (known) return known;
    }
    const query = path.slice(bare.length + 1);
    const given = parseObject(body) as JsonObject;
    const request: SkillRequest = {
      id,
      owner_id,
      method,
      path: bare,
      query: new URLSearchParams(query),
      body: given,
      ...(headers['last-event-id'] ? { lastEventId: headers['last-event-id'] } : {}),
    };
    const result = answer(request);
    if (isKept) {
      s.answers.set(id, result);
      // What failed may be tried again; what was done may not.
      result.then(
        (a) => a.status >= 400 && s.answers.delete(id),
        () => s.answers.delete(id),
      );
      if (s.answers.size > KEPT) s.answers.delete(s.answers.keys().next().value!);
    }
    return result;
  };
}
