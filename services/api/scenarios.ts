// Answers of firmware/scenario/api.ts: io.ingle.Scenario1 does it, for whom it is said here; notices go out from here.
import type { Caller } from '../../firmware/documents/acl.ts';
import { utf8 } from '../../firmware/protocol/bytes.ts';
import { bind, type Handlers } from '../../firmware/protocol/endpoint/router.ts';
import { IngleError } from '../../firmware/protocol/errors.ts';
import type {
  Changed,
  Job,
  Letter,
  Line,
  Listed,
  Offered,
  Rehearsed,
  Rules,
  Run,
} from '../../firmware/scenario/answers.ts';
import { scenariosApi } from '../../firmware/scenario/api.ts';
import { readPrototype } from '../../firmware/scenario/bundle.ts';
import { scenario1 } from '../../firmware/scenario/contract.ts';
import type { Readme } from '../../firmware/scenario/readme.ts';
import { fullId } from '../../firmware/scenario/schema.ts';
import type { VoiceState } from '../../firmware/scenario/voice-states.ts';
import type { Manifest } from '../../firmware/skills/manifest.ts';
import type { Publishers } from '../../firmware/skills/publishers.ts';
import type { Bus } from '../../firmware/system/bus.ts';
import { isAbsent } from '../../firmware/system/bus-errors.ts';
import { fromVariant, toDict } from '../../firmware/system/contract.ts';
import type { Asked, LocalEndpoint } from './dispatch.ts';
import type { Response } from './http.ts';
import type { Notices } from './push.ts';

export interface ScenariosOfApi {
  bus: Bus;
  pushes: Pick<Notices, 'tell'>;
  publishers(): Publishers;
  isDeveloper(): boolean;
  /** Whether the hub knows somebody. */
  knows(user: string): boolean;
}

/** Whoever asks may be the one the service is started for, on a slow machine; milliseconds. */
const CALL_MS = 25_000;
/** Somebody thinks, speaks and is understood: below the half minute after which the tunnel gives a request up, milliseconds. */
const WAKE_MS = 28_000;
const WEEK_MS = 7 * 86_400_000;
/** As pushes and lines know a skill. */
const teller = {
  capabilities: { ui: { title: 'Scenarios', titles: { en: 'Scenarios', ru: 'Сценарии' } } },
} as unknown as Manifest;

/** What the service makes of its own types, on the other end of the bus. */
const plain = <R = Record<string, unknown>>(dict: unknown) => fromVariant(dict) as R;
const away = (e: unknown): never => {
  throw isAbsent(e)
    ? new IngleError(
        'unavailable',
        'The scenario service does not run. Try again in a moment; if that does not help: ingle doctor',
      )
    : e;
};
const idOf = (given: string): string => fullId(given.replace('.', '/'));
const manages = (caller: Caller): boolean =>
  caller === null || caller.role === 'owner' || caller.role === 'admin';

/** Who asks, as the service is told. */
function askerOf({ caller, owner_id }: Pick<Asked, 'caller' | 'owner_id'>) {
  return {
    user: owner_id,
    role: caller?.role === 'member' ? 'guest' : (caller?.role ?? 'owner'),
    name: '',
    locale: '',
  };
}

/** Whose implementation is meant. @throws IngleError `forbidden` */
function whose(asked: Pick<Asked, 'caller' | 'owner_id'>, user: string): string {
  const of = user === 'me' ? asked.owner_id : user;
  if (of !== asked.owner_id && !manages(asked.caller))
    throw new IngleError('forbidden', 'This belongs to somebody else. The owner or an admin can see it.');
  return of;
}
/** Whose runs somebody may touch; '' is everybody's. */
const reach = (asked: Pick<Asked, 'caller' | 'owner_id'>): string =>
  manages(asked.caller) ? '' : asked.owner_id;
function forManagers({ caller }: Pick<Asked, 'caller'>): void {
  if (!manages(caller)) throw new IngleError('forbidden', 'This is for the owner and admins.');
}

type Handling = Handlers<typeof scenariosApi, Asked, Response>;

