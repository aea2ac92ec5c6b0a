// io.ingle.Scenario1 on the bus: the engine, the scheduler, the library and the household, over one store.
import type { RuleSet } from '../intent/schema.ts';
import { type Unmatched, withUnmatched } from '../intent/teacher.ts';
import { exposition, type Family } from '../observe/exposition.ts';
import { IngleError } from '../protocol/errors.ts';
import type { Bus, Served } from '../system/bus.ts';
import { fromVariant, type Implementation as Serves, toDict, type Variant } from '../system/contract.ts';
import type { Log } from '../system/log.ts';
import type { Store } from '../system/store.ts';
import type { Vault } from '../system/vault.ts';
import { type Language, languages, pickLanguage } from '../text/i18n.ts';
import { builtinActions, type Ways } from './builtin.ts';
import { type Clock, isTimeKnown } from './clock.ts';
import { scenario1 } from './contract.ts';
import { nextTime } from './cron.ts';
import { isResumable, openEngine, type Runs, type RunView } from './engine.ts';
import type { Report } from './errand.ts';
import { type ErrandsTaken, openTaken } from './errands-taken.ts';
import type { Value } from './expression.ts';
import { saidIn } from './fault.ts';
import {
  type Asker,
  type Asking,
  compileSource,
  HOUSE,
  type Household,
  hostsIn,
  mayManage,
  mayStart,
  openHousehold,
  skillIn,
  userOf,
} from './household.ts';
import { tellingIo } from './io-events.ts';
import { type Library, openLibrary, type PrototypeRow } from './library.ts';
import type { Tell, Topics } from './live.ts';
import { type Counted, type Metrics, openMetrics } from './metrics.ts';
import type { Limits } from './places.ts';
import type { Quotas } from './quotas.ts';
import { type JobRow, openRecords, type Records, type RunRow } from './records.ts';
import { sealedIn } from './reference.ts';
import { rehearse } from './rehearse.ts';
import { houseRules } from './rules.ts';
import { openSayable, type Sayable } from './sayable.ts';
import { openSchedule, type Schedule, type WantedJob } from './schedule.ts';
import type { Implementation, Prototype } from './schema.ts';
import { opening, shownBindings, unopened } from './sealed.ts';
import { type InstanceOrder, instanceOf } from './states.ts';
import { openScenarioSubnet } from './subnet.ts';
import { type Ear, openVoice, type Voice } from './voice.ts';

export interface ServeOptions {
  store: Store;
  vault: Vault;
  clock: Clock;
  log: Log;
  limits: Limits;
  quotas: Quotas;
  builtin: readonly { id: string; version: string; prototype: Prototype; readme: string }[];
  zone: string;
  locale: string;
  ways(schedule: () => Schedule): Ways;
  ear: Ear;
  askerOf(user: string): Promise<Asker | undefined>;
  /** What this hub has, as has:mic; constraints name it. */
  has: readonly string[];
  /** Hears every event as well, and what it counts of its own. */
  traces?: { tell: Tell; families(): Family[] };
}

export interface Scenarios {
  runs: Runs;
  /** Whether a run is open, a job planned or a topic heard: then the process has to be there. */
  isNeeded(): boolean;
  stop(): Promise<void>;
}

interface Parts {
  o: ServeOptions;
  records: Records;
  library: Library;
  runs: Runs;
  schedule: Schedule;
  household: Household;
  metrics: Metrics;
  tell: Tell;
  subnet: ReturnType<typeof openScenarioSubnet>;
  taken: ErrandsTaken;
  voice: Voice;
  sayable: Sayable;
  changed(what: string): void;
}

/** Runs that ended so long ago are forgotten, milliseconds. */
const KEPT_MS = 30 * 86_400_000;

const countedKey = 'hub.counted';
/**
 * What the process before has counted. It is taken away with that, so that after a kill counters begin at 0: readers
 * know that, where they would count twice what only goes back a little.
 */
async function takeCounted(records: Records): Promise<Partial<Counted> | undefined> {
  const kept = (await records.memory(countedKey))[countedKey];
  if (kept === undefined) return undefined;
  await records.write([{ op: 'memory', key: countedKey, value: null }]);
  return kept as unknown as Partial<Counted>;
}

