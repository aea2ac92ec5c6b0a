// From a request on the wire to its answer: who asks, whose things it is about, and what is done once by its key.
import type { Caller } from '../../firmware/documents/acl.ts';
import type { Commands } from '../../firmware/documents/commands.ts';
import { IngleError } from '../../firmware/protocol/errors.ts';
import type { Skills } from '../../firmware/skills/follow.ts';
import type { TokenCheck } from '../../firmware/system/token.ts';
import { callerOf } from './auth.ts';
import { type Dispatch, isJournaled } from './dispatch.ts';
import type { Service } from './server.ts';

export function answering(o: {
  dispatch: Dispatch;
  commands: Pick<Commands, 'once'>;
  skills: Pick<Skills, 'owners' | 'addOwner'>;
  token: TokenCheck;
}): Pick<Service, 'admit' | 'handle'> {
  const { dispatch, commands, skills, token } = o;

  /** Whose things a caller asks about: its own, and for local control those of the hub's owner. */
  async function ownerOf(caller: Caller): Promise<string> {
    const owner_id = caller?.owner_id ?? skills.owners().at(-1) ?? 'local';
    await skills.addOwner(owner_id);
    return owner_id;
  }

  return {
    admit(head) {
      const open = dispatch.open(head.method, head.path);
      if (open) return open;
      const caller = callerOf(head.headers, token);
      return caller ? `${caller.owner_id}/${caller.browser}` : '';
    },
    async handle(request) {
      const caller = callerOf(request.headers, token);
      const owner_id = await ownerOf(caller);
      const given = request.headers['idempotency-key'];
      if (given !== undefined && !/^[A-Za-z0-9][A-Za-z0-9_.:-]{0,63}$/.test(given))
        throw new IngleError(
          'invalid_request',
          'Idempotency-Key must be 1 to 64 letters, digits and "_.:-".',
        );
      const { path, query, body } = request;
      const { endpoint, method, answer } = dispatch.route({ caller, method: request.method }, path);
      const asked = {
        owner_id,
        method,
        path,
        search: query,
        caller,
        last_event_id: request.headers['last-event-id'],
      };
      const work = (id: string) => answer({ id, ...asked }, body);
      // What is only read is simply read again.
      if (given === undefined || !isJournaled(endpoint, method)) return work(crypto.randomUUID());
      const whole = query.size > 0 ? `${path}?${query}` : path;
      return commands.once({ id: given, owner_id, principal: caller, method, path: whole, body }, work);
    },
  };
}
