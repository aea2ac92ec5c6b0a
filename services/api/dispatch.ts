// From a request to the endpoint that answers it: who may call, what is in it, and the answer as a response.
import { type Caller, isElevated } from '../../firmware/documents/acl.ts';
import type { Call } from '../../firmware/documents/commands.ts';
import type { Endpoint, Method } from '../../firmware/protocol/endpoint/endpoint.ts';
import { inputOf } from '../../firmware/protocol/endpoint/input.ts';
import { type Bound, type Found, nothing, router } from '../../firmware/protocol/endpoint/router.ts';
import { IngleError } from '../../firmware/protocol/errors.ts';
import type { CallerRole, Role } from '../../firmware/protocol/roles.ts';
import type { Skills } from '../../firmware/skills/follow.ts';
import type { Manifest } from '../../firmware/skills/manifest.ts';
import type { Lifecycle } from '../../firmware/supervisor/lifecycle.ts';
import { type LocalWho, openTo } from '../../firmware/system/local-api.ts';
import type { Head, Response } from './server.ts';

/** A request whose caller is known; `owner_id` is whose things it is about. */
export interface Asked extends Omit<Call, 'principal' | 'body'> {
  caller: Caller;
  /** Everything after the `?`. */
  search: URLSearchParams;
  /** The header Last-Event-ID: where a stream that broke off had come to. */
  last_event_id?: string | undefined;
  /** The header Origin: the page of a browser that asks. */
  origin?: string | undefined;
  /** Of a message that shows by its headers whose it is. */
  headers?: Readonly<Record<string, string>>;
  /** Calls when who asks over HTTP has gone before the answer. */
  left?: (f: () => void) => void;
}

export type LocalEndpoint = Bound<Asked, Response>;

const ofJson = { 'content-type': 'application/json' };
export const json = (body: unknown, status = 200): Response => ({
  status,
  headers: ofJson,
  body: JSON.stringify(body),
});

/** The manifest of a skill the caller may use. @throws IngleError `not_found`, `forbidden`, `assertion_required` */
export function usable(skills: Skills, skill_id: string, caller: Caller): Manifest {
  const known = skills.known().get(skill_id);
  if (!known) throw new IngleError('not_found', `There is no skill "${skill_id.slice(0, 60)}".`);
  const { ownerOnly, roles } = known.manifest.permissions ?? {};
  if (ownerOnly) guards.elevated(caller, {}, skills);
  if (caller && !isFor(roles, caller.role))
    throw new IngleError('forbidden', 'This is not for you here. The owner of the hub may know more.');
  return known.manifest;
}

/** Whether a skill that names `roles` is for one: the owner's are all, and no skill is for another hub. */
const isFor = (named: readonly Role[] | undefined, role: CallerRole): boolean =>
  role === 'owner' || (role !== 'member' && (!named || named.includes(role)));

/** Whether somebody of a role may use a skill at all, a fresh look at the owner's passkey aside. */
export const isShownTo = ({ permissions: p }: Manifest, caller: Caller): boolean =>
  caller === null || (p?.ownerOnly ? caller.role === 'owner' : isFor(p?.roles, caller.role));

/** The manifests of all skills the caller may use now. */
export const usableBy = (skills: Skills, caller: Caller): Manifest[] =>
  [...skills.known().keys()].flatMap((id) => {
    try {
      return [usable(skills, id, caller)];
    } catch {
      return [];
    }
  });

/** Lets in whom the declaration's word does. */
function byRole(who: LocalWho, says: string) {
  return (caller: Caller) => {
    if (caller !== null && !openTo[who].includes(caller.role)) throw new IngleError('forbidden', says);
  };
}

/** Refuses by throwing; asked before the journal is, so that nobody gets an answer that is not for them. */
const guards: Record<LocalWho, (caller: Caller, params: Record<string, string>, skills: Skills) => void> = {
  public() {},
  token() {},
  household: byRole('household', 'Guests may not do this.'),
  owner: byRole('owner', 'Only the owner of this hub may do this.'),
  elevated(caller, params, skills) {
    guards.owner(caller, params, skills);
    if (!isElevated(caller, Date.now() / 1000))
      throw new IngleError('assertion_required', 'Confirm with your passkey to open this.');
  },
  member(caller) {
    if (caller?.role !== 'member')
      throw new IngleError('forbidden', 'Only another hub of the subnet says this, over its channel.');
  },
  subnet: byRole('subnet', 'Only the owner and hubs of the subnet may do this.'),
  // What is signed goes another way, and nobody has rights by it.
  signed() {
    throw nothing();
  },
  skill: (caller, { skill_id = '' }, skills) => void usable(skills, skill_id, caller),
};