/** Topics of the bus, one match each however many runs hear it. */
function topicsOf(bus: Bus): Topics {
  const heard = new Map<string, { hears: Set<(p: Value) => void>; end: Promise<() => Promise<void>> }>();
  return {
    publish: (topic, payload) => bus.publish(topic, payload),
    async subscribe(topic, f) {
      const one = heard.get(topic) ?? { hears: new Set(), end: Promise.resolve(async () => {}) };
      one.hears.add(f);
      if (!heard.has(topic)) {
        heard.set(topic, one);
        one.end = bus.subscribe(topic, (_, payload) => {
          for (const hear of [...one.hears]) hear(payload as Value);
        });
      }
      await one.end;
      return () => {
        if (!one.hears.delete(f) || one.hears.size > 0) return;
        heard.delete(topic);
        void one.end.then((end) => end()).catch(() => {});
      };
    },
  };
}

export async function serveScenarios(bus: Bus, o: ServeOptions): Promise<Scenarios> {
  const { clock, log } = o;
  const records = openRecords(o.store);
  const library = await openLibrary(o);
  const topics = topicsOf(bus);
  const metrics = openMetrics(await takeCounted(records));
  const tell: Tell = (event, properties) => {
    metrics.tell(event, properties);
    log.debug(event, properties);
    bus.publish(event, properties);
    o.traces?.tell(event, properties);
  };
  let schedule: Schedule | undefined;
  let household: Household | undefined;
  let voice: Voice | undefined;
  const subnet = openScenarioSubnet({ bus, clock, log, has: new Set(o.has), runs: () => runs });
  const ways = o.ways(() => schedule!);
  const hostsOf = async (run_id: string) => {
    const row = await records.run(run_id);
    const source = row && (await records.program(row.program));
    return source === undefined ? [] : hostsIn(source);
  };
  const runs: Runs = openEngine({
    ...{ records, clock, topics, log, tell, limits: o.limits, quotas: o.quotas },
    actions: tellingIo(
      opening(
        builtinActions({ ...ways, speak: speaking(ways, () => voice!) }, records, hostsOf),
        ({ ctx, scenario_id }) => household!.bindingsOf(ctx.user, scenario_id),
      ),
      tell,
    ),
    compile: compileSource,
    boundTo: async (row, slot) =>
      row.owed === null
        ? household!.boundTo(
            { user: row.user, role: String(row.ctx['role'] ?? 'owner') },
            row.scenario_id,
            slot,
          )
        : skillIn((await records.program(row.program)) ?? '{}', slot),
    place: subnet.place,
    nudge: subnet.nudge,
    wrote: (row) => taken.wrote(row),
  });
  const taken = openTaken({ records, runs, clock, log, ask: subnet.ask });
  schedule = await openSchedule({
    ...{ records, clock, log, runs },
    async startOf(job) {
      const asker = await o.askerOf(job.user);
      if (!asker) throw new IngleError('not_found', 'The person it was for is gone.');
      return household!.startOf(job.scenario_id, asker, { ctx: job.ctx, origin: `job:${job.job_id}` });
    },
  });
  household = openHousehold({ ...o, library, schedule, topics, runs, tell, offers: ways.offers });
  const sayable = openSayable({ speech: household.speech, send: o.ear.setGrammar });
  voice = openVoice({
    ...{ ear: o.ear, sayable, log, tell },
    act: (text, asker, starting) => understand(parts, { text, asker, ctx: {}, start: true, starting }),
    ended: runs.ended,
    stopRun: (run_id) => runs.order(run_id, 'stop'),
  });
  let served: Served<typeof scenario1> | undefined;
  const parts: Parts = {
    ...{ o, records, library, runs, schedule, household, metrics, tell, subnet, taken, voice, sayable },
    changed: (what) => served?.emit('Changed', { what }),
  };
  await loadRules(parts);
  await records.sweep(clock.wall() - KEPT_MS);
  await runs.recover();
  if ((await records.owed()).length > 0) void taken.sync();
  subnet.look().catch((cause) => log.info('nobody knows of the subnet', { cause }));
  await household.settle();
  await schedule.begin();
  served = await bus.serve(scenario1, {
    ...libraryMethods(parts),
    ...runMethods(parts),
    ...planMethods(parts),
    ...voiceMethods(parts),
  });
  return {
    runs,
    isNeeded: () =>
      voice.state !== 'IDLE' ||
      runs.size > 0 ||
      taken.isOwing ||
      schedule.list().some((j) => j.enabled) ||
      household.isHearing(),
    async stop() {
      voice.stop();
      household.stop();
      schedule.stop();
      subnet.stop();
      taken.stop();
      await runs.stop();
      const counted = metrics.counted() as unknown as Value;
      await records.write([{ op: 'memory', key: countedKey, value: counted }]);
    },
  };
}