function libraryHandlers(o: ScenariosOfApi) {
  const service = o.bus.client(scenario1);
  const take = async (prototype: Record<string, unknown>, readme: Readme, publisher: string) => {
    const given = { prototype: toDict(prototype), readme, publisher };
    return service.Install(given, CALL_MS).catch(away);
  };
  const listed = async (asked: Asked) =>
    (await service.Prototypes({ asker: askerOf(asked) }, CALL_MS).catch(away)).prototypes.map(plain<Listed>);
  return {
    prototypes: async (asked) => ({ prototypes: await listed(asked) }),
    async use({ body }) {
      const id = idOf(body.id);
      return { id, ...(await service.Use({ id, version: body.version }, CALL_MS).catch(away)) };
    },
    async versions(asked) {
      const of = { asker: askerOf(asked), id: idOf(asked.params.id) };
      return { versions: (await service.Versions(of, CALL_MS).catch(away)).versions.map(plain<Offered>) };
    },
    async install({ body }) {
      const bytes = typeof body === 'string' ? utf8(body) : body;
      const { prototype, readme, publisher, trust } = await readPrototype(bytes, o.publishers());
      if (trust === 'unknown')
        throw new IngleError(
          'forbidden',
          'Nobody here trusts the publisher of this package. Trust its key first, if you know whose it is.',
          { reason: 'unknown_publisher' },
        );
      if (!publisher && !o.isDeveloper())
        throw new IngleError('forbidden', 'The package is not signed. Turn developer mode on, or sign it.');
      return take(prototype as unknown as Record<string, unknown>, readme, publisher?.key ?? '');
    },
    async push({ body: { prototype, readme = '' } }) {
      if (!o.isDeveloper())
        throw new IngleError(
          'forbidden',
          'Drafts are taken in developer mode only: ingle skill developer on.',
        );
      const { $schema: _, ...rest } = prototype;
      const id = typeof rest['id'] === 'string' ? idOf(rest['id']) : '';
      return take({ ...rest, id }, { en: readme }, '');
    },
    async sync(asked) {
      const updated: { id: string; version: string }[] = [];
      for (const p of await listed(asked)) {
        const version = p.versions.at(-1)!;
        if (version === p.version) continue;
        await service.Use({ id: p.id, version }, CALL_MS).catch(away);
        updated.push({ id: p.id, version });
      }
      return { updated };
    },
    async uninstall({ body }) {
      await service.Remove({ id: idOf(body.id) }, CALL_MS).catch(away);
      return { ok: true };
    },
    async implementation(asked) {
      const user = whose(asked, asked.params.user);
      const { implementation } = await service
        .Implementation({ asker: askerOf(asked), user, id: idOf(asked.params.id) }, CALL_MS)
        .catch(away);
      return plain<Changed>(implementation);
    },
    async change(asked) {
      const user = whose(asked, asked.params.user);
      const id = idOf(asked.params.id);
      const { rev = -1, ...sent } = asked.body;
      const { implementation: now } = await service
        .Implementation({ asker: askerOf(asked), user, id }, CALL_MS)
        .catch(away);
      const before = plain<Changed>(now).implementation;
      const next = { ...before, ...sent, rewriteVersion: before.rewriteVersion + 1 };
      const { implementation } = await service
        .Change({ asker: askerOf(asked), user, id, implementation: toDict(next), rev }, CALL_MS)
        .catch(away);
      return plain<Changed>(implementation);
    },
  } satisfies Partial<Handling>;
}

function runHandlers(o: ScenariosOfApi) {
  const service = o.bus.client(scenario1);
  const start = (asker: Record<keyof ReturnType<typeof askerOf>, string>, id: string, asking: object) =>
    service
      .Start({ id: idOf(id), asker, asking: toDict(asking as Record<string, unknown>) }, CALL_MS)
      .catch(away);
  const order = async (asked: Asked, run_id: string, what: string) => {
    await service.Order({ run_id, what, user: reach(asked) }, CALL_MS).catch(away);
    return { ok: true } as const;
  };
  const runsOf = async (user: string, scenario_id = '') =>
    (await service.Runs({ scenario_id, user, limit: 100 }, CALL_MS).catch(away)).runs.map(plain<Run>);
  return {
    async run(asked) {
      const { user, ioOverride } = asked.body;
      const of = whose(asked, user ?? 'me');
      const whom = of === asked.owner_id ? askerOf(asked) : { user: of, role: '', name: '', locale: '' };
      const { run_id } = await start(whom, asked.params.id, ioOverride ? { io: ioOverride } : {});
      return { instance_id: run_id };
    },
    async rehearse(asked) {
      const asking = toDict({ ctx: asked.body.ctx ?? {} });
      const { steps } = await service
        .Rehearse({ id: idOf(asked.params.id), asker: askerOf(asked), asking }, CALL_MS)
        .catch(away);
      return { steps: steps.map(plain<Rehearsed>) };
    },
    async instances(asked) {
      const [instances, { metrics }] = await Promise.all([
        runsOf(reach(asked)),
        service.Metrics({}, CALL_MS).catch(away),
      ]);
      return { instances, metrics: plain(metrics) };
    },
    stop: (asked) => order(asked, asked.params.iid, 'stop'),
    kill: (asked) => order(asked, asked.params.iid, 'kill'),
    pause: (asked) => order(asked, asked.params.iid, 'pause'),
    resume: (asked) => order(asked, asked.params.iid, 'resume'),
    happened: (asked) => order(asked, asked.params.iid, 'happened'),
    async stopByActivity(asked) {
      forManagers(asked);
      return service.StopByActivity(asked.body, CALL_MS).catch(away);
    },
    async deadLetters(asked) {
      forManagers(asked);
      return { letters: (await service.DeadLetters({}, CALL_MS).catch(away)).letters.map(plain<Letter>) };
    },
    async replay(asked) {
      forManagers(asked);
      const { from = 'start' } = asked.body;
      return service.Replay({ id: asked.params.id, from }, CALL_MS).catch(away);
    },
    async discard(asked) {
      forManagers(asked);
      await service.Discard({ id: asked.params.id }, CALL_MS).catch(away);
      return { ok: true };
    },
    async errands({ caller, body }) {
      // The guard of the endpoint has let nobody else by.
      const said = { node: caller?.hub ?? '', report: JSON.stringify(body) };
      const { answer } = await service.NodeRuns(said, CALL_MS).catch(away);
      return JSON.parse(answer) as never;
    },
    start: (asked) => start(askerOf(asked), asked.body.id, { ...asked.body, id: undefined }),
    async status(asked) {
      const { run_id } = asked.query;
      if (run_id === undefined)
        throw new IngleError('invalid_request', 'Say which run: ?run_id=<id>.', { pointer: '/run_id' });
      const { run, journal } = await service.Run({ run_id }, CALL_MS).catch(away);
      const shown = plain<Run>(run);
      if (reach(asked) !== '' && shown.user !== asked.owner_id)
        throw new IngleError('not_found', 'There is no such run.');
      const { state, scenario_id, current_step, started_at, finished_at, error } = shown;
      return {
        ...{ state, scenario_id, current_step, started_at, finished_at },
        ...(error ? { error } : {}),
        ...{ run: shown, journal: journal.map(plain<Line>) },
      };
    },
    cancel: (asked) => order(asked, asked.body.run_id, 'stop'),
    async runs(asked) {
      const { scenario_id } = asked.query;
      return { runs: await runsOf(reach(asked), scenario_id === undefined ? '' : idOf(scenario_id)) };
    },
  } satisfies Partial<Handling>;
}

