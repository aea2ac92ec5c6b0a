// Whose scenarios run, when and how: roles, what a run is given, triggers of people's scenarios, and what is said to the hub.
import { parseMilliseconds } from '../documents/duration.ts';
import { compileIntents, type Recognized, recognize } from '../intent/match.ts';
import { languageOf, plainSample } from '../intent/sample.ts';
import type { Parsed, RuleSet } from '../intent/schema.ts';
import { type Speech, speechGrammar } from '../intent/speech.ts';
import { IngleError } from '../protocol/errors.ts';
import type { Log } from '../system/log.ts';
import type { Language } from '../text/i18n.ts';
import type { Runs, Start } from './engine.ts';
import { evaluate, holds, type Value } from './expression.ts';
import type { Library } from './library.ts';
import type { Tell, Topics } from './live.ts';
import type { Effective } from './merge.ts';
import { chosenBySelf, type Offer, openSlots } from './offers.ts';
import { planOf } from './plan.ts';
import type { Program } from './program.ts';
import type { Schedule, WantedJob } from './schedule.ts';
import type { Prototype, Trigger } from './schema.ts';
import { conditionOf, fill, templateOf } from './template.ts';

/** Somebody who asks for a scenario. */
export interface Asker {
  user: string;
  /** owner, admin, adult, kid, guest. */
  role: string;
  name?: string;
  locale?: string;
}

export interface Asking {
  ctx?: { [key: string]: Value };
  io?: { in?: string[]; out?: string[]; fallback?: string[] };
  priority?: 'LOW' | 'NORM' | 'HIGH';
  force?: boolean;
  origin: string;
}

/** Who may start a scenario that names nobody. */
const everyday = ['admin', 'adult'];

/** Whether somebody of this role may start a scenario. */
export const mayStart = ({ roles }: Prototype, role: string): boolean =>
  role === 'owner' || (roles ?? everyday).includes(role as never);

/** Whether somebody may look at and change what belongs to another person. */
export const mayManage = (role: string): boolean => role === 'owner' || role === 'admin';

/** Whose implementation a scenario has that not everybody has for themselves. */
export const HOUSE = 'house';
export const userOf = ({ multiUser }: Prototype, user: string): string => (multiUser ? user : HOUSE);

/** The source a run keeps, and back. */
interface Source {
  scenario: Prototype;
  bound: string[];
  /** Which skill each bound slot had when the run was asked for: a hub that does it for another goes by it. */
  skills?: Record<string, string>;
}
/** The skill of a slot, of a run that another hub has asked for. */
export const skillIn = (source: string, slot: string): string | undefined =>
  (JSON.parse(source) as Source).skills?.[slot];
export const hostsIn = (source: string): readonly string[] =>
  (JSON.parse(source) as Source).scenario.hosts ?? [];
export function compileSource(source: string): Program {
  const { scenario, bound } = JSON.parse(source) as Source;
  return planOf(scenario, bound);
}

export interface Household {
  /** What starting a scenario takes. @throws IngleError `not_found`, `forbidden`, `conflict`, `invalid_request` */
  startOf(id: string, asker: Asker, asking: Asking): Promise<Start>;
  /** Triggers follow what people have turned on. */
  settle(): Promise<void>;
  /** What was said, and the scenario it starts. */
  recognize(
    text: string,
    o: { now: string; user: string; language?: Language },
  ): (Recognized & { scenario_id: string | null }) | undefined;
  /** Sentences that begin a scenario for somebody, a few in each language: what they may say. */
  examples(id: string, user: string): Record<Language, string[]>;
  /** @throws IngleError `invalid_request` with every fault */
  setRules(rules: RuleSet, bindings: Readonly<Record<string, string>>): void;
  /** The grammar of what can be said in a language, of words that the recogniser knows. */
  speech(language: Language, knows: (word: string) => boolean): Speech;
  /** The skill of a slot: the one that somebody bound to it, else the only one that fits. */
  boundTo(asker: Pick<Asker, 'user' | 'role'>, id: string, slot: string): Promise<string | undefined>;
  /** What somebody has bound, with its secrets: for actions, when they are done. Nothing of a scenario that is gone. */
  bindingsOf(user: string, id: string): Effective['bindings'];
  /** The skills of slots of which nobody has said anything; none while nobody can be asked. */
  chosenBySelf(asker: Asker, ids: readonly string[]): Promise<Record<string, string>[]>;
  /** Whether an event of the bus would start something. */
  isHearing(): boolean;
  stop(): void;
}