const json = (dict: Record<string, Variant>): Record<string, Value> =>
  fromVariant(dict) as Record<string, Value>;
const dict = (value: object): Record<string, Variant> =>
  toDict(JSON.parse(JSON.stringify(value)) as Record<string, unknown>);
const askerFrom = ({
  user,
  role,
  name,
  locale,
}: {
  user: string;
  role: string;
  name: string;
  locale: string;
}): Asker => ({
  ...{ user, role },
  ...(name ? { name } : {}),
  ...(locale ? { locale } : {}),
});
const askingFrom = (given: Record<string, Value>): Asking & { run_id?: string } =>
  ({ ...given, origin: 'person' }) as never;

type Methods = Serves<typeof scenario1>;

const isSet = (names: readonly string[], of: object = {}): Record<string, boolean> =>
  Object.fromEntries(names.map((name) => [name, Object.hasOwn(of, name)]));

function listed(
  p: Parts,
  { id, version, prototype, publisher }: PrototypeRow,
  { user, locale }: Asker,
  chosen: Record<string, string>,
): object {
  const { implementation, rev, problems } = p.library.implementation(userOf(prototype, user), id);
  const { name, doc, icon, roles, params, paramDocs, slots, triggers, multiUser, io, policy } = prototype;
  const bound = implementation.bindings?.slots ?? {};
  const sealed = sealedIn(prototype.steps);
  return {
    ...{ id, version, publisher, name, doc, icon, roles, params, paramDocs, slots, triggers, io },
    multiUser: multiUser ?? false,
    policy: policy ?? 'single',
    versions: p.library.versions(id),
    enabled: rev > 0 && implementation.enabled !== false,
    unbound: Object.entries(slots ?? {}).flatMap(([slot, { optional }]) =>
      optional || bound[slot]?.skill || Object.hasOwn(chosen, slot) ? [] : [slot],
    ),
    chosen,
    hosts: implementation.hosts ?? prototype.hosts ?? [],
    // By name: whether there is a value, and no value.
    secrets: isSet(sealed.secrets, implementation.bindings?.secrets),
    devices: isSet(sealed.devices, implementation.bindings?.devices),
    problems: problems.map((f) => ({ ...f, says: saidIn(f, pickLanguage([locale ?? p.o.locale])) })),
  };
}

/** @throws IngleError `forbidden` for a scenario that is not for this role */
function seen(prototype: Prototype, role: string): void {
  if (!mayManage(role) && !mayStart(prototype, role))
    throw new IngleError('forbidden', 'This scenario is not for you. Ask whoever runs the hub.');
}

