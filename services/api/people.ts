// Answers of firmware/people/api.ts: io.ingle.Uplink1 knows the people; what they keep here goes with them.
import { listDocuments } from '../../firmware/documents/archive.ts';
import type { Library } from '../../firmware/documents/library.ts';
import { peopleApi } from '../../firmware/people/api.ts';
import { isPersonId } from '../../firmware/people/person.ts';
import type { Answer } from '../../firmware/protocol/endpoint/endpoint.ts';
import { bind, type Handlers } from '../../firmware/protocol/endpoint/router.ts';
import { IngleError, toIngleError } from '../../firmware/protocol/errors.ts';
import type { PersonRole } from '../../firmware/protocol/roles.ts';
import type { Skills } from '../../firmware/skills/follow.ts';
import type { Bus } from '../../firmware/system/bus.ts';
import type { Log } from '../../firmware/system/log.ts';
import type { Store } from '../../firmware/system/store.ts';
import { uplink1 } from '../../firmware/uplink/contract.ts';
import type { Asked, LocalEndpoint } from './dispatch.ts';
import { removeDocuments } from './forget.ts';
import type { Response } from './server.ts';
import type { Sync } from './sync.ts';

type Person = Answer<typeof peopleApi.change>;
type Invitation = Answer<typeof peopleApi.invite>;
/** A person as the bus tells of them. */
interface Told {
  id: string;
  name: string;
  role: string;
  created_at: bigint;
  until: bigint;
  ended: boolean;
  invited_by: string;
  browsers: string[];
}

/** Asking root for a code takes as long as root does, milliseconds. */
const CODE_MS = 30_000;

export interface PeopleOfApi {
  endpoints: LocalEndpoint[];
  /** Forgets what is kept of people who are there no more. */
  tidy(): Promise<void>;
}

export function peopleEndpoints(o: {
  bus: Bus;
  store: Store;
  library: Library;
  skills: Skills;
  sync: Sync;
  log: Log;
}): PeopleOfApi {
  const uplink = () => o.bus.client(uplink1);

  /** Their browsers are told with them. */
  async function people(): Promise<Person[]> {
    const [told, { browsers }] = await Promise.all([uplink().ListPeople({}), uplink().ListBrowsers({})]);
    return told.people.map((p) => shown(p, browsers));
  }
  const shown = (p: Told, browsers: Awaited<ReturnType<typeof ofUplink>>['browsers']): Person => ({
    ...{ id: p.id, name: p.name, role: p.role as PersonRole, ended: p.ended, invited_by: p.invited_by },
    ...{ until: Number(p.until), created_at: Number(p.created_at) },
    browsers: browsers
      .filter((b) => p.browsers.includes(b.id))
      .map(({ id, label, paired_at, seen_at }) => ({
        ...{ id, label, paired_at: Number(paired_at), seen_at: Number(seen_at) },
      })),
  });
  const ofUplink = () => uplink().ListBrowsers({});
  const withBrowsers = async (p: Told): Promise<Person> => shown(p, (await ofUplink()).browsers);

  async function invite(id: string): Promise<Invitation> {
    const w = await uplink().InvitePerson({ id }, CODE_MS);
    return {
      ...{ link: w.link, code: `${w.device_code} ${w.secret}`, verify_uri: w.verify_uri },
      expires_at: Number(w.expires_at),
    };
  }

  /** What a person kept on this hub: documents, pins, order. */
  async function forget(id: string): Promise<void> {
    await o.skills.removeOwner(id);
    o.sync.expel((key, who) => key.owner_id === id || who === id, 'What you kept on this hub is gone.');
    const keys = (await listDocuments(o.store, `${id}/`, 100_000)).map((row) => row.key);
    await removeDocuments(o.library, keys);
    await o.store.run('DELETE FROM icons WHERE owner_id = ?', id);
  }

  const handlers: Handlers<typeof peopleApi, Asked, Response> = {
    async me({ caller, owner_id }) {
      if (caller?.role === 'member') throw new IngleError('forbidden', 'A hub is nobody here.');
      if (caller === null || caller.household === undefined)
        return { id: owner_id, role: caller?.role ?? 'owner', name: '', until: 0 };
      const me = (await uplink().ListPeople({})).people.find((p) => p.id === caller.owner_id);
      if (!me) throw new IngleError('not_found', 'You are not a person of this hub any more.');
      return { id: me.id, role: caller.role, name: me.name, until: Number(me.until) };
    },
    list: async () => ({ people: await people() }),
    async add({ caller, body: { name, role, until } }) {
      const invited_by = caller?.browser ?? '';
      const person = await withBrowsers(
        await uplink().AddPerson({ name, role, until: BigInt(until ?? 0), invited_by }),
      );
      try {
        return { person, invitation: await invite(person.id) };
      } catch (cause) {
        return { person, invitation: null, trouble: toIngleError(cause).message };
      }
    },
    async change({ params: { id }, body: { name = '', role = '', until } }) {
      return withBrowsers(await uplink().ChangePerson({ id, name, role, until: BigInt(until ?? -1) }));
    },
    async remove({ params: { id } }) {
      await uplink().RemovePerson({ id });
      await forget(id);
      return { ok: true };
    },
    invite: ({ params: { id } }) => invite(id),
  };

  return {
    endpoints: bind(peopleApi, handlers),
    async tidy() {
      const there = new Set((await uplink().ListPeople({})).people.map((p) => p.id));
      for (const id of o.skills.owners().filter(isPersonId))
        if (!there.has(id)) {
          await forget(id);
          o.log.info('what was kept of a person who is gone is gone as well', { person: id });
        }
    },
  };
}