export interface HouseholdOptions {
  library: Library;
  schedule: Pick<Schedule, 'settle'>;
  topics: Topics;
  runs: Pick<Runs, 'start'>;
  log: Log;
  tell: Tell;
  /** Who somebody is now; undefined for a person who is gone. */
  askerOf(user: string): Promise<Asker | undefined>;
  /** The skills that somebody may use. @throws IngleError `unavailable` */
  offers(asker: Pick<Asker, 'user' | 'role'>): Promise<Offer[]>;
  /** What this hub is in its subnet. */
  role(): Promise<'hub' | 'member'>;
  zone: string;
  locale: string;
}

interface State extends HouseholdOptions {
  hears: Map<string, () => void>;
  rules: ReturnType<typeof compileIntents>;
  bindings: Readonly<Record<string, string>>;
}

export function openHousehold(o: HouseholdOptions): Household {
  const s: State = { ...o, hears: new Map(), rules: compileIntents({ rules: [] }), bindings: {} };
  return {
    startOf: (id, asker, asking) => startOf(s, id, asker, asking),
    settle: () => settle(s),
    recognize(text, { user, ...at }) {
      const found = recognize(s.rules, text, at);
      return found && { ...found, scenario_id: scenarioOf(s, found.intent, user) };
    },
    examples: (id, user) => examplesOf(s, id, user),
    setRules(rules, bindings) {
      s.rules = compileIntents(rules);
      s.bindings = bindings;
    },
    speech: (language, knows) => speechGrammar(s.rules, { language, knows }),
    async boundTo(asker, id, slot) {
      const { scenario, bindings } = effectiveOf(s, asker.user, id);
      if (Object.hasOwn(bindings.slots ?? {}, slot)) return bindings.slots![slot]!.skill ?? undefined;
      return chosenBySelf(scenario, bindings.slots, await s.offers(asker))[slot];
    },
    bindingsOf(user, id) {
      const row = s.library.active().find((r) => r.id === id);
      if (!row) return {};
      return s.library.implementation(userOf(row.prototype, user), id).implementation.bindings ?? {};
    },
    chosenBySelf(asker, ids) {
      let asked: Promise<Offer[]> | undefined;
      const once: State = { ...s, offers: (of) => (asked ??= s.offers(of)) };
      return Promise.all(ids.map((id) => bySelf(once, asker, id).catch(() => ({}))));
    },
    isHearing: () => s.hears.size > 0,
    stop() {
      for (const end of s.hears.values()) end();
    },
  };
}

function effectiveOf(s: State, user: string, id: string): Effective {
  return s.library.effective(userOf(s.library.find(id).prototype, user), id);
}

/** @throws IngleError `unavailable` where nobody says which skills there are */
async function bySelf(s: State, asker: Asker, id: string): Promise<Record<string, string>> {
  const { scenario, bindings } = effectiveOf(s, asker.user, id);
  if (openSlots(scenario, bindings.slots).length === 0) return {};
  return chosenBySelf(scenario, bindings.slots, await s.offers(asker));
}