function libraryMethods(p: Parts) {
  const { library, household } = p;
  const settled = async (what: string) => {
    await household.settle();
    p.changed(what);
  };
  const shown = (user: string, id: string) => {
    const { prototype, readme } = library.find(id);
    const of = userOf(prototype, user);
    const row = library.implementation(of, id);
    const { bindings } = row.implementation;
    const implementation = bindings
      ? { ...row.implementation, bindings: shownBindings(bindings) }
      : row.implementation;
    return {
      implementation: dict({ ...row, implementation, effective: library.effective(of, id).scenario, readme }),
    };
  };
  return {
    async Prototypes({ asker }) {
      const rows = library.active().filter((r) => mayManage(asker.role) || mayStart(r.prototype, asker.role));
      const who = askerFrom(asker);
      const chosen = await household.chosenBySelf(
        who,
        rows.map((r) => r.id),
      );
      return { prototypes: rows.map((r, i) => dict(listed(p, r, who, chosen[i]!))) };
    },
    async Install({ prototype, readme, publisher }) {
      const value = json(prototype) as unknown as Prototype;
      const { id, version } = await library.install({
        id: value.id,
        version: value.version,
        prototype: value,
        readme,
        publisher,
      });
      await settled('prototypes');
      return { id, version };
    },
    async Use({ id, version }) {
      const row = await library.use(id, version);
      await settled('prototypes');
      return { version: row.version };
    },
    async Remove({ id }) {
      await library.remove(id);
      await settled('prototypes');
      return {};
    },
    Implementation({ asker, user, id }) {
      seen(library.find(id).prototype, asker.role);
      return shown(user, id);
    },
    async Change({ asker, user, id, implementation, rev }) {
      const { prototype } = library.find(id);
      seen(prototype, asker.role);
      if (!prototype.multiUser && !mayManage(asker.role))
        throw new IngleError(
          'forbidden',
          'Everybody shares this scenario. The owner or an admin changes it.',
        );
      const next = json(implementation) as unknown as Implementation;
      await library.change(userOf(prototype, user), id, next, rev >= 0 ? rev : undefined);
      await settled('implementations');
      return shown(user, id);
    },
    async Forget({ user }) {
      await library.forget(user);
      for (const job of p.schedule.list())
        if (job.user === user) await p.schedule.remove(job.job_id).catch(() => {});
      await settled('implementations');
      return {};
    },
  } satisfies Partial<Methods>;
}

/** A run as the API has it. */
function shownRun({
  row,
  instance,
  waits,
}: Pick<RunView, 'row' | 'instance'> & Partial<Pick<RunView, 'waits'>>): object {
  const { ctx: _, program: _p, chain: _c, ...rest } = row;
  return { ...rest, instance, waits: waits ?? null };
}
const past = (row: RunRow): RunView => ({
  row,
  instance: instanceOf({ state: row.state, paused: false, ending: false }),
  waits: null,
});

function runMethods(p: Parts) {
  const { runs, records, household } = p;
  const own = async (run_id: string, user: string): Promise<RunView> => {
    const view = await runs.view(run_id);
    if (!view || (user !== '' && view.row.user !== user))
      throw new IngleError('not_found', 'There is no such run.');
    return view;
  };
  return {
    async Start({ id, asker, asking }) {
      const { run_id, ...rest } = askingFrom(json(asking));
      const start = await household.startOf(id, askerFrom(asker), rest);
      return { run_id: (await runs.start({ ...start, ...(run_id ? { run_id } : {}) })).run_id };
    },
    async Rehearse({ id, asker, asking }) {
      const start = await household.startOf(id, askerFrom(asker), askingFrom(json(asking)));
      const o = { scenario_id: id, ctx: start.ctx, now: p.o.clock.wall() };
      return {
        steps: rehearse(compileSource(start.source), o).map((step) => dict(unopened(step) as object)),
      };
    },
    async Order({ run_id, what, user }) {
      if (!['stop', 'pause', 'resume', 'kill'].includes(what))
        throw new IngleError('invalid_request', 'An order is stop, pause, resume or kill.', {
          pointer: '/what',
        });
      await own(run_id, user);
      await runs.order(run_id, what as InstanceOrder);
      return {};
    },
    StopByActivity: async ({ activity }) => ({ stopped: await runs.stopByActivity(activity) }),
    async Runs({ scenario_id, user, limit }) {
      const live = new Map(runs.live().map((v) => [v.row.run_id, v]));
      const of = { ...(scenario_id ? { scenario_id } : {}), ...(user ? { user } : {}) };
      const rows = await records.runs({ ...of, limit: Math.min(200, limit || 50) });
      return { runs: rows.map((row) => dict(shownRun(live.get(row.run_id) ?? past(row)))) };
    },
    async Run({ run_id }) {
      const view = await own(run_id, '');
      const journal = (await records.journal(run_id)).map(({ n, at, step_name, status, latency_ms, entry }) =>
        dict({
          n,
          at,
          step_name,
          status,
          latency_ms,
          kind: entry.kind,
          ...('error' in entry && entry.error ? { error: entry.error } : {}),
          ...(entry.kind === 'error' && entry.again !== undefined ? { again: entry.again } : {}),
          ...(entry.kind === 'asleep' && entry.due !== undefined ? { due: entry.due } : {}),
          ...(entry.kind === 'woke' ? { by: entry.by } : {}),
          ...(entry.kind === 'order' ? { what: entry.what } : {}),
        }),
      );
      return { run: dict(shownRun(view)), journal };
    },
    async DeadLetters() {
      const letters = await records.letters();
      const journals = await Promise.all(letters.map(({ run_id }) => records.journal(run_id)));
      const may = (i: number) => isResumable(journals[i]!.map((row) => row.entry));
      return { letters: letters.map((l, i) => dict({ ...l, from_step: l.step !== null && may(i) })) };
    },
    async Replay({ id, from }) {
      if (from !== 'start' && from !== 'step')
        throw new IngleError('invalid_request', 'It is replayed from its start or from the step.', {
          pointer: '/from',
        });
      return { run_id: (await runs.replay(id, from)).run_id };
    },
    async Discard({ id }) {
      if (!(await records.letter(id))) throw new IngleError('not_found', 'There is no such dead letter.');
      await records.write([{ op: 'discard', id }]);
      return {};
    },
    Metrics: () => ({
      metrics: dict({
        counts: { ...p.metrics.events },
        open: runs.size,
        jobs: p.schedule.list().length,
        time_known: isTimeKnown(p.o.clock),
      }),
    }),
    async NodeRuns({ node, report }) {
      p.subnet.heard(node);
      const said = JSON.parse(report) as Report;
      await runs.report(node, said);
      const errands = await runs.errandsOf(
        node,
        said.runs.map((r) => r.run_id),
      );
      return { answer: JSON.stringify(errands) };
    },
    Errands() {
      void p.taken.sync();
      return {};
    },
    Exposition: () => ({
      text: exposition([
        ...p.metrics.families({ open: runs.size, jobs: p.schedule.list().length }),
        ...(p.o.traces?.families() ?? []),
      ]),
    }),
    ClockChanged() {
      runs.clockChanged();
      void p.schedule.clockChanged();
      return {};
    },
  } satisfies Partial<Methods>;
}

