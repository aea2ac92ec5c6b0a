// Answers of firmware/people/api.ts: io.ingle.Uplink1 knows the people; what they keep here goes with them.
import { listDocuments } from '../../firmware/documents/archive.ts';
import type { Library } from '../../firmware/documents/library.ts';
import { peopleApi } from '../../firmware/people/api.ts';
import { isPersonId } from '../../firmware/people/person.ts';
import type { Answer } from '../../firmware/protocol/endpoint/endpoint.ts';
import { bind, type Handlers } from '../../firmware/protocol/endpoint/router.ts';
import { IngleError, toIngleError } from '../../firmware/protocol/errors.ts';
import type { PersonRole } from '../../firmware/protocol/roles.ts';
import { scenario1 } from '../../firmware/scenario/contract.ts';
import type { Skills } from '../../firmware/skills/follow.ts';
import type { Bus } from '../../firmware/system/bus.ts';
import { isAbsent } from '../../firmware/system/bus-errors.ts';
import type { Log } from '../../firmware/system/log.ts';
import type { Store } from '../../firmware/system/store.ts';
import { CODE_MS, uplink1 } from '../../firmware/uplink/contract.ts';
import type { Desktop } from './desktop.ts';
import type { Asked, LocalEndpoint } from './dispatch.ts';
import { removeDocuments } from './forget.ts';
import type { Response } from './http.ts';
import type { Notices } from './push.ts';
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

export interface PeopleOfApi {
  endpoints: LocalEndpoint[];
  /** Forgets what is kept of people who are there no more. */
  tidy(): Promise<void>;
  /** The same, and where nobody is: whom the hub belonged to longest ago. */
  makeRoom(): Promise<void>;
}

export function peopleEndpoints(o: {
  bus: Bus;
  store: Store;
  library: Library;
  skills: Skills;
  desktop: Pick<Desktop, 'owners' | 'roleOf' | 'serve' | 'forget'>;
  pushes: Pick<Notices, 'forget'>;
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

  /** What somebody kept on this hub: documents, what they made of the icons. */
  const forget = (id: string): Promise<void> =>
    o.skills.removeOwner(id, async () => {
      o.sync.expel((key, who) => key.owner_id === id || who === id, 'What you kept on this hub is gone.');
      const keys = (await listDocuments(o.store, `${id}/`, 100_000)).map((row) => row.key);
      await removeDocuments(o.library, keys);
      await o.pushes.forget(id);
      await o.desktop.forget(id);
      // Their settings of scenarios and their plans. Where the service fails, all of this is tried again.
      await o.bus
        .client(scenario1)
        .Forget({ user: id })
        .catch((e) => {
          if (!isAbsent(e)) throw e;
        });
    });

  const kept = () => [...new Set([...o.skills.owners(), ...o.skills.leaving(), ...o.desktop.owners()])];

  /** @returns how many were forgotten */
  async function tidy(): Promise<number> {
    const there = new Set((await uplink().ListPeople({})).people.map((p) => p.id));
    const away = kept().filter((id) => isPersonId(id) && !there.has(id));
    for (const id of away) {
      await forget(id);
      o.log.info('what was kept of a person who is gone is gone as well', { person: id });
    }
    return away.length;
  }

  const handlers: Handlers<typeof peopleApi, Asked, Response> = {
    async me({ caller, owner_id: id }) {
      if (caller?.role === 'member') throw new IngleError('forbidden', 'A hub is nobody here.');
      if (caller === null || caller.household === undefined)
        return { id, role: caller?.role ?? 'owner', name: '', until: 0 };
      const me = (await uplink().ListPeople({})).people.find((p) => p.id === id);
      if (!me) throw new IngleError('not_found', 'You are not a person of this hub any more.');
      return { id, role: caller.role, name: me.name, until: Number(me.until) };
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
      const told = await uplink().ChangePerson({ id, name, role, until: BigInt(until ?? -1) });
      // Where they have a desktop it is that of their role, before they come again.
      if (o.desktop.roleOf(id)) await o.desktop.serve({ owner_id: id, role: told.role as PersonRole });
      return withBrowsers(told);
    },
    async remove({ params: { id } }) {
      await uplink()
        .RemovePerson({ id })
        .catch((cause) => {
          // Removed there, and something of theirs is still here: the rest goes now.
          if (toIngleError(cause).code !== 'not_found' || !o.skills.leaving().includes(id)) throw cause;
        });
      await forget(id);
      return { ok: true };
    },
    invite: ({ params: { id } }) => invite(id),
  };

  return {
    endpoints: bind(peopleApi, handlers),
    async tidy() {
      await tidy();
    },
    async makeRoom() {
      try {
        if ((await tidy()) > 0) return;
        const { owner_id } = await uplink().Status({});
        const former = kept().find((id) => !isPersonId(id) && id !== owner_id);
        if (!owner_id || !former) return;
        await forget(former);
        o.log.notice('what was kept of an earlier owner is gone, to make room', { owner: former });
      } catch (cause) {
        o.log.warn('no room could be made for another owner', { cause });
      }
    },
  };
}