/** What answers a request whose caller may ask it. */
export interface Routed {
  endpoint: Endpoint;
  method: Method;
  /** `asked` is this request's alone: what the declaration reads from it is added. */
  answer(asked: Asked, body: Uint8Array): Promise<Response>;
}

export interface Dispatch {
  /** The answer of a public endpoint, which needs no caller; undefined where there is none. */
  open(method: string, path: string): Promise<Response> | undefined;
  /** Whether a path is for those who sign what they send. */
  isSigned(path: string): boolean;
  /** The answer of an endpoint that looks by itself who has signed. */
  signed(head: Head, body: Uint8Array): Promise<Response>;
  /**
   * What answers a request, once the caller may ask it. A command may ask for what is declared so, and nothing else.
   * @throws IngleError `not_found`, `method_not_allowed`, `forbidden`, `assertion_required`
   */
  route(asked: Pick<Asked, 'caller' | 'method'>, path: string, by?: 'command'): Routed;
}

/** @param o.admit refuses what may not be done now, by throwing */
export function dispatcher(o: {
  endpoints: readonly LocalEndpoint[];
  skills: Skills;
  admit: Lifecycle['admit'];
}): Dispatch {
  const { find } = router(o.endpoints);
  const forCommands = o.endpoints
    .filter((e) => e.endpoint.command)
    .map((e) => e.endpoint.path.replace(/\{.*/, ''));
  const forSigned = o.endpoints
    .filter((e) => e.endpoint.who === 'signed')
    .map((e) => e.endpoint.path.replace(/\{.*/, ''));
  const isOpen = new Set(o.endpoints.filter((e) => e.endpoint.who === 'public').map((e) => e.endpoint.path));

  /** A skill's paths are also below its name with `_skill` behind it (`/skills/weather_skill`), unless one has that name. */
  function called(skill_id: string): string {
    const short = skill_id.replace(/_skill$/, '');
    const known = o.skills.known();
    return !known.has(skill_id) && known.has(short) ? short : skill_id;
  }

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
    o.admit(method, endpoint);
    const said = await bound.answer(Object.assign(asked, { method }, input));
    return endpoint.answer ? json(said) : (said as Response);
  }
  return {
    open(method, path) {
      if (!isOpen.has(path)) return undefined;
      const nobody = { id: '', owner_id: '', caller: null, method, path, search: new URLSearchParams() };
      return answer(find(method, path), nobody, new Uint8Array());
    },
    isSigned: (path) => forSigned.some((prefix) => path.startsWith(prefix)),
    async signed({ method, path, query, headers }, body) {
      const found = find(method, path);
      if (found.bound.endpoint.who !== 'signed') throw nothing();
      const nobody = { id: crypto.randomUUID(), owner_id: '', caller: null, method, path, search: query };
      return answer(found, { ...nobody, headers }, body);
    },
    route({ caller, method }, path, by) {
      const found = by === 'command' ? findForCommand(method, path) : find(method, path);
      if (found.params['skill_id']) found.params['skill_id'] = called(found.params['skill_id']);
      const who = found.bound.endpoint.who as LocalWho;
      // Whatever else is open to everybody is not to a hub.
      if (caller?.role === 'member' && !openTo[who].includes('member'))
        throw new IngleError('forbidden', 'A member of the subnet may not ask for this.');
      guards[who](caller, found.params, o.skills);
      return {
        endpoint: found.bound.endpoint,
        method: found.method,
        answer: (asked, body) => answer(found, asked, body),
      };
    },
  };
}

/** Whether a request with an Idempotency-Key is answered from the journal the second time. */
export const isJournaled = (e: Endpoint, method: Method): boolean => method !== 'GET' && !e.safe && !e.secret;
