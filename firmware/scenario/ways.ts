// How actions reach the hub: sound by io.ingle.Audio1, skills and notices by the local API, everything else on the bus.
import { audio1 } from '../audio/contract.ts';
import { fetch1 } from '../fetch/contract.ts';
import { plainLine } from '../io/print.ts';
import { topics } from '../io/topics.ts';
import { fromUtf8, toBase64url, utf8 } from '../protocol/bytes.ts';
import { fromBody, IngleError } from '../protocol/errors.ts';
import type { ListedAction } from '../skills/actions.ts';
import type { Bus } from '../system/bus.ts';
import { isAbsent } from '../system/bus-errors.ts';
import { exchange } from '../system/http.ts';
import { uplink1 } from '../uplink/contract.ts';
import type { Ways } from './builtin.ts';
import type { Value } from './expression.ts';
import { type Asker, HOUSE } from './household.ts';
import { PLANNED, type Schedule } from './schedule.ts';
import type { Ear } from './voice.ts';

export interface WaysOptions {
  bus: Bus;
  /** Base address of the local API. */
  api: string;
  /** The service token. */
  token(): string;
  schedule(): Schedule;
  now(): number;
  zone: string;
}

/** Speech of one text takes no longer, milliseconds. */
const SAY_MS = 120_000;
/** The sound service may be started for it, and looks each word up, milliseconds. */
const GRAMMAR_MS = 30_000;
const API_MS = 30_000;
/** The service that fetches gives up earlier by itself, milliseconds. */
const FETCH_MS = 45_000;
const MOST_ANSWER = 256 * 1024;

const noSound = (e: unknown): never => {
  throw isAbsent(e) ? new IngleError('not_supported', 'No sound service runs on this hub.') : e;
};

/** What a conversation hears with and speaks by. */
export function earOf(bus: Bus): Ear {
  const audio = bus.client(audio1);
  const here = { sink_id: '', source_id: '' };
  return {
    setGrammar: (of) => audio.SetGrammar(of, GRAMMAR_MS).catch(noSound),
    hear: ({ seconds, lang, hash }) =>
      audio.Hear({ source_id: '', timeout_s: seconds, lang, hash }, seconds * 1000 + 40_000).catch(noSound),
    tell: (of) => audio.Tell({ ...of, ...here }, SAY_MS).catch(noSound),
    hush: () => audio.Cancel({}).then(() => {}, noSound),
    awaitPhrase: ({ seconds, lang, phrase }) =>
      audio
        .AwaitPhrase(
          { ...{ source_id: '', sink_id: '' }, timeout_s: seconds, lang, phrase },
          seconds * 1000 + 40_000,
        )
        .catch(noSound),
  };
}

/** Who somebody is now. */
export function askers(bus: Bus): (user: string) => Promise<Asker | undefined> {
  const uplink = bus.client(uplink1);
  return async (user) => {
    const { people } = await uplink.ListPeople({});
    const person = people.find((p) => p.id === user);
    if (person) return person.ended ? undefined : { user, role: person.role, name: person.name };
    const { owner_id } = await uplink.Status({});
    return user === HOUSE || user === owner_id || owner_id === '' ? { user, role: 'owner' } : undefined;
  };
}

/**
 * Whoever speaks at the hub without having said who they are: what they begin is the owner's, with the rights of an adult,
 * as it may be anybody in the room.
 */
export function someoneAt(bus: Bus): () => Promise<Asker> {
  const uplink = bus.client(uplink1);
  return async () => {
    const { owner_id } = await uplink.Status({});
    return { user: owner_id || HOUSE, role: 'adult' };
  };
}