async function startOf(
  s: State,
  id: string,
  asker: Asker,
  asking: Asking,
  by = triggerBy(s.library.find(id).prototype, asking.origin),
): Promise<Start> {
  const { prototype, version } = s.library.find(id);
  if (!mayStart(prototype, asker.role))
    throw new IngleError('forbidden', 'This scenario is not for you. Ask whoever runs the hub.');
  if (by?.runOn === 'hub' && (await s.role()) === 'member')
    throw new IngleError(
      'conflict',
      'This begins on the hub that leads the subnet, and this one is a member. Start it there, or here by hand.',
    );
  const { scenario, bindings } = effectiveOf(s, asker.user, id);
  const slots = Object.entries(scenario.slots ?? {});
  const chosen: Record<string, string> = await bySelf(s, asker, id).catch((cause) => {
    // What can do without is started without.
    if (openSlots(scenario, bindings.slots).some((name) => !scenario.slots![name]!.optional)) throw cause;
    return {};
  });
  const bound = slots.flatMap(([name]) => (bindings.slots?.[name]?.skill || name in chosen ? [name] : []));
  const open = slots.find(([name, slot]) => !slot.optional && !bound.includes(name));
  if (open)
    throw new IngleError(
      'conflict',
      `Choose a skill for "${open[0]}" in the settings of the scenario first.`,
      {
        slot: open[0],
      },
    );
  const skills = Object.fromEntries(
    bound.map((name) => [name, bindings.slots?.[name]?.skill ?? chosen[name]!]),
  );
  const source: Source = { scenario, bound, skills };
  const active = scenario.io?.settings?.['output.active'];
  const { io = {} } = asking;
  const ctx: { [key: string]: Value } = {
    ...asking.ctx,
    user: { id: asker.user, name: asker.name ?? null, role: asker.role },
    role: asker.role,
    locale: asker.locale ?? s.locale,
    io: {
      in: io.in ?? [...(scenario.io?.input ?? ['voice', 'text'])],
      out: io.out ?? (typeof active === 'string' ? [active] : [...(scenario.io?.output ?? ['voice'])]),
      fallback: io.fallback ?? [...(scenario.io?.output ?? []), 'text', 'phone'],
    },
  };
  return {
    ...{
      scenario_id: id,
      version,
      source: JSON.stringify(source),
      user: asker.user,
      ctx,
      origin: asking.origin,
    },
    priority: asking.priority ?? scenario.priority ?? 'NORM',
    ...policyOf(scenario, asking.origin),
    ...(asking.force ? { force: true } : {}),
    ...(by?.runOn === 'member:self' ? { here: true } : {}),
  };
}

/** How origins of runs begin that a job started. */
export const JOB = 'job:';
/** The trigger that a start comes of, by its origin; an event's is told, as several may hear one topic. */
export function triggerBy({ triggers = [] }: Prototype, origin: string): Trigger | undefined {
  const [, nth] = /^job:trigger\..*\.(\d+)$/.exec(origin) ?? [];
  if (nth !== undefined) return triggers[Number(nth)];
  return triggers.find((t) => t.type === 'intent' && `${SAID}${t.name}` === origin);
}

/** How origins of runs begin that a sentence started. */
export const SAID = 'intent:';

/**
 * The policy of a start. An intent may have its own, and then its starts stand in a chain of their own: what ends other
 * runs neither counts as one more of them nor waits for them.
 */
export function policyOf(prototype: Prototype, origin: string): Pick<Start, 'policy' | 'by'> {
  const { policy = 'single' } = prototype;
  const by = triggerBy(prototype, origin);
  return by?.type === 'intent' && by.policy ? { policy: by.policy, by: origin } : { policy };
}

/**
 * The scenario that an intent starts: what the owner bound, else the first that has it as a trigger and that nobody has
 * turned off. One that nobody has touched may be asked for: whoever speaks wants it now.
 */