/** The times a job fires until `until`, at most so many. */
function timesOf({ cron, zone, next_at, enabled }: JobRow, until: number, most = 100): number[] {
  const times: number[] = [];
  for (let at = enabled ? next_at : null; at !== null && at <= until && times.length < most; ) {
    times.push(at);
    at = cron === null ? null : nextTime(cron, zone, at);
  }
  return times;
}

interface KeptRules {
  rules: RuleSet['rules'];
  lists: NonNullable<RuleSet['lists']>;
  bindings: Record<string, string>;
}
const rulesKey = 'hub.rules';
const unmatchedKey = 'hub.unmatched';
const keptRules = async (records: Records): Promise<KeptRules> =>
  ((await records.memory(rulesKey))[rulesKey] as unknown as KeptRules) ?? {
    rules: [],
    lists: {},
    bindings: {},
  };

function useRules({ household, sayable }: Parts, { rules, lists, bindings }: KeptRules): void {
  household.setRules(
    { rules: [...rules, ...houseRules.rules], lists: { ...houseRules.lists, ...lists } },
    bindings,
  );
  sayable.changed();
}
async function loadRules(p: Parts): Promise<void> {
  try {
    useRules(p, await keptRules(p.records));
  } catch (cause) {
    p.o.log.error('the rules of intents cannot be used', { cause: cause as Error });
    useRules(p, { rules: [], lists: {}, bindings: {} });
  }
}

/** `2026-11-25T20:04` at a place. */
function localNow(wall: number, zone: string): string {
  const parts = new Intl.DateTimeFormat('sv-SE', {
    timeZone: zone,
    dateStyle: 'short',
    timeStyle: 'short',
  }).format(wall);
  return parts.replace(' ', 'T');
}