export function waysOf(o: WaysOptions): Omit<Ways, 'end'> {
  const { bus } = o;
  const audio = bus.client(audio1);
  const uplink = bus.client(uplink1);

  /** What the local API is told of whom this is for; the house is local control. */
  async function principal(user: string, role: string): Promise<Record<string, string>> {
    const { owner_id } = await uplink.Status({});
    if (owner_id === '') return {};
    const isOwner = role === 'owner';
    const who = { owner_id: isOwner ? owner_id : user, browser: 'scenario', role, elevated_until: 0 };
    const named = isOwner ? who : { ...who, household: owner_id };
    return { 'x-ingle-principal': toBase64url(utf8(JSON.stringify(named))) };
  }
  async function ask(
    path: string,
    id: string,
    body: object | undefined,
    headers: Record<string, string>,
  ): Promise<Value> {
    const answer = await exchange(`${o.api}${path}`, {
      method: body ? 'POST' : 'GET',
      headers: {
        ...headers,
        'x-service-token': o.token(),
        'content-type': 'application/json',
        // A key is longer than ids may be, and the same for the same effect. What is only read has none.
        ...(id === '' ? {} : { 'idempotency-key': await shortened(id) }),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
      timeoutMs: API_MS,
      maxBytes: MOST_ANSWER,
    }).catch((cause) => {
      throw Object.assign(new IngleError('unavailable', 'The local API does not answer.'), { cause });
    });
    const text = fromUtf8(answer.body);
    let value: unknown = null;
    try {
      value = text === '' ? null : JSON.parse(text);
    } catch {
      if (answer.status < 400) value = { text };
    }
    if (answer.status >= 400) throw fromBody(value, answer.status);
    return value as Value;
  }

  return {
    now: o.now,
    zone: o.zone,
    speak: (text, lang) =>
      audio
        .Say({ text: text.slice(0, 1000), lang, slow: false, sink_id: '' }, SAY_MS)
        .then(() => ({ interrupted: false, text: '' }), noSound),
    listen: ({ seconds, phrases, lang }) =>
      audio
        .Listen({ source_id: '', timeout_s: seconds, lang, phrases }, seconds * 1000 + 40_000)
        .catch(noSound),
    print(text, level) {
      const line = plainLine(text);
      if (line !== '') bus.publish(topics.print, { text: line, level });
    },
    async notify({ id, user, title, body }) {
      await ask(
        '/api/notices',
        id,
        { user: user === HOUSE ? '' : user, title, ...(body === null ? {} : { body }) },
        {},
      );
    },
    async skill({ id, user, role, skill, action, args }) {
      const at = `/skills/${encodeURIComponent(skill)}/v1/`;
      const who = await principal(user, role);
      const given = (args ?? {}) as object;
      try {
        return await ask(`${at}actions/${encodeURIComponent(action)}`, id, given, who);
      } catch (e) {
        if (!(e instanceof IngleError) || e.code !== 'not_found') throw e;
        // Not one of its declared actions: a path of its own, which is read where nothing is given.
        const isRead = Object.keys(given).length === 0;
        // Another request, so another id; the same for the same effect all the same.
        return ask(at + encodeURIComponent(action), `${id} path`, isRead ? undefined : given, who);
      }
    },
    async takes({ user, role, skill, action }) {
      const declared = await ask('/api/skills/actions', '', undefined, await principal(user, role));
      const { actions } = declared as unknown as { actions: ListedAction[] };
      const amount = actions.find((a) => a.skill_id === skill && a.id === action)?.takes?.llm;
      return amount === undefined ? undefined : { kind: 'llm', amount };
    },
    async health() {
      // The skill's screen is the owner's alone; this one word of it is anybody's who may run a scenario.
      const { health } = (await ask('/skills/hub_status/v1/status/summary', '', undefined, {})) as {
        health: Value;
      };
      return health;
    },
    async offers({ user, role }) {
      const who = await principal(user, role);
      // Skills that declare no actions have paths, which steps may call as well.
      const [icons, declared] = await Promise.all([
        ask('/v1/icons', '', undefined, who),
        ask('/api/skills/actions', '', undefined, who),
      ]);
      const of = new Map(
        (icons as unknown as { skill_id: string }[]).map((i) => [i.skill_id, [] as string[]]),
      );
      const { actions } = declared as unknown as { actions: { skill_id: string; id: string }[] };
      for (const { skill_id, id } of actions) of.set(skill_id, [...(of.get(skill_id) ?? []), id]);
      return [...of].map(([skill_id, ids]) => ({ skill_id, actions: ids }));
    },
    async fetch({ hosts, ...asked }) {
      return bus.client(fetch1).FetchFrom({ ...asked, hosts: [...hosts] }, FETCH_MS);
    },
    publish: (topic, payload) => bus.publish(topic, payload),
    async schedule({ role, ctx, ...job }) {
      await o.schedule().create({ ...job, ctx: ctx as never, missed: 'once', origin: `${PLANNED}${role}` });
    },
    unschedule: (job_id) => o.schedule().remove(job_id),
  };
}

/** 44 characters for a name of any length. */
async function shortened(name: string): Promise<string> {
  return `s${toBase64url(new Uint8Array(await crypto.subtle.digest('SHA-256', Uint8Array.from(utf8(name)))))}`;
}
