// From a request to the endpoint that answers it: who may call, what is in it, and the answer as a response.
import { type Caller, isElevated } from '../../firmware/documents/acl.ts';
import type { Call } from '../../firmware/documents/commands.ts';
import type { Endpoint, Method } from '../../firmware/protocol/endpoint/endpoint.ts';
import { inputOf } from '../../firmware/protocol/endpoint/input.ts';
import { type Bound, type Found, router } from '../../firmware/protocol/endpoint/router.ts';
import { IngleError } from '../../firmware/protocol/errors.ts';
import type { Skills } from '../../firmware/skills/follow.ts';
import type { Manifest } from '../../firmware/skills/manifest.ts';
import type { LocalWho } from '../../firmware/system/local-api.ts';
import type { Response } from './server.ts';

/** A request whose caller is known; `owner_id` is whose things it is about. */
export interface Asked extends Omit<Call, 'principal' | 'body'> {
  caller: Caller;
  /** Everything after the `?`. */
  search: URLSearchParams;
  /** The header Last-Event-ID: where a stream that broke off had come to. */
  last_event_id?: string | undefined;
}

export type LocalEndpoint = Bound<Asked, Response>;

export const json = (body: unknown, status = 200): Response => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

/** The manifest of a skill the caller may use. @throws IngleError `not_found`, `forbidden`, `assertion_required` */
export function usable(skills: Skills, skill_id: string, caller: Caller): Manifest {
  const known = skills.known().get(skill_id);
  if (!known) throw new IngleError('not_found', `There is no skill "${skill_id.slice(0, 60)}".`);
  if (known.manifest.permissions?.ownerOnly) guards.elevated(caller, {}, skills);
  return known.manifest;
}

/** Refuses by throwing; asked before the journal is, so that nobody gets an answer that is not for them. */
const guards: Record<LocalWho, (caller: Caller, params: Record<string, string>, skills: Skills) => void> = {
  public() {},
  token() {},
  owner(caller) {
    if (caller !== null && caller.role !== 'owner')
      throw new IngleError('forbidden', 'Only the owner of this hub may do this.');
  },
  elevated(caller, params, skills) {
    guards.owner(caller, params, skills);
    if (!isElevated(caller, Date.now() / 1000))
      throw new IngleError('assertion_required', 'Confirm with your passkey to open this.');
  },
  skill: (caller, { skill_id = '' }, skills) => void usable(skills, skill_id, caller),
};

export interface Dispatch {
  /** The answer of a public endpoint, which needs no caller; undefined where there is none. */
  open(method: string, path: string): Promise<Response> | undefined;
  /**
   * What answers a request, once the caller may ask it. A command may ask for what is declared so, and nothing else.
   * @throws IngleError `not_found`, `method_not_allowed`, `forbidden`, `assertion_required`
   */
  route(
    asked: Pick<Asked, 'caller' | 'method'>,
    path: string,
    by?: 'command',
  ): { endpoint: Endpoint; method: Method; answer(asked: Asked, body: Uint8Array): Promise<Response> };
}

/** @param o.admit refuses what may not be done now, by throwing */
export function dispatcher(o: {
  endpoints: readonly LocalEndpoint[];
  skills: Skills;
  admit(method: string, path: string): void;
}): Dispatch {
  const { find } = router(o.endpoints);
  const forCommands = o.endpoints
    .filter((e) => e.endpoint.command)
    .map((e) => e.endpoint.path.replace(/\{.*/, ''));
  const isOpen = new Set(o.endpoints.filter((e) => e.endpoint.who === 'public').map((e) => e.endpoint.path));

  function findForCommand(method: string, path: string): Found<LocalEndpoint> {
    try {
      const found = find(method, path);
      if (found.bound.endpoint.command) return found;
    } catch (e) {
      // Of paths that are not for it a command learns nothing.
      if (forCommands.some((prefix) => path.startsWith(prefix))) throw e;
    }
    throw new IngleError('forbidden', 'A command may not ask for this path.');
  }

  async function answer({ bound, method, params }: Found<LocalEndpoint>, asked: Asked, body: Uint8Array) {
    const { endpoint } = bound;
    const input = inputOf(endpoint)(params, asked.search, body);
    const said = await bound.answer({ ...asked, method, ...input });
    return endpoint.answer ? json(said) : (said as Response);
  }
  return {
    open(method, path) {
      if (!isOpen.has(path)) return undefined;
      const nobody = { id: '', owner_id: '', caller: null, method, path, search: new URLSearchParams() };
      return answer(find(method, path), nobody, new Uint8Array());
    },
    route({ caller, method }, path, by) {
      const found = by === 'command' ? findForCommand(method, path) : find(method, path);
      guards[found.bound.endpoint.who as LocalWho](caller, found.params, o.skills);
      return {
        endpoint: found.bound.endpoint,
        method: found.method,
        async answer(asked, body) {
          o.admit(found.method, path);
          return answer(found, asked, body);
        },
      };
    },
  };
}

/** Whether a request with an Idempotency-Key is answered from the journal the second time. */
export const isJournaled = (e: Endpoint, method: Method): boolean => method !== 'GET' && !e.safe;