function planHandlers(o: ScenariosOfApi) {
  const service = o.bus.client(scenario1);
  return {
    async createJob(asked) {
      const { at, scenario_id, ...rest } = asked.body;
      const time =
        at === undefined ? undefined : /(?:Z|[+-]\d\d:?\d\d)$/.test(at) ? Date.parse(at) : Number.NaN;
      if (Number.isNaN(time))
        throw new IngleError(
          'invalid_request',
          '"at" must be an ISO 8601 time with its zone, as 2026-12-24T18:00:00Z.',
          {
            pointer: '/at',
          },
        );
      const job = toDict({ ...rest, scenario_id: idOf(scenario_id), at: time });
      return service.CreateJob({ asker: askerOf(asked), job }, CALL_MS).catch(away);
    },
    async deleteJob(asked) {
      await service.RemoveJob({ job_id: asked.body.job_id, user: reach(asked) }, CALL_MS).catch(away);
      return { ok: true };
    },
    async jobs(asked) {
      const until = Date.now() + WEEK_MS;
      return {
        jobs: (await service.Jobs({ user: reach(asked), until }, CALL_MS).catch(away)).jobs.map(plain<Job>),
      };
    },
    async recognize(asked) {
      const { text, ctx = {}, start = true, out = [] } = asked.body;
      const { slots, ...found } = await service
        .Recognize({ text, asker: askerOf(asked), ctx: toDict(ctx), start, out }, CALL_MS)
        .catch(away);
      return { ...found, slots: plain(slots) };
    },
    async wake(asked) {
      return service.Wake({ asker: askerOf(asked), lang: asked.body.lang ?? '' }, WAKE_MS).catch(away);
    },
    async hush() {
      await service.Hush({}, CALL_MS).catch(away);
      return { ok: true };
    },
    async voice({ query }) {
      const { unspoken, state, ...rest } = await service
        .Voice({ lang: query.lang ?? '' }, CALL_MS)
        .catch(away);
      return { ...rest, state: state as VoiceState, unspoken: unspoken.map(plain) };
    },
    rules: async () => plain<Rules>((await service.Rules({}, CALL_MS).catch(away)).rules),
    async teach({ body: { phrase, scenario_id } }) {
      await service.Teach({ phrase, scenario_id: idOf(scenario_id) }, CALL_MS).catch(away);
      return { ok: true };
    },
    async forget({ body }) {
      await service.Unteach(body, CALL_MS).catch(away);
      return { ok: true };
    },
    async setRules({ body }) {
      await service.SetRules({ rules: toDict(body) }, CALL_MS).catch(away);
      return { ok: true };
    },
    async notice(asked) {
      const { user = '', ...payload } = asked.body;
      const to = user === '' || user === 'me' ? asked.owner_id : user;
      if (!o.knows(to)) throw new IngleError('not_found', 'The hub knows nobody of this id.');
      await o.pushes.tell(to, { skill_id: 'scenario', topic: 'ui.notify', payload }, teller);
      return { ok: true };
    },
  } satisfies Partial<Handling>;
}

export function scenarioEndpoints(o: ScenariosOfApi): LocalEndpoint[] {
  return bind(scenariosApi, { ...libraryHandlers(o), ...runHandlers(o), ...planHandlers(o) });
}
