// io.ingle.Scenario1 on the bus: the engine, the scheduler, the library and the household, over one store.
import { IngleError } from '../protocol/errors.ts';
import { openQueue } from '../protocol/queue.ts';
import type { Bus, Served } from '../system/bus.ts';
import { openAttention } from './attention.ts';
import { builtinActions, type Ways } from './builtin.ts';
import { scenario1 } from './contract.ts';
import { openEngine, type Runs } from './engine.ts';
import { openTaken } from './errands-taken.ts';
import type { Value } from './expression.ts';
import { compileSource, type Household, hostsIn, JOB, openHousehold, skillIn } from './household.ts';
import { tellingIo } from './io-events.ts';
import { openLibrary } from './library.ts';
import type { EngineOptions, Tell, Topics } from './live.ts';
import { type Counted, openMetrics } from './metrics.ts';
import { openRecords, type Records } from './records.ts';
import { openSayable } from './sayable.ts';
import { dueAs, openSchedule, type Schedule } from './schedule.ts';
import { opening } from './sealed.ts';
import { libraryMethods } from './serve-library.ts';
import type { Parts, ServeOptions } from './serve-parts.ts';
import { planMethods } from './serve-plan.ts';
import { runMethods } from './serve-runs.ts';
import { loadRules, saidMethods, speaking, understand } from './serve-said.ts';
import { openScenarioSubnet } from './subnet.ts';
import { openVoice, type Voice } from './voice.ts';

export interface Scenarios {
  runs: Runs;
  /** Whether a run is open, a job planned or a topic heard: then the process has to be there. */
  isNeeded(): boolean;
  stop(): Promise<void>;
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

/** The hosts that a run may fetch from. */
const hostsOf = (records: Records) => async (run_id: string) => {
  const row = await records.run(run_id);
  const source = row && (await records.program(row.program));
  return source === undefined ? [] : hostsIn(source);
};

/** The skill of a slot of a run: of one that another hub has asked for, as it was there. */
const binding =
  (records: Records, household: () => Household): EngineOptions['boundTo'] =>
  async (row, slot) => {
    if (row.owed !== null) return skillIn((await records.program(row.program)) ?? '{}', slot);
    const role = String(row.ctx['role'] ?? 'owner');
    return household().boundTo({ user: row.user, role }, row.scenario_id, slot);
  };

export async function serveScenarios(bus: Bus, o: ServeOptions): Promise<Scenarios> {
  const { clock, log } = o;
  const records = openRecords(o.store);
  const library = await openLibrary(o);
  const topics = topicsOf(bus);
  const metrics = openMetrics(await takeCounted(records));
  const tell: Tell = (event, properties) => {
    metrics.tell(event, properties);
    log[event === 'voice.state' ? 'debug' : 'info'](event, properties);
    bus.publish(event, properties);
    o.traces?.tell(event, properties);
    o.touch();
  };
  let schedule: Schedule | undefined;
  let household: Household | undefined;
  let voice: Voice | undefined;
  const subnet = openScenarioSubnet({ bus, clock, log, has: new Set(o.has), runs: () => runs });
  const ways = o.ways(() => schedule!);
  const end: Ways['end'] = async (activity, user) =>
    (await runs.stopByActivity(activity, user)).flatMap(({ begun }) => begun);
  const runs: Runs = openEngine({
    ...{ records, clock, topics, log, tell, limits: o.limits, quotas: o.quotas },
    actions: tellingIo(
      opening(
        builtinActions({ ...ways, end, speak: speaking(ways, () => voice!) }, records, hostsOf(records)),
        ({ ctx, scenario_id }) => household!.bindingsOf(ctx.user, scenario_id),
      ),
      tell,
    ),
    compile: compileSource,
    boundTo: binding(records, () => household!),
    place: subnet.place,
    nudge: subnet.nudge,
    wrote: (row) => taken.wrote(row),
  });
  const taken = openTaken({ records, runs, clock, log, ask: subnet.ask, rested: o.touch });
  schedule = await openSchedule({
    ...{ records, clock, log, runs },
    async startOf(job) {
      const asker = await o.askerOf(job.user);
      if (!asker) throw new IngleError('not_found', 'The person it was for is gone.');
      const origin = `${JOB}${job.job_id}`;
      return household!.startOf(job.scenario_id, dueAs(asker, job), { ctx: job.ctx, origin });
    },
  });
  household = openHousehold({
    ...o,
    library,
    schedule,
    topics,
    runs,
    tell,
    offers: ways.offers,
    role: subnet.role,
  });
  const sayable = openSayable({ speech: household.speech, send: o.ear.setGrammar });
  voice = openVoice({
    ...{ ear: o.ear, sayable, log, tell },
    act: (text, asker, starting) => understand(parts, { text, asker, ctx: {}, start: true, starting }),
    ended: runs.ended,
    isSilent: async (run_id) => (await runs.view(run_id))?.waits?.for === 'time',
    stopRun: (run_id) => runs.order(run_id, 'stop'),
  });
  const attention = openAttention({ ...o.waking, ...{ ear: o.ear, voice, log, someone: o.someone } });
  let served: Served<typeof scenario1> | undefined;
  const parts: Parts = {
    ...{ o, records, library, runs, schedule, household, metrics },
    ...{ tell, topics, subnet, taken, voice, attention, sayable },
    teaching: openQueue(),
    changed: (what) => served?.emit('Changed', { what }),
  };
  await loadRules(parts);
  await records.sweep(clock.wall() - KEPT_MS);
  await runs.recover();
  if ((await records.owed()).length > 0) void taken.sync();
  subnet.look().catch((cause) => log.info('nobody knows of the subnet', { cause }));
  await household.settle();
  await schedule.begin();
  if (o.waking.on) attention.begin();
  const methods = {
    ...libraryMethods(parts),
    ...runMethods(parts),
    ...planMethods(parts),
    ...saidMethods(parts),
  };
  // Who collects what was counted asks every few seconds, for ever.
  const onCall = (method: string) => void (method !== 'Exposition' && o.touch());
  served = await bus.serve(scenario1, methods, { onCall });
  return {
    runs,
    isNeeded: () =>
      voice.state !== 'IDLE' ||
      attention.attending().on ||
      runs.size > 0 ||
      taken.isOwing ||
      schedule.list().some((j) => j.enabled) ||
      household.isHearing(),
    async stop() {
      attention.stop();
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