/** What a text means, and the run it starts; phrases that nothing understands are kept for the owner. */
async function understand(
  { o, household, runs, records, tell }: Parts,
  {
    text,
    asker,
    ctx,
    start,
    starting,
  }: {
    text: string;
    asker: Asker;
    ctx: Record<string, Value>;
    start: boolean;
    starting?: (run_id: string) => void;
  },
) {
  const now = localNow(o.clock.wall(), o.zone);
  const found = household.recognize(text, { now, user: asker.user });
  if (!found) {
    const all = ((await records.memory(unmatchedKey))[unmatchedKey] ?? []) as unknown as Unmatched[];
    const next = withUnmatched(all, text, o.clock.wall());
    if (next !== all)
      await records.write([{ op: 'memory', key: unmatchedKey, value: next as unknown as Value }]);
    return { intent: '', slots: {}, scenario_id: '', run_id: '' };
  }
  const { intent, slots, scenario_id } = found;
  tell('intent.detected', { intent, scenario_id, user: asker.user });
  let run_id = '';
  if (start && scenario_id !== null) {
    const asking: Asking = { ctx: { ...ctx, ...slots }, origin: `intent:${intent}` };
    const begin = await household.startOf(scenario_id, asker, asking);
    run_id = crypto.randomUUID();
    starting?.(run_id);
    await runs.start({ ...begin, run_id });
  }
  return { intent, slots, scenario_id: scenario_id ?? '', run_id };
}

/** What a run says in a conversation stops when somebody speaks; everything else is said to its end. */
const speaking =
  (ways: Ways, voice: () => Voice): Ways['speak'] =>
  (text, lang, of) =>
    voice().isOf(of.run_id)
      ? voice().speak(text, pickLanguage([lang]), of.phrases)
      : ways.speak(text, lang, of);

function voiceMethods({ o, voice, sayable, household }: Parts) {
  const languageOf = (lang: string) => {
    if (lang !== '' && !languages.includes(lang as Language))
      throw new IngleError('invalid_request', `Speech is in ${languages.join(' or ')}.`, {
        pointer: '/lang',
      });
    return pickLanguage([lang || o.locale]);
  };
  return {
    async Wake({ asker, lang }) {
      const { heard, text, intent, scenario_id, run_id } = await voice.wake(
        { ...askerFrom(asker), locale: languageOf(lang) },
        languageOf(lang),
      );
      return { heard, text, intent, scenario_id, run_id };
    },
    Hush() {
      voice.stop();
      return {};
    },
    Voice({ lang }) {
      const language = languageOf(lang);
      const unknown = sayable.unknown(language);
      const { unspoken } = household.speech(language, (w) => !unknown.includes(w));
      return { state: voice.state, unspoken: unspoken.map(dict), unknown: [...unknown] };
    },
  } satisfies Partial<Methods>;
}

function planMethods(p: Parts) {
  const { schedule, household, records } = p;
  return {
    async CreateJob({ asker, job }) {
      const wanted = json(job) as unknown as WantedJob;
      // Whoever plans a scenario may start it now.
      await household.startOf(wanted.scenario_id, askerFrom(asker), { origin: 'job' });
      const row = await schedule.create({ ...wanted, user: asker.user, origin: 'user' });
      p.changed('jobs');
      return { job_id: row.job_id };
    },
    async RemoveJob({ job_id, user }) {
      const job = schedule.list().find((j) => j.job_id === job_id);
      if (!job || (user !== '' && job.user !== user))
        throw new IngleError('not_found', 'There is no such job.');
      await schedule.remove(job_id);
      p.changed('jobs');
      return {};
    },
    Jobs: ({ user, until }) => ({
      jobs: schedule
        .list()
        .filter((j) => user === '' || j.user === user || j.user === HOUSE)
        .map((j) => dict({ ...j, times: timesOf(j, until) })),
    }),
    async Recognize({ text, asker, ctx, start }) {
      const { slots, ...found } = await understand(p, {
        text,
        asker: askerFrom(asker),
        ctx: json(ctx),
        start,
      });
      return { ...found, slots: dict(slots) };
    },
    async Rules() {
      const unmatched = (await records.memory(unmatchedKey))[unmatchedKey] ?? [];
      return { rules: dict({ ...(await keptRules(records)), unmatched, house: houseRules.rules }) };
    },
    async SetRules({ rules }) {
      const { bindings = {}, lists = {}, rules: own = [] } = json(rules) as unknown as Partial<KeptRules>;
      const next: KeptRules = { rules: own, lists, bindings };
      useRules(p, next);
      await records.write([{ op: 'memory', key: rulesKey, value: next as unknown as Value }]);
      return {};
    },
  } satisfies Partial<Methods>;
}
