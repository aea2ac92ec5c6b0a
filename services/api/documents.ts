// Answers of firmware/documents/api.ts: which documents there are for a caller.
import { rightsOf } from '../../firmware/documents/acl.ts';
import { documentsApi } from '../../firmware/documents/api.ts';
import { listDocuments } from '../../firmware/documents/archive.ts';
import { isOwnerId, parseKey } from '../../firmware/documents/key.ts';
import type { Library } from '../../firmware/documents/library.ts';
import type { openSigner } from '../../firmware/documents/sign.ts';
import { bind, type Handlers } from '../../firmware/protocol/endpoint/router.ts';
import { IngleError } from '../../firmware/protocol/errors.ts';
import type { Store } from '../../firmware/system/store.ts';
import { type Asked, type LocalEndpoint, type Offer, usableBy } from './dispatch.ts';
import type { Response } from './http.ts';
import type { Sync } from './sync.ts';

export function documentEndpoints(
  o: Offer & {
    store: Store;
    library: Pick<Library, 'settle'>;
    signer: ReturnType<typeof openSigner>;
    sync: Pick<Sync, 'pass'>;
  },
): LocalEndpoint[] {
  const handlers: Handlers<typeof documentsApi, Asked, Response> = {
    async index({ caller, query }) {
      const given = query.prefix ?? '';
      const prefix = given.startsWith('owner/') ? given.slice('owner/'.length) : given;
      const owner_id = prefix.split('/')[0] ?? '';
      if (caller !== null && owner_id !== caller.owner_id && owner_id !== caller.household)
        throw new IngleError('forbidden', 'The prefix must begin with your own owner id and a "/".', {
          pointer: '/prefix',
        });
      if (caller !== null && !prefix.includes('/'))
        throw new IngleError('invalid_request', 'The prefix must end its owner id with a "/".', {
          pointer: '/prefix',
        });
      if (owner_id !== '' && !isOwnerId(owner_id))
        throw new IngleError('invalid_request', 'The prefix begins with no owner id.', {
          pointer: '/prefix',
        });
      await o.library.settle(prefix);
      const rows = await listDocuments(o.store, prefix);
      const mine = new Set(usableBy(o, caller).map((manifest) => manifest.id));
      const documents = rows.flatMap((row) => {
        const key = parseKey(row.key);
        const acl = JSON.parse(row.acl) as string[];
        const closed = o.skills.known().has(key.skill_id) && !mine.has(key.skill_id);
        return rightsOf(key, acl, caller).read && !closed ? [{ ...row, acl }] : [];
      });
      return { documents, public_key: o.signer.publicKey };
    },
    async token({ caller, body }) {
      const { room, token, until } = await o.sync.pass(body.room, caller);
      return { room, params: { token }, expires_at: until };
    },
  };
  return bind(documentsApi, handlers);
}
