// From a request on the wire to its answer: who asks, whose things it is about, and what is done once by its key.
import type { Caller } from '../../firmware/documents/acl.ts';
import type { Commands } from '../../firmware/documents/commands.ts';
import { isPersonId } from '../../firmware/people/person.ts';
import { deprecation } from '../../firmware/protocol/endpoint/endpoint.ts';
import { IngleError } from '../../firmware/protocol/errors.ts';
import { MAX_BODY } from '../../firmware/protocol/limits.ts';
import type { Skills } from '../../firmware/skills/follow.ts';
import type { TokenCheck } from '../../firmware/system/token.ts';
import { callerOf } from './auth.ts';
import { type Dispatch, isJournaled, type Routed } from './dispatch.ts';
import { errorResponse, type Head, type Response } from './http.ts';
import type { Service } from './server.ts';

/** A request that was let in. */
interface Asking {
  head: Head;
  caller: Caller;
  routed: Routed;
  body: Uint8Array;
  /** Calls when the client has gone before its answer. */
  left(f: () => void): void;
}

export function answering(o: {
  dispatch: Dispatch;
  commands: Pick<Commands, 'once'>;
  skills: Pick<Skills, 'owners' | 'addOwner'>;
  token: TokenCheck;
}): Pick<Service, 'admit'> {
  const { dispatch, commands, skills, token } = o;

  /** Names requests that bring no key of their own: no other has the first part. */
  const start = crypto.randomUUID();
  let count = 0;

  /** Whose things a caller asks about: its own, and for local control those of the hub's owner. */
  const ownerOf = (caller: Caller): string =>
    caller?.owner_id ?? skills.owners().findLast((id) => !isPersonId(id)) ?? 'local';

  /** An answer with what an endpoint that is on its way out says beside it, a refusal too. */
  async function dated(
    said: Record<string, string>,
    answer: () => Response | Promise<Response>,
  ): Promise<Response> {
    const r = await (async () => answer())().catch(errorResponse);
    return { ...r, headers: { ...r.headers, ...said } };
  }

  function handle(a: Asking): Response | Promise<Response> {
    const owner_id = ownerOf(a.caller);
    if (skills.owners().includes(owner_id)) return answerFor(owner_id, a);
    const kept = { ...a, body: a.body.slice() };
    return skills.addOwner(owner_id).then(() => answerFor(owner_id, kept));
  }

  function answerFor(
    owner_id: string,
    { head, caller, routed, body, left }: Asking,
  ): Response | Promise<Response> {
    const { path, query, headers } = head;
    const given = headers['idempotency-key'];
    if (given !== undefined && !/^[A-Za-z0-9][A-Za-z0-9_.:-]{0,63}$/.test(given))
      throw new IngleError('invalid_request', 'Idempotency-Key must be 1 to 64 letters, digits and "_.:-".');
    const { endpoint, method, answer } = routed;
    const last_event_id = headers['last-event-id'];
    const { origin } = headers;
    const work = (id: string) =>
      answer(
        { id, owner_id, caller, method, path, search: query, last_event_id, origin, headers, left },
        body,
      );
    // What is only read is simply read again.
    if (given === undefined || !isJournaled(endpoint, method)) return work(`${start}-${++count}`);
    const whole = query.size > 0 ? `${path}?${query}` : path;
    return commands.once({ id: given, owner_id, principal: caller, method, path: whole, body }, async (id) =>
      work(id),
    );
  }

  return {
    admit(head) {
      const open = dispatch.open(head.method, head.path);
      if (open) return open;
      if (dispatch.isSigned(head.path))
        return { who: 'signed', maxBody: MAX_BODY, handle: (body) => dispatch.signed(head, body) };
      const caller = callerOf(head.headers, token);
      const routed = dispatch.route({ caller, method: head.method }, head.path);
      return {
        who: caller ? `${caller.owner_id}/${caller.browser}` : '',
        maxBody: routed.endpoint.maxBody ?? MAX_BODY,
        isReadAtOnce: routed.endpoint.body !== 'raw' && head.headers['idempotency-key'] === undefined,
        handle(body, left) {
          const answered = () => handle({ head, caller, routed, body, left });
          return routed.endpoint.deprecated ? dated(deprecation(routed.endpoint), answered) : answered();
        },
      };
    },
  };
}
