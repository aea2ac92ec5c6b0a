// From a request to the endpoint that answers it: who may call, what is in it, and the answer as a response.
import type { Effective } from '../../firmware/desktop/effective.ts';
import { type Caller, isElevated } from '../../firmware/documents/acl.ts';
import type { Call } from '../../firmware/documents/once.ts';
import type { Endpoint, Method } from '../../firmware/protocol/endpoint/endpoint.ts';
import { inputOf } from '../../firmware/protocol/endpoint/input.ts';
import { type Bound, type Found, nothing, router } from '../../firmware/protocol/endpoint/router.ts';
import { writerOf } from '../../firmware/protocol/endpoint/written.ts';
import { IngleError } from '../../firmware/protocol/errors.ts';
import type { CallerRole } from '../../firmware/protocol/roles.ts';
import type { Skills } from '../../firmware/skills/follow.ts';
import type { Manifest } from '../../firmware/skills/manifest.ts';
import type { Lifecycle } from '../../firmware/supervisor/lifecycle.ts';
import { type LocalWho, openTo } from '../../firmware/system/local-api.ts';
import { type Head, ofJson, type Response } from './http.ts';

/** A request whose caller is known; `owner_id` is whose things it is about. */
export interface Asked extends Omit<Call, 'principal' | 'body'> {
  caller: Caller;
  /** Everything after the `?`. */
  search: URLSearchParams;
  /** The header Last-Event-ID: where a stream that broke off had come to. */
  last_event_id?: string | undefined;
  /** The header Origin: the page of a browser that asks. */
  origin?: string | undefined;
  /** For an endpoint whose protocol says something in them. */
  headers?: Readonly<Record<string, string>>;
  /** Calls when who asks over HTTP has gone before the answer. */
  left?: (f: () => void) => void;
}

/** Of who asks otherwise than over HTTP: no headers, and nobody who goes. */
const none: Readonly<Record<string, string>> = {};
const never = () => {};

export type LocalEndpoint = Bound<Asked, Response>;

/** The skills there are, and what the desktop gives of them to a role. */
export interface Offer {
  skills: Pick<Skills, 'known'>;
  desktop: { of(role: CallerRole, manifests: Iterable<Manifest>): Effective };
}

/** The manifest of a skill the caller may use. @throws IngleError `not_found`, `forbidden`, `assertion_required` */
export function usable(offer: Offer, skill_id: string, caller: Caller): Manifest {
  const known = offer.skills.known().get(skill_id);
  if (!known) throw new IngleError('not_found', `There is no skill "${skill_id.slice(0, 60)}".`);
  if (caller === null) return known.manifest;
  const [given] = offer.desktop.of(caller.role, [known.manifest]).skills;
  if (!given)
    throw new IngleError(
      'forbidden',
      caller.role === 'owner'
        ? 'This skill is not on your desktop.'
        : 'This is not for you here. The owner of the hub may know more.',
    );
  if (given.ownerOnly) guards.elevated(caller, {}, offer);
  return known.manifest;
}

/** The manifests of all skills the caller may use now. */
export const usableBy = (offer: Offer, caller: Caller): Manifest[] =>
  [...offer.skills.known().keys()].flatMap((id) => {
    try {
      return [usable(offer, id, caller)];
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
const guards: Record<LocalWho, (caller: Caller, params: Record<string, string>, offer: Offer) => void> = {
  public() {},
  token() {},
  household: byRole('household', 'Guests may not do this.'),
  owner: byRole('owner', 'Only the owner of this hub may do this.'),
  elevated(caller, params, offer) {
    guards.owner(caller, params, offer);
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
  skill: (caller, { skill_id = '' }, offer) => void usable(offer, skill_id, caller),
};

/** What answers a request whose caller may ask it. */
export interface Routed {
  endpoint: Endpoint;
  method: Method;
  answer(asked: Asked, body: Uint8Array): Response | Promise<Response>;
}

export interface Dispatch {
  /** The answer of a public endpoint, which needs no caller; undefined where there is none. */
  open(method: string, path: string): Response | Promise<Response> | undefined;
  /** Whether a path is for those who sign what they send. */
  isSigned(path: string): boolean;
  /** The answer of an endpoint that looks by itself who has signed. */
  signed(head: Head, body: Uint8Array): Response | Promise<Response>;
  /**
   * What answers a request, once the caller may ask it. A command may ask for what is declared so, and nothing else.
   * @throws IngleError `not_found`, `method_not_allowed`, `forbidden`, `assertion_required`
   */
  route(asked: Pick<Asked, 'caller' | 'method'>, path: string, by?: 'command'): Routed;
}

/** @param o.admit refuses what may not be done now, by throwing */
export function dispatcher(
  o: Offer & { endpoints: readonly LocalEndpoint[]; admit: Lifecycle['admit'] },
): Dispatch {
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

  /** What a handler says becomes a response by this; made when an endpoint is first asked. */
  const tellers = new Map<Endpoint, (said: unknown) => Response>();
  function tellerOf(endpoint: Endpoint): (said: unknown) => Response {
    const known = tellers.get(endpoint);
    if (known) return known;
    // A writer keeps the text of its last answer, which a secret is not to be in.
    const write = endpoint.answer && (endpoint.secret ? JSON.stringify : writerOf(endpoint.answer));
    const tell = (said: unknown): Response =>
      write ? { status: 200, headers: ofJson, body: write(said) } : (said as Response);
    tellers.set(endpoint, tell);
    return tell;
  }

  /** At once where the handler answers at once: a promise would cost as much as the rest of the way. */
  function answer(
    { bound, method, params }: Found<LocalEndpoint>,
    asked: Asked,
    body: Uint8Array,
  ): Response | Promise<Response> {
    const { endpoint } = bound;
    const input = inputOf(endpoint)(params, asked.search, body);
    o.admit(method, endpoint);
    // Written out: spread together, it would have a new hidden class in V8 for each request (D126).
    const said = bound.answer({
      id: asked.id,
      owner_id: asked.owner_id,
      caller: asked.caller,
      method,
      path: asked.path,
      search: asked.search,
      last_event_id: asked.last_event_id,
      origin: asked.origin,
      headers: asked.headers ?? none,
      left: asked.left ?? never,
      params: input.params,
      query: input.query,
      body: input.body,
    });
    const tell = tellerOf(endpoint);
    return said instanceof Promise ? said.then(tell) : tell(said);
  }
  return {
    open(method, path) {
      if (!isOpen.has(path)) return undefined;
      const nobody = { id: '', owner_id: '', caller: null, method, path, search: new URLSearchParams() };
      return answer(find(method, path), nobody, new Uint8Array());
    },
    isSigned: (path) => forSigned.some((prefix) => path.startsWith(prefix)),
    signed({ method, path, query, headers }, body) {
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
      guards[who](caller, found.params, o);
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