function scenarioOf(s: State, intent: string, user: string): string | null {
  // A scenario that was removed is none.
  const isHere = (id: string) => s.library.active().some((p) => p.id === id);
  if (Object.hasOwn(s.bindings, intent) && isHere(s.bindings[intent]!)) return s.bindings[intent]!;
  const isOff = (id: string, p: Prototype) => {
    const { rev, implementation } = s.library.implementation(userOf(p, user), id);
    return rev > 0 && implementation.enabled === false;
  };
  const has = (t: Trigger) => t.type === 'intent' && t.name === intent;
  return (
    s.library.active().find(({ id, prototype: p }) => p.triggers?.some(has) && !isOff(id, p))?.id ?? null
  );
}

/** So many sentences of a scenario are shown in each language, and more where it has more intents: one of each. */
const EXAMPLES = 2;

function examplesOf(s: State, id: string, user: string): Record<Language, string[]> {
  const said: Record<Language, string[]> = { en: [], ru: [] };
  const begins = new Map<string, boolean>();
  const told = new Set<string>();
  const others: Parsed[] = [];
  const tell = (p: Parsed) => {
    const sentence = plainSample(s.rules, p);
    if (sentence !== undefined) said[languageOf(p)].push(sentence);
  };
  for (const p of s.rules.patterns) {
    const { intent } = p.rule;
    if (!begins.has(intent)) begins.set(intent, scenarioOf(s, intent, user) === id);
    if (!begins.get(intent)) continue;
    const first = `${intent} ${languageOf(p)}`;
    if (told.has(first)) others.push(p);
    else tell(p);
    told.add(first);
  }
  for (const p of others) if (said[languageOf(p)].length < EXAMPLES) tell(p);
  return said;
}

async function settle(s: State): Promise<void> {
  const jobs: WantedJob[] = [];
  const events = new Map<string, () => Promise<() => void>>();
  for (const { user, id, implementation } of s.library.implementations()) {
    if (implementation.enabled === false) continue;
    const prototype = s.library.active().find((p) => p.id === id)?.prototype;
    for (const [i, t] of (prototype?.triggers ?? []).entries()) {
      const key = `${user}.${id.replace('/', '.')}.${i}`;
      if (t.type === 'time') jobs.push(jobOf(s, t, { job_id: `trigger.${key}`, scenario_id: id, user }));
      if (t.type === 'event') events.set(`${key} ${JSON.stringify(t)}`, () => listen(s, t, id, user));
    }
  }
  await s.schedule.settle(jobs);
  for (const [key, end] of s.hears)
    if (!events.has(key)) {
      s.hears.delete(key);
      end();
    }
  for (const [key, begin] of events) if (!s.hears.has(key)) s.hears.set(key, await begin());
}

function jobOf(
  s: State,
  t: Extract<Trigger, { type: 'time' }>,
  of: Pick<WantedJob, 'job_id' | 'scenario_id' | 'user'>,
): WantedJob {
  return {
    ...of,
    cron: t.cron,
    zone: t.zone ?? s.zone,
    missed: t.missed ?? 'once',
    grace_ms: parseMilliseconds(t.grace) ?? 3_600_000,
    origin: of.scenario_id,
  };
}

/** Starts a scenario at each event that counts. */
async function listen(
  s: State,
  t: Extract<Trigger, { type: 'event' }>,
  id: string,
  user: string,
): Promise<() => void> {
  const when = t.when === undefined ? undefined : conditionOf(t.when);
  const ctx = templateOf(t.ctx ?? {});
  return s.topics.subscribe(t.topic, (payload) => {
    const scope = { $: { payload } };
    const begin = async () => {
      if (when && !holds(evaluate(when, scope))) return;
      const asker = await s.askerOf(user);
      if (!asker) return;
      const filled = fill(ctx, scope) as { [key: string]: Value };
      await s.runs.start(await startOf(s, id, asker, { ctx: filled, origin: `event:${t.topic}` }, t));
    };
    begin().catch((cause) => {
      // One that runs already is what `single` is for.
      const level = cause instanceof IngleError && cause.code === 'conflict' ? 'info' : 'warn';
      s.log[level]('an event starts no scenario', { scenario: id, topic: t.topic, cause });
    });
  });
}
